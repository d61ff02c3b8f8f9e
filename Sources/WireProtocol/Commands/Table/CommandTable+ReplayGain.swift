import MediaCore

extension CommandTable {
  /// The command for loudness normalization (ReplayGain).
  static let replayGain = CommandSpec(
    .replayGain, .playback, "Set loudness normalization by tags (ReplayGain), or show it.",
    details: """
      The mode selects the gain:

      - `off`: no gain; the settings stay
      - `track`: the gain of the track
      - `album`: the gain of the album, so that its tracks keep their relative loudness
      - `auto`: the gain of the album if the entry before or after is the adjacent track of the same album, or the \
      adjacent part of the same file. Otherwise the gain of the track. Adjacent entries are considered as soon as \
      their tags are known.

      If one of both gains is missing, the other one is used. The supported tags are:

      - ReplayGain 1 and 2, for -18 LUFS
      - `R128_TRACK_GAIN` and `R128_ALBUM_GAIN` of Opus, for -23 LUFS. 5 dB are added. These gains are relative to the \
      gain of the header, which the decoder applies.

      The settings change the gain:

      - `pre-amp` is added to the gain of tags.
      - `fallback` is the gain of entries without tags.
      - `protect` limits a gain so that the peak in the tags stays within full scale.
      - The result is from -60 to 30 dB.

      The gain applies from the first sample of an entry to its last, also across gapless transitions. Samples are \
      multiplied by the gain, by `item.volume` and by `volume`. A change is heard at once, over 5 ms.
      """,
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
