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
      .state, .state, "Tells whether players and queues are being saved.",
      details:
        "`folder` is where, or `none`. `writes` counts what was written since the start. With `saving=false` the error says why;"
        + " with `saving=true` there is one when the state was damaged at the start and another was begun, and while what"
        + " has changed cannot be written: it is kept, and written when that can be done again. `crashed` lists the entries that"
        + " failed at the start with `crashed-while-opening`.",
      right: .read, reply: ["saving", "folder?", "writes", "[crashed]", "[code]", "[error]", "[message]"],
      example: ["> state", "< ok saving=true folder=/var/lib/zoe/playhead writes=12"]
    ) { _ throws(MediaError) in .state(.status) },
    CommandSpec(
      .stateSave, .state, "Saves what has changed at once, and answers when that is done.",
      details: "Not needed: everything is saved by itself, within a second. A waiting request.",
      waiting: .always, reply: ["writes"], errors: stateErrors, example: ["> state.save", "< ok writes=13"]
    ) { _ throws(MediaError) in .state(.save) },
    CommandSpec(
      .queueSave, .state, "Saves the queue under a name.",
      details:
        "The current entry is the first. A queue that was saved under this name is replaced. Positions, history and the player's"
        + " settings are not part of it. A waiting request, as all about saved queues.",
      parameters: [queueName, player], waiting: .always, reply: ["name", "count"],
      errors: [.tooManySavedQueues, .noSuchPlayer] + stateErrors,
      example: ["> queue.save \"Sunday morning\"", "< ok name=\"Sunday morning\" count=12"]
    ) { arguments throws(MediaError) in
      .state(
        .saveQueue(name: try arguments.required(.name, arguments.text(.name)), player: arguments.player))
    },
    CommandSpec(
      .queueLoad, .state, "Replaces the queue by one that was saved.",
      details:
        "As `load` does: the rate stays, and what was played before is forgotten. Entries have new ids; how they were to be asked"
        + " for and to be played is as it was.",
      parameters: [queueName, ifVersion, player], waiting: .always,
      reply: ["name", "count", "[first]", "[last]", "version"],
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
      .queueSaved, .state, "Lists the queues that were saved, a row for each.",
      details: "By name. `saved` is when, in seconds since 1970.", waiting: .always, right: .read, reply: ["count"],
      rows: ["name", "count", "saved"], errors: stateErrors,
      example: ["> queue.saved", "< | name=\"Sunday morning\" count=12 saved=1795370400", "< ok count=1"]
    ) { _ throws(MediaError) in .state(.savedQueues) },
    CommandSpec(
      .queueForget, .state, "Forgets a queue that was saved.", parameters: [queueName], waiting: .always,
      errors: [.noSuchSavedQueue] + stateErrors, example: ["> queue.forget \"Sunday morning\"", "< ok"]
    ) { arguments throws(MediaError) in
      .state(.forgetQueue(name: try arguments.required(.name, arguments.text(.name))))
    },
  ]
}
