import MediaCore

extension CommandTable {
  /// Commands that start players at a moment, or change the rate of several players together.
  static let starts: [CommandSpec] = [
    CommandSpec(
      .playAt, .playback, "Start players together, on the same sample.",
      details: """
        The players must be paused and have a current item. They prepare first, and then start at the same frame of \
        the output. Until then, `reasonForWaitingToPlay` is `startTimeNotReached`. If a player cannot prepare, none \
        starts.

        The reply comes when that frame has been given to the device, just before it is heard:

        - `frame`: the frame of the output, counted from its opening
        - `hostTime`: the time at which the frame is heard, in seconds of CLOCK_MONOTONIC; `none` if the device is \
        stopped
        - `late`: the number of frames after the requested start; 0 unless a player was not ready in time
        - `spread`: the number of frames between the first and the last player's start; 0 unless a player got another \
        command meanwhile

        A player that gets a `pause` or `play` before the start does not take part. A `seek` changes its start \
        position.
        """,
      parameters: [
        ParameterSpec(
          .time, .startMoment, .required, "now|+TIME|TIME|frame:N",
          "the start: when all are ready (`now`), after a duration (`+TIME`), at an instant of the monotonic clock"
            + " (`TIME`), or at an output frame (`frame:N`)"
        ),
        ParameterSpec(.players, .playerName, .list, "NAME", "the players"),
      ],
      waiting: .always, reply: [.frame, .hostTimeOfFrame.nullable, .lateFrames, .spread],
      errors: [
        .invalidTime, .invalidArgument, .invalidState, .noCurrentItem, .noSuchPlayer, .waitEnded, .outputLost,
        .outputUnavailable,
      ] + streamErrors + mediaErrors,
      example: ["> @8 play-at +0.5 drums bass keys", "< @8 ok frame=48000 hostTime=5012.25 late=0 spread=0"]
    ) { arguments throws(MediaError) in
      .players(
        .playAt(try arguments.required(.time, arguments.moment(.time)), players: arguments.list(.players)))
    },
    CommandSpec(
      .rateAt, .playback, "Set the rate, so that a given item time is heard at a given clock time.",
      details: """
        Corresponds to AVPlayer's `setRate(_:time:atHostTime:)`. To start several players together, use `play-at`.

        - Before the instant, the item is silent at `from`, and the player waits (`startTimeNotReached`).
        - If the instant is in the past, playback starts as soon as possible, at the position that it would have \
        reached.
        - With `now`, playback starts as soon as `from` is ready. Without `from`, it starts at the current position.
        - With the rate 0, the player pauses and seeks to `from` at once.

        While `auto-wait` is on, the command is an error, because a player that waits for samples cannot guarantee an \
        instant.
        """,
      parameters: [
        ParameterSpec(.rate, .number(-32...32, exceptZero: false), .required, "RATE", "the rate; 0 pauses"),
        ParameterSpec(
          .time, .startTime, .required, "now|+TIME|TIME",
          "the instant: as soon as possible (`now`), after a duration (`+TIME`), or of the monotonic clock (`TIME`)"),
        ParameterSpec(.from, .time, .option, "TIME", "the item time that is heard at the instant"), player,
      ],
      reply: [.rate],
      errors: [.unsupportedRate, .invalidTime, .invalidState, .noCurrentItem, .noSuchPlayer] + streamErrors
        + mediaErrors,
      example: [
        "> rate-at 1 +0.5 from=12", "< ok rate=1",
      ]
    ) { arguments throws(MediaError) in
      let moment: PlaybackCommand.RateMoment
      switch try arguments.required(.time, arguments.moment(.time)) {
      case .now: moment = .now
      case .after(let delay): moment = .after(delay)
      case .instant(let time): moment = .instant(time)
      case .frame: preconditionFailure("a start time is not a frame")
      }
      return .playback(
        .rateAt(try arguments.required(.rate, arguments.number(.rate)), moment, from: arguments.time(.from)),
        player: arguments.player)
    },
    CommandSpec(
      .rateTogether, .playback, "Set the rate of several players on the same sample.",
      details: """
        Corresponds to `rate` for several players during playback. No player stops, and players that started together \
        stay together.

        The reply comes when the frame of the change has been given to the device, just before it is heard:

        - `frame`, `hostTime`: as in the reply of `play-at`; `none` if no player plays
        - `spread`: the number of frames between the first and the last change; 0 unless the audio of a player was not \
        decoded in time

        A paused player uses the rate for its next `play` only. A player that gets another command before the change \
        does not take part.
        """,
      parameters: [
        ParameterSpec(.rate, .number(-32...32, exceptZero: true), .required, "RATE", "the rate; 1 is as recorded"),
        ParameterSpec(.players, .playerName, .list, "NAME", "the players"),
      ],
      waiting: .always, reply: [.frame.nullable, .hostTimeOfFrame.nullable, .spread],
      errors: [.unsupportedRate, .invalidArgument, .noSuchPlayer, .waitEnded, .outputLost] + streamErrors,
      example: ["> @8 rate-together 1.5 drums bass keys", "< @8 ok frame=98880 hostTime=5013.31 spread=0"]
    ) { arguments throws(MediaError) in
      .players(
        .rateTogether(try arguments.required(.rate, arguments.number(.rate)), players: arguments.list(.players)))
    },
  ]
}
