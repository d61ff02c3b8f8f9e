import MediaCore

extension CommandTable {
  /// Commands that play one player's queue.
  static let playback: [CommandSpec] = [
    simple(
      .play, .play, "Play at the rate that `rate` set, or else at `default-rate`.",
      "The reply does not wait until audio is heard (`wait status=playing` does). Without an item the player waits"
        + " for one.", errors: streamErrors),
    CommandSpec(
      .playImmediately, .playback, "Play at once with the decoded audio, however little there is.",
      details:
        "Also ends a stall before enough audio is decoded. If nothing is decoded, a player with `auto-wait` waits."
        + " A player without it stays paused, and sends no `stalled` event.",
      parameters: [
        ParameterSpec(
          .rate, .number(-32...32, exceptZero: true), .optional, "RATE",
          "the rate; default: the present one, or that of `play`"), player,
      ],
      errors: [.unsupportedRate, .noSuchPlayer] + streamErrors, example: ["> play-immediately", "< ok"]
    ) { arguments throws(MediaError) in
      .playback(.playImmediately(arguments.number(.rate)), player: arguments.player)
    },
    CommandSpec(
      .autoWait, .playback, "Set whether playback resumes by itself after an underrun, or show it.",
      details:
        "With `on`, the default, the player waits after an underrun (`toMinimizeStalls`) until half a second is"
        + " decoded, and resumes. With `off` it pauses. Either is one `stalled` event. If `off` is set while the"
        + " player waits, it resumes at once with the decoded audio.",
      parameters: [ParameterSpec(.state, .toggle, .optional, "on|off|toggle", "the new state"), player],
      readsWithoutValue: true, reply: [.automaticallyWaitsToMinimizeStalling], errors: [.noSuchPlayer],
      example: ["> auto-wait off", "< ok automaticallyWaitsToMinimizeStalling=false"]
    ) { arguments throws(MediaError) in
      .playback(.autoWait(arguments.text(.state).flatMap(PlaybackCommand.Switch.init)), player: arguments.player)
    },
    CommandSpec(
      .preroll, .playback, "Prepare to play without delay.",
      details:
        "A waiting request. The reply has `ready=true` when the output has the first samples, so that `play` is"
        + " heard as soon as the device can play them. It has `ready=false` if the time, the item or the rate"
        + " changes before, if another preroll starts, or if the item fails. The audio is prepared for one rate:"
        + " playing at another rate decodes again. The player must be paused.",
      parameters: [
        ParameterSpec(
          .rate, .number(-32...32, exceptZero: true), .optional, "RATE", "the rate; default: that of `play`"),
        player,
      ],
      waiting: .always, reply: [.ready],
      errors: [.invalidState, .unsupportedRate, .noCurrentItem, .noSuchPlayer] + streamErrors + mediaErrors,
      example: ["> @8 preroll", "< @8 ok ready=true"]
    ) { arguments throws(MediaError) in .playback(.preroll(arguments.number(.rate)), player: arguments.player) },
    simple(
      .prerollCancel, .cancelPrerolls, "End every pending `preroll` with `ready=false`.",
      "Prepared audio stays. The same as AVPlayer's `cancelPendingPrerolls`."),
    simple(
      .seekCancel, .cancelSeeks, "End every pending `seek` and `step`, unfinished (`reason=cancelled`).",
      "The position afterwards is the old one or the target: `status` states it. The same as AVPlayerItem's"
        + " `cancelPendingSeeks`."),
    CommandSpec(
      .step, .playback, "Step forward or back while paused.",
      details:
        "A step is 0.01 s of the item, exactly. Steps count from the target of the newest step or seek. At the ends"
        + " of the item a step is clamped (`clamped`). The reply has the fields of `seek`; the event is"
        + " `time-jumped` with `cause=step`.",
      parameters: [
        ParameterSpec(
          .count, .integer(-1_000_000...1_000_000), .required, "COUNT", "the number of steps; negative: back"),
        player,
      ],
      waiting: .always,
      reply: [
        .finished, .item, .time, .pts, .requested, .before.nullable, .after.nullable, .exact, .clamped, .us,
        .seekReason.optional,
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
    simple(.pause, .pause, "Pause playback.", "The `time` stays."),
    simple(.toggle, .toggle, "Pause if playing or waiting to play; otherwise play.", "", errors: streamErrors),
    simple(.stop, .stop, "Pause, and return to the start of the current item.", ""),
    CommandSpec(
      .seek, .playback, "Seek to a time of the current item.",
      details:
        "Exactly one of TIME and `date` is required. The request waits: its reply comes when the device has the audio"
        + " from the new position. Unless a tolerance is given, playback continues with the sample that contains the"
        + " requested time. `requested` is the requested time. If it is outside the item, the nearer end is used and"
        + " `clamped=true`. `before` and `after` are the tolerances. `time` is the position reached, and `exact` states"
        + " whether it is the requested sample. `us` is the duration of the seek in microseconds. A new seek replaces a"
        + " pending one. With `chase`, the new seek starts when the audio of the pending seek is heard; of several"
        + " waiting seeks only the newest is carried out. A seek that is not carried out replies at once with"
        + " `finished=false`, the current position in `time`, and a `reason`: `superseded`, `itemChanged`, `itemEnded`,"
        + " `itemFailed`, `cancelled`, `outputLost` (playback continues from the requested position once there is an"
        + " output) or `closed`. If a finished seek is not exact, `reason` is `tolerance` (the position reached is"
        + " another one within the tolerances), or states why the position is not proved: `estimated`,"
        + " `irregularTimestamps`, `coarseTimestamps`, `decoderState` or `damage`. A relative time counts from the"
        + " target of the newest seek. In a live stream `end` and `live` are three target durations before the last"
        + " segment's end. `item` guards against a change of the current item.",
      parameters: [
        ParameterSpec(.time, .timeExpression, .optional, "TIME", "the target"),
        ParameterSpec(
          .date, .text(maximumByteCount: 64), .option, "DATE",
          "instead of TIME: the date of the recording, such as `2026-11-22T09:30:00Z`; for HLS streams with dates"),
        ParameterSpec(
          .fast, .flag, .option, "fast", "allow any tolerance: seek to the position that is reached fastest"),
        ParameterSpec(.chase, .flag, .option, "chase", "wait until the pending seek is heard"),
        ParameterSpec(.before, .tolerance, .option, "TIME", "how much earlier the reached position may be; default: 0"),
        ParameterSpec(.after, .tolerance, .option, "TIME", "how much later the reached position may be; default: 0"),
        ParameterSpec(.item, item, .option, "ID", "the required current item"),
        player,
      ],
      waiting: .always,
      reply: [
        .finished, .item, .time, .pts, .requested, .before.nullable, .after.nullable, .exact, .clamped, .us,
        .seekReason.optional,
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
        throw arguments.failure("fast allows any tolerance: it excludes before and after")
      }
      let seek = PlaybackCommand.Seek(
        target: try arguments.seekTarget(), toleranceBefore: before ?? (isFast ? .positiveInfinity : .zero),
        toleranceAfter: after ?? (isFast ? .positiveInfinity : .zero), isChase: arguments.flag(.chase),
        item: arguments.integer(.item))
      return .playback(.seek(seek), player: arguments.player)
    },
    CommandSpec(
      .rate, .playback, "Set the rate, or show it.",
      details:
        "The rate is from 1/32 to 32, exact to a millionth; `pitch` sets what happens to the pitch. While playing,"
        + " the rate changes without a gap or a click, 60 ms after the audio that is heard, or later if decoding"
        + " takes longer. `timebaseRate` of `status`, and its `changed` event, report the change. While paused, it"
        + " does not start playback: the next `play` uses it, once; later ones use `default-rate`. 0 is an error; use"
        + " `pause`. From -1/32 to -32 the current item plays in reverse, at -1 sample by sample. At its start the"
        + " item has `ended`, and playback pauses, or continues as `repeat one`, `loop` or `end-action none` specify."
        + " The queue is never followed in reverse. If the direction changes shortly before the end of an item or"
        + " loop, playback turns around at that end at the latest, and the item has not ended. If the position is"
        + " already past the end time of the new direction (`item.end-time`), the item ends at once. At time 0"
        + " nothing can be heard in reverse: `seek end` first. A station or a pipe cannot play in reverse: the error"
        + " is 2039 or 2049. One that becomes the current entry at a negative rate ends at its start, and playback"
        + " pauses. It fails if it had to start at another position (`seek` before it was open, `repeat one`).",
      parameters: [
        ParameterSpec(.rate, .number(-32...32, exceptZero: true), .optional, "RATE", "1 is as recorded"), player,
      ],
      readsWithoutValue: true, reply: [.rate], errors: [.unsupportedRate, .noSuchPlayer] + streamErrors,
      example: ["> rate 1", "< ok rate=1"]
    ) { arguments throws(MediaError) in .playback(.rate(arguments.number(.rate)), player: arguments.player) },
    CommandSpec(
      .defaultRate, .playback, "Set the rate that `play` uses, or show it.",
      details: "Does not change the present rate; `rate` does.",
      parameters: [
        ParameterSpec(
          .rate, .number(-32...32, exceptZero: true), .optional, "RATE",
          "default: 1; 1/32 to 32, or -1/32 to -32 in reverse"), player,
      ],
      readsWithoutValue: true, reply: [.defaultRate], errors: [.unsupportedRate, .noSuchPlayer],
      example: ["> default-rate 1.5", "< ok defaultRate=1.5"]
    ) { arguments throws(MediaError) in .playback(.defaultRate(arguments.number(.rate)), player: arguments.player) },
    CommandSpec(
      .volume, .playback, "Set the volume, or show it.",
      parameters: [
        ParameterSpec(
          .volume, .number(0...1, exceptZero: false), .optional, "VOLUME",
          "0 is silence, 1 leaves the samples"
            + " unchanged"),
        player,
      ],
      readsWithoutValue: true, reply: [.volume], errors: [.noSuchPlayer], example: ["> volume 0.5", "< ok volume=0.5"]
    ) { arguments throws(MediaError) in .playback(.volume(arguments.number(.volume)), player: arguments.player) },
    CommandSpec(
      .fade, .playback, "Fade the volume to another one.",
      details:
        "The reply does not wait; `volume` shows the new volume from then on. The fade follows the time of the"
        + " output, which stops while nothing plays. Another `fade` or `volume` starts from the volume that this"
        + " one has reached. `equal-power` changes the square of the volume linearly: a crossfade of two players"
        + " keeps its loudness.",
      parameters: [
        ParameterSpec(.volume, .number(0...1, exceptZero: false), .required, "VOLUME", "the final volume"),
        ParameterSpec(
          .duration, .duration(positive: false), .required, "DURATION", "the duration; at most a day"),
        ParameterSpec(
          .curve, .word(PlaybackCommand.FadeCurve.allCases.map(\.rawValue)), .optional, "linear|equal-power",
          "the curve; default: `linear`"),
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
      .pan, .playback, "Set the pan, or show it.",
      details:
        "The channel on the side of the pan is unchanged. The other one is multiplied by cos(|PAN| × 90°). The"
        + " change takes 5 ms.",
      parameters: [
        ParameterSpec(
          .pan, .number(-1...1, exceptZero: false), .optional, "PAN",
          "-1 is left, 0 leaves the samples unchanged, 1"
            + " is right"),
        player,
      ],
      readsWithoutValue: true, reply: [.pan], errors: [.noSuchPlayer], example: ["> pan -0.5", "< ok pan=-0.5"]
    ) { arguments throws(MediaError) in .playback(.pan(arguments.number(.pan)), player: arguments.player) },
    CommandSpec(
      .mute, .playback, "Mute or unmute the player, or show whether it is muted.",
      details: "The volume stays.",
      parameters: [ParameterSpec(.state, .toggle, .optional, "on|off|toggle", "the new state"), player],
      readsWithoutValue: true, reply: [.isMuted], errors: [.noSuchPlayer], example: ["> mute on", "< ok isMuted=true"]
    ) { arguments throws(MediaError) in
      .playback(.mute(arguments.text(.state).flatMap(PlaybackCommand.Switch.init)), player: arguments.player)
    },
    CommandSpec(
      .endAction, .playback, "Set the action at the end of an item, or show it.",
      details:
        "`advance` continues with the next item, `pause` pauses at the end, and with `none` the time continues in"
        + " silence.",
      parameters: [
        ParameterSpec(
          .action, .word(PlaybackCommand.ItemEndAction.allCases.map(\.rawValue)), .optional, "advance|pause|none",
          "the action; default: `advance`"),
        player,
      ],
      readsWithoutValue: true, reply: [.actionAtItemEnd], errors: [.noSuchPlayer],
      example: ["> end-action pause", "< ok actionAtItemEnd=pause"]
    ) { arguments throws(MediaError) in
      .playback(
        .endAction(arguments.text(.action).flatMap(PlaybackCommand.ItemEndAction.init)), player: arguments.player)
    },
    CommandSpec(
      .pitch, .playback, "Set how the pitch follows the rate, or show it.",
      details:
        "`timeDomain` keeps the pitch, is cheap, and is best for speech. `spectral` keeps it, is best for music,"
        + " and costs about seven times as much. With `varispeed` the pitch follows the rate, as with a tape. `time`"
        + " advances by exactly the rate; the audio heard is within 20 ms (`timeDomain`), 50 ms (`spectral`) or one"
        + " sample (`varispeed`) of it. Applies to all entries for which `item.pitch` sets nothing. Each algorithm"
        + " plays from 1/32 to 32. An algorithm that this build does not contain is an error. A rate is never"
        + " rounded: there is no equivalent of AVFoundation's `lowQualityZeroLatency`.",
      parameters: [
        ParameterSpec(
          .algorithm, .word(PlaybackCommand.PitchAlgorithm.allCases.map(\.rawValue)), .optional,
          "timeDomain|spectral|varispeed", "the algorithm; default: `timeDomain`"), player,
      ],
      readsWithoutValue: true, reply: [.audioTimePitchAlgorithm], errors: [.unsupportedRate, .noSuchPlayer],
      example: ["> pitch spectral", "< ok audioTimePitchAlgorithm=spectral"]
    ) { arguments throws(MediaError) in
      .playback(
        .pitch(arguments.text(.algorithm).flatMap(PlaybackCommand.PitchAlgorithm.init)), player: arguments.player)
    },
    replayGain,
    CommandSpec(
      .repeat, .playback, "Set what repeats, or show it.",
      details:
        "`one` repeats the current item, `all` the queue: an entry that was heard to its end, or that `next` leaves,"
        + " moves to the end of the queue and keeps its id. Repeats have no gap, and have priority over"
        + " `end-action`. An item shorter than 10 ms plays once.",
      parameters: [
        ParameterSpec(
          .mode, .word(PlaybackCommand.RepeatMode.allCases.map(\.rawValue)), .optional, "off|one|all",
          "what repeats; default: `off`"), player,
      ],
      readsWithoutValue: true, reply: [.repeat], errors: [.noSuchPlayer], example: ["> repeat one", "< ok repeat=one"]
    ) { arguments throws(MediaError) in
      .playback(.repeat(arguments.text(.mode).flatMap(PlaybackCommand.RepeatMode.init)), player: arguments.player)
    },
    CommandSpec(
      .loop, .playback, "Loop a part of the current item, end the loop, or show it.",
      details:
        "The loop is exact: from frame `floor(START * sampleRate)` to frame `floor(END * sampleRate)`, without a"
        + " gap. Playback that reaches END continues at START. Playback that is after END (when the loop is set,"
        + " or by a seek) continues, and the loop ends with the item. `loop off` continues from the present position."
        + " `loop last` finishes the present pass and continues as at the end of the item: with the next entry, or as"
        + " `end-action` specifies. Each return to START is a `transition` event and no `time-jumped`; ticks and"
        + " boundaries fire in each pass. A range is at least 10 ms long. The request waits until the item is"
        + " ready. In the reply `count` is the number of remaining returns (`none`: indefinitely), and `passes` the"
        + " number of returns so far.",
      parameters: [
        ParameterSpec(.start, .timeExpression, .optional, "START", "the start of the range"),
        ParameterSpec(.end, .timeExpression, .optional, "END", "the end of the range"),
        ParameterSpec(.off, .flag, .option, "off", "end the loop, and continue"),
        ParameterSpec(.last, .flag, .option, "last", "make the present pass the last one"),
        ParameterSpec(
          .count, .integer(1...1_000_000_000), .option, "N", "the number of returns; default: indefinitely"),
        ParameterSpec(.item, item, .option, "ID", "the required current item"), player,
      ],
      waiting: .always, readsWithoutValue: true,
      reply: [.item.nullable, .start.nullable, .end.nullable, .countOfReturns.nullable, .passes.nullable],
      errors: [.invalidTime, .invalidState, .noCurrentItem, .noSuchItem, .waitEnded, .noSuchPlayer] + streamErrors
        + mediaErrors,
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
          "a loop is START and END, optionally with count; or off; or last; or nothing, to show it")
      }
      return .playback(.loop(.init(change, item: arguments.integer(.item))), player: arguments.player)
    },
    CommandSpec(
      .status, .playback, "Show the state of the player.",
      details:
        "`time` is the time heard. `rate` is the requested rate, `timebaseRate` the rate at which the time heard"
        + " advances (0 while paused or waiting). `loop` is `START-END` in seconds, `passes` the number of returns"
        + " so far and `passesLeft` the number of remaining ones (`none`: indefinitely). `shuffle` is the seed,"
        + " `chapter` the number of the chapter heard, `streamTitle` and `streamUrl` what a station announces."
        + " Without a current item, or before it is ready, its fields are `none` or `indefinite`.",
      parameters: [player],
      right: .read,
      reply: [
        .player, .timeControlStatus, .reasonForWaitingToPlay.nullable, .rate, .item.nullable, .index.nullable,
        .countOfEntries,
        .time, .pts,
        .duration.nullable, .providesPreciseDuration, .volume, .isMuted, .pan, .actionAtItemEnd, .repeat,
        .loop.nullable,
        .passes.nullable, .passesLeft.nullable, .itemStatus, .version, .timebaseRate, .defaultRate, .shuffle.nullable,
        .onFailure,
        .automaticallyWaitsToMinimizeStalling, .audioTimePitchAlgorithm, .chapter.nullable, .chapterTitle.nullable,
        .replayGain,
        .title.optional,
        .artist.optional, .streamTitle.optional, .streamUrl.optional,
      ],
      errors: [.noSuchPlayer],
      example: [
        "> status",
        "< ok player=main timeControlStatus=playing reasonForWaitingToPlay=none rate=1 item=1 index=0 count=2 time=12.25"
          + " pts=540225/44100 duration=183.2 providesPreciseDuration=true volume=1 isMuted=false pan=0"
          + " actionAtItemEnd=advance repeat=off loop=none passes=none passesLeft=none itemStatus=readyToPlay version=2 timebaseRate=1 defaultRate=1"
          + " shuffle=none onFailure=skip"
          + " automaticallyWaitsToMinimizeStalling=true audioTimePitchAlgorithm=timeDomain chapter=2 chapterTitle=Fugue replayGain=off",
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
  fileprivate func seekTarget() throws(MediaError) -> PlaybackCommand.Seek.Target {
    guard let text = text(.date) else { return .time(try required(.time, expression(.time))) }
    guard let date = ISODate.parse(text) else { throw failure("a date has the form 2026-11-22T09:30:00Z") }
    guard !isGiven(.time) else { throw failure("a time and a date exclude each other") }
    return .date(date)
  }
}
