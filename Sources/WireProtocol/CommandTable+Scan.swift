import MediaCore

extension CommandTable {
  /// Commands that measure the loudness of files.
  static let scans: [CommandSpec] = [
    CommandSpec(
      .scan, .assets, "Measures how loud files are, by EBU R128.",
      details:
        "Each file is decoded whole, one after another and one scan after another, with low priority; what plays"
        + " is not disturbed. While a scan waits for a file's bytes for more than 2 s others go on besides. `loudness` is the integrated loudness in LUFS, `range` the loudness range in LU, `truePeak` the greatest"
        + " value between samples in dBTP, `samplePeak` the greatest sample in dBFS (both `none` for digital silence), `gain` and `peak` what"
        + " ReplayGain 2.0 makes of them: dB to -18 LUFS, and the greatest sample, 1 being full scale. `status` is `measured`, `silence` (nothing is louder than"
        + " -70 LUFS), `too-short` (less than 400 ms) or `failed`, with the `error`; where nothing is measured the"
        + " values are `none`. `fault` says why it is not all of the file, or what in it did not decode. With `album` the files are also measured as one. What cannot"
        + " be read, or opened in time (`opening-timed-out`), ends nothing: `failed` counts it. `scan-progress` events of scan `scan` come"
        + " before the reply: at the beginning of each file, each twentieth of it, and its end. With the connection its scans end. With `apply`"
        + " those entries of the player's queue whose files were measured have the result in place of their tags from then on (`replay-gain`, and"
        + " `gainSource=scan`); `applied` counts them.",
      parameters: [
        ParameterSpec(.paths, .path, .list, "PATH", "the files"),
        ParameterSpec(.album, .flag, .option, "album", "measure them as one, too"),
        ParameterSpec(.apply, .flag, .option, "apply", "let entries of these files be played by the result"),
        player,
      ] + network,
      waiting: .always,
      reply: [
        "scan", "count", "failed", "[albumLoudness?]", "[albumGain?]", "[albumTruePeak?]", "[albumSamplePeak?]",
        "[albumPeak?]", "[applied]",
      ],
      rows: [
        "file", "path", "status", "[loudness?]", "[range?]", "[truePeak?]", "[samplePeak?]", "[gain?]", "[peak?]",
        "[duration]",
        "[fault]", "[error]", "[message]",
      ],
      errors: [.cancelled, .loudnessUnavailable, .unsupportedPlace, .invalidTime, .noSuchPlayer],
      example: [
        "> @9 scan /music/one.flac /music/cover.jpg",
        "< * scan-progress scan=1 file=1 count=2 path=/music/one.flac done=0.05",
        "< @9 | file=1 path=/music/one.flac status=measured loudness=-9.41 range=6.2 truePeak=0.31 samplePeak=-0.1 gain=-8.59"
          + " peak=0.988553 duration=183.2",
        "< @9 | file=2 path=/music/cover.jpg status=failed error=no-playable-tracks message=\"there is no audio in /music/cover.jpg\"",
        "< @9 ok scan=1 count=2 failed=1",
      ]
    ) { arguments throws(MediaError) in
      let applies = arguments.flag(.apply)
      if !applies, arguments.isGiven(.player) { throw arguments.failure("player says more of apply") }
      return .asset(
        .scan(
          .init(
            arguments.list(.paths), measuresAlbum: arguments.flag(.album), player: applies ? arguments.player : nil,
            network: try arguments.networkOptions())))
    },
    CommandSpec(
      .scanCancel, .assets, "Ends a `scan`, `waveform`, `export` or `image` of this connection, or all of them.",
      details:
        "What is ended is answered with the error `cancelled`, behind this. What is over, or was never begun, is none to end. A `scan` without an id holds up"
        + " what comes after it, this too: give it an id.",
      parameters: [ParameterSpec(.scan, .integer(1...Int.max), .optional, "SCAN", "its number; default: all")],
      reply: ["cancelled"],
      example: ["> scan.cancel 1", "< ok cancelled=1"]
    ) { arguments throws(MediaError) in .asset(.cancelScan(arguments.integer(.scan))) },
  ]
}
