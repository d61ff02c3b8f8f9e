import MediaCore

extension CommandTable {
  private static let subscription = ParameterSpec(
    .id, .integer(1...Int.max), .required, "ID", "the id of the subscription")

  /// The fields of a row of `events`.
  private static let loggedEventFields: [FieldSpec] = [.seq, .event] + EventTable.loggedFields

  /// Commands that observe events or wait for them.
  static let watching: [CommandSpec] = [
    CommandSpec(
      .observe, .watching, "Subscribe to the current values of keys and their changes.",
      details:
        "The first events, with `initial=true`, follow the reply; they describe the state after event `seq`. A slow"
        + " reader gets only the newest value of each key, and an `overflow` event.",
      parameters: [ParameterSpec(.keys, .key, .list, "KEY", "keys; a `*` matches any text"), player],
      right: .read, reply: [.id, .seqOfLastEvent], errors: [.noSuchProperty, .tooManySubscriptions, .noSuchPlayer],
      example: [
        "> observe player.timeControlStatus queue.version", "< ok id=1 seq=41",
        "< * changed id=1 player=main key=player.timeControlStatus new=paused cause=initial initial=true",
        "< * changed id=1 player=main key=queue.version new=0 cause=initial initial=true",
      ]
    ) { arguments throws(MediaError) in .watching(.observe(arguments.keys, player: arguments.player)) },
    CommandSpec(
      .unobserve, .watching, "End an observation.", details: "No event with its id follows the reply.",
      parameters: [subscription], right: .read, errors: [.noSuchObserver], example: ["> unobserve 1", "< ok"]
    ) { arguments throws(MediaError) in
      .watching(.unobserve(subscription: try arguments.required(.id, arguments.integer(.id))))
    },
    CommandSpec(
      .events, .watching, "List the events since a known number.",
      details: """
        For clients that reconnect, and for clients without a permanent connection (*Numbers*). The reply has a row \
        for each event that `observe` with these keys would send. Initial values, ticks, meters and the progress of \
        scans have no numbers, and are not included.

        - `since`: the last known number. Without it, the list begins with the next event.
        - `wait`: the reply comes when there is an event, or after `timeout`.

        Fields of the reply:

        - `seq`: the number for the next request
        - `missed`: the number of older events, of any key, that the log no longer has
        - `more`: whether the log has further events
        - `instance`: the instance of the daemon, as in the greeting. Numbers belong to one instance.
        """,
      parameters: [
        ParameterSpec(.keys, .key, .optionalList, "KEY", "keys, as for `observe`; default: all"),
        ParameterSpec(.since, .integer(0...Int.max), .option, "SEQ", "the number of the last known event"),
        ParameterSpec(
          .instance, .text(maximumByteCount: 64), .option, "INSTANCE",
          "the instance of the daemon to which the number belongs"),
        ParameterSpec(
          .limit, .integer(1...WireLimits.standard.listCount), .option, "N",
          "the maximum number of events; default: \(WireLimits.standard.listCount)"),
        ParameterSpec(.wait, .flag, .option, "wait", "wait for an event if there is none"),
        ParameterSpec(
          .timeout, .duration(positive: false), .option, "TIME",
          "how long to wait on the daemon's clock, real or virtual; default: no limit"),
        ParameterSpec(.player, .playerName, .option, "NAME", "which player; default: all"),
      ],
      waiting: .ifRequested, right: .read, reply: [.instance, .seqOfLastEvent, .countOfRows, .missed, .more],
      rows: loggedEventFields,
      errors: [.noSuchProperty, .otherInstance, .noSuchEvent, .invalidTime, .noSuchPlayer],
      example: [
        "> events player.* since=41 instance=9f86d081884c7d65",
        "< | seq=43 event=changed player=main key=player.rate old=0 new=1 cause=request",
        "< ok instance=9f86d081884c7d65 seq=44 count=1 missed=0 more=false",
      ]
    ) { arguments throws(MediaError) in
      let keys = arguments.keys
      if !arguments.flag(.wait), arguments.isGiven(.timeout) {
        throw arguments.failure("timeout needs wait")
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
      .tick, .watching, "Subscribe to ticks at each multiple of an interval.",
      details: """
        The interval is in item time: at rate 2, ticks come twice as often. It is at least 1 ms. `late` is the delay \
        in seconds between the sample and the event. See *Ticks and cues*. `reason` is one of these:

        - `periodic`: a multiple of the interval was heard
        - `jump`: the time jumped
        - `start`: audio started
        - `stop`: audio stopped
        """,
      parameters: [
        ParameterSpec(.interval, .duration(positive: true), .required, "INTERVAL", "the item time between two ticks"),
        player,
      ],
      right: .read, reply: [.id], errors: [.invalidTime, .tooManySubscriptions, .noSuchPlayer],
      example: [
        "> tick 0.5", "< ok id=2",
        "< * tick id=2 player=main item=1 time=84 pts=3704400/44100 rate=1 reason=periodic late=0.002"
          + " hostTime=5012.25",
      ]
    ) { arguments throws(MediaError) in
      .watching(
        .tick(interval: try arguments.required(.interval, arguments.time(.interval)), player: arguments.player))
    },
    CommandSpec(
      .at, .watching, "Subscribe to boundary events at given times.",
      details: """
        Times include the start and the end of the item. A time after the end of the item is never reached. See *Ticks \
        and cues*. `kind` is one of these:

        - `crossed`: playback reached the time
        - `skipped`: a seek passed the time; only with `seeks`
        """,
      parameters: [
        ParameterSpec(.times, .time, .list, "TIME", "times from the start of the item"),
        ParameterSpec(.item, item, .option, "ID", "only in this item; default: every item"),
        ParameterSpec(.seeks, .flag, .option, "seeks", "also send an event when a seek passes the time"), player,
      ],
      right: .read, reply: [.id], errors: [.invalidTime, .noSuchItem, .tooManySubscriptions, .noSuchPlayer],
      example: [
        "> at 90 95.25", "< ok id=3", "< * at id=3 player=main item=1 time=90 pts=90/1 kind=crossed late=0.001",
      ]
    ) { arguments throws(MediaError) in
      .watching(
        .at(
          arguments.list(.times), item: arguments.entry(.item), includesSeeks: arguments.flag(.seeks),
          player: arguments.player))
    },
    CommandSpec(
      .atChapters, .watching, "Subscribe to the starts of chapters.",
      details: """
        Each `at` event has the number and title of the chapter. The chapters are those of `item.chapters`, of any \
        current item. An item without chapters sends nothing. `kind` is one of these:

        - `crossed`: playback reached the start of the chapter. For a chapter at time 0: the item begins to be heard.
        - `skipped`: a seek passed the start of the chapter; only with `seeks`
        """,
      parameters: [
        ParameterSpec(.item, item, .option, "ID", "only in this item; default: every item"),
        ParameterSpec(.seeks, .flag, .option, "seeks", "also send an event when a seek passes the time"), player,
      ],
      right: .read, reply: [.id], errors: [.noSuchItem, .tooManySubscriptions, .noSuchPlayer],
      example: [
        "> at-chapters seeks", "< ok id=3",
        "< * at id=3 player=main item=1 time=83.5 pts=167/2 kind=crossed chapter=2 title=Fugue late=0.001",
      ]
    ) { arguments throws(MediaError) in
      .watching(
        .atChapters(
          item: arguments.entry(.item), includesSeeks: arguments.flag(.seeks), player: arguments.player))
    },
    CommandSpec(
      .untick, .watching, "End a `tick`, an `at` or an `at-chapters`.",
      details: "No event with its id follows the reply.",
      parameters: [subscription], right: .read, errors: [.noSuchObserver], example: ["> untick 2", "< ok"]
    ) { arguments throws(MediaError) in
      .watching(.untick(subscription: try arguments.required(.id, arguments.integer(.id))))
    },
    CommandSpec(
      .meter, .watching, "Subscribe to the levels of the player.",
      details:
        "While the player is audible, `meter` events come at this rate, each when the measured audio has been"
        + " heard. When the player stops, one event reports silence (-160). The levels are those of the player's audio"
        + " after volume and pan, since the previous event. Nothing is measured without a subscription.",
      parameters: [
        ParameterSpec(
          .rate, .number(1...100, exceptZero: false), .optional, "RATE", "events per second; default: 20"),
        player,
      ],
      right: .read, reply: [.id], errors: [.tooManySubscriptions, .noSuchPlayer],
      example: [
        "> meter", "< ok id=4",
        "< * meter id=4 player=main item=1 time=84.05 pts=4034400/48000 average=-20.05,-19.8 peak=-9.54,-8.2"
          + " averageScale=0.3139,0.3185 peakScale=0.577,0.6229 late=0.001",
      ]
    ) { arguments throws(MediaError) in
      .watching(.meter(rate: arguments.number(.rate) ?? 20, player: arguments.player))
    },
    CommandSpec(
      .unmeter, .watching, "End a `meter`.", details: "No event with its id follows the reply.",
      parameters: [subscription], right: .read, errors: [.noSuchObserver], example: ["> unmeter 4", "< ok"]
    ) { arguments throws(MediaError) in
      .watching(.unmeter(subscription: try arguments.required(.id, arguments.integer(.id))))
    },
    CommandSpec(
      .wait, .watching, "Wait until all conditions hold.",
      details: """
        If all conditions are already true, the reply comes at once. The conditions are:

        - `time>=TIME`, `time<=TIME`: the time heard, in either direction of playback. Both together mean a time \
        between the two.
        - `status=playing`, `status=paused`: the `timeControlStatus`
        - `status=waiting`: the `timeControlStatus` is `waitingToPlayAtSpecifiedRate`
        - `item=ID`: this entry is current
        - `ready`: the current item is ready to play
        - `ended`: there is no current item, or the player is paused at the end of the current item. The end is the \
        end time, if one is set. In reverse, it is the start of the item.

        A condition that cannot become true any more fails with `wait-ended`:

        - `time>=` and `time<=`, if the current item changes, or playback ends before it reaches TIME
        - a condition that needs playback, if an error stops the player (`player.error`)
        """,
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
      waiting: .always, right: .read, reply: [.item.nullable, .time, .pts, .timeControlStatus, .hostTime.nullable],
      errors: [.invalidTime, .timedOut, .waitEnded, .noSuchItem, .noSuchPlayer] + streamErrors + mediaErrors,
      example: [
        "> @w wait time>=90 timeout=5",
        "< @w error code=6011 name=timed-out message=\"not within 5 seconds\" operation=wait",
      ]
    ) { arguments throws(MediaError) in
      .watching(.wait(try arguments.waitConditions(), timeout: arguments.time(.timeout), player: arguments.player))
    },
    CommandSpec(
      .clockAdvance, .watching, "Advance the virtual clock.",
      details: """
        Available only with `--clock virtual`. `now` is the time of the virtual clock, which starts at 0. The instants \
        of `play-at` and `rate-at`, `hostTime` and timeouts use the same clock.

        The reply comes when the whole time has been rendered, and every event of it for this connection has been \
        written. These events may come later:

        - An event at exactly the end of the time, such as a `stop` tick, may come with the next `clock.advance`.
        - If a loop was set during playback, the first tick after its start may come at the end of the time, with the \
        delay in `late`.
        """,
      parameters: [
        ParameterSpec(.duration, .duration(positive: false), .required, "DURATION", "the time to advance by")
      ],
      waiting: .always, reply: [.now], errors: [.invalidTime, .notVirtualClock],
      example: ["> clock.advance 2.5", "< ok now=2.5"]
    ) { arguments throws(MediaError) in
      .watching(.clockAdvance(try arguments.required(.duration, arguments.time(.duration))))
    },
    CommandSpec(
      .explain, .watching, "Show the durations of the steps of the last start or seek.",
      details: """
        All values are in microseconds. They begin with the request (`load`, `next`, `play`, `seek`, an edit of the \
        queue), and end with the first sample heard. On the virtual clock decoding takes no time.

        - `wait`: until the decode thread began, including the delay by `chase`
        - `open`: to open the file
        - `index`: to find the position in the file
        - `demux`: to read packets from there
        - `decode`, `resample`: to process the audio up to the first sample, and the further samples that playback \
        needs to start
        - `commit`: to give the audio to the device
        - `device`: until the audio was heard; `none` before, as in a paused player
        - `total`: the sum

        `kind` is one of these:

        - `start`: the start of playback or of an item
        - `seek`: a seek
        - `splice`: a change of the queue after the current item
        """,
      parameters: [player],
      right: .read,
      reply: [
        .player, .kind, .item, .requested, .reached, .waitMicroseconds, .open, .index, .demux, .decode, .resample,
        .commit,
        .device.nullable, .totalMicroseconds,
      ],
      errors: [.invalidState, .noSuchPlayer],
      example: [
        "> explain",
        "< ok player=main kind=seek item=1 requested=83.5 reached=83.5 wait=40 open=0 index=35 demux=60 decode=620 resample=0"
          + " commit=1180 device=9800 total=11735",
      ]
    ) { arguments throws(MediaError) in .watching(.explain(player: arguments.player)) },
  ]
}
