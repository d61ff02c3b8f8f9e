import MediaCore

extension CommandTable {
  /// The export command.
  static let exports: [CommandSpec] = [
    CommandSpec(
      .export, .assets, "Export files: convert, cut or join them.",
      details: """
        - Inputs: Several files are joined without gaps; with `mix` they are mixed. An input file that ends too early \
        is an error, and no file is written.
        - Range: `start` and `end` cut the result with sample accuracy: samples at or after `start` and before `end`.
        - Audio: `codec=copy` copies whole packets. The first and last packet can therefore contain audio outside the \
        range; players skip that audio if the format has edit lists or trim fields. Otherwise audio is encoded with \
        `codec`, or with the format's default codec. `bits` applies to pcm, float, flac and alac.
        - Video: `video` selects the video codec; formats without video drop the video. Copied video starts at a key \
        frame, which can be before `start`. Only m4a, mp4 and mov can hide the extra frames. If the format cannot \
        store a rotation, the video is rotated when it is encoded.
        - Tags: Tags, chapters and artwork are copied. `metadata=sharing` omits the geographic location and the \
        recording device.
        - File: The daemon writes the file atomically, and replaces an existing file only with `replace`. The file \
        must be below a folder of `--write-root`, and the client needs the right `write`. Neither is necessary for a \
        file that the client has opened (`file=fd:TOKEN`, *Open files*). That file is written in place.
        - Progress: Exports run one after another with low priority. `scan-progress` events come before the reply. \
        `scan.cancel` or the end of the connection cancels the export. `fault` describes decoding errors; silence \
        replaces the audio that could not be decoded.
        """,
      parameters: [
        ParameterSpec(.paths, .path, .list, "PATH", "the input files"),
        ParameterSpec(.file, .outputPath, .option, "PATH", "the file to write (required)"),
        ParameterSpec(
          .format, .word(AssetCommand.Export.Format.allCases.map(\.rawValue)), .option, "FORMAT",
          "the format; default: from the file name extension"),
        ParameterSpec(.replace, .flag, .option, "replace", "replace an existing file"),
        ParameterSpec(.start, .time, .option, "TIME", "the start of the range"),
        ParameterSpec(.end, .time, .option, "TIME", "the end of the range"),
        ParameterSpec(.mix, .flag, .option, "mix", "mix the files instead of joining them"),
        ParameterSpec(
          .track, .integer(0...255), .option, "N", "the audio track; default: the track that playback would select"),
        ParameterSpec(
          .codec, .word(AssetCommand.Export.Codec.allCases.map(\.rawValue)), .option, "CODEC", "the audio codec"),
        ParameterSpec(.sampleRate, .integer(1...768_000), .option, "HZ", "the sample rate; default: that of the input"),
        ParameterSpec(.channels, .integer(1...64), .option, "N", "the number of channels; default: that of the input"),
        ParameterSpec(.bits, .word(["16", "24", "32", "64"]), .option, "BITS", "the bits per sample"),
        ParameterSpec(
          .bitRate, .integer(1_000...2_000_000), .option, "BPS", "the bit rate of the audio, in bits per second"),
        ParameterSpec(
          .video, .word(AssetCommand.Export.VideoCodec.allCases.map(\.rawValue)), .option, "CODEC",
          "the video codec"),
        ParameterSpec(
          .height, .integer(16...4_320), .option, "PIXELS", "the height of the video; default: that of the input"),
        ParameterSpec(
          .quality, .integer(0...51), .option, "N",
          "the constant rate factor (CRF) of H.264, 0 (best) to 51; default: 23"),
        ParameterSpec(
          .metadata, .word(AssetCommand.Export.Tags.allCases.map(\.rawValue)), .option, "WHICH",
          "the tags to copy; default: all"),
      ] + network,
      waiting: .always,
      reply: [.scan, .writtenFile, .format, .duration, .size, .fault.optional, .message.optional],
      errors: [
        .cancelled, .noPlayableTracks, .noSuchTrack, .unsupportedLocation, .unsupportedAudioFormat, .invalidTime,
        .invalidArgument, .fileExists, .outsideRoots, .writeFailed, .notAllowed, .conversionFailed,
      ] + mediaErrors,
      example: [
        "> @9 export /music/one.flac file=/out/one.m4a start=1:00 end=1:30",
        "< * scan-progress scan=1 file=1 count=1 path=/music/one.flac done=0",
        "< @9 ok scan=1 file=/out/one.m4a format=m4a duration=30 size=482113",
      ]
    ) { arguments throws(MediaError) in .asset(.export(try arguments.export())) }
  ]
}

extension ParsedArguments {
  /// The parameters of an export.
  ///
  /// - Throws: `bad-arguments` for options that exclude each other.
  fileprivate func export() throws(MediaError) -> AssetCommand.Export {
    let file = try required(.file, outputFile())
    let fileExtension = fileExtension(of: file)
    guard
      let format = text(.format).flatMap(AssetCommand.Export.Format.init(rawValue:))
        ?? fileExtension.flatMap({ AssetCommand.Export.Format(fileExtension: $0.lowercased()) })
    else { throw unknownExtension(fileExtension) }
    var export = AssetCommand.Export(list(.paths), file: file, format: format)
    (export.mixes, export.replaces) = (flag(.mix), flag(.replace))
    (export.start, export.end) = (time(.start) ?? .zero, time(.end))
    try checkRange(start: export.start, end: export.end)
    export.track = integer(.track)
    export.codec = text(.codec).flatMap(AssetCommand.Export.Codec.init(rawValue:))
    (export.sampleRateHz, export.channelCount) = (integer(.sampleRate), integer(.channels))
    export.bitsPerSample = text(.bits).flatMap { Int($0) }
    export.bitRate = integer(.bitRate)
    try checkAudio(export)
    export.video = text(.video).flatMap(AssetCommand.Export.VideoCodec.init(rawValue:))
    (export.height, export.quality) = (integer(.height), integer(.quality))
    if export.height ?? export.quality != nil {
      export.video = export.video ?? .h264
      if let video = export.video, video != .h264 {
        throw failure("height and quality cannot be combined with video=\(video.rawValue)")
      }
    }
    export.tags = text(.metadata).flatMap(AssetCommand.Export.Tags.init(rawValue:)) ?? .all
    export.network = try networkOptions()
    return export
  }

  private func checkAudio(_ export: AssetCommand.Export) throws(MediaError) {
    let options: [ParameterName] = [.sampleRate, .channels, .bits, .bitRate]
    guard let codec = export.codec, codec == .copy || codec == .omit else { return }
    if let option = options.first(where: { isGiven($0) }) {
      throw failure("\(option.rawValue) cannot be combined with codec=\(codec.rawValue)")
    }
  }
}
