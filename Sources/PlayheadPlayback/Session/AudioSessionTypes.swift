import PlayheadMediaCore
import PlayheadRealtimeAudio

// The types of a session are nested in it, like those of AVAudioSession.
extension AudioSession {
  /// How a program uses audio, like AVAudioSession.Category. The category determines whether the program may play and
  /// record, and the effect on other programs.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    /// Audio is secondary for the program and mixes with other audio.
    case ambient
    /// As ``ambient``, but without mixing. The default.
    case soloAmbient
    /// Audio is the purpose of the program.
    case playback
    /// Recording only; playback is not allowed.
    case record
    /// Playback and recording, such as a call.
    case playAndRecord
    /// Several routes at once, including recording.
    case multiRoute
    /// Processing of audio without playback or recording.
    case audioProcessing

    /// Whether players may play.
    public var allowsPlayback: Bool { self != .record && self != .audioProcessing }

    /// Whether recorders may record.
    public var allowsRecording: Bool { self == .record || self == .playAndRecord || self == .multiRoute }

    /// The modes that the category allows; `default` is always among them.
    public var modes: Set<Mode> {
      switch self {
      case .ambient: [.default]
      case .soloAmbient: [.default, .spokenAudio]
      case .playback: [.default, .measurement, .moviePlayback, .spokenAudio, .voicePrompt]
      case .record: [.default, .videoRecording, .measurement]
      case .playAndRecord:
        [
          .default, .voiceChat, .videoChat, .gameChat, .videoRecording, .measurement, .spokenAudio, .voicePrompt,
        ]
      case .multiRoute: [.default, .measurement]
      case .audioProcessing: [.default]
      }
    }

