import MediaCore

extension CommandTable {
  private static let subscription = ParameterSpec(
    .id, .integer(1...Int.max), .required, "ID", "the id that the subscription was answered with")

  /// Commands that observe events or wait for them.
  static let watching: [CommandSpec] = [
    CommandSpec(
      .observe, .watching, "Sends the present values of some keys as `changed` events, and then every change.",
      details:
        "The first events, with `initial=true`, come right behind the reply; they are of when event `seq` was the last. A slow"
        + " reader gets only the newest value of each key, and an `overflow` that says so.",
      parameters: [ParameterSpec(.keys, .key, .list, "KEY", "keys; a `*` in one stands for any text"), player],
      right: .read, reply: ["id", "seq"], errors: [.noSuchProperty, .tooManySubscriptions, .noSuchPlayer],
      example: [
        "> observe player.timeControlStatus queue.version", "< ok id=1 seq=41",
        "< * changed id=1 player=main key=player.timeControlStatus new=paused cause=initial initial=true",
        "< * changed id=1 player=main key=queue.version new=0 cause=initial initial=true",
      ]
    ) { arguments throws(MediaError) in .watching(.observe(arguments.keys, player: arguments.player)) },
    CommandSpec(
      .unobserve, .watching, "Ends an observation.", details: "No event with its id comes behind the reply.",
      parameters: [subscription], right: .read, errors: [.noSuchObserver], example: ["> unobserve 1", "< ok"]
    ) { arguments throws(MediaError) in
      .watching(.unobserve(subscription: try arguments.required(.id, arguments.integer(.id))))
    },
    CommandSpec(
      .events, .watching, "Gives the events since a number that is known, so that nothing is missed.",
      details:
        "For who comes back, and for who watches without a connection of its own. A row for each event that `observe` with these keys"
        + " would send, in order, with its fields but `id`, whoever observes; first values, ticks, meters and the progress of scans have no numbers and are"
        + " not among them. Without `since` it begins with what comes next. `seq` is the number to go on from; `missed` how many"
        + " older events the log has forgotten (of any key), and `more` whether there are more than were asked for. With `wait` it answers when there is"
        + " something, or the time-out is over. `instance` is the daemon's, from the greeting: a number is of one instance. See"
        + " *Numbers*.",
      parameters: [
        ParameterSpec(.keys, .key, .optionalList, "KEY", "keys, as for `observe`; default: all"),
        ParameterSpec(.since, .integer(0...Int.max), .option, "SEQ", "the last number that is known"),
        ParameterSpec(
          .instance, .text(maximumByteCount: 64), .option, "INSTANCE", "the daemon's instance that the number is of"),
        ParameterSpec(
          .limit, .integer(1...WireLimits.standard.listCount), .option, "N",
          "events at most; \(WireLimits.standard.listCount) unless said"),
        ParameterSpec(.wait, .flag, .option, "wait", "wait for an event where there is none yet"),
        ParameterSpec(
          .timeout, .duration(positive: false), .option, "TIME",
          "how long to wait on the daemon's clock, real or virtual; default: no limit"),
        ParameterSpec(.player, .playerName, .option, "NAME", "which player; default: all"),
      ],
      waiting: .ifAsked, right: .read, reply: ["instance", "seq", "count", "missed", "more"],
      rows: ["seq", "event", "[player]", "[key]", "[item?]", "[old?]", "[new?]", "[cause]", "[changes?]"],
      errors: [.noSuchProperty, .otherInstance, .noSuchEvent, .invalidTime, .noSuchPlayer],
      example: [
        "> events player.* since=41 instance=9f86d081884c7d65",
        "< | seq=43 event=changed player=main key=player.rate old=0 new=1 cause=request",
        "< ok instance=9f86d081884c7d65 seq=44 count=1 missed=0 more=false",
      ]
    ) { arguments throws(MediaError) in
      let keys = arguments.keys
      if !arguments.flag(.wait), arguments.isGiven(.timeout) {
        throw arguments.failure("timeout stands with wait only")
      }
      return .watching(
        .events(
          EventQuery(
            keys: keys.isEmpty ? ObservableKey.allCases : keys, player: arguments.text(.player),
            since: arguments.integer(.since), instance: arguments.text(.instance),
            limit: arguments.integer(.limit) ?? WireLimits.standard.listCount, waits: arguments.flag(.wait),
            timeout: arguments.time(.timeout))))
    },
    CommandSpec(
      .tick, .watching, "Sends a `tick` event each time that playback passes a multiple of the interval.",
      details:
        "In the item's time: at rate 2 they come twice as often. Also sent when the time jumps and when sound begins or"
        + " ceases (`reason`). `late` is by how many seconds the event came after the sample was heard. The interval is at"
        + " least 1 ms. See *Ticks and cues*.",
      parameters: [
        ParameterSpec(.interval, .duration(positive: true), .required, "INTERVAL", "the item time between two ticks"),
        player,
      ],
      right: .read, reply: ["id"], errors: [.invalidTime, .tooManySubscriptions, .noSuchPlayer],
      example: [
        "> tick 0.5", "< ok id=2",
        "< * tick id=2 player=main item=1 time=84 pts=3704400/44100 rate=1 reason=periodic late=0.002",
      ]
    ) { arguments throws(MediaError) in
      .watching(
        .tick(interval: try arguments.required(.interval, arguments.time(.interval)), player: arguments.player))
    },
    CommandSpec(
      .at, .watching, "Sends an `at` event each time that playback passes one of the times.",
      details:
        "Passing is playing through it, the item's beginning and end included (`kind=crossed`). A seek over it does not count,"
        + " unless `seeks` asks for that (`kind=skipped`). A time behind the item's duration is never reached. See *Ticks and"
        + " cues*.",
      parameters: [
        ParameterSpec(.times, .time, .list, "TIME", "times from the beginning of the item"),
        ParameterSpec(.item, item, .option, "ID", "only in this item; in every one unless said"),
        ParameterSpec(.seeks, .flag, .option, "seeks", "also what a seek goes over"), player,
      ],
      right: .read, reply: ["id"], errors: [.invalidTime, .noSuchItem, .tooManySubscriptions, .noSuchPlayer],
      example: [
        "> at 90 95.25", "< ok id=3", "< * at id=3 player=main item=1 time=90 pts=90/1 kind=crossed late=0.001",
      ]
    ) { arguments throws(MediaError) in
      .watching(
        .at(
          arguments.list(.times), item: arguments.integer(.item), includesSeeks: arguments.flag(.seeks),
          player: arguments.player))
    },
    CommandSpec(
      .atChapters, .watching, "Sends an `at` event each time that playback passes the start of a chapter.",
      details:
        "Of whichever item is current, with the chapter's number and title. All else is as with `at` and these times: `kind=crossed` by playing, the start of the one at 0 when the item begins to be heard;"
        + " `kind=skipped` by a seek over it, with `seeks`. What `item.chapters` lists is what is gone by. Of an item without chapters nothing is sent.",
      parameters: [
        ParameterSpec(.item, item, .option, "ID", "only in this item; in every one unless said"),
        ParameterSpec(.seeks, .flag, .option, "seeks", "also what a seek goes over"), player,
      ],
      right: .read, reply: ["id"], errors: [.noSuchItem, .tooManySubscriptions, .noSuchPlayer],
      example: [
        "> at-chapters seeks", "< ok id=3",
        "< * at id=3 player=main item=1 time=83.5 pts=167/2 kind=crossed chapter=2 title=Fugue late=0.001",
      ]
    ) { arguments throws(MediaError) in
      .watching(
        .atChapters(
          item: arguments.integer(.item), includesSeeks: arguments.flag(.seeks), player: arguments.player))
    },
    CommandSpec(
      .untick, .watching, "Ends a `tick`, an `at` or an `at-chapters`.",
      details: "No event with its id comes behind the reply.",
      parameters: [subscription], right: .read, errors: [.noSuchObserver], example: ["> untick 2", "< ok"]
    ) { arguments throws(MediaError) in
      .watching(.untick(subscription: try arguments.required(.id, arguments.integer(.id))))
    },
    CommandSpec(
      .meter, .watching, "Sends `meter` events that say how loud the player is.",
      details:
        "So many times a second while the player sounds, each when what it measured has been heard; and once with silence"
        + " (-160) when it sounds no more. Measured is what is heard of this player, after volume and pan, since the event"
        + " before. What nobody asks for is not measured.",
      parameters: [
        ParameterSpec(.rate, .number(1...100, exceptZero: false), .optional, "RATE", "events a second; 20 unless said"),
        player,
      ],
      right: .read, reply: ["id"], errors: [.tooManySubscriptions, .noSuchPlayer],
      example: [
        "> meter", "< ok id=4",
        "< * meter id=4 player=main item=1 time=84.05 pts=4034400/48000 average=-20.05,-19.8 peak=-9.54,-8.2"
          + " averageScale=0.3139,0.3185 peakScale=0.577,0.6229 late=0.001",
      ]
    ) { arguments throws(MediaError) in
      .watching(.meter(rate: arguments.number(.rate) ?? 20, player: arguments.player))
    },
    CommandSpec(
      .unmeter, .watching, "Ends a `meter`.", details: "No event with its id comes behind the reply.",
      parameters: [subscription], right: .read, errors: [.noSuchObserver], example: ["> unmeter 4", "< ok"]
    ) { arguments throws(MediaError) in
      .watching(.unmeter(subscription: try arguments.required(.id, arguments.integer(.id))))
    },
    CommandSpec(
      .wait, .watching, "Answers when all conditions hold.",
      details:
        "What holds already is answered at once. `time>=` and `time<=` ask for the time heard, whichever way it is played;"
        + " both together for a time between the two. `status=waiting` is `waitingToPlayAtSpecifiedRate`; `ended` is no current"
        + " item, or paused where the current one ends (at an end time, and backwards at its beginning, too); `ready` is a"
        + " current item that is ready to play. A change of item ends a `time>=` or `time<=` with `wait-ended`, and so does"
        + " the item's end, where playing on does not lead there; an error that stops the player (`player.error`) ends what"
        + " needs it to play.",
      parameters: [
        ParameterSpec(
          .conditions, .condition, .list, "CONDITION",
          "`time>=TIME`, `time<=TIME`, `status=playing`, `status=paused`, `status=waiting`, `item=ID`, `ended`, `ready`"
        ),
        ParameterSpec(
          .timeout, .duration(positive: false), .option, "TIME",
          "how long to wait on the daemon's clock, real or virtual; default: no limit"),
        player,
      ],
      waiting: .always, right: .read, reply: ["item?", "time", "pts", "timeControlStatus"],
      errors: [.invalidTime, .timedOut, .waitEnded, .noSuchItem, .noSuchPlayer] + streamErrors + mediaErrors,
      example: [
        "> @w wait time>=90 timeout=5",
        "< @w error code=6011 name=timed-out message=\"not within 5 seconds\" operation=wait",
      ]
    ) { arguments throws(MediaError) in
      .watching(.wait(try arguments.waitConditions(), timeout: arguments.time(.timeout), player: arguments.player))
    },
    CommandSpec(
      .clockAdvance, .watching, "Lets time pass on the virtual clock.",
      details:
        "Only where the daemon runs with `--clock virtual`. `now` is the time of that clock, which begins at 0: instants of `play-at`"
        + " and `rate-at`, `hostTime` and timeouts are of the same clock. A waiting request: it answers when the whole span has been"
        + " rendered and every event of it that is for this connection has been written. An event at exactly the end of the span,"
        + " such as a `stop` tick, may come with the next span. The first tick after the start of a loop that was set during playback"
        + " may come at the end of the span; its `late` states that.",
      parameters: [
        ParameterSpec(.duration, .duration(positive: false), .required, "DURATION", "how much time passes")
      ],
      waiting: .always, reply: ["now"], errors: [.invalidTime, .notVirtualClock],
      example: ["> clock.advance 2.5", "< ok now=2.5"]
    ) { arguments throws(MediaError) in
      .watching(.clockAdvance(try arguments.required(.duration, arguments.time(.duration))))
    },
    CommandSpec(
      .explain, .watching, "Tells where the time of the last start or seek went.",
      details:
        "In microseconds, from the request (`load`, `next`, `play`, `seek`, an edit of the queue) to the first sample heard."
        + " `wait`: until the decode thread began, the time that `chase` held the seek included; `open`: opening the file; `index`: finding the place in it; `demux`:"
        + " reading from there; `decode` and `resample`: up to the first sample, and as much more as must be there before it"
        + " can sound; `commit`: handing it to the device; `device`: until it was heard, `none` while it is not, as for a"
        + " player that is paused; `total`: all of them. `kind` is `start`, `seek`, or `splice` for what an edit of the queue"
        + " put behind the present item. On the virtual clock decoding takes no time.",
      parameters: [player],
      right: .read,
      reply: [
        "player", "kind", "item", "requested", "reached", "wait", "open", "index", "demux", "decode", "resample",
        "commit",
        "device?", "total",
      ],
      errors: [.invalidState, .noSuchPlayer],
      example: [
        "> explain",
        "< ok player=main kind=seek item=1 requested=83.5 reached=83.5 wait=40 open=0 index=35 demux=60 decode=620 resample=0"
          + " commit=1180 device=9800 total=11735",
      ]
    ) { arguments throws(MediaError) in .watching(.explain(player: arguments.player)) },
  ]

