import MediaCore

/// Commands about the audio session: how the daemon's audio interacts with the audio of other programs.
public enum SessionCommand: Sendable, Hashable {
  case status
  /// Nil returns the current setting.
  case category(Setting?)
  /// Nil returns the current state.
  case active(Bool?)
  /// Ends an interruption. Playback resumes or is paused.
  case resume(Outcome)
  /// Changes the policy for interruptions, if any option is given.
  case policy(PolicyChange)

  /// The category, mode and options of the session.
  public struct Setting: Sendable, Hashable {
    public var category: Category
    public var mode: Mode
    public var options: [Option]

    public init(_ category: Category, mode: Mode = .default, options: [Option] = []) {
      self.category = category
      self.mode = mode
      self.options = options
    }
  }

  /// The categories of AVAudioSession.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    case ambient
    case soloAmbient
    case playback
    case record
    case playAndRecord
    case multiRoute
    case audioProcessing
  }

  /// The modes of AVAudioSession.
  public enum Mode: String, Sendable, Hashable, CaseIterable {
    case `default`
    case voiceChat
    case videoChat
    case gameChat
    case videoRecording
    case measurement
    case moviePlayback
    case spokenAudio
    case voicePrompt
  }

  /// The options of AVAudioSession.
  public enum Option: String, Sendable, Hashable, CaseIterable {
    case mixWithOthers
    case duckOthers
    case allowBluetooth
    case defaultToSpeaker
    case interruptSpokenAudioAndMixWithOthers
    case allowBluetoothA2DP
    case allowAirPlay
  }

  /// The state of interrupted players after the interruption.
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    case resume
    case pause
  }

  /// Changes of the policy. Nil leaves an option unchanged.
  public struct PolicyChange: Sendable, Hashable {
    public var atEnd: Outcome?
    /// Invalid: no timeout.
    public var timeOut: MediaTime?
    public var atTimeOut: Outcome?
    public var fade: MediaTime?

    public init(
      atEnd: Outcome? = nil, timeOut: MediaTime? = nil, atTimeOut: Outcome? = nil, fade: MediaTime? = nil
    ) {
      self.atEnd = atEnd
      self.timeOut = timeOut
      self.atTimeOut = atTimeOut
      self.fade = fade
    }
  }
}
