import MediaCore

extension CommandTable {
  /// The command for loudness normalization (ReplayGain).
  static let replayGain = CommandSpec(
    .replayGain, .playback, "Makes what is played equally loud by its tags, or says how.",
    details:
      "`track` takes the track's gain, `album` the album's, so that its tracks are as loud as they are to each other; where one is"
      + " missing, the other. `auto` takes the album's for an entry that stands in the queue next to the track that precedes or"
      + " follows it on its album, or to the part of its file next to it, else the track's; before the neighbours' tags are known"
      + " they do not count. Read are ReplayGain 1 and 2 (for -18 LUFS) and Opus' `R128_TRACK_GAIN` and `R128_ALBUM_GAIN` (for"
      + " -23 LUFS: 5 dB are added; they count from the gain in the header on, which the decoder applies). `pre-amp` is added to"
      + " what tags say. `fallback` is the gain, by itself, of what has none. With `protect` a gain is"
      + " made so small that the peak which the tags tell of stays within full scale. In all it is from -60 to 30 dB. An entry's gain"
      + " holds from its first sample to its last, across seams without a gap, too. It is one of its own: samples are multiplied with it, with"
      + " `item.volume` and with `volume`, in any order, and `volume` stays what it is. A change is heard at once, over 5 ms. What is set stays, be it `off` or not.",
    parameters: [
      ParameterSpec(
        .mode, .word(PlaybackCommand.ReplayGainMode.allCases.map(\.rawValue)), .optional, "off|track|album|auto",
        "which gain; `off` from the start"),
      ParameterSpec(
        .preAmp, .number(-15...15, exceptZero: false), .option, "DB", "added to what tags say; 0 from the start"),
      ParameterSpec(
        .fallback, .number(-60...15, exceptZero: false), .option, "DB", "of what has no tags; 0 from the start"),
      ParameterSpec(.protect, .onOff, .option, "on|off", "whether peaks count; `on` from the start"),
      player,
    ],
    asks: true, reply: ["mode", "pre-amp", "fallback", "protect", "item?", "gain?", "source?", "limited?"],
    errors: [.noSuchPlayer],
    example: [
      "> replay-gain auto pre-amp=3",
      "< ok mode=auto pre-amp=3 fallback=0 protect=true item=1 gain=-4.25 source=album limited=false",
    ]
  ) { arguments throws(MediaError) in
    .playback(
      .replayGain(
        .init(
          mode: arguments.text(.mode).flatMap(PlaybackCommand.ReplayGainMode.init),
          preampDecibels: arguments.number(.preAmp), fallbackDecibels: arguments.number(.fallback),
          preventsClipping: arguments.text(.protect).map { $0 == "on" })),
      player: arguments.player)
  }
}
