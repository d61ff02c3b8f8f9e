import MediaCore
import RealtimeAudio

/// What a program uses sound for, as AVAudioSession.Category. It says whether it may play and record, and what becomes of others.
public enum AudioSessionCategory: String, Sendable, Hashable, CaseIterable {
  /// Sound that is not what the program is for; it mixes with others.
  case ambient
  /// The same, alone. The default.
  case soloAmbient
  /// Sound is what the program is for.
  case playback
  /// Recording only; nothing is played.
  case record
  case playAndRecord
  /// Several routes at once, recording among them.
  case multiRoute
  /// Neither playing nor recording: work on sound that is not heard.
  case audioProcessing

  public var allowsPlayback: Bool { self != .record && self != .audioProcessing }

  public var allowsRecording: Bool { self == .record || self == .playAndRecord || self == .multiRoute }

  /// The modes that go with it; `default` always does.
  public var modes: Set<AudioSessionMode> {
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

  /// The options that can be said with it. `ambient` mixes by itself.
  public var options: AudioSessionOptions {
    switch self {
    case .ambient, .soloAmbient, .audioProcessing: []
    case .playback, .multiRoute: .aboutOthers
    case .record: .allowBluetooth
    case .playAndRecord: .all
    }
  }
}

/// What exactly a category is used for, as AVAudioSession.Mode.
public enum AudioSessionMode: String, Sendable, Hashable, CaseIterable {
  case `default`
  /// A call.
  case voiceChat
  case videoChat
  /// Talk in a game.
  case gameChat
  /// Sound for a film that is made.
  case videoRecording
  /// As little of what is played or recorded as can be is changed.
  case measurement
  case moviePlayback
  /// Speech at length, which stands still rather than being lowered.
  case spokenAudio
  /// Short speech over what others play.
  case voicePrompt
}

/// How a category treats others and routes, as AVAudioSession.CategoryOptions, with its values.
public struct AudioSessionOptions: OptionSet, Sendable, Hashable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let mixWithOthers = Self(rawValue: 0x1)
  /// Others are lowered while this session is active. It mixes, too.
  public static let duckOthers = Self(rawValue: 0x2)
  /// Calls over Bluetooth (HFP).
  public static let allowBluetooth = Self(rawValue: 0x4)
  public static let defaultToSpeaker = Self(rawValue: 0x8)
  /// Speech of others stands still, and with all else this mixes.
  public static let interruptSpokenAudioAndMixWithOthers = Self(rawValue: 0x11)
  public static let allowBluetoothA2DP = Self(rawValue: 0x20)
  public static let allowAirPlay = Self(rawValue: 0x40)

  static let aboutOthers: Self = [.mixWithOthers, .duckOthers, .interruptSpokenAudioAndMixWithOthers]
  static let all: Self = [aboutOthers, .allowBluetooth, .defaultToSpeaker, .allowBluetoothA2DP, .allowAirPlay]

  /// Each with its name, in the order of their values.
  public static let named: [(name: String, option: Self)] = [
    ("mixWithOthers", .mixWithOthers), ("duckOthers", .duckOthers), ("allowBluetooth", .allowBluetooth),
    ("defaultToSpeaker", .defaultToSpeaker),
    ("interruptSpokenAudioAndMixWithOthers", .interruptSpokenAudioAndMixWithOthers),
    ("allowBluetoothA2DP", .allowBluetoothA2DP), ("allowAirPlay", .allowAirPlay),
  ]

  /// The names of those that are set. What another one contains already is left out.
  public var names: [String] {
    let set = Self.named.filter { contains($0.option) }
    return set.filter { each in
      !set.contains { $0.option != each.option && $0.option.contains(each.option) && each.option != .duckOthers }
    }.map(\.name)
  }

  /// With what they imply.
  var completed: Self { contains(.duckOthers) ? union(.mixWithOthers) : self }
}

/// What becomes of what other programs play while this session plays, as far as the sound server has rules for it.
public enum OtherAudio: String, Sendable, Hashable, CaseIterable {
  /// A stream that the server's rules may give way to.
  case interrupted
  case mixed
  case ducked
}

