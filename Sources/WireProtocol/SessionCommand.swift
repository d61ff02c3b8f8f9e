import MediaCore

/// Commands about how the daemon's sound goes together with that of other programs.
public enum SessionCommand: Sendable, Hashable {
  case status
  /// Nil asks for what there is.
  case category(Setting?)
  /// Nil asks for the present state.
  case active(Bool?)
  /// Ends an interruption; what played goes on, or is paused.
  case resume(Outcome)
  /// How interruptions are treated: changes what it says.
  case policy(PolicyChange)

  /// What the session is to be used for.
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

  /// As AVAudioSession has them.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    case ambient
    case soloAmbient
    case playback
    case record
    case playAndRecord
    case multiRoute
    case audioProcessing
  }

  /// As AVAudioSession has them.
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

  /// As AVAudioSession has them.
  public enum Option: String, Sendable, Hashable, CaseIterable {
    case mixWithOthers
    case duckOthers
    case allowBluetooth
    case defaultToSpeaker
    case interruptSpokenAudioAndMixWithOthers
    case allowBluetoothA2DP
    case allowAirPlay
  }

  /// What comes of an interruption for what it held.
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    case resume
    case pause
  }

  /// What is to be changed; nil stays.
  public struct PolicyChange: Sendable, Hashable {
    public var atEnd: Outcome?
    /// Invalid: none.
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
