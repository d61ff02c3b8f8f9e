import MediaCore

extension CommandTable {
  /// Commands that start players at a moment, or change the rate of several players together.
  static let starts: [CommandSpec] = [
    CommandSpec(
      .playAt, .playback, "Start players together, on the same sample.",
      details:
        "The players must be paused and have a current item. They prepare first, and then start at the same frame"
        + " of the output, whatever they play. A waiting request: the reply comes when that frame has been given to"
        + " the device, just before it is heard. `frame` counts from the opening of the output. `hostTime` is the"
        + " time at which the frame is heard, in seconds of CLOCK_MONOTONIC (`none` if the device is stopped). `late`"
        + " is the number of frames after the requested start (0 unless a player was not ready in time). `spread` is"
        + " the number of frames between the first and the last start. Until the start, `reasonForWaitingToPlay` is"
        + " `startTimeNotReached`. A player that gets a `pause` or `play` before the start does not take part; a"
        + " `seek` changes its start position. If a player cannot prepare, none starts.",
      parameters: [
        ParameterSpec(
          .time, .startMoment, .required, "now|+TIME|TIME|frame:N",
          "the start: when all are ready, after a duration, at an instant of the monotonic clock, or at an output frame"
        ),
        ParameterSpec(.players, .playerName, .list, "NAME", "the players"),
      ],
      waiting: .always, reply: [.frame, .hostTime.nullable, .lateFrames, .spread],
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
      details:
        "Before the instant the item is silent at `from`, and the player waits (`startTimeNotReached`). For an"
        + " instant in the past, playback starts as soon as possible, at the position that it would have reached."
        + " With `now` it starts as soon as `from` is ready; without `from`, at the present position. With the rate 0"
        + " the player pauses and seeks to `from` at once. While `auto-wait` is on, the command is an error, because"
        + " a player that waits for samples cannot guarantee an instant. The same as AVPlayer's"
        + " `setRate(_:time:atHostTime:)`. Use `play-at` to start players together.",
      parameters: [
        ParameterSpec(.rate, .number(-32...32, exceptZero: false), .required, "RATE", "the rate; 0 pauses"),
        ParameterSpec(
          .time, .startMoment, .required, "now|+TIME|TIME",
          "the instant: as soon as possible, after a duration, or an instant of the monotonic clock"),
        ParameterSpec(.from, .time, .option, "TIME", "the time of the item that is heard then"), player,
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
      case .frame: throw arguments.failure("rate-at takes an instant; play-at takes a frame")
      }
      return .playback(
        .rateAt(try arguments.required(.rate, arguments.number(.rate)), moment, from: arguments.time(.from)),
        player: arguments.player)
    },
    CommandSpec(
      .rateTogether, .playback, "Set the rate of several players on the same sample.",
      details:
        "The same as `rate` while the players play: none of them stops, and players that started together stay"
        + " together. A waiting request: the reply comes when the frame of the change has been given to the device,"
        + " just before it is heard. `frame` and `hostTime` are as with `play-at` (`none` if none of the players"
        + " plays). `spread` is the number of frames between the first and the last change (0 unless the audio of one"
        + " was not decoded in time). A paused player uses the rate for its next `play`, once. A player that gets"
        + " another command before the change does not take part.",
      parameters: [
        ParameterSpec(.rate, .number(-32...32, exceptZero: true), .required, "RATE", "1 is as recorded"),
        ParameterSpec(.players, .playerName, .list, "NAME", "the players"),
      ],
      waiting: .always, reply: [.frame.nullable, .hostTime.nullable, .spread],
      errors: [.unsupportedRate, .invalidArgument, .noSuchPlayer, .waitEnded, .outputLost] + streamErrors,
      example: ["> @8 rate-together 1.5 drums bass keys", "< @8 ok frame=98880 hostTime=5013.31 spread=0"]
    ) { arguments throws(MediaError) in
      .players(
        .rateTogether(try arguments.required(.rate, arguments.number(.rate)), players: arguments.list(.players)))
    },
  ]
}