/// What a session is to be: a category, a mode and options that go together.
public struct AudioSessionSetting: Sendable, Hashable {
  public let category: AudioSessionCategory
  public let mode: AudioSessionMode
  /// With what they imply.
  public let options: AudioSessionOptions

  /// As a program begins.
  public static let initial = AudioSessionSetting(unchecked: .soloAmbient)

  /// Errors: `sessionMismatch` for a mode or an option that does not go with the category.
  public init(
    _ category: AudioSessionCategory, mode: AudioSessionMode = .default, options: AudioSessionOptions = []
  ) throws(MediaError) {
    guard category.modes.contains(mode) else {
      throw MediaError(
        .sessionMismatch, "the category \(category.rawValue) has no mode \(mode.rawValue)",
        operation: "session.category")
    }
    let foreign = options.subtracting(category.options)
    guard foreign.isEmpty else {
      let names = options.names.filter { name in
        AudioSessionOptions.named.contains { $0.name == name && !category.options.contains($0.option) }
      }
      throw MediaError(
        .sessionMismatch, "the category \(category.rawValue) has no option \(names.joined(separator: ", "))",
        operation: "session.category")
    }
    (self.category, self.mode, self.options) = (category, mode, options.completed)
  }

  private init(unchecked category: AudioSessionCategory) {
    (self.category, mode, options) = (category, .default, [])
  }

  /// What becomes of others.
  public var otherAudio: OtherAudio {
    if options.contains(.duckOthers) { return .ducked }
    return category == .ambient || options.contains(.mixWithOthers) ? .mixed : .interrupted
  }

  /// What the sound server is told that streams are for.
  ///
  /// PulseAudio's modules go by nothing else. `phone` is what they have others give way to unless they are configured
  /// otherwise, so a session that mixes never has it: a call that mixes is a `game`. Of a session that ducks the role is
  /// `event`, or `a11y` of speech: a server that is to duck for them names them in `module-role-ducking trigger_roles=`.
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

/// What is done about interruptions.
public struct InterruptionPolicy: Sendable, Hashable {
  /// What comes of an interruption.
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// What played goes on.
    case resume
    /// What played is paused.
    case pause
  }

  /// What happens when the sound server ends it.
  public var atEnd = Outcome.resume
  /// How long it lasts at most, for an end may never come; nil: as long as it takes.
  public var timeOut: MediaTime?
  /// What happens then.
  public var atTimeOut = Outcome.pause
  /// How long what goes on is faded in; 0: it is not.
  public var fadeDuration = MediaTime(value: 1, timescale: 2)

  public init() {}

  /// The longest time-out, a day, and the longest fade, ten seconds.
  public static let longestTimeOut = MediaTime(value: 86_400, timescale: 1)
  public static let longestFade = MediaTime(value: 10, timescale: 1)
}

/// Everything about a session, at one moment.
public struct AudioSessionState: Sendable, Hashable {
  public var setting = AudioSessionSetting.initial
  public var policy = InterruptionPolicy()
  /// Whether it plays or records, or was told to be ready for that.
  public var isActive = false
  public var isInterrupted = false
  /// Whether the sound server lowers what this program plays because of another's sound; less important sound had better be silent.
  public var secondaryAudioShouldBeSilencedHint = false

  public var allowsPlayback: Bool { setting.category.allowsPlayback }
  public var allowsRecording: Bool { setting.category.allowsRecording }
}

/// What happens to a session, once.
public enum AudioSessionEvent: Sendable, Hashable {
  /// Why an interruption ended.
  public enum End: String, Sendable, Hashable, CaseIterable {
    /// The sound server said so.
    case server
    /// Somebody asked for it, or played on.
    case request
    /// It lasted too long (`InterruptionPolicy.timeOut`).
    case timeOut
    /// The device went away, and nobody will end it.
    case outputLost
  }

  /// Something else is heard; players stand still, or would. An end may never come.
  case interruptionBegan
  case interruptionEnded(End, shouldResume: Bool)
  /// `secondaryAudioShouldBeSilencedHint` began or ended.
  case silenceSecondaryAudioHint(isBeginning: Bool)
}
