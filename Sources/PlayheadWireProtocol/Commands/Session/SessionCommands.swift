import PlayheadMediaCore

/// Commands about the audio session: how the daemon's audio interacts with the audio of other programs.
package typealias SessionCommands = CommandList<
  SessionStatusCommand, SessionCategoryCommand, SessionActiveCommand, SessionResumeCommand, SessionPolicyCommand
>

/// `session.status`: the session and its interruption.
package enum SessionStatusCommand: ImmediateCommand {
  package struct Reply: ReplyFields {
    package var setting: SessionSettingFields
    package var isActive: Bool
    package var isInterrupted: Bool
    package var secondaryAudioShouldBeSilencedHint: Bool

    package init(
      setting: SessionSettingFields, isActive: Bool, isInterrupted: Bool, secondaryAudioShouldBeSilencedHint: Bool
    ) {
      (self.setting, self.isActive, self.isInterrupted) = (setting, isActive, isInterrupted)
      self.secondaryAudioShouldBeSilencedHint = secondaryAudioShouldBeSilencedHint
    }

    package static let fields: [Field<Self>] =
      SessionSettingFields.fields.map { $0.within { $0.setting } } + [
        Field(.isActive) { $0.isActive }, Field(.isInterrupted) { $0.isInterrupted },
        Field(.secondaryAudioShouldBeSilencedHint) { $0.secondaryAudioShouldBeSilencedHint },
      ]
  }

  package static let name: CommandName = "session.status"

  package static let definition = CommandDefinition<Self>(
    .session, "Show the audio session and its interruption.",
    details:
      "`secondaryAudioShouldBeSilencedHint` states whether the sound server lowers the volume of playback because"
      + " another program plays.",
    right: .read,
    example: [
      "> session.status",
      "< ok category=playAndRecord mode=default options=none role=music otherAudio=interrupted playback=true recording=true isActive=true"
        + " isInterrupted=false secondaryAudioShouldBeSilencedHint=false",
    ])
}

/// `session.category`: sets the category with its mode and options.
package enum SessionCategoryCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let category: Parameter<SessionCategory?>
    package let mode: Parameter<SessionMode?>
    package let options: Parameter<[String]?>

    package init(_ list: inout ParameterListBuilder) {
      category = list.optional("category", .word, "CATEGORY", "the category")
      mode = list.option("mode", .word, "MODE", "the mode")
      options = list.option(
        "options", .texts(maximumByteCount: 256), "OPTION,...",
        "any of " + SessionOption.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", "))
    }
  }

  package typealias Reply = SessionSettingFields

  package static let name: CommandName = "session.category"

  package static let definition = CommandDefinition<Self>(
    .session, "Set the category of the session, or show it.",
    details: """
      The categories, and the audio that they allow:

      - `ambient`: playback that mixes with other programs
      - `soloAmbient`: playback
      - `playback`: playback, which options can mix with other programs
      - `record`: recording
      - `playAndRecord` (default): playback and recording
      - `multiRoute`: playback and recording
      - `audioProcessing`: neither playback nor recording

      The modes:

      - `default`: no specific use
      - `voiceChat`, `videoChat`: a call
      - `gameChat`: voice chat in a game
      - `videoRecording`: audio for a video that is being recorded
      - `measurement`: a measurement with little signal processing
      - `moviePlayback`: a film
      - `spokenAudio`: long speech, which other audio pauses
      - `voicePrompt`: short speech over other audio

      The options:

      - `mixWithOthers`: other programs continue
      - `duckOthers`: other programs continue with a lower volume
      - `interruptSpokenAudioAndMixWithOthers`: speech of other programs pauses, and other audio continues
      - `allowBluetooth`, `defaultToSpeaker`, `allowBluetoothA2DP`, `allowAirPlay`: only stored and reported, because \
      the sound server selects the route

      An omitted mode becomes `default`, and omitted options become none. A mode or option that the category does \
      not support is the error `session-mismatch`. *Audio of other programs* lists the modes and options of each \
      category.

      - `role` is the role that the sound server sees (PulseAudio's `media.role`). The rules of the sound server \
      refer to it.
      - `otherAudio` is the effect of these rules on other programs: `interrupted` (they pause), `mixed` (they continue) \
      or `ducked` (their volume is lowered).
      - `playback` states whether the category allows playback. If not, players wait (`categoryForbidsPlayback`).
      - `recording` states whether the category allows recording. If not, recordings are stopped, and their files \
      completed.
      """,
    readsWithoutValue: true, errors: [.sessionMismatch],
    example: [
      "> session.category playback mode=moviePlayback",
      "< ok category=playback mode=moviePlayback options=none role=video otherAudio=interrupted playback=true recording=false",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    guard arguments.category != nil || arguments.mode == nil && arguments.options == nil else {
      throw arguments.failure("mode and options need a category")
    }
    _ = try arguments.sessionOptions()
  }
}

extension Arguments<SessionCategoryCommand> {
  /// The options of the category. An omitted list and `none` are no options.
  ///
  /// - Throws: `bad-arguments` for an unknown option.
  package func sessionOptions() throws(MediaError) -> [SessionOption] {
    var options: [SessionOption] = []
    for word in self.options ?? [] where word != "none" {
      guard let option = SessionOption(rawValue: word) else {
        throw failure(
          "options must be any of \(SessionOption.allCases.map(\.rawValue).joined(separator: ", "))"
            + " (got \(Excerpt.quoted(word)))")
      }
      options.append(option)
    }
    return options
  }
}

