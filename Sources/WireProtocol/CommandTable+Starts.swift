import MediaCore

extension CommandTable {
  /// Commands that start several players.
  static let starts: [CommandSpec] = [
    CommandSpec(
      .playAt, .playback, "Starts players together, on the same sample.",
      details:
        "The players, which are paused and have a current item, get ready first; then they begin with the same frame of the"
        + " output, whatever they play. A waiting request: it answers when that frame has been handed to the device, just before"
        + " it is heard. `frame` counts from when the output was opened, `hostTime` is when that frame is heard in seconds of the"
        + " monotonic clock (CLOCK_MONOTONIC), `late` how many frames later than asked for it is (0, unless a player was not ready in"
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
      waiting: .always, reply: ["frame", "hostTime", "late", "spread"],
      errors: [
        .invalidTime, .invalidArgument, .invalidState, .noCurrentItem, .noSuchPlayer, .waitEnded, .outputLost,
        .outputUnavailable,
      ] + itemErrors,
      example: ["> @8 play-at +0.5 drums bass keys", "< @8 ok frame=48000 hostTime=5012.25 late=0 spread=0"]
    ) { arguments throws(MediaError) in
      .players(
        .playAt(try arguments.required(.time, arguments.moment(.time)), players: arguments.texts(.players)))
    }
  ]
}