    /// The options that the category allows. `ambient` mixes without an option.
    public var options: CategoryOptions {
      switch self {
      case .ambient, .soloAmbient, .audioProcessing: []
      case .playback, .multiRoute: .mixing
      case .record: .allowBluetooth
      case .playAndRecord: .all
      }
    }
  }

  /// The specific use of a category, like AVAudioSession.Mode.
  public enum Mode: String, Sendable, Hashable, CaseIterable {
    /// No specific use.
    case `default`
    /// A call.
    case voiceChat
    /// A video call.
    case videoChat
    /// Voice chat in a game.
    case gameChat
    /// Audio for a video that is being recorded.
    case videoRecording
    /// Minimises signal processing on input and output.
    case measurement
    /// The audio of a film.
    case moviePlayback
    /// Long speech, which is paused by other audio instead of being ducked.
    case spokenAudio
    /// Short speech over other audio.
    case voicePrompt
  }

  /// The treatment of other programs and of routes, like AVAudioSession.CategoryOptions, with the same values.
  public struct CategoryOptions: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The audio mixes with that of other programs.
    public static let mixWithOthers = Self(rawValue: 0x1)
    /// Ducks other programs while this session is active. Implies `mixWithOthers`.
    public static let duckOthers = Self(rawValue: 0x2)
    /// Allows calls over Bluetooth (HFP).
    public static let allowBluetooth = Self(rawValue: 0x4)
    /// Calls use the speaker. The option is stored and reported only; the sound server selects the route.
    public static let defaultToSpeaker = Self(rawValue: 0x8)
    /// Interrupts speech of other programs and mixes with all other audio.
    public static let interruptSpokenAudioAndMixWithOthers = Self(rawValue: 0x11)
    /// Allows music over Bluetooth (A2DP). The option is stored and reported only.
    public static let allowBluetoothA2DP = Self(rawValue: 0x20)
    /// Allows AirPlay. The option is stored and reported only.
    public static let allowAirPlay = Self(rawValue: 0x40)

    static let mixing: Self = [.mixWithOthers, .duckOthers, .interruptSpokenAudioAndMixWithOthers]
    static let all: Self = [mixing, .allowBluetooth, .defaultToSpeaker, .allowBluetoothA2DP, .allowAirPlay]

    /// Each option and its name, in the order of the values.
    public static let named: [(name: String, option: Self)] = [
      ("mixWithOthers", .mixWithOthers), ("duckOthers", .duckOthers), ("allowBluetooth", .allowBluetooth),
      ("defaultToSpeaker", .defaultToSpeaker),
      ("interruptSpokenAudioAndMixWithOthers", .interruptSpokenAudioAndMixWithOthers),
      ("allowBluetoothA2DP", .allowBluetoothA2DP), ("allowAirPlay", .allowAirPlay),
    ]

    /// The names of the options that are set. Options that another set option implies are omitted.
    public var names: [String] {
      let set = Self.named.filter { contains($0.option) }
      return set.filter { each in
        !set.contains { $0.option != each.option && $0.option.contains(each.option) && each.option != .duckOthers }
      }.map(\.name)
    }

    /// These options and the options that they imply.
    var completed: Self { contains(.duckOthers) ? union(.mixWithOthers) : self }
  }

  /// The effect on other programs while this session plays, as far as the sound server has rules for it.
  public enum OtherAudio: String, Sendable, Hashable, CaseIterable {
    /// The server's rules may interrupt other streams.
    case interrupted
    /// Other streams play at their volume.
    case mixed
    /// The server's rules may lower other streams.
    case ducked
  }

  /// The setting of a session: a category, and a mode and options that it allows.
  public struct Setting: Sendable, Hashable {
    /// The category.
    public let category: Category
    /// The mode, which the category allows.
    public let mode: Mode
    /// The options, including the options that they imply.
    public let options: CategoryOptions

    /// The setting of a new session.
    public static let initial = Setting(unchecked: .soloAmbient)

    /// Creates a setting.
    ///
    /// - Throws: `sessionMismatch` if the category does not allow the mode or an option.
    public init(
      _ category: Category, mode: Mode = .default, options: CategoryOptions = []
    ) throws(MediaError) {
      guard category.modes.contains(mode) else {
        throw MediaError(
          .sessionMismatch, "the category \(category.rawValue) has no mode \(mode.rawValue)",
          operation: "setCategory")
      }
      let foreign = options.subtracting(category.options)
      guard foreign.isEmpty else {
        let names = options.names.filter { name in
          CategoryOptions.named.contains { $0.name == name && !category.options.contains($0.option) }
        }
        throw MediaError(
          .sessionMismatch, "the category \(category.rawValue) has no option \(names.joined(separator: ", "))",
          operation: "setCategory")
      }
      (self.category, self.mode, self.options) = (category, mode, options.completed)
    }

    private init(unchecked category: Category) {
      (self.category, mode, options) = (category, .default, [])
    }

    /// The effect on other programs.
    public var otherAudio: OtherAudio {
      if options.contains(.duckOthers) { return .ducked }
      return category == .ambient || options.contains(.mixWithOthers) ? .mixed : .interrupted
    }

    /// The role of the streams on the sound server.
    ///
    /// PulseAudio's modules use only the role. By default these modules mute other streams while a `phone` stream
    /// plays. A session that mixes therefore never has this role: a call that mixes has the role `game`. A session that
    /// ducks has the role `event`, or `a11y` for speech. A server ducks for these roles if `module-role-ducking
    /// trigger_roles=` names them.
    public var role: StreamRole {
      let isSpeech = mode == .voicePrompt || mode == .spokenAudio
      if otherAudio == .ducked { return isSpeech ? .a11y : .event }
      switch mode {
      case .voiceChat, .videoChat: return otherAudio == .mixed ? .game : .phone
      case .gameChat: return .game
      case .moviePlayback, .videoRecording: return .video
      case .measurement: return .production
      case .voicePrompt: return .a11y
      case .spokenAudio: return .music
      case .default: return defaultRole
      }
    }

    private var defaultRole: StreamRole {
      switch category {
      case .ambient: .game
      case .soloAmbient, .playback, .playAndRecord: .music
      case .record, .multiRoute, .audioProcessing: .production
      }
    }
  }

  /// The treatment of interruptions.
  public struct InterruptionPolicy: Sendable, Hashable {
    /// The effect of an interruption on players after its end.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
      /// Players that played resume.
      case resume
      /// Players that played are paused.
      case pause
    }

    /// The outcome when the sound server ends the interruption. Default: `resume`.
    public var atEnd = Outcome.resume
    /// The maximum duration of an interruption, because the server may never end it; nil: no limit. Default: nil.
    public var timeOut: MediaTime?
    /// The outcome after a time-out. Default: `pause`.
    public var atTimeOut = Outcome.pause
    /// The duration of the fade-in on resumption; 0: no fade. Default: 0.5 s.
    public var fadeDuration = MediaTime(value: 1, timescale: 2)

    /// Creates the default policy.
    public init() {}

    /// The longest time-out, a day, and the longest fade, ten seconds.
    public static let longestTimeOut = MediaTime(value: 86_400, timescale: 1)
    /// The longest fade, ten seconds.
    public static let longestFade = MediaTime(value: 10, timescale: 1)
  }

  /// The state of a session at one moment.
  public struct State: Sendable, Hashable {
    /// The category with its mode and options.
    public var setting = Setting.initial
    /// The treatment of interruptions.
    public var policy = InterruptionPolicy()
    /// Whether the session is active: by activation, or because a player plays or a recorder records.
    public var isActive = false
    /// Whether other audio interrupts the session.
    public var isInterrupted = false
    /// Whether the sound server ducks this program because of other audio. Less important audio should then be silent.
    public var secondaryAudioShouldBeSilencedHint = false

    /// Whether the category allows playback.
    public var allowsPlayback: Bool { setting.category.allowsPlayback }
    /// Whether the category allows recording.
    public var allowsRecording: Bool { setting.category.allowsRecording }
  }

  /// An event of a session.
  public enum Event: Sendable, Hashable {
    /// The reason why an interruption ended.
    public enum End: String, Sendable, Hashable, CaseIterable {
      /// The sound server ended it.
      case server
      /// A request to end it, or a request to play.
      case request
      /// It lasted too long (``InterruptionPolicy/timeOut``).
      case timeOut
      /// The device disappeared, so the server can no longer end it.
      case outputLost
    }

    /// Another program's audio interrupts playback: players wait. Some interruptions have no end.
    case interruptionBegan
    /// The interruption ended. `shouldResume` is true if players resume.
    case interruptionEnded(End, shouldResume: Bool)
    /// ``State/secondaryAudioShouldBeSilencedHint`` changed.
    case silenceSecondaryAudioHint(isBeginning: Bool)
  }
}
