import MediaCore

extension CommandTable {
  /// Commands that measure the loudness of files.
  static let scans: [CommandSpec] = [
    CommandSpec(
      .scan, .assets, "Measure the loudness of files (EBU R128).",
      details: """
        Each file is decoded completely. Files and scans run one after another with low priority, and do not disturb \
        playback. If a scan waits for bytes for more than 2 s, others run meanwhile. `album` also measures all files \
        together as one.

        The rows have these values, or `none` if a value was not measured:

        - `loudness`: the integrated loudness in LUFS
        - `range`: the loudness range in LU
        - `truePeak`: the largest value between samples in dBTP; `none` for digital silence
        - `samplePeak`: the largest sample in dBFS; `none` for digital silence
        - `gain`, `peak`: those of ReplayGain 2.0: dB to -18 LUFS, and the largest sample, where 1 is full scale
        - `fault`: why a part of the file is missing or did not decode

        `status` is one of these:

        - `measured`: the file was measured
        - `silence`: nothing is louder than -70 LUFS
        - `too-short`: the file has less than 400 ms
        - `failed`: the file cannot be read, or cannot be opened in time (`opening-timed-out`). The row has the \
        `error`, and the scan continues. The `failed` of the reply is the number of such files.

        `scan-progress` events come before the reply: at the start of each file, at each twentieth of it, and at its \
        end. The end of the connection ends its scans.

        With `apply`, the results replace the tags of the queue's entries with these files (`replay-gain`, \
        `gainSource=scan`). `applied` is the number of these entries.
        """,
      parameters: [
        ParameterSpec(.paths, .path, .list, "PATH", "the input files"),
        ParameterSpec(.album, .flag, .option, "album", "also measure all files as one"),
        ParameterSpec(.apply, .flag, .option, "apply", "use the results for the entries of these files"),
        player,
      ] + network,
      waiting: .always,
      reply: [
        .scan, .countOfFiles, .failed, .albumLoudness.nullable.optional, .albumGain.nullable.optional,
        .albumTruePeak.nullable.optional, .albumSamplePeak.nullable.optional,
        .albumPeak.optional, .applied.optional,
      ],
      rows: [
        .file, .path, .scanStatus, .loudness.nullable.optional, .loudnessRange.nullable.optional,
        .truePeak.nullable.optional, .samplePeak.nullable.optional, .gain.nullable.optional, .peak.nullable.optional,
        .duration.optional,
        .fault.optional, .error.optional, .message.optional,
      ],
      errors: [.cancelled, .loudnessUnavailable, .unsupportedLocation, .invalidTime, .noSuchPlayer],
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
      if !applies, arguments.isGiven(.player) { throw arguments.failure("player needs apply") }
      return .asset(
        .scan(
          .init(
            arguments.list(.paths), measuresAlbum: arguments.flag(.album), player: applies ? arguments.player : nil,
            network: try arguments.networkOptions())))
    },
    CommandSpec(
      .scanCancel, .assets, "Cancel a `scan`, `waveform`, `export` or `image`, or all.",
      details:
        "The cancelled request must belong to this connection. It fails with `cancelled`, after this reply. Only a"
        + " request with an id can be cancelled, because a request without an id delays all later ones.",
      parameters: [
        ParameterSpec(.scan, .integer(1...Int.max), .optional, "SCAN", "the number of the request; default: all")
      ],
      reply: [.cancelled],
      example: ["> scan.cancel 1", "< ok cancelled=1"]
    ) { arguments throws(MediaError) in .asset(.cancelScan(arguments.integer(.scan))) },
  ]
}
