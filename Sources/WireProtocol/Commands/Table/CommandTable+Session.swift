import MediaCore

extension CommandTable {
  private static let settingFields: [FieldSpec] = [
    .category, .mode, .sessionOptions.nullable, .role, .otherAudio, .playback, .recording,
  ]

  private static func words<Word: RawRepresentable & CaseIterable>(_: Word.Type) -> [String]
  where Word.RawValue == String { Word.allCases.map(\.rawValue) }

  /// Commands about the audio session: how the daemon's audio interacts with the audio of other programs.
  static let session: [CommandSpec] = [
    CommandSpec(
      .sessionStatus, .session, "Show the audio session and its interruption.",
      details:
        "`secondaryAudioShouldBeSilencedHint` states whether the sound server lowers the volume of playback because"
        + " another program plays.",
      right: .read, reply: settingFields + [.isActive, .isInterrupted, .secondaryAudioShouldBeSilencedHint],
      example: [
        "> session.status",
        "< ok category=playAndRecord mode=default options=none role=music otherAudio=interrupted playback=true recording=true isActive=true"
          + " isInterrupted=false secondaryAudioShouldBeSilencedHint=false",
      ]
    ) { _ throws(MediaError) in .session(.status) },
    CommandSpec(
      .sessionCategory, .session, "Set the category of the session, or show it.",
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
      parameters: [
        ParameterSpec(
          .category, .word(words(SessionCommand.Category.self)), .optional, "CATEGORY", "the category"),
        ParameterSpec(.mode, .word(words(SessionCommand.Mode.self)), .option, "MODE", "the mode"),
        ParameterSpec(
          .options, .texts(maximumByteCount: 256, separator: .comma), .option, "OPTION,...",
          "any of " + words(SessionCommand.Option.self).map { "`\($0)`" }.joined(separator: ", ")),
      ],
      readsWithoutValue: true, reply: settingFields, errors: [.sessionMismatch],
      example: [
        "> session.category playback mode=moviePlayback",
        "< ok category=playback mode=moviePlayback options=none role=video otherAudio=interrupted playback=true recording=false",
      ]
    ) { arguments throws(MediaError) in .session(.category(try setting(arguments))) },
    CommandSpec(
      .sessionActive, .session, "Activate or deactivate the session, or show it.",
      details: """
        Playback activates the session.

        - `off` pauses all players. The sound server resumes other programs as soon as nothing is heard. If a player \
        was playing or a recorder was recording, the error is `session-busy`, but the session is inactive \
        nevertheless.
        - `on` does not end an interruption. The error is then `session-interrupted`.
        """,
      parameters: [ParameterSpec(.state, .onOff, .optional, "on|off", "the new state")],
      readsWithoutValue: true, reply: [.isActive], errors: [.sessionBusy, .sessionInterrupted],
      example: ["> session.active off", "< ok isActive=false"]
    ) { arguments throws(MediaError) in .session(.active(arguments.text(.state).map { $0 == "on" })) },
    CommandSpec(
      .sessionResume, .session, "End an interruption before the sound server does.",
      details: """
        `play` also ends an interruption.

        - `resume` (default): interrupted playback resumes with a fade-in, regardless of the sound server.
        - `pause`: interrupted playback is paused.
        """,
      parameters: [
        ParameterSpec(
          .action, .word(words(SessionCommand.Outcome.self)), .optional, "resume|pause",
          "whether interrupted playback resumes or pauses; default: `resume`")
      ],
      errors: [.invalidState], example: ["> session.resume", "< ok"]
    ) { arguments throws(MediaError) in
      .session(.resume(arguments.text(.action).flatMap(SessionCommand.Outcome.init) ?? .resume))
    },
    CommandSpec(
      .sessionPolicy, .session, "Set the actions at the end of an interruption, or show them.",
      details:
        "Some interruptions have no end. After `timeout`, an interruption counts as ended, and `at-timeout` selects"
        + " the action.",
      parameters: [
        ParameterSpec(
          .atEnd, .word(words(SessionCommand.Outcome.self)), .option, "resume|pause",
          "the action when the sound server ends an interruption; default: `resume`"),
        ParameterSpec(
          .timeout, .timeOrNone, .option, "TIME|none",
          "the maximum duration of an interruption, up to a day; default: `none`"),
        ParameterSpec(
          .atTimeout, .word(words(SessionCommand.Outcome.self)), .option, "resume|pause",
          "the action after `timeout`; default: `pause`"),
        ParameterSpec(
          .fade, .duration(positive: false), .option, "TIME",
          "the duration of the fade-in, up to 10 s; default: 0.5 s"),
      ],
      readsWithoutValue: true, reply: [.atEnd, .timeout.nullable, .atTimeout, .fade], errors: [.invalidTime],
      example: ["> session.policy timeout=600", "< ok atEnd=resume timeout=600 atTimeout=pause fade=0.5"]
    ) { arguments throws(MediaError) in
      .session(
        .policy(
          .init(
            atEnd: arguments.text(.atEnd).flatMap(SessionCommand.Outcome.init), timeOut: arguments.time(.timeout),
            atTimeOut: arguments.text(.atTimeout).flatMap(SessionCommand.Outcome.init), fade: arguments.time(.fade))))
    },
  ]

  private static func setting(_ arguments: Arguments) throws(MediaError) -> SessionCommand.Setting? {
    guard let category = arguments.text(.category).flatMap(SessionCommand.Category.init) else {
      guard arguments.text(.mode) == nil, arguments.text(.options) == nil else {
        throw arguments.failure("mode and options need a category")
      }
      return nil
    }
    var setting = SessionCommand.Setting(category)
    if let mode = arguments.text(.mode).flatMap(SessionCommand.Mode.init) { setting.mode = mode }
    for word in (arguments.text(.options) ?? "").split(separator: ",", omittingEmptySubsequences: true)
    where word != "none" {
      guard let option = SessionCommand.Option(rawValue: String(word)) else {
        throw arguments.failure(
          "options must be any of \(words(SessionCommand.Option.self).joined(separator: ", "))"
            + " (got \(Excerpt.quoted(Array(word.utf8)[...])))"
        )
      }
      setting.options.append(option)
    }
    return setting
  }
}
