import MediaCore

extension CommandTable {
  /// The command for loudness normalization (ReplayGain).
  static let replayGain = CommandSpec(
    .replayGain, .playback, "Set loudness normalization by tags (ReplayGain), or show it.",
    details:
      "`track` uses the gain of the track. `album` uses the gain of the album, so that its tracks keep their"
      + " relative loudness. If one gain is missing, the other is used. `auto` uses the gain of the album if the"
      + " entry before or after is the adjacent track of the same album, or the adjacent part of the same file;"
      + " otherwise it uses the gain of the track. It considers the adjacent entries as soon as their tags are known."
      + " Supported tags are ReplayGain 1 and 2 (for -18 LUFS) and Opus' `R128_TRACK_GAIN` and `R128_ALBUM_GAIN` (for"
      + " -23 LUFS: 5 dB are added; they are relative to the gain of the header, which the decoder applies)."
      + " `pre-amp` is added to the gain of tags. `fallback` is the gain of entries without tags. `protect` limits a"
      + " gain so that the peak of the tags stays within full scale. The result is from -60 to 30 dB. The gain of an"
      + " entry applies from its first sample to its last, also across gapless transitions. It is independent of"
      + " `item.volume` and `volume`: samples are multiplied with all three. A change is heard at once, over 5 ms."
      + " Settings stay while the gain is `off`.",
    parameters: [
      ParameterSpec(
        .mode, .word(PlaybackCommand.ReplayGainMode.allCases.map(\.rawValue)), .optional, "off|track|album|auto",
        "the gain to use; default: `off`"),
      ParameterSpec(
        .preAmp, .number(-15...15, exceptZero: false), .option, "DB",
        "the gain that is added to that of tags; default: 0"),
      ParameterSpec(
        .fallback, .number(-60...15, exceptZero: false), .option, "DB", "the gain of entries without tags; default: 0"),
      ParameterSpec(.protect, .onOff, .option, "on|off", "whether peaks limit the gain; default: `on`"),
      player,
    ],
    readsWithoutValue: true,
    reply: [
      .mode, .preAmp, .fallback, .protect, .item.nullable, .gain.nullable, .replayGainSource.nullable,
      .limited.nullable,
    ],
    errors: [.noSuchPlayer],
    example: [
      "> replay-gain auto pre-amp=3",
      "< ok mode=auto preAmp=3 fallback=0 protect=true item=1 gain=-4.25 source=album limited=false",
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
