import MediaCore

extension CommandTable {
  /// Commands that play one player's queue.
  static let playback: [CommandSpec] = [
    simple(
      .play, .play, "Plays, at the rate that was set for it (`rate`), or else at `default-rate`.",
      "Answers when the request is taken, not when sound is heard (`wait status=playing` does). With nothing to play the"
        + " player waits for an item.", errors: streamErrors),
    CommandSpec(
      .playImmediately, .playback, "Plays at once with what is decoded, however little that is.",
      details:
        "Goes on from a stall before enough is there, too. When nothing is decoded, a player with `auto-wait` waits, and one"
        + " without stays paused; that is no `stalled` event.",
      parameters: [
        ParameterSpec(
          .rate, .number(-32...32, exceptZero: true), .optional, "RATE",
          "at which rate; the present one unless said, or that of `play`"), player,
      ],
      errors: [.unsupportedRate, .noSuchPlayer] + streamErrors, example: ["> play-immediately", "< ok"]
    ) { arguments throws(MediaError) in
      .playback(.playImmediately(arguments.number(.rate)), player: arguments.player)
    },
    CommandSpec(
      .autoWait, .playback, "Sets what happens when samples do not come in time, or gives it.",
      details:
        "With `on`, as it is at first, the player waits (`toMinimizeStalls`) until half a second is decoded and goes on by"
        + " itself; with `off` it pauses there. Either is one `stalled` event. Turned off while it waits so, the player goes on"
        + " at once with what is there.",
      parameters: [ParameterSpec(.state, .toggle, .optional, "on|off|toggle", "what to do"), player],
      asks: true, reply: ["automaticallyWaitsToMinimizeStalling"], errors: [.noSuchPlayer],
      example: ["> auto-wait off", "< ok automaticallyWaitsToMinimizeStalling=false"]
    ) { arguments throws(MediaError) in
      .playback(.autoWait(arguments.text(.state).flatMap(PlaybackCommand.Switch.init)), player: arguments.player)
    },
    CommandSpec(
      .preroll, .playback, "Gets ready to be played without being heard.",
      details:
        "A waiting request: it answers with `ready=true` when the first samples are with the output, so that `play` is heard"
        + " as soon as the device can; with `ready=false` when the time or the item changes before, a rate is set, another one"
        + " is prerolled, or the item fails meanwhile. What is got ready is for one rate: playing at it begins with that, playing"
        + " at another one decodes anew. The player must be paused.",
      parameters: [
        ParameterSpec(
          .rate, .number(-32...32, exceptZero: true), .optional, "RATE", "for which rate; that of `play` unless said"),
        player,
      ],
      waiting: .always, reply: ["ready"],
      errors: [.invalidState, .unsupportedRate, .noCurrentItem, .noSuchPlayer] + streamErrors + mediaErrors,
      example: ["> @8 preroll", "< @8 ok ready=true"]
    ) { arguments throws(MediaError) in .playback(.preroll(arguments.number(.rate)), player: arguments.player) },
    simple(
      .prerollCancel, .cancelPrerolls, "Answers every `preroll` that is under way, with `ready=false`.",
      "What was got ready stays so. As AVPlayer's `cancelPendingPrerolls`."),
    simple(
      .seekCancel, .cancelSeeks, "Answers every `seek` and `step` that is under way, unfinished (`reason=cancelled`).",
      "Where the player is then may be where it was or where they went: `status` tells. As AVPlayerItem's"
        + " `cancelPendingSeeks`."),
    CommandSpec(
      .step, .playback, "Goes some hundredths of a second forward or back, while paused.",
      details:
        "A step is 0.01 s of the item, exactly; steps count from where the newest one goes. At the item's ends it stops"
        + " (`clamped`). Answers as `seek` does, with the same fields; the event is `time-jumped` with `cause=step`.",
      parameters: [
        ParameterSpec(
          .count, .integer(-1_000_000...1_000_000), .required, "COUNT", "how many steps; back when it is below 0"),
        player,
      ],
      waiting: .always,
      reply: [
        "finished", "item", "time", "pts", "requested", "before?", "after?", "exact", "clamped", "us", "[reason]",
      ],
      errors: [.invalidState, .noCurrentItem, .noSuchPlayer] + streamErrors + mediaErrors,
      example: [
        "> @9 step -5",
        "< @9 ok finished=true item=1 time=12.2 pts=538020/44100 requested=12.2 before=0 after=0 exact=true"
          + " clamped=false us=2950",
      ]
    ) { arguments throws(MediaError) in
      .playback(.step(try arguments.required(.count, arguments.integer(.count))), player: arguments.player)
    },
    simple(.pause, .pause, "Pauses.", "Nothing more is heard, and `time` stands still."),
    simple(.toggle, .toggle, "Pauses what plays or waits to play, and plays what is paused.", "", errors: streamErrors),
    simple(.stop, .stop, "Pauses, and goes back to the beginning of the current item.", ""),
    CommandSpec(
      .seek, .playback, "Goes to a time of the current item.",
      details:
        "The request waits: its reply comes when the device has the audio from the new position. Unless a tolerance is given, playback"
        + " continues with the sample that contains the requested time. `requested` is that time on the item's timeline, before it was"
        + " clamped to the item (`clamped`). `before` and `after` are the tolerances. `time` is the position reached, and `exact` states"
        + " whether it is the requested sample. `us` is the duration of the seek in microseconds. A newer seek replaces the one under"
        + " way. With `chase` it waits until the audio of that one has begun, and only the newest of several waiting seeks is carried"
        + " out. A seek that is not carried out replies at once with `finished=false`, the current position in `time`, and a `reason`:"
        + " `superseded`, `itemChanged`, `itemEnded`, `itemFailed`, `cancelled`, `outputLost` (playback continues from the requested"
        + " position once there is an output) or `closed`. If a finished seek is not exact, `reason` is `tolerance` (it landed"
        + " elsewhere within the tolerances), or states why the position is not proved: `estimated`, `irregularTimestamps`,"
        + " `coarseTimestamps`, `decoderState` or `damage`. A relative time counts from the target of the newest seek. In a live"
        + " stream `end` and `live` are three target durations before the last segment's end. `item` guards against a change of the current item.",
      parameters: [
        ParameterSpec(.time, .timeExpression, .optional, "TIME", "where to go"),
        ParameterSpec(
          .date, .text(maximumByteCount: 64), .option, "DATE",
          "instead of a time: go to what was recorded then, as `2026-11-22T09:30:00Z`; of HLS streams that say dates"),
        ParameterSpec(.fast, .flag, .option, "fast", "any tolerance will do: land where it costs least"),
        ParameterSpec(.chase, .flag, .option, "chase", "let the seek under way be heard first"),
        ParameterSpec(.before, .tolerance, .option, "TIME", "how much earlier it may land; 0 unless said"),
        ParameterSpec(.after, .tolerance, .option, "TIME", "how much later it may land; 0 unless said"),
        ParameterSpec(.item, item, .option, "ID", "the item that must be the current one"),
        player,
      ],
      waiting: .always,
      reply: [
        "finished", "item", "time", "pts", "requested", "before?", "after?", "exact", "clamped", "us", "[reason]",
      ],
      errors: [.invalidTime, .noCurrentItem, .noSuchItem, .noSuchPlayer, .noSuchDate] + streamErrors + mediaErrors,
      example: [
        "> @5 seek 1:23.5",
        "< @5 ok finished=true item=1 time=83.5 pts=3682350/44100 requested=83.5 before=0 after=0 exact=true clamped=false"
          + " us=2950",
      ]
    ) { arguments throws(MediaError) in
      let isFast = arguments.flag(.fast)
      let before = arguments.time(.before)
      let after = arguments.time(.after)
      guard !isFast || (before == nil && after == nil) else {
        throw arguments.failure("fast allows any tolerance: it stands without before and after")
      }
      let seek = PlaybackCommand.Seek(
        place: try arguments.seekPlace(), toleranceBefore: before ?? (isFast ? .positiveInfinity : .zero),
        toleranceAfter: after ?? (isFast ? .positiveInfinity : .zero), isChase: arguments.flag(.chase),
        item: arguments.integer(.item))
      return .playback(.seek(seek), player: arguments.player)
    },
    CommandSpec(
      .rate, .playback, "Sets the rate to play with, or gives it.",
      details:
        "From 1/32 to 32, exact to a millionth; what becomes of the pitch, `pitch` says. While playing it changes without a gap or a click, 60 ms after what is heard then, or as soon as it has been decoded where that takes longer (`timebaseRate` of `status`, and a `changed` of it, say when; until then time goes on as before). While paused it starts nothing: the next `play` uses it, once; those after it play at `default-rate`. 0 is not a rate; `pause` is. From -1/32 to -32 the current item is heard backwards, at -1 sample by sample; at its beginning it has `ended`, and playback pauses there, or goes on as `repeat one`, `loop` or `end-action none` say. What else follows in the queue is heard forwards only. Turned round in front of an end, of the item or of a loop, it turns there at the latest and has not ended; turned behind an end time of its new direction it is at that end. At time 0 there is nothing to hear backwards: `seek end` first. A station or a pipe is not heard backwards at all: 2039, or 2049. One that becomes the current entry, or turns out to be one, at a negative rate has ended where it begins, and playback pauses there; one that was to be heard from elsewhere (`seek` before it was open, `repeat one`) fails.",
      parameters: [
        ParameterSpec(.rate, .number(-32...32, exceptZero: true), .optional, "RATE", "1 is as recorded"), player,
      ],
      asks: true, reply: ["rate"], errors: [.unsupportedRate, .noSuchPlayer] + streamErrors,
      example: ["> rate 1", "< ok rate=1"]
    ) { arguments throws(MediaError) in .playback(.rate(arguments.number(.rate)), player: arguments.player) },
    CommandSpec(
      .defaultRate, .playback, "Sets the rate that `play` plays at, or gives it.",
      details: "What is being played stays as it is; `rate` changes that.",
      parameters: [
        ParameterSpec(
          .rate, .number(-32...32, exceptZero: true), .optional, "RATE",
          "1 unless said; from 1/32 to 32, or -1/32 to -32 backwards"), player,
      ],
      asks: true, reply: ["defaultRate"], errors: [.unsupportedRate, .noSuchPlayer],
      example: ["> default-rate 1.5", "< ok defaultRate=1.5"]
    ) { arguments throws(MediaError) in .playback(.defaultRate(arguments.number(.rate)), player: arguments.player) },
    CommandSpec(
      .volume, .playback, "Sets the player's volume, or gives it.",
      parameters: [
        ParameterSpec(
          .volume, .number(0...1, exceptZero: false), .optional, "VOLUME", "0 is silence, 1 the samples as they are"),
        player,
      ],
      asks: true, reply: ["volume"], errors: [.noSuchPlayer], example: ["> volume 0.5", "< ok volume=0.5"]
    ) { arguments throws(MediaError) in .playback(.volume(arguments.number(.volume)), player: arguments.player) },
    CommandSpec(
      .fade, .playback, "Moves the player's volume to another one over a time.",
      details:
        "Answers when the request is taken; `volume` gives the new volume from then on. It moves by the output's time, which"
        + " stands still while nothing sounds there. Another `fade` or `volume` begins where this one is. `equal-power` moves"
        + " the square of the volume in a straight line: with it two players that are faded across each other stay as loud.",
      parameters: [
        ParameterSpec(.volume, .number(0...1, exceptZero: false), .required, "VOLUME", "where to"),
        ParameterSpec(
          .duration, .duration(positive: false), .required, "DURATION", "how long it takes; at most a day"),
        ParameterSpec(
          .curve, .word(PlaybackCommand.FadeCurve.allCases.map(\.rawValue)), .optional, "linear|equal-power",
          "how it moves; `linear` unless said"),
        player,
      ],
      errors: [.invalidTime, .noSuchPlayer], example: ["> fade 0 2.5", "< ok"]
    ) { arguments throws(MediaError) in
      .playback(
        .fade(
          to: try arguments.required(.volume, arguments.number(.volume)),
          duration: try arguments.required(.duration, arguments.time(.duration)),
          arguments.text(.curve).flatMap(PlaybackCommand.FadeCurve.init) ?? .linear),
        player: arguments.player)
    },
    CommandSpec(
      .pan, .playback, "Sets where between left and right the player is heard, or gives it.",
      details:
        "The near side stays as it is, the far side gets the cosine of as much of a right angle. Changes within 5 ms.",
      parameters: [
        ParameterSpec(
          .pan, .number(-1...1, exceptZero: false), .optional, "PAN", "-1 is left, 0 the samples as they are, 1 right"),
        player,
      ],
      asks: true, reply: ["pan"], errors: [.noSuchPlayer], example: ["> pan -0.5", "< ok pan=-0.5"]
    ) { arguments throws(MediaError) in .playback(.pan(arguments.number(.pan)), player: arguments.player) },
    CommandSpec(
      .mute, .playback, "Mutes the player or lets it be heard, or says which it is.",
      details: "The volume stays what it is.",
      parameters: [ParameterSpec(.state, .toggle, .optional, "on|off|toggle", "what to do"), player],
      asks: true, reply: ["muted"], errors: [.noSuchPlayer], example: ["> mute on", "< ok muted=true"]
    ) { arguments throws(MediaError) in
      .playback(.mute(arguments.text(.state).flatMap(PlaybackCommand.Switch.init)), player: arguments.player)
    },
    CommandSpec(
      .endAction, .playback, "Sets what happens at the end of an item, or gives it.",
      details: "`advance` goes on to the next item, `pause` pauses at the end, `none` lets the time run on.",
      parameters: [
        ParameterSpec(
          .action, .word(PlaybackCommand.ItemEndAction.allCases.map(\.rawValue)), .optional, "advance|pause|none",
          "what to do; `advance` from the start"),
        player,
      ],
      asks: true, reply: ["actionAtItemEnd"], errors: [.noSuchPlayer],
      example: ["> end-action pause", "< ok actionAtItemEnd=pause"]
    ) { arguments throws(MediaError) in
      .playback(
        .endAction(arguments.text(.action).flatMap(PlaybackCommand.ItemEndAction.init)), player: arguments.player)
    },
    CommandSpec(
      .pitch, .playback, "Sets what becomes of the pitch at other rates than 1, or gives it.",
      details:
        "`timeDomain` keeps it, is cheap and best for speech; `spectral` keeps it, is best for music and makes playing"
        + " cost about seven times as much; `varispeed` lets it follow the rate, as a tape does. `time` goes on by exactly the rate; what is heard lies"
        + " within 20 ms (`timeDomain`), 50 ms (`spectral`) or one sample (`varispeed`) of it. For all entries without one of"
        + " their own (`item.pitch`). Each plays from 1/32 to 32; what this build cannot do is refused and never plays silence."
        + " A rate is never rounded: there is no algorithm that snaps to a few of them, as AVFoundation's `lowQualityZeroLatency` does.",
      parameters: [
        ParameterSpec(
          .algorithm, .word(PlaybackCommand.PitchAlgorithm.allCases.map(\.rawValue)), .optional,
          "timeDomain|spectral|varispeed", "`timeDomain` from the start"), player,
      ],
      asks: true, reply: ["pitch"], errors: [.unsupportedRate, .noSuchPlayer],
      example: ["> pitch spectral", "< ok pitch=spectral"]
    ) { arguments throws(MediaError) in
      .playback(
        .pitch(arguments.text(.algorithm).flatMap(PlaybackCommand.PitchAlgorithm.init)), player: arguments.player)
    },
    replayGain,
    CommandSpec(
      .repeat, .playback, "Sets what is played again when it has ended, or gives it.",
      details:
        "`one` plays the current item again and again, `all` the queue: an entry that was heard to its end goes to"
        + " the end of the queue and keeps its id, and so does one that `next` leaves. Repeats follow without a gap, and come"
        + " before `end-action`. What is shorter than 10 ms is played once.",
      parameters: [
        ParameterSpec(
          .mode, .word(PlaybackCommand.RepeatMode.allCases.map(\.rawValue)), .optional, "off|one|all",
          "what to repeat; `off` from the start"), player,
      ],
      asks: true, reply: ["repeat"], errors: [.noSuchPlayer], example: ["> repeat one", "< ok repeat=one"]
    ) { arguments throws(MediaError) in
      .playback(.repeat(arguments.text(.mode).flatMap(PlaybackCommand.RepeatMode.init)), player: arguments.player)
    },
    CommandSpec(
      .loop, .playback, "Plays a part of the current item again and again, ends that, or says what is looped.",
      details:
        "Exact: from frame `floor(START * rate)` up to frame `floor(END * rate)`, without a gap. Playback that comes to"
        + " END from before it goes on at START; playback beyond END (when the loop is set, or by a seek) plays on, and the loop"
        + " is over when the item ends. `loop off` plays on from where it is;"
        + " `loop last` plays the present pass to END and goes on from there as from the end of the item: the next entry follows,"
        + " or what `end-action` says. Each time it goes back is a `seam` event and no"
        + " `time-jumped`; ticks and boundaries fire in each pass. A range is 10 ms long at least. While the item is not ready"
        + " the request waits for that. In the reply `count` is how many more times it goes back (`none`: for ever), `passes` how many times it has.",
      parameters: [
        ParameterSpec(.start, .timeExpression, .optional, "START", "where the range begins"),
        ParameterSpec(.end, .timeExpression, .optional, "END", "where it ends"),
        ParameterSpec(.off, .flag, .option, "off", "play on"),
        ParameterSpec(.last, .flag, .option, "last", "let the present pass be the last"),
        ParameterSpec(
          .count, .integer(1...1_000_000_000), .option, "N", "how many times to go back; for ever unless said"),
        ParameterSpec(.item, item, .option, "ID", "the item that must be the current one"), player,
      ],
      waiting: .always, asks: true, reply: ["item?", "start?", "end?", "count?", "passes?"],
      errors: [.invalidTime, .invalidState, .noCurrentItem, .noSuchItem, .noSuchPlayer] + streamErrors + mediaErrors,
      example: [
        "> @7 loop 1:10 1:23.5", "< @7 ok item=1 start=70 end=83.5 count=none passes=0", "> loop off",
        "< ok item=1 start=none end=none count=none passes=none",
      ]
    ) { arguments throws(MediaError) in
      let (start, end, count) = (arguments.expression(.start), arguments.expression(.end), arguments.integer(.count))
      let change: PlaybackCommand.Loop.Change
      switch (start, end, arguments.flag(.off), arguments.flag(.last)) {
      case (let start?, let end?, false, false): change = .range(start: start, end: end, count: count)
      case (nil, nil, true, false) where count == nil: change = .off
      case (nil, nil, false, true) where count == nil: change = .end
      case (nil, nil, false, false) where count == nil: change = .none
      default:
        throw arguments.failure(
          "a loop is START and END, with or without count, or off, or last, or nothing to ask for it")
      }
      return .playback(.loop(.init(change, item: arguments.integer(.item))), player: arguments.player)
    },
    CommandSpec(
      .status, .playback, "Gives the player's state on one line.",
      details:
        "`time` is the time heard; `rate` is what is wanted, `timebaseRate` how fast the time heard goes on (0 while paused or waiting); `loop` is `START-END` in seconds, `passes` how many times it has gone back and `passesLeft` how many more times it will (`none`: for ever), `shuffle` the seed, `chapter` the number of the one that is heard, `streamTitle` and `streamUrl` what a station says that it plays. Fields of a current item that is not there, or not ready, are `none` or `indefinite`.",
      parameters: [player],
      right: .read,
      reply: [
        "player", "timeControlStatus", "reasonForWaitingToPlay?", "rate", "item?", "index?", "count", "time", "pts",
        "duration?", "providesPreciseDuration", "volume", "muted", "pan", "actionAtItemEnd", "repeat", "loop?",
        "passes?", "passesLeft?", "itemStatus", "version", "timebaseRate", "defaultRate", "shuffle?", "onFailure",
        "automaticallyWaitsToMinimizeStalling", "pitch", "chapter?", "chapterTitle?", "replayGain", "[title]",
        "[artist]", "[streamTitle]", "[streamUrl]",
      ],
      errors: [.noSuchPlayer],
      example: [
        "> status",
        "< ok player=main timeControlStatus=playing reasonForWaitingToPlay=none rate=1 item=1 index=0 count=2 time=12.25"
          + " pts=540225/44100 duration=183.2 providesPreciseDuration=true volume=1 muted=false pan=0"
          + " actionAtItemEnd=advance repeat=off loop=none passes=none passesLeft=none itemStatus=readyToPlay version=2 timebaseRate=1 defaultRate=1"
          + " shuffle=none onFailure=skip"
          + " automaticallyWaitsToMinimizeStalling=true pitch=timeDomain chapter=2 chapterTitle=Fugue replayGain=off",
      ]
    ) { arguments throws(MediaError) in .playback(.status, player: arguments.player) },
  ]

