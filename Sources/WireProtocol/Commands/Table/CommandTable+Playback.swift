import MediaCore

extension CommandTable {
  /// Commands that play one player's queue.
  static let playback: [CommandSpec] = [
    CommandSpec(
      .play, .playback, "Play at the rate that `rate` has set, or else at `default-rate`.",
      details: """
        The reply does not wait until audio is heard. `wait status=playing` waits for it. In an empty queue the player \
        waits for an entry.

        With `to`, the player plays a part of the current item: it seeks to `from`, plays, and pauses exactly at `to`. \
        The next `play` continues there. The request waits until the end of the range is heard, also while the player \
        is paused. While the range is played, it has priority over `loop`, `repeat` and `end-action`. The settings of \
        the entry do not change.

        - The request ends with `wait-ended` if a seek or another range replaces the range, if another item becomes \
        current, or if the item ends before `to`.
        - If the request is cancelled or its connection closes, playback continues past `to`.
        """,
      parameters: [
        ParameterSpec(
          .from, .timeExpression, .option, "TIME", "the start of the range; default: the current time"),
        ParameterSpec(
          .to, .timeExpression, .option, "TIME", "the end of the range; a relative time counts from the start"),
        ParameterSpec(.item, item, .option, "ID", "the range is of this entry, which must be current"), playerOrAll,
      ],
      waiting: .withRange, reply: [.item.optional, .time.optional, .pts.optional, .affectedPlayers.optional],
      errors: [
        .noSuchPlayer, .noCurrentItem, .noSuchItem, .invalidTime, .unsupportedRate, .waitEnded,
      ] + streamErrors + mediaErrors,
      example: ["> play", "< ok", "> @6 play from=60 to=+2.5", "< @6 ok item=1 time=62.5 pts=2756250/44100"]
    ) { arguments throws(MediaError) in
      guard let end = arguments.expression(.to) else {
        guard !arguments.isGiven(.from), !arguments.isGiven(.item) else {
          throw arguments.failure("from and item require to")
        }
        return .playback(.play, player: arguments.player)
      }
      try arguments.requireOnePlayer("a range")
      return .playback(
        .playRange(.init(start: arguments.expression(.from), end: end, item: arguments.entry(.item))),
        player: arguments.player)
    },
    CommandSpec(
      .playImmediately, .playback, "Play at once with the decoded audio, however little there is.",
      details:
        "This also ends a stall before enough audio is decoded. If no audio is decoded, a player with `auto-wait`"
        + " waits. Without `auto-wait`, the player stays paused, and sends no `stalled` event.",
      parameters: [
        ParameterSpec(
          .rate, .number(-32...32, exceptZero: true), .optional, "RATE",
          "the rate; default: the current rate, or while paused the rate that `play` would use"), player,
      ],
      errors: [.unsupportedRate, .noSuchPlayer] + streamErrors, example: ["> play-immediately", "< ok"]
    ) { arguments throws(MediaError) in
      .playback(.playImmediately(arguments.number(.rate)), player: arguments.player)
    },
    CommandSpec(
      .autoWait, .playback, "Set whether playback resumes by itself after an underrun, or show it.",
      details: """
        - `on` (default): after an underrun the player waits (`toMinimizeStalls`) until half a second is decoded, and \
        then resumes.
        - `off`: after an underrun the player pauses.

        In both cases one `stalled` event is sent. If `off` is set while the player waits, it resumes at once with the \
        decoded audio.
        """,
      parameters: [ParameterSpec(.state, .toggle, .optional, "on|off|toggle", "the new state"), player],
      readsWithoutValue: true, reply: [.automaticallyWaitsToMinimizeStalling], errors: [.noSuchPlayer],
      example: ["> auto-wait off", "< ok automaticallyWaitsToMinimizeStalling=false"]
    ) { arguments throws(MediaError) in
      .playback(.autoWait(arguments.text(.state).flatMap(PlaybackCommand.Switch.init)), player: arguments.player)
    },
    CommandSpec(
      .preroll, .playback, "Prepare to play without delay.",
      details: """
        The player must be paused. The request waits, and its reply has one of these values:

        - `ready=true`: the output has the first samples, so `play` is heard as soon as the device can play them.
        - `ready=false`: the position, the item or the rate changed before, another preroll started, or the item \
        failed.

        The audio is prepared for one rate. Playback at another rate decodes the audio again.
        """,
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
      "Audio that is already prepared stays prepared. Corresponds to AVPlayer's `cancelPendingPrerolls`."),
    simple(
      .seekCancel, .cancelSeeks, "Cancel every pending `seek` and `step`.",
      "The position is then the old one or the target. `status` shows which. Corresponds to AVPlayerItem's"
        + " `cancelPendingSeeks`."),
    CommandSpec(
      .step, .playback, "Step forward or back while paused.",
      details:
        "A step is exactly 0.01 s of the item. Steps count from the target of the newest step or seek. A step does"
        + " not go beyond the start or the end of the item (`clamped`). The reply has the fields of `seek`. The event"
        + " is `time-jumped` with `cause=step`.",
      parameters: [
        ParameterSpec(
          .count, .integer(-1_000_000...1_000_000), .required, "COUNT", "the number of steps; negative: backward"),
        player,
      ],
      waiting: .always,
      reply: SeekReply.fields.map(\.spec),
      errors: [.invalidState, .noCurrentItem, .noSuchPlayer] + streamErrors + mediaErrors,
      example: [
        "> @9 step -5",
        "< @9 ok finished=true item=1 time=12.2 pts=538020/44100 requested=12.2 before=0 after=0 exact=true"
          + " clamped=false us=2950 hostTime=5012.25",
      ]
    ) { arguments throws(MediaError) in
      .playback(.step(try arguments.required(.count, arguments.integer(.count))), player: arguments.player)
    },
    simple(.pause, .pause, "Pause playback.", "The position (`time`) does not change.", acceptsAllPlayers: true),
    simple(.toggle, .toggle, "Pause if playing or waiting to play; otherwise play.", "", errors: streamErrors),
    simple(.stop, .stop, "Pause, and return to the start of the current item.", "", acceptsAllPlayers: true),
    CommandSpec(
      .seek, .playback, "Seek to a time in the current item.",
      details: """
        Exactly one of TIME and `date` is required. Unless a tolerance is given, playback continues with the sample \
        that contains the requested time. A relative time counts from the target of the newest pending seek, or else \
        from the current time. In a live stream, `end` and `live` are three target durations before the end of the \
        last segment.

        The request waits: its reply comes when the device has the audio from the new position. A new seek replaces a \
        pending one. With `chase`, the new seek starts when the pending seek has completed; of several waiting seeks, \
        only the newest is carried out. A seek that is not carried out replies at once with `finished=false`, the \
        current position in `time`, and a `reason`.

        - `time`: the reached position; `exact`: whether `time` is the start of the requested sample
        - `requested`: the requested time; if it is outside the item, the nearer end is used and `clamped=true`
        - `before`, `after`: the tolerances
        - `us`: the duration of the seek in microseconds

        `reason` of a seek that is not carried out:

        - `superseded`: a newer seek replaced it
        - `itemChanged`: another item became current, or no item is current
        - `itemEnded`: the item ended before the new position was heard
        - `itemFailed`: the item could not be opened, read or decoded
        - `cancelled`: the pending seeks were cancelled (`seek.cancel`)
        - `outputLost`: the output was lost; playback continues from the requested position when an output is available
        - `closed`: the player was closed

        `reason` of a finished seek that is not exact:

        - `tolerance`: the reached position is another one within the tolerances
        - `estimated`: the position is calculated from the bit rate, from the durations in a playlist, or from the
          timestamps of a Matroska file that is remote or too long to check
        - `irregularTimestamps`: the timestamps contradict the frame counts, and the file is too long to count
        - `coarseTimestamps`: the timestamps are rounded to more than a frame
        - `decoderState`: the decoder needs all audio before the position, and the file is too long for that
        - `damage`: packets before the position are missing, damaged, or have wrong timestamps
        """,
      parameters: [
        ParameterSpec(.time, .timeExpression, .optional, "TIME", "the target"),
        ParameterSpec(
          .date, .text(maximumByteCount: 64), .option, "DATE",
          "instead of TIME: a date and time in the stream (EXT-X-PROGRAM-DATE-TIME), such as `2026-11-22T09:30:00Z`"),
        ParameterSpec(
          .fast, .flag, .option, "fast", "allow any tolerance: seek to the position that is reached fastest"),
        ParameterSpec(.chase, .flag, .option, "chase", "start when the pending seek has completed"),
        ParameterSpec(.before, .tolerance, .option, "TIME", "how much earlier the reached position may be; default: 0"),
        ParameterSpec(.after, .tolerance, .option, "TIME", "how much later the reached position may be; default: 0"),
        ParameterSpec(.item, item, .option, "ID", "fail with `no-such-item` unless this is the current item"),
        player,
      ],
      waiting: .always,
      reply: SeekReply.fields.map(\.spec),
      errors: [.invalidTime, .noCurrentItem, .noSuchItem, .noSuchPlayer, .noSuchDate] + streamErrors + mediaErrors,
      example: [
        "> @5 seek 1:23.5",
        "< @5 ok finished=true item=1 time=83.5 pts=3682350/44100 requested=83.5 before=0 after=0 exact=true clamped=false"
          + " us=2950 hostTime=5012.25",
      ]
    ) { arguments throws(MediaError) in
      let isFast = arguments.flag(.fast)
      let before = arguments.time(.before)
      let after = arguments.time(.after)
      guard !isFast || (before == nil && after == nil) else {
        throw arguments.failure("fast cannot be combined with before or after")
      }
      let seek = PlaybackCommand.Seek(
        target: try arguments.seekTarget(), toleranceBefore: before ?? (isFast ? .positiveInfinity : .zero),
        toleranceAfter: after ?? (isFast ? .positiveInfinity : .zero), isChase: arguments.flag(.chase),
        item: arguments.entry(.item))
      return .playback(.seek(seek), player: arguments.player)
    },
    CommandSpec(
      .rate, .playback, "Set the rate, or show it.",
      details: """
        The rate is exact to a millionth. `pitch` selects how the pitch follows the rate. 0 is an error; use `pause`.

        - While playing, the rate changes without a gap or a click: 60 ms after the audio that is heard, or later if \
        decoding takes longer. The `timebaseRate` of `status` and its `changed` event report the change.
        - While paused, the rate applies to the next `play` only. Later ones use `default-rate`. The player does not \
        start.

        At a negative rate the current item plays in reverse, at -1 sample by sample. The queue is never followed in \
        reverse. At its start the item has `ended`. Then playback pauses, or continues as `repeat one`, `loop` or \
        `end-action none` specify. At time 0 nothing can be heard in reverse: `seek end` first.

        If the direction changes:

        - Shortly before the end of an item or loop, playback turns around at that end at the latest, and the item has \
        not ended.
        - Beyond the end time of the new direction (`item.end-time`), the item ends at once.

        A station or a pipe cannot play in reverse: the error is 2039 or 2049. A station or pipe that becomes current \
        at a negative rate ends at its start, and playback pauses. It fails if it must start at another position: \
        after a `seek` before it was open, or with `repeat one`.
        """,
      parameters: [
        ParameterSpec(.rate, .number(-32...32, exceptZero: true), .optional, "RATE", "the rate; 1 is as recorded"),
        playerOrAll,
      ],
      readsWithoutValue: true, reply: [.rate, .affectedPlayers.optional],
      errors: [.unsupportedRate, .noSuchPlayer] + streamErrors,
      example: ["> rate 1", "< ok rate=1"]
    ) { arguments throws(MediaError) in .playback(.rate(arguments.number(.rate)), player: arguments.player) },
    CommandSpec(
      .defaultRate, .playback, "Set the rate that `play` uses, or show it.",
      details: "The current rate does not change.",
      parameters: [
        ParameterSpec(
          .rate, .number(-32...32, exceptZero: true), .optional, "RATE",
          "the rate, from 1/32 to 32, or -1/32 to -32 in reverse; default: 1"), player,
      ],
      readsWithoutValue: true, reply: [.defaultRate], errors: [.unsupportedRate, .noSuchPlayer],
      example: ["> default-rate 1.5", "< ok defaultRate=1.5"]
    ) { arguments throws(MediaError) in .playback(.defaultRate(arguments.number(.rate)), player: arguments.player) },
    CommandSpec(
      .volume, .playback, "Set the volume, or show it.",
      details: "With a sign, the volume changes: by a number, a percentage of the full volume, or decibels. It stays"
        + " within 0 and 1. During a fade the change starts from the final volume.",
      parameters: [
        ParameterSpec(
          .volume, .volume, .optional, "VOLUME",
          "0 is silence, 1 (or 100%) leaves the samples unchanged; +5%, -0.1 and -6dB change it"),
        playerOrAll,
      ],
      readsWithoutValue: true, reply: [.volume, .affectedPlayers.optional], errors: [.noSuchPlayer],
      example: ["> volume 0.5", "< ok volume=0.5"]
    ) { arguments throws(MediaError) in .playback(.volume(arguments.volume(.volume)), player: arguments.player) },
    CommandSpec(
      .fade, .playback, "Fade the volume to another one.",
      details: """
        `volume` shows the final volume at once. The fade follows the time of the output, which stops while nothing \
        plays. Another `fade` or `volume` starts from the volume that the fade has reached.

        - `linear` (default) changes the volume linearly.
        - `equal-power` changes the square of the volume linearly. A crossfade of two players then keeps its loudness.

        With `then`, the player pauses or stops at the exact frame at which the fade ends. The volume keeps its final \
        value. Another `fade` or `volume` cancels this action. If the player is paused at the end of the fade, the \
        action has no effect. If the output is lost or changed, the fade ends at once, with its action.

        With `wait`, the reply comes when the end of the fade is heard (`finished=true`). It comes earlier, with \
        `finished=false`, for one of these reasons:

        - `replaced`: another `fade` or `volume` replaced the fade
        - `notPlaying`: the player is paused, or waits for an entry, the output or the session; the fade remains, and \
        continues with the time of the output
        """,
      parameters: [
        ParameterSpec(.volume, .volume, .required, "VOLUME", "the final volume, as for `volume`"),
        ParameterSpec(
          .duration, .duration(positive: false), .required, "DURATION", "the duration; at most a day"),
        ParameterSpec(
          .curve, .word(PlaybackCommand.FadeCurve.allCases.map(\.rawValue)), .optional, "linear|equal-power",
          "the curve of the volume; default: `linear`"),
        ParameterSpec(
          .then, .word(PlaybackCommand.FadeEndAction.allCases.map(\.rawValue)), .option, "none|pause|stop",
          "the action at the end of the fade; default: `none`"),
        ParameterSpec(.wait, .flag, .option, "wait", "reply at the end of the fade"),
        playerOrAll,
      ],
      waiting: .ifRequested, reply: [.fadeFinished.optional, .fadeReason.optional, .affectedPlayers.optional],
      errors: [.invalidTime, .noSuchPlayer, .waitEnded],
      example: ["> fade 0 2.5", "< ok", "> @4 fade 0 2.5 then=pause wait", "< @4 ok finished=true"]
    ) { arguments throws(MediaError) in
      if arguments.flag(.wait) { try arguments.requireOnePlayer("wait") }
      return .playback(
        .fade(
          to: try arguments.required(.volume, arguments.volume(.volume)),
          duration: try arguments.required(.duration, arguments.time(.duration)),
          arguments.text(.curve).flatMap(PlaybackCommand.FadeCurve.init) ?? .linear,
          endAction: arguments.text(.then).flatMap(PlaybackCommand.FadeEndAction.init) ?? .none,
          waits: arguments.flag(.wait)),
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
        playerOrAll,
      ],
      readsWithoutValue: true, reply: [.pan, .affectedPlayers.optional], errors: [.noSuchPlayer],
      example: ["> pan -0.5", "< ok pan=-0.5"]
    ) { arguments throws(MediaError) in .playback(.pan(arguments.number(.pan)), player: arguments.player) },
    CommandSpec(
      .mute, .playback, "Mute or unmute the player, or show whether it is muted.",
      details: "The volume stays.",
      parameters: [ParameterSpec(.state, .toggle, .optional, "on|off|toggle", "the new state"), playerOrAll],
      readsWithoutValue: true, reply: [.isMuted, .affectedPlayers.optional], errors: [.noSuchPlayer],
      example: ["> mute on", "< ok isMuted=true"]
    ) { arguments throws(MediaError) in
      .playback(.mute(arguments.text(.state).flatMap(PlaybackCommand.Switch.init)), player: arguments.player)
    },
    CommandSpec(
      .endAction, .playback, "Set the action at the end of an item, or show it.",
      details: """
        - `advance`: play the next item; after the last item the rate stays, and the player waits for another item
        - `stop`: play the next item; after the last item the rate becomes 0 (`status=paused`)
        - `pause`: pause at the end of the item
        - `none`: the time continues beyond the end, in silence
        """,
      parameters: [
        ParameterSpec(
          .action, .word(PlaybackCommand.ItemEndAction.allCases.map(\.rawValue)), .optional, "advance|stop|pause|none",
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
      details: """
        - `timeDomain` keeps the pitch at low cost. It is best for speech.
        - `spectral` keeps the pitch at about seven times the cost. It is best for music.
        - `varispeed` changes the pitch with the rate, as on a tape.

        The setting applies to all entries for which `item.pitch` sets nothing. Each algorithm plays from 1/32 to 32. \
        An algorithm that this build does not contain is an error.

        `time` advances by exactly the rate. The audio heard is within 20 ms (`timeDomain`), 50 ms (`spectral`) or one \
        sample (`varispeed`) of it. Rates are never rounded: there is no equivalent of AVFoundation's \
        `lowQualityZeroLatency`.
        """,
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
      details: """
        - `off`: nothing repeats
        - `one`: the current item repeats
        - `all`: the queue repeats: an entry that was heard to its end, or that `next` leaves, moves to the end of the \
        queue and keeps its id

        Repeats have no gap, and have priority over `end-action`. An item shorter than 10 ms plays once.
        """,
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
      details: """
        Playback that reaches END returns to START without a gap. The range is exact: from frame `floor(START * \
        sampleRate)` to frame `floor(END * sampleRate)`. It must be at least 10 ms long. The request waits until the \
        item is ready.

        - Playback that is after END, when the loop is set or after a seek, continues to the end of the item.
        - `loop off` ends the loop, and playback continues from the current position.
        - `loop last` finishes the current pass. Playback then continues as at the end of the item: with the next \
        entry, or as `end-action` specifies.

        Each return to START is a `transition` event, not `time-jumped`. Ticks and boundaries are sent in each pass. \
        In the reply, `count` is the number of remaining returns (`none`: indefinitely), and `passes` is the number of \
        returns so far.
        """,
      parameters: [
        ParameterSpec(.start, .timeExpression, .optional, "START", "the start of the range"),
        ParameterSpec(.end, .timeExpression, .optional, "END", "the end of the range"),
        ParameterSpec(.off, .flag, .option, "off", "end the loop, and continue"),
        ParameterSpec(.last, .flag, .option, "last", "make the current pass the last one"),
        ParameterSpec(
          .count, .integer(1...1_000_000_000), .option, "N", "the number of returns; default: indefinitely"),
        ParameterSpec(.item, item, .option, "ID", "fail with `no-such-item` unless this is the current item"), player,
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
          "loop must have START and END (optionally with count), off, last, or no value to show the loop")
      }
      return .playback(.loop(.init(change, item: arguments.entry(.item))), player: arguments.player)
    },
    CommandSpec(
      .status, .playback, "Show the state of the player.",
      details: """
        Without a current item, or before it is ready, its fields are `none` or `indefinite`.

        - `time`: the time heard; `hostTime`: the instant at which it is heard (*Clocks*)
        - `rate`: the requested rate
        - `timebaseRate`: the rate at which the time heard advances; 0 while paused or waiting
        - `loop`: the range of the loop, `START-END` in seconds
        - `passes`: the number of returns to the start of the loop so far
        - `passesLeft`: the number of remaining returns; `none`: indefinitely
        - `shuffle`: the seed of the shuffled order
        - `chapter`: the number of the chapter heard
        - `title`, `artist`, `album`: as in `list`; absent while unknown
        - `error`, `message`: why the current item failed; absent otherwise
        - `streamTitle`, `streamUrl`: the title and URL that a station announces

        `reasonForWaitingToPlay` is `none`, or one of these:

        - `toMinimizeStalls`: an underrun occurred; playback resumes automatically
        - `evaluatingBufferingRate`: the item is being opened, or its first samples are being decoded
        - `noItemToPlay`: the queue is empty
        - `currentItemFailed`: the current item failed, and no other item follows
        - `outputUnavailable`: no device is available, or the device accepts no audio
        - `startTimeNotReached`: the start is in the future (`play-at`, `rate-at`)
        - `interrupted`: another program interrupts playback
        - `categoryForbidsPlayback`: the category of the session does not allow playback
        """,
      parameters: [player],
      right: .read,
      reply: [
        .player, .timeControlStatus, .reasonForWaitingToPlay.nullable, .rate, .item.nullable, .index.nullable,
        .countOfEntries,
        .time, .pts, .hostTime.nullable,
        .duration.nullable, .providesPreciseDuration, .volume, .isFading, .isMuted, .pan, .actionAtItemEnd,
        .repeat,
        .loop.nullable,
        .passes.nullable, .passesLeft.nullable, .itemStatus, .version, .timebaseRate, .defaultRate, .shuffle.nullable,
        .onFailure,
        .automaticallyWaitsToMinimizeStalling, .audioTimePitchAlgorithm, .chapter.nullable, .chapterTitle.nullable,
        .replayGain,
        .title.optional,
        .artist.optional, .album.optional, .streamTitle.optional, .streamUrl.optional, .error.optional,
        .message.optional,
      ],
      errors: [.noSuchPlayer],
      example: [
        "> status",
        "< ok player=main timeControlStatus=playing reasonForWaitingToPlay=none rate=1 item=1 index=0 count=2 time=12.25"
          + " pts=540225/44100 hostTime=5012.25 duration=183.2 providesPreciseDuration=true volume=1 isFading=false isMuted=false pan=0"
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
    errors: [MediaError.Code] = [], acceptsAllPlayers: Bool = false
  ) -> CommandSpec {
    CommandSpec(
      name, .playback, summary, details: details, parameters: [acceptsAllPlayers ? playerOrAll : player],
      reply: acceptsAllPlayers ? [.affectedPlayers.optional] : [], errors: [.noSuchPlayer] + errors,
      example: ["> \(name.rawValue)", "< ok"]
    ) { arguments throws(MediaError) in .playback(command, player: arguments.player) }
  }

  /// The errors of operations that need seeking, for sources that are only readable in order: stations and pipes.
  static let streamErrors: [MediaError.Code] = [.rangesNotSupported, .onlyInOrder]
}

extension ParsedArguments {
  /// The target of a seek.
  ///
  /// - Throws: `bad-arguments` if the date is invalid, or if not exactly one of time and date is given.
  fileprivate func seekTarget() throws(MediaError) -> PlaybackCommand.Seek.Target {
    guard let text = text(.date) else { return .time(try required(.time, expression(.time))) }
    guard let date = ISODate.parse(text) else {
      throw failure("invalid date \(Excerpt.quoted(text)); expected a form such as 2026-11-22T09:30:00Z")
    }
    guard !isGiven(.time) else { throw failure("TIME and date cannot be combined") }
    return .date(date)
  }
}
