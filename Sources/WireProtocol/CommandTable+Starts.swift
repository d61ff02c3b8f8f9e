import MediaCore

extension CommandTable {
  /// Commands that start players at a moment, or change the rate of several players together.
  static let starts: [CommandSpec] = [
    CommandSpec(
      .playAt, .playback, "Starts players together, on the same sample.",
      details:
        "The players, which are paused and have a current item, get ready first; then they begin with the same frame of the"
        + " output, whatever they play. A waiting request: it answers when that frame has been handed to the device, just before"
        + " it is heard. `frame` counts from when the output was opened, `hostTime` is when that frame is heard in seconds of the"
        + " monotonic clock (CLOCK_MONOTONIC; `none` when the device stands still by then), `late` how many frames later than asked for it is (0, unless a player was not ready in"
        + " time), `spread` how many frames lie between the first and the last beginning. Until then"
        + " `reasonForWaitingToPlay` is `startTimeNotReached`. A player that is told to `pause` or `play` meanwhile leaves the"
        + " others to start without it; a `seek` changes where it begins. When one cannot get ready none starts.",
      parameters: [
        ParameterSpec(
          .time, .startMoment, .required, "now|+TIME|TIME|frame:N",
          "when: as soon as all are ready, so long from now, at an instant of the monotonic clock, or with a frame of the output"
        ),
        ParameterSpec(.players, .playerName, .list, "NAME", "the players"),
      ],
      waiting: .always, reply: ["frame", "hostTime?", "late", "spread"],
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
      .rateAt, .playback, "Sets one player's rate so that a time of its item is heard at an instant.",
      details:
        "Until an instant that is still to come the item stands at `from`, silent, and the player waits (`startTimeNotReached`)."
        + " For one that is over it starts as if it had started then: a little later, further on. With `now` it starts as soon as"
        + " `from` is ready; without `from` from where it is. With the rate 0 it pauses and goes to `from` at once. Not while"
        + " `auto-wait` is on, for who waits for samples cannot promise an instant. As AVPlayer's"
        + " `setRate(_:time:atHostTime:)`; players that are to start together are better started with `play-at`.",
      parameters: [
        ParameterSpec(.rate, .number(-32...32, exceptZero: false), .required, "RATE", "from then on; 0 pauses"),
        ParameterSpec(
          .time, .startMoment, .required, "now|+TIME|TIME",
          "when: as soon as can be, so long from now, or at an instant of the monotonic clock"),
        ParameterSpec(.from, .time, .option, "TIME", "the item's time that is heard then"), player,
      ],
      reply: ["rate"],
      errors: [.unsupportedRate, .invalidTime, .invalidState, .noCurrentItem, .noSuchPlayer] + streamErrors
        + mediaErrors,
      example: [
        "> rate-at 1 +0.5 from=12", "< ok rate=1",
      ]
    ) { arguments throws(MediaError) in
      let moment: PlaybackCommand.RateMoment
      switch try arguments.required(.time, arguments.moment(.time)) {
      case .now: moment = .now
      case .after(let span): moment = .after(span)
      case .instant(let time): moment = .instant(time)
      case .frame: throw arguments.failure("a rate is set at an instant; play-at starts with a frame")
      }
      return .playback(
        .rateAt(try arguments.required(.rate, arguments.number(.rate)), moment, from: arguments.time(.from)),
        player: arguments.player)
    },
    CommandSpec(
      .rateTogether, .playback, "Sets one rate for several players, which go over to it on the same sample.",
      details:
        "As `rate` does, while they play: none of them is stopped, and players that started together stay together. A waiting"
        + " request: it answers when the frame of the output with which they go over has been handed to the device, just before it"
        + " is heard. `frame` and `hostTime` are as with `play-at` (`none` when none of them sounds), `spread` is how many frames"
        + " lie between the first and the last change (0, unless the sound of one could not be decoded in time). A player that is paused"
        + " uses the rate for its next `play`, once; one that is told something else meanwhile leaves the others to change without it.",
      parameters: [
        ParameterSpec(.rate, .number(-32...32, exceptZero: true), .required, "RATE", "1 is as recorded"),
        ParameterSpec(.players, .playerName, .list, "NAME", "the players"),
      ],
      waiting: .always, reply: ["frame?", "hostTime?", "spread"],
      errors: [.unsupportedRate, .invalidArgument, .noSuchPlayer, .waitEnded, .outputLost] + streamErrors,
      example: ["> @8 rate-together 1.5 drums bass keys", "< @8 ok frame=98880 hostTime=5013.31 spread=0"]
    ) { arguments throws(MediaError) in
      .players(
        .rateTogether(try arguments.required(.rate, arguments.number(.rate)), players: arguments.list(.players)))
    },
  ]
}