  /// An item's id. Ids begin at 1.
  static let item = ParameterSpec.Kind.entry

  /// A command that takes only a player and replies `ok`.
  private static func simple(
    _ name: CommandName, _ command: PlaybackCommand, _ summary: String, _ details: String,
    errors: [MediaError.Code] = []
  ) -> CommandSpec {
    CommandSpec(
      name, .playback, summary, details: details, parameters: [player], errors: [.noSuchPlayer] + errors,
      example: ["> \(name.rawValue)", "< ok"]
    ) { arguments throws(MediaError) in .playback(command, player: arguments.player) }
  }

  /// The errors of operations that need seeking, for sources that are only readable in order: stations and pipes.
  static let streamErrors: [MediaError.Code] = [.rangesNotSupported, .onlyInOrder]
}

extension Arguments {
  /// The target of a seek.
  ///
  /// - Throws: `bad-arguments` for an invalid date, and unless exactly one of time and date is given.
  fileprivate func seekPlace() throws(MediaError) -> PlaybackCommand.Seek.Place {
    guard let text = text(.date) else { return .time(try required(.time, expression(.time))) }
    guard let date = ISODate.parse(text) else { throw failure("a date is written as 2026-11-22T09:30:00Z") }
    guard !isGiven(.time) else { throw failure("either a time or a date says where to go") }
    return .date(date)
  }
}
