import MediaCore

extension CommandTable {
  private static let settingFields: [FieldSpec] = [
    "category", "mode", "options?", "role", "others", "playback", "recording",
  ]

  private static func words<Word: RawRepresentable & CaseIterable>(_: Word.Type) -> [String]
  where Word.RawValue == String { Word.allCases.map(\.rawValue) }

  /// Commands about the audio session: how the daemon's audio interacts with the audio of other programs.
  static let session: [CommandSpec] = [
    CommandSpec(
      .sessionStatus, .session, "Gives what the session is, and whether something interrupts it.",
      details:
        "`hint` says whether the sound server lowers what is played because of what another program plays.",
      right: .read, reply: settingFields + ["active", "interrupted", "hint"],
      example: [
        "> session.status",
        "< ok category=playAndRecord mode=default options=none role=music others=interrupted playback=true recording=true active=true"
          + " interrupted=false hint=false",
      ]
    ) { _ throws(MediaError) in .session(.status) },
    CommandSpec(
      .sessionCategory, .session, "Says what the sound is used for, or gives it.",
      details:
        "What is not said of mode and options is `default` and none: nothing of those before stays. `role` is what the sound server is told that streams"
        + " are for (PulseAudio's `media.role`); by that alone its rules go. `others` is what becomes of other programs' sound,"
        + " as far as the server has rules for that: `interrupted`, `mixed` or `ducked`. `playback` and `recording` say whether the category allows"
        + " them; where it does not, players wait (`categoryForbidsPlayback`), and what records is ended: its file is whole. A mode or an option that does not go with the category is `session-mismatch`. *Sound of other programs* has"
        + " the tables.",
      parameters: [
        ParameterSpec(
          .category, .word(words(SessionCommand.Category.self)), .optional, "CATEGORY", "what it is used for"),
        ParameterSpec(.mode, .word(words(SessionCommand.Mode.self)), .option, "MODE", "what for exactly"),
        ParameterSpec(
          .options, .texts(maximumByteCount: 256, separator: .comma), .option, "OPTION,...",
          "any of " + words(SessionCommand.Option.self).map { "`\($0)`" }.joined(separator: ", ")),
      ],
      asks: true, reply: settingFields, errors: [.sessionMismatch],
      example: [
        "> session.category playback mode=moviePlayback",
        "< ok category=playback mode=moviePlayback options=none role=video others=interrupted playback=true recording=false",
      ]
    ) { arguments throws(MediaError) in .session(.category(try setting(arguments))) },
    CommandSpec(
      .sessionActive, .session, "Makes the session active, or ends that, or gives it.",
      details:
        "Whatever plays makes it active. `off` pauses all players; when something played or recorded it answers `session-busy`,"
        + " but is carried out. Other programs are told by the sound server, as soon as nothing is heard any more. `on` does not end an"
        + " interruption (`session-interrupted`).",
      parameters: [ParameterSpec(.state, .onOff, .optional, "on|off", "whether it is to be active")],
      asks: true, reply: ["active"], errors: [.sessionBusy, .sessionInterrupted],
      example: ["> session.active off", "< ok active=false"]
    ) { arguments throws(MediaError) in .session(.active(arguments.text(.state).map { $0 == "on" })) },
    CommandSpec(
      .sessionResume, .session, "Ends an interruption that the sound server has not ended.",
      details:
        "With `resume` what played before goes on, faded in, and is heard whatever the server wants; with `pause` it is paused. `play` ends an interruption, too.",
      parameters: [
        ParameterSpec(
          .action, .word(words(SessionCommand.Outcome.self)), .optional, "resume|pause",
          "what becomes of what played; `resume` unless said")
      ],
      errors: [.invalidState], example: ["> session.resume", "< ok"]
    ) { arguments throws(MediaError) in
      .session(.resume(arguments.text(.action).flatMap(SessionCommand.Outcome.init) ?? .resume))
    },
    CommandSpec(
      .sessionPolicy, .session, "Says how interruptions are treated, or gives it.",
      details:
        "An end may never come: after `timeout` an interruption is over, and what played is paused, or goes on though the server has"
        + " not said so.",
      parameters: [
        ParameterSpec(
          .atEnd, .word(words(SessionCommand.Outcome.self)), .option, "resume|pause",
          "what becomes of what played when the server ends an interruption; `resume` from the start"),
        ParameterSpec(
          .timeout, .timeOrNone, .option, "TIME|none", "how long one lasts at most, up to a day; `none` from the start"),
        ParameterSpec(
          .atTimeout, .word(words(SessionCommand.Outcome.self)), .option, "resume|pause",
          "what becomes of what played then; `pause` from the start"),
        ParameterSpec(
          .fade, .duration(positive: false), .option, "TIME",
          "how long what goes on is faded in, up to 10 s; 0.5 from the start"),
      ],
      asks: true, reply: ["at-end", "timeout?", "at-timeout", "fade"], errors: [.invalidTime],
      example: ["> session.policy timeout=600", "< ok at-end=resume timeout=600 at-timeout=pause fade=0.5"]
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
        throw arguments.failure("mode and options belong to a category, which is missing")
      }
      return nil
    }
    var setting = SessionCommand.Setting(category)
    if let mode = arguments.text(.mode).flatMap(SessionCommand.Mode.init) { setting.mode = mode }
    for word in (arguments.text(.options) ?? "").split(separator: ",", omittingEmptySubsequences: true)
    where word != "none" {
      guard let option = SessionCommand.Option(rawValue: String(word)) else {
        throw arguments.failure(
          "\(Excerpt.quoted(Array(word.utf8)[...])) is no option; there are \(words(SessionCommand.Option.self).joined(separator: ", "))"
        )
      }
      setting.options.append(option)
    }
    return setting
  }
}
