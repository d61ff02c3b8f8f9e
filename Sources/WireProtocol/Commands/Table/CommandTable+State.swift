import MediaCore

extension CommandTable {
  /// The errors of commands that need saved state.
  static let stateErrors: [MediaError.Code] = [
    .stateNotSaved, .stateUnavailable, .stateInUse, .stateDamaged, .stateTooNew, .stateForeign, .stateDiskFull,
  ]

  private static let queueName = ParameterSpec(
    .name, .text(maximumByteCount: 255), .required, "NAME", "the saved queue's name")

  /// Commands about the saved state.
  static let state: [CommandSpec] = [
    CommandSpec(
      .state, .state, "Show whether players and queues are saved.",
      details: """
        - `folder`: the folder of the state, or `none`
        - `writes`: the number of writes since the start
        - `error`: with `saving=false`, why nothing is saved. With `saving=true`, a damaged state was replaced at the \
        start, or changes cannot be written at the moment. Such changes are retained and written later.
        - `crashed`: the entries that failed at the start with `crashed-while-opening`
        """,
      right: .read,
      reply: [
        .saving, .folder.nullable, .writes, .crashed.optional, .code.optional, .error.optional, .message.optional,
      ],
      example: ["> state", "< ok saving=true folder=/var/lib/zoe/playhead writes=12"]
    ) { _ throws(MediaError) in .state(.status) },
    CommandSpec(
      .stateSave, .state, "Save all changes now, and reply when they are saved.",
      details: "Optional: every change is saved within a second.",
      waiting: .always, reply: [.writes], errors: stateErrors, example: ["> state.save", "< ok writes=13"]
    ) { _ throws(MediaError) in .state(.save) },
    CommandSpec(
      .queueSave, .state, "Save the queue under a name.",
      details:
        "The current entry is the first one of the saved queue. A saved queue of the same name is replaced."
        + " Positions, the history and the settings of the player are not saved.",
      parameters: [queueName, player], waiting: .always, reply: [.name, .countOfEntries],
      errors: [.tooManySavedQueues, .noSuchPlayer] + stateErrors,
      example: ["> queue.save \"Sunday morning\"", "< ok name=\"Sunday morning\" count=12"]
    ) { arguments throws(MediaError) in
      .state(
        .saveQueue(name: try arguments.required(.name, arguments.text(.name)), player: arguments.player))
    },
    CommandSpec(
      .queueLoad, .state, "Replace the queue by a saved one.",
      details:
        "Corresponds to `load`: the rate stays, and the history is cleared. The entries have new ids. They keep"
        + " their network options and settings.",
      parameters: [queueName, ifVersion, player], waiting: .always,
      reply: [.name, .countOfEntries, .first.optional, .last.optional, .version],
      errors: [.noSuchSavedQueue, .versionMismatch, .queueTooLong, .noSuchPlayer] + stateErrors,
      example: [
        "> queue.load \"Sunday morning\"", "< ok name=\"Sunday morning\" count=12 first=20 last=31 version=5",
      ]
    ) { arguments throws(MediaError) in
      .state(
        .loadQueue(
          name: try arguments.required(.name, arguments.text(.name)), ifVersion: arguments.integer(.ifVersion),
          player: arguments.player))
    },
    CommandSpec(
      .queueSaved, .state, "List the saved queues by name.",
      details: "`saved` is a time in seconds since 1970.", waiting: .always, right: .read, reply: [.count],
      rows: [.name, .countOfEntries, .saved], errors: stateErrors,
      example: ["> queue.saved", "< | name=\"Sunday morning\" count=12 saved=1795370400", "< ok count=1"]
    ) { _ throws(MediaError) in .state(.savedQueues) },
    CommandSpec(
      .queueForget, .state, "Delete a saved queue.", parameters: [queueName], waiting: .always,
      errors: [.noSuchSavedQueue] + stateErrors, example: ["> queue.forget \"Sunday morning\"", "< ok"]
    ) { arguments throws(MediaError) in
      .state(.forgetQueue(name: try arguments.required(.name, arguments.text(.name))))
    },
  ]
}