  /// Commands about the players of the daemon.
  static let players: [CommandSpec] = [
    CommandSpec(
      .playerCreate, .players, "Makes a player.",
      details: "It has an empty queue and shares the output with the others.",
      parameters: [playerNameParameter], reply: ["player"], errors: [.playerExists, .tooManyPlayers],
      example: ["> player.create jingles", "< ok player=jingles"]
    ) { arguments throws(MediaError) in
      .players(.create(name: try arguments.required(.name, arguments.text(.name))))
    },
    CommandSpec(
      .playerClose, .players, "Ends a player, with its queue and its subscriptions.",
      details: "`main` is always there and cannot be closed.", parameters: [playerNameParameter],
      errors: [.noSuchPlayer, .invalidArgument], example: ["> player.close jingles", "< ok"]
    ) { arguments throws(MediaError) in
      .players(.close(name: try arguments.required(.name, arguments.text(.name))))
    },
    CommandSpec(
      .playerList, .players, "Lists the players, a row for each.",
      right: .read, reply: ["count"],
      rows: ["player", "timeControlStatus", "rate", "item?", "count", "volume", "muted"],
      example: [
        "> player.list", "< | player=main timeControlStatus=paused rate=0 item=none count=0 volume=1 muted=false",
        "< ok count=1",
      ]
    ) { _ throws(MediaError) in .players(.list) },
  ]

  private static let playerNameParameter = ParameterSpec(.name, .playerName, .required, "NAME", "the player's name")
}