/// `session.active`: activates or deactivates the session.
package enum SessionActiveCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let state: Parameter<Bool?>

    package init(_ list: inout ParameterListBuilder) {
      state = list.optional("state", .onOff, "on|off", "the new state")
    }
  }

  package struct Reply: ReplyFields {
    package var isActive: Bool

    package init(isActive: Bool) { self.isActive = isActive }

    package static let fields: [Field<Self>] = [Field(.isActive) { $0.isActive }]
  }

  package static let name: CommandName = "session.active"

  package static let definition = CommandDefinition<Self>(
    .session, "Activate or deactivate the session, or show it.",
    details: """
      Playback activates the session.

      - `off` pauses all players. The sound server resumes other programs as soon as nothing is heard. If a player \
      was playing or a recorder was recording, the error is `session-busy`, but the session is inactive \
      nevertheless.
      - `on` does not end an interruption. The error is then `session-interrupted`.
      """,
    readsWithoutValue: true, errors: [.sessionBusy, .sessionInterrupted],
    example: ["> session.active off", "< ok isActive=false"])
}

/// `session.resume`: ends an interruption.
package enum SessionResumeCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let action: Parameter<InterruptionOutcome>

    package init(_ list: inout ParameterListBuilder) {
      action = list.optional(
        "action", .word, "resume|pause", default: .resume,
        "whether interrupted playback resumes or pauses; default: `resume`")
    }
  }

  package static let name: CommandName = "session.resume"

  package static let definition = CommandDefinition<Self>(
    .session, "End an interruption before the sound server does.",
    details: """
      `play` also ends an interruption.

      - `resume` (default): interrupted playback resumes with a fade-in, regardless of the sound server.
      - `pause`: interrupted playback is paused.
      """,
    errors: [.invalidState], example: ["> session.resume", "< ok"])
}

/// `session.policy`: sets the actions at the end of an interruption.
package enum SessionPolicyCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let atEnd: Parameter<InterruptionOutcome?>
    /// Invalid: no maximum.
    package let timeout: Parameter<MediaTime?>
    package let atTimeout: Parameter<InterruptionOutcome?>
    /// The duration of the fade-in after an interruption, from 0 to 10 s.
    package let fade: Parameter<MediaTime?>

    package init(_ list: inout ParameterListBuilder) {
      atEnd = list.option(
        "at-end", .word, "resume|pause",
        "the action when the sound server ends an interruption; default: `resume`")
      timeout = list.option(
        "timeout", .timeOrNone, "TIME|none", "the maximum duration of an interruption, up to a day; default: `none`")
      atTimeout = list.option(
        "at-timeout", .word, "resume|pause", "the action after `timeout`; default: `pause`")
      fade = list.option("fade", .duration, "TIME", "the duration of the fade-in, up to 10 s; default: 0.5 s")
    }
  }

  package struct Reply: ReplyFields {
    package var atEnd: InterruptionOutcome
    /// The maximum duration of an interruption. Nil: no limit.
    package var timeout: MediaTime?
    package var atTimeout: InterruptionOutcome
    /// The duration of the fade-in after an interruption, from 0 to 10 s.
    package var fade: MediaTime

    package init(atEnd: InterruptionOutcome, timeout: MediaTime?, atTimeout: InterruptionOutcome, fade: MediaTime) {
      (self.atEnd, self.timeout, self.atTimeout, self.fade) = (atEnd, timeout, atTimeout, fade)
    }

    package static let fields: [Field<Self>] = [
      Field(.atEnd) { $0.atEnd }, Field(nullable: .timeout) { $0.timeout }, Field(.atTimeout) { $0.atTimeout },
      Field(.fade) { $0.fade },
    ]
  }

  package static let name: CommandName = "session.policy"

  package static let definition = CommandDefinition<Self>(
    .session, "Set the actions at the end of an interruption, or show them.",
    details:
      "Some interruptions have no end. After `timeout`, an interruption counts as ended, and `at-timeout` selects"
      + " the action.",
    readsWithoutValue: true, errors: [.invalidTime],
    example: ["> session.policy timeout=600", "< ok atEnd=resume timeout=600 atTimeout=pause fade=0.5"])
}

/// The category of the session, and its effects.
package struct SessionSettingFields: ReplyFields {
  package var category: SessionCategory
  package var mode: SessionMode
  /// Nil: no options.
  package var options: [String]?
  /// PulseAudio's `media.role`.
  package var role: String
  /// `interrupted`, `mixed` or `ducked`.
  package var otherAudio: String
  package var playback: Bool
  package var recording: Bool

  package init(
    category: SessionCategory, mode: SessionMode, options: [String]?, role: String, otherAudio: String,
    playback: Bool, recording: Bool
  ) {
    (self.category, self.mode, self.options) = (category, mode, options)
    (self.role, self.otherAudio, self.playback, self.recording) = (role, otherAudio, playback, recording)
  }

  package static let fields: [Field<Self>] = [
    Field(.category) { $0.category }, Field(.mode) { $0.mode },
    Field(nullable: .sessionOptions) { $0.options },
    Field(.role) { $0.role }, Field(.otherAudio) { $0.otherAudio }, Field(.playback) { $0.playback },
    Field(.recording) { $0.recording },
  ]
}
