import MediaCore

extension CommandTable {
  /// Commands that change the current entry or the order of one player's queue.
  static let queueMoves: [CommandSpec] = [
    CommandSpec(
      .next, .queue, "Play the next entry.",
      details: "The current entry leaves the queue; `previous` brings it back. After the last entry there is no"
        + " current item.",
      parameters: [ifVersion, player], reply: [.item.nullable, .version],
      errors: [.noCurrentItem, .versionMismatch, .noSuchPlayer],
      example: ["> next", "< ok item=2 version=6"]
    ) { arguments throws(MediaError) in
      .queue(.next(ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .previous, .queue, "Play the previous entry.",
      details: """
        The previous entry returns to the queue before the current one, with the same id. It plays from its start. If \
        there is no previous entry, a queue that repeats and is not shuffled continues with its last entry.

        With `restart-after`, the current entry starts again instead if more than TIME of it has been heard, as on a \
        CD player.
        """,
      parameters: [
        ParameterSpec(
          .restartAfter, .duration(positive: false), .option, "TIME",
          "restart the current entry if more than this has been heard, such as 3"),
        ifVersion, player,
      ],
      reply: [.item.nullable, .version], errors: [.noSuchItem, .versionMismatch, .noSuchPlayer],
      example: ["> previous restart-after=3", "< ok item=1 version=7"]
    ) { arguments throws(MediaError) in
      .queue(
        .previous(restartAfter: arguments.time(.restartAfter), ifVersion: arguments.integer(.ifVersion)),
        player: arguments.player)
    },
    CommandSpec(
      .jump, .queue, "Play another entry from its start.",
      details:
        "The entry is selected by its id, or by its position (`index`). Entries before it count as played:"
        + " `previous` returns to them, and in a queue that repeats they move to the end. An entry of the history"
        + " returns to the queue, with all entries played after it.",
      parameters: [
        ParameterSpec(.id, item, .optional, "ID", "the entry"),
        ParameterSpec(.index, .integer(0...Int.max), .option, "INDEX", "its position; 0 is the current entry"),
        ifVersion,
        player,
      ],
      reply: [.item.nullable, .version],
      errors: [.invalidArgument, .noSuchItem, .itemInUse, .versionMismatch, .noSuchPlayer],
      example: ["> jump 9", "< ok item=9 version=8"]
    ) { arguments throws(MediaError) in
      let target: QueueCommand.JumpTarget
      switch (arguments.entry(.id), arguments.integer(.index)) {
      case (let id?, nil): target = .item(id)
      case (nil, let index?): target = .index(index)
      default: throw arguments.failure("exactly one of id and index is required")
      }
      return .queue(.jump(target, ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .history, .queue, "List the history of the queue, newest first.",
      details:
        "The history contains the newest \(1_000) entries that ended or were left. It does not contain entries that"
        + " failed or were removed. `load` and `clear` clear the history.",
      parameters: [
        ParameterSpec(
          .limit, .integer(0...WireLimits.standard.listCount), .option, "N",
          "the maximum number of entries; default: \(WireLimits.standard.listCount)"), player,
      ],
      right: .read, reply: [.count, .version], rows: [.item, .path.nullable, .statusOfEntry, .duration.nullable],
      errors: [.noSuchPlayer],
      example: [
        "> history limit=1", "< | item=1 path=\"/music/one more.flac\" status=readyToPlay duration=183.2",
        "< ok count=4 version=8",
      ]
    ) { arguments throws(MediaError) in
      .queue(.history(limit: arguments.integer(.limit) ?? WireLimits.standard.listCount), player: arguments.player)
    },
    CommandSpec(
      .shuffle, .queue, "Shuffle the entries after the current one, or restore their order.",
      details: """
        - `on` shuffles the entries after the current one, also if they are shuffled already. The same seed gives the \
        same queue the same order.
        - `off` restores the unshuffled order: the entries after the current one, then the entries before it that have \
        not played.
        - Without a value, the reply states whether the queue is shuffled.

        In a shuffled queue, appended entries get random positions after the current one. Inserted entries get the \
        given position. A queue that repeats gets a new order for each round, which does not start with the entry that \
        played last.

        The order of round r (`shuffle on` makes round 0) can be computed elsewhere:

        - The random numbers are those of SplitMix64. Its state is seed XOR (r * 0xD1342543DE82EF95 mod 2^64), and \
        grows by 0x9E3779B97F4A7C15 before each number.
        - A draw below n is the next number modulo n. Numbers from the largest multiple of n up to 2^64 are skipped.
        - The input is the unshuffled order. In round 0, the current entry stays first and is not part of the input.
        - For i from the last position down to 1, the entry at i and the entry at a draw below i + 1 are swapped.
        - If a later round would start with the entry that played last, its first two playable entries are swapped.

        Seed 42 turns 1 to 10 into 1 9 6 10 4 7 8 2 5 3.
        """,
      parameters: [
        ParameterSpec(.state, .toggle, .optional, "on|off|toggle", "the new state"),
        ParameterSpec(
          .seed, .integer(0...9_007_199_254_740_991), .option, "SEED",
          "the seed of the order, for `on`; default: a random number"),
        ifVersion, player,
      ],
      readsWithoutValue: true, reply: [.shuffleState, .seed.optional, .version],
      errors: [.versionMismatch, .noSuchPlayer],
      example: ["> shuffle on seed=42", "< ok shuffle=on seed=42 version=9"]
    ) { arguments throws(MediaError) in
      let state = arguments.text(.state).flatMap { SwitchSetting(rawValue: $0) }
      let seed = arguments.integer(.seed)
      if seed != nil, state == .off { throw arguments.failure("seed excludes off") }
      return .queue(
        .shuffle(seed == nil ? state : state ?? .on, seed: seed, ifVersion: arguments.integer(.ifVersion)),
        player: arguments.player)
    },
    CommandSpec(
      .onFailure, .queue, "Set what happens when an entry fails, or show it.",
      details: """
        - `skip` (default): the next entry plays. The failed entry leaves the queue with an `item-skipped` event. The \
        last entry is not skipped: the player waits there (`currentItemFailed`), or pauses with `end-action stop`.
        - `stop`: the player pauses, and the failed entry stays current. `play` continues with the next entry.
        - `retry`: the next entry plays, with an `item-skipped` event. The failed entry moves to the end of the queue. \
        While the player plays, failed entries among the next 8 are opened again: each after 1 s, and then after \
        doubled delays of at most 60 s. If all entries have failed, the player waits (`currentItemFailed`) until one \
        can be opened. A descriptor, and an entry that crashed the daemon, are not opened again. An entry whose file \
        or server fails while it plays forwards is retried, too, and continues at the position of the failure. An \
        entry with damaged content leaves the queue as at its end.
        """,
      parameters: [
        ParameterSpec(
          .policy, .word(QueueCommand.FailurePolicy.allCases.map(\.rawValue)), .optional, "skip|stop|retry",
          "the action; default: `skip`"),
        player,
      ],
      readsWithoutValue: true, reply: [.onFailure], errors: [.noSuchPlayer],
      example: ["> on-failure stop", "< ok onFailure=stop"]
    ) { arguments throws(MediaError) in
      .queue(
        .onFailure(arguments.text(.policy).flatMap { QueueCommand.FailurePolicy(rawValue: $0) }),
        player: arguments.player)
    },
  ]

  /// Edits that consist of several changes.
  static let queueEdits: [CommandSpec] = [
    CommandSpec(
      .queueEdit, .queue, "Apply several edits to the queue, or none of them.",
      details: """
        Each edit is one of these commands, without `wait`, `if-version` and `player`: `load`, `append`, `insert`, \
        `remove`, `move`, `replace`, `clear`. In JSON, an edit can also be an object with `method` and `params`.

        Each edit applies to the result of the earlier ones. All edits together make one new version. Playback \
        continues unless the current entry changes. `items` are the ids of the new entries.
        """,
      parameters: [ParameterSpec(.ops, .edit, .list, "EDIT", "commands that edit the queue"), ifVersion, player],
      reply: [.items.optional, .version.optional, .pending.optional],
      errors: [
        .invalidArgument, .noSuchItem, .versionMismatch, .queueTooLong, .unsupportedLocation, .unknownCommand,
        .noSuchPlayer, .editTooLarge,
      ],
      example: ["> queue.edit \"move 5 to=0\" \"remove 9\" if-version=7", "< ok version=8"]
    ) { arguments throws(MediaError) in
      .queue(.edit(arguments.list(.ops), ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .queueBegin, .queue, "Begin a transaction: collect edits until `queue.commit`.",
      details: """
        The following edits by this connection for this player are collected, and `queue.commit` applies all of them \
        or none. The edits are the commands of `queue.edit`. Each reply has only `pending`, the number of collected \
        edits.

        - New entries get their ids when they are collected.
        - Other commands take effect at once.
        - If the connection ends or the player is closed before `queue.commit`, nothing changes.
        - A connection has one transaction at a time, with at most \(WireLimits.standard.editCount) changes and \
        \(WireLimits.standard.editByteCount) bytes of paths.
        - All connections together have at most \(WireLimits.standard.collectedChangeCount) changes and \
        \(WireLimits.standard.collectedByteCount) bytes.
        """,
      parameters: [
        ParameterSpec(
          .ifVersion, .integer(0...Int.max), .option, "VERSION",
          "only if the queue has this version, now and at `queue.commit`"),
        player,
      ],
      reply: [.version], errors: [.invalidState, .versionMismatch, .noSuchPlayer],
      example: ["> queue.begin if-version=7", "< ok version=7"]
    ) { arguments throws(MediaError) in
      .queue(.begin(ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .queueCommit, .queue, "Apply all collected edits, or none.",
      details: """
        The transaction ends in both cases. The reply is that of `queue.edit`. With `wait=ready`, the reply comes when \
        all new entries are ready, or has the error of the first that fails. After such an error, the edits stay applied.
        """,
      parameters: [wait, player], waiting: .untilReady,
      reply: [.items.optional, .version],
      errors: [
        .invalidState, .invalidArgument, .noSuchItem, .versionMismatch, .queueTooLong, .noSuchPlayer, .waitEnded,
        .noSuchDescriptor, .onlyInOrder,
      ] + mediaErrors,
      example: ["> queue.commit", "< ok items=10,11 version=8"]
    ) { arguments throws(MediaError) in
      .queue(.commit(waitUntilReady: arguments.text(.wait) != nil), player: arguments.player)
    },
    CommandSpec(
      .queueAbort, .queue, "Discard the transaction.", parameters: [player], reply: [.version],
      errors: [.invalidState, .noSuchPlayer], example: ["> queue.abort", "< ok version=7"]
    ) { arguments throws(MediaError) in .queue(.abort, player: arguments.player) },
    CommandSpec(
      .queueChanges, .queue, "List the changes of the queue since a version.",
      details: """
        Applied in order to a copy of that version, the rows give the current queue. `op` is one of these:

        - `insert`: an entry was added at `index`; `path` is given while the entry is in the queue
        - `remove`: the entry at `index` was removed
        - `move`: the entry at `from` was moved to `index`
        - `rotate`: the first `count` entries were moved to the end

        If `whole=true`, there are no rows, and the client needs `list`. The reason is one of these:

        - the whole order changed (`load`, `clear`, `shuffle`)
        - there are too many changes
        - this instance does not know the version
        """,
      parameters: [
        ParameterSpec(.since, .integer(0...Int.max), .required, "VERSION", "an earlier version of the queue"),
        ParameterSpec(
          .instance, .text(maximumByteCount: 64), .option, "INSTANCE", "the instance of the daemon with that version"),
        player,
      ],
      right: .read, reply: [.version, .countOfRows, .whole],
      rows: [
        .version, .op, .item.optional, .from.optional, .index.optional, .countOfRotation.optional,
        .path.nullable.optional,
      ],
      errors: [.noSuchPlayer],
      example: [
        "> queue.changes 7", "< | version=8 op=insert item=12 index=3 path=/music/one.flac",
        "< | version=9 op=remove item=4 index=0", "< ok version=9 count=2 whole=false",
      ]
    ) { arguments throws(MediaError) in
      .queue(
        .changes(
          since: try arguments.required(.since, arguments.integer(.since)), instance: arguments.text(.instance)),
        player: arguments.player)
    },
  ]
}
