import MediaCore

extension CommandTable {
  private static let subscription = ParameterSpec(
    .id, item, .required, "ID", "the id that the subscription was answered with")

  /// Commands that watch, or wait for, what happens.
  static let watching: [CommandSpec] = [
    CommandSpec(
      .observe, .watching, "Sends the present values of some keys as `changed` events, and then every change.",
      details:
        "The first events, with `initial=true`, come right behind the reply. A slow reader gets only the newest value of"
        + " each key.",
      parameters: [ParameterSpec(.keys, .key, .list, "KEY", "keys, or beginnings with `*` behind them"), player],
      reply: ["id"], errors: [.noSuchProperty, .tooManySubscriptions, .noSuchPlayer],
      example: [
        "> observe player.timeControlStatus queue.version", "< ok id=1",
        "< * changed id=1 player=main key=player.timeControlStatus new=paused cause=initial initial=true",
        "< * changed id=1 player=main key=queue.version new=0 cause=initial initial=true",
      ]
    ) { arguments throws(MediaError) in .watching(.observe(arguments.keys(.keys), player: arguments.player)) },
    CommandSpec(
      .unobserve, .watching, "Ends an observation.", details: "No event with its id comes behind the reply.",
      parameters: [subscription], errors: [.noSuchObserver], example: ["> unobserve 1", "< ok"]
    ) { arguments throws(MediaError) in
      .watching(.unobserve(subscription: try arguments.required(.id, arguments.integer(.id))))
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
      reply: ["id"], errors: [.invalidTime, .tooManySubscriptions, .noSuchPlayer],
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
      reply: ["id"], errors: [.invalidTime, .noSuchItem, .tooManySubscriptions, .noSuchPlayer],
      example: [
        "> at 90 95.25", "< ok id=3", "< * at id=3 player=main item=1 time=90 pts=90/1 kind=crossed late=0.001",
      ]
    ) { arguments throws(MediaError) in
      .watching(
        .at(
          arguments.times(.times), item: arguments.integer(.item), includesSeeks: arguments.flag(.seeks),
          player: arguments.player))
    },
    CommandSpec(
      .untick, .watching, "Ends a `tick` or an `at`.", details: "No event with its id comes behind the reply.",
      parameters: [subscription], errors: [.noSuchObserver], example: ["> untick 2", "< ok"]
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
      reply: ["id"], errors: [.tooManySubscriptions, .noSuchPlayer],
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
      parameters: [subscription], errors: [.noSuchObserver], example: ["> unmeter 4", "< ok"]
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
        ParameterSpec(.timeout, .duration(positive: false), .option, "TIME", "how long to wait; for ever unless said"),
        player,
      ],
      waiting: .always, reply: ["item", "time", "pts", "timeControlStatus"],
      errors: [.invalidTime, .timedOut, .waitEnded, .noSuchItem, .noSuchPlayer],
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
        "Only where the daemon runs with `--clock virtual`. A waiting request: it answers when the whole span has been"
        + " rendered and every event of it that is for this connection has been written.",
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
      reply: [
        "player", "kind", "item", "requested", "reached", "wait", "open", "index", "demux", "decode", "resample",
        "commit",
        "device", "total",
      ],
      errors: [.invalidState, .noSuchPlayer],
      example: [
        "> explain",
        "< ok player=main kind=seek item=1 requested=83.5 reached=83.5 wait=40 open=0 index=35 demux=60 decode=620 resample=0"
          + " commit=1180 device=9800 total=11735",
      ]
    ) { arguments throws(MediaError) in .watching(.explain(player: arguments.player)) },
  ]

  /// Commands about the players of the daemon and their outputs.
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
      reply: ["count"], rows: ["player", "timeControlStatus", "rate", "item", "count", "volume", "muted"],
      example: [
        "> player.list", "< | player=main timeControlStatus=paused rate=0 item=none count=0 volume=1 muted=false",
        "< ok count=1",
      ]
    ) { _ throws(MediaError) in .players(.list) },
    CommandSpec(
      .outputStatus, .players, "Gives the state of the output that a player is heard through.",
      details:
        "`clipped` counts the samples beyond full scale that were heard: nothing limits what the players add up to.",
      parameters: [player],
      reply: ["output", "state", "sampleRate", "channels", "clipped", "[error]"],
      errors: [.noSuchPlayer],
      example: [
        "> output.status",
        "< ok output=pulse:speakers state=ready sampleRate=48000 channels=2 clipped=0",
      ]
    ) { arguments throws(MediaError) in .players(.outputStatus(player: arguments.player)) },
  ]

  private static let playerNameParameter = ParameterSpec(.name, .playerName, .required, "NAME", "the player's name")
}
