import MediaCore

extension CommandTable {
  /// Commands that change the current entry or the order of one player's queue.
  static let queueMoves: [CommandSpec] = [
    CommandSpec(
      .next, .queue, "Goes on to the next entry at once.",
      details: "The entry that was current leaves the queue; `previous` brings it back. Behind the last there is no"
        + " current"
        + " item.",
      parameters: [ifVersion, player], reply: ["item?", "version"],
      errors: [.noCurrentItem, .versionMismatch, .noSuchPlayer],
      example: ["> next", "< ok item=2 version=6"]
    ) { arguments throws(MediaError) in
      .queue(.next(ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .previous, .queue, "Goes back to what was played before.",
      details: "It comes back in front of the current entry, under its own id, and plays from its beginning. With"
        + " nothing"
        + " before, a queue that is repeated and not shuffled goes to its last entry. With `restart-after` an entry"
        + " of which"
        + " more has been heard begins anew instead, as on a CD player.",
      parameters: [
        ParameterSpec(
          .restartAfter, .duration(positive: false), .option, "TIME",
          "how much may have been heard to go back, such"
            + " as 3"),
        ifVersion, player,
      ],
      reply: ["item?", "version"], errors: [.noSuchItem, .versionMismatch, .noSuchPlayer],
      example: ["> previous restart-after=3", "< ok item=1 version=7"]
    ) { arguments throws(MediaError) in
      .queue(
        .previous(restartAfter: arguments.time(.restartAfter), ifVersion: arguments.integer(.ifVersion)),
        player: arguments.player)
    },
    CommandSpec(
      .jump, .queue, "Makes an entry current, and plays it from its beginning.",
      details: "By its id, or by its place with `index`. What lay before it counts as played: `previous` goes back"
        + " over it, and"
        + " where the queue is repeated it goes to the end. An entry that was played before comes back with all that"
        + " was"
        + " played since.",
      parameters: [
        ParameterSpec(.id, item, .optional, "ID", "the entry"),
        ParameterSpec(.index, .integer(0...Int.max), .option, "INDEX", "its place; 0 is the current entry's"),
        ifVersion,
        player,
      ],
      reply: ["item?", "version"],
      errors: [.invalidArgument, .noSuchItem, .itemInUse, .versionMismatch, .noSuchPlayer],
      example: ["> jump 9", "< ok item=9 version=8"]
    ) { arguments throws(MediaError) in
      let target: QueueCommand.JumpTarget
      switch (arguments.integer(.id), arguments.integer(.index)) {
      case (let id?, nil): target = .item(id)
      case (nil, let index?): target = .index(index)
      default: throw arguments.failure("either an id or index is to be said")
      }
      return .queue(.jump(target, ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .history, .queue, "Lists what was played before, the newest first.",
      details: "What ended, and what was gone on from; what failed or was removed is not there. \(1_000) entries are"
        + " kept. `load`"
        + " and `clear` forget them.",
      parameters: [
        ParameterSpec(
          .limit, .integer(0...WireLimits.standard.listCount), .option, "N",
          "entries at most; \(WireLimits.standard.listCount) unless said"), player,
      ],
      right: .read, reply: ["count", "version"], rows: ["item", "path?", "status", "duration?"],
      errors: [.noSuchPlayer],
      example: [
        "> history limit=1", "< | item=1 path=\"/music/one more.flac\" status=readyToPlay duration=183.2",
        "< ok count=4 version=8",
      ]
    ) { arguments throws(MediaError) in
      .queue(.history(limit: arguments.integer(.limit) ?? WireLimits.standard.listCount), player: arguments.player)
    },
    CommandSpec(
      .shuffle, .queue, "Shuffles what follows the current entry, or puts it back in order.",
      details: "Without an argument it tells which. With the same seed the same queue comes into the same order. `on`"
        + " again"
        + " shuffles anew. `off` goes on in the order that the queue has without shuffling, from the current entry on"
        + " and then"
        + " with what is before it and has not been played. While the queue is shuffled, what is appended comes"
        + " anywhere behind"
        + " the current entry, what is inserted where it is said. A queue that is repeated has another order each"
        + " round,"
        + " which does not begin with what was played last.\n\nThe order of round r (0 is made by `shuffle on`), so"
        + " that it can"
        + " be made elsewhere: SplitMix64 with the state seed XOR (r * 0xD1342543DE82EF95 mod 2^64), before whose"
        + " every number"
        + " the state grows by 0x9E3779B97F4A7C15. A draw below n is the next number modulo n, leaving out those from"
        + " the"
        + " largest multiple of n that is at most 2^64 on. For i from the last place down to 1, the entries at i and"
        + " at a draw"
        + " below i + 1 change places. What is shuffled is the order without shuffling: in round 0 without the"
        + " current entry,"
        + " which stays first. Where a later round would begin with what was played last, its first two entries that"
        + " can be"
        + " played change places. Seed 42 makes 1 9 6 10 4 7 8 2 5 3 of 1 to 10.",
      parameters: [
        ParameterSpec(.state, .toggle, .optional, "on|off|toggle", "what to do"),
        ParameterSpec(
          .seed, .integer(0...9_007_199_254_740_991), .option, "SEED",
          "what the order comes from, which shuffles unless another state is given; default: a random number"),
        ifVersion, player,
      ],
      asks: true, reply: ["shuffle", "[seed]", "version"], errors: [.versionMismatch, .noSuchPlayer],
      example: ["> shuffle on seed=42", "< ok shuffle=on seed=42 version=9"]
    ) { arguments throws(MediaError) in
      let state = arguments.text(.state).flatMap { PlaybackCommand.Switch(rawValue: $0) }
      let seed = arguments.integer(.seed)
      if seed != nil, state == .off { throw arguments.failure("a seed is for shuffling, not for off") }
      return .queue(
        .shuffle(seed == nil ? state : state ?? .on, seed: seed, ifVersion: arguments.integer(.ifVersion)),
        player: arguments.player)
    },
    CommandSpec(
      .onFailure, .queue, "Says what becomes of the player when an entry fails.",
      details: "`skip`, as it is at first: the next one follows; each entry that is passed over is an `item-skipped`"
        + " event, and"
        + " leaves the queue. `stop`: the player pauses, and the entry stays current; `play` goes on behind it. The"
        + " last"
        + " entry is not passed over: the player waits there (`currentItemFailed`). Without an argument it tells"
        + " which.",
      parameters: [
        ParameterSpec(
          .policy, .word(QueueCommand.FailurePolicy.allCases.map(\.rawValue)), .optional, "skip|stop", "what to do"),
        player,
      ],
      asks: true, reply: ["onFailure"], errors: [.noSuchPlayer], example: ["> on-failure stop", "< ok onFailure=stop"]
    ) { arguments throws(MediaError) in
      .queue(
        .onFailure(arguments.text(.policy).flatMap { QueueCommand.FailurePolicy(rawValue: $0) }),
        player: arguments.player)
    },
  ]

  /// Edits that consist of several changes.
  static let queueEdits: [CommandSpec] = [
    CommandSpec(
      .queueEdit, .queue, "Makes several edits, or none of them.",
      details: "Each is a command: `load`, `append`, `insert`, `remove`, `move`, `replace` or `clear`, without `wait`,"
        + " `if-version` and `player`; in JSON also an object with `method` and `params`. Each sees the queue as"
        + " those before it"
        + " left it; the whole is one new version. What is heard goes on, unless another entry is current afterwards."
        + " `items` are the new entries' ids.",
      parameters: [ParameterSpec(.ops, .edit, .list, "EDIT", "commands that edit the queue"), ifVersion, player],
      reply: ["[items]", "[version]", "[pending]"],
      errors: [
        .invalidArgument, .noSuchItem, .versionMismatch, .queueTooLong, .unsupportedPlace, .unknownCommand,
        .noSuchPlayer, .editTooLarge,
      ],
      example: ["> queue.edit \"move 5 to=0\" \"remove 9\" if-version=7", "< ok version=8"]
    ) { arguments throws(MediaError) in
      .queue(.edit(arguments.list(.ops), ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .queueBegin, .queue, "Begins an edit that is too large for a line.",
      details: "The edits that follow on this connection for this player (the commands of `queue.edit`) are gathered,"
        + " each"
        + " answered by `pending` alone, how many there are, until `queue.commit` makes all of them or none; everything"
        + " else is done at once, as always. New entries get their numbers as they are gathered. When the connection ends or the player is closed before that, nothing has changed. One at a"
        + " time; at most \(WireLimits.standard.editCount) changes and \(WireLimits.standard.editByteCount) bytes of"
        + " paths, and on all connections together \(WireLimits.standard.gatheredCount) and"
        + " \(WireLimits.standard.gatheredByteCount).",
      parameters: [
        ParameterSpec(
          .ifVersion, .integer(0...Int.max), .option, "VERSION",
          "do it only if the queue has this version, now and"
            + " then"),
        player,
      ],
      reply: ["version"], errors: [.invalidState, .versionMismatch, .noSuchPlayer],
      example: ["> queue.begin if-version=7", "< ok version=7"]
    ) { arguments throws(MediaError) in
      .queue(.begin(ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .queueCommit, .queue, "Makes all of the edits that were gathered, or none of them.",
      details: "Either way they are gathered no more. Answers as `queue.edit` does.", parameters: [player],
      reply: ["[items]", "version"],
      errors: [.invalidState, .invalidArgument, .noSuchItem, .versionMismatch, .queueTooLong, .noSuchPlayer],
      example: ["> queue.commit", "< ok items=10,11 version=8"]
    ) { arguments throws(MediaError) in .queue(.commit, player: arguments.player) },
    CommandSpec(
      .queueAbort, .queue, "Forgets the edits that were gathered.", parameters: [player], reply: ["version"],
      errors: [.invalidState, .noSuchPlayer], example: ["> queue.abort", "< ok version=7"]
    ) { arguments throws(MediaError) in .queue(.abort, player: arguments.player) },
    CommandSpec(
      .queueChanges, .queue, "Gives what happened to the queue since it had a version.",
      details:
        "Who does the same to a list of that version, row by row, has the queue as it is: an entry comes (`insert`, with the `index` that it has then, and its"
        + " `path` while it is in the queue), goes (`remove`, with the `index` that it had), or moves (`move`, `from` one index to"
        + " the `index` that it has then), or the first `count` entries go to the end (`rotate`). `whole=true` and no rows: the order is another one altogether"
        + " (`load`, `clear`, `shuffle`), too much happened since, or the version is none of this queue and instance; then `list` tells.",
      parameters: [
        ParameterSpec(.since, .integer(0...Int.max), .required, "VERSION", "a version that the queue had"),
        ParameterSpec(
          .instance, .text(maximumByteCount: 64), .option, "INSTANCE", "the daemon's instance that it had it in"),
        player,
      ],
      right: .read, reply: ["version", "count", "whole"],
      rows: ["version", "op", "[item]", "[from]", "[index]", "[count]", "[path?]"],
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
