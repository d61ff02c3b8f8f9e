import MediaCore

extension CommandTable {
  /// The export command.
  static let exports: [CommandSpec] = [
    CommandSpec(
      .export, .assets, "Makes a file of others: of another kind, coded anew, a part of it, or several joined.",
      details:
        "Several files follow each other without a gap, or with `mix` sound at once. `start` and `end` cut the whole, exact to the sample: from the first one that is not before `start` up to"
        + " that which is not before `end`. `codec=copy` takes sound as it is stored, without decoding it: what is cut off then lies in its first and last packets, and is said in the"
        + " file where its kind can say it. Else sound is coded anew, as suits the form unless `codec` says how; `bits` are those of pcm, float, flac and alac. `video` does the same with"
        + " pictures: they are left out of forms that have none. Stored ones begin with one that needs no other: only m4a, mp4 and mov can say that those before `start` are not to be shown, others"
        + " begin earlier. Pictures that are to be turned are turned for forms that cannot say it, when they are coded anew. Tags, chapters and covers come along (`metadata=sharing`: without what tells where and with what something was"
        + " recorded). The daemon writes the file: whole or not at all, and only if there is no such file, or with `replace`; below a folder of `--write-root`, and with the right to `write`."
        + " Exports run one after another with low priority. `scan-progress` events of `scan` come before the reply; `scan.cancel` ends it, and so does the end of the connection. `fault` says"
        + " what in a file did not decode; silence stands for it. One that breaks off is an error, and leaves no file.",
      parameters: [
        ParameterSpec(.paths, .path, .list, "PATH", "the files"),
        ParameterSpec(.file, .localPath, .option, "PATH", "the file to make; it has to be said"),
        ParameterSpec(
          .format, .word(AssetCommand.Export.Form.allCases.map(\.rawValue)), .option, "FORM",
          "what kind of file; what its name ends with unless said"),
        ParameterSpec(.replace, .flag, .option, "replace", "even if there is a file"),
        ParameterSpec(.start, .time, .option, "TIME", "from there on"),
        ParameterSpec(.end, .time, .option, "TIME", "up to there"),
        ParameterSpec(.mix, .flag, .option, "mix", "all at once, not one behind the other"),
        ParameterSpec(.track, .integer(0...255), .option, "N", "the track of sound; the one that plays unless said"),
        ParameterSpec(
          .codec, .word(AssetCommand.Export.Codec.allCases.map(\.rawValue)), .option, "CODEC", "what becomes of sound"),
        ParameterSpec(.sampleRate, .integer(1...768_000), .option, "HZ", "of sound; as it is unless said"),
        ParameterSpec(.channels, .integer(1...64), .option, "N", "of sound; as it is unless said"),
        ParameterSpec(.bits, .word(["16", "24", "32", "64"]), .option, "BITS", "of a sample"),
        ParameterSpec(.bitRate, .integer(1_000...2_000_000), .option, "BITS", "of sound, a second"),
        ParameterSpec(
          .video, .word(AssetCommand.Export.VideoCodec.allCases.map(\.rawValue)), .option, "CODEC",
          "what becomes of pictures"),
        ParameterSpec(.height, .integer(16...4_320), .option, "PIXELS", "of pictures; as it is unless said"),
        ParameterSpec(
          .quality, .integer(0...51), .option, "N", "of pictures, from 0, the best, to 51; 23 unless said"),
        ParameterSpec(
          .metadata, .word(AssetCommand.Export.Tags.allCases.map(\.rawValue)), .option, "WHICH",
          "which tags come along; default: all"),
      ] + network,
      waiting: .always,
      reply: ["scan", "file", "format", "duration", "size", "[fault]", "[message]"],
      errors: [
        .cancelled, .noPlayableTracks, .noSuchTrack, .unsupportedPlace, .unsupportedAudioFormat, .invalidTime,
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

extension Arguments {
  /// The parameters of an export.
  ///
  /// - Throws: `bad-arguments` for options that exclude each other.
  fileprivate func export() throws(MediaError) -> AssetCommand.Export {
    let file = try required(.file, path(.file))
    let ending = String(decoding: file.bytes.split(separator: UInt8(ascii: ".")).last ?? [], as: UTF8.self)
    guard
      let form = text(.format).flatMap(AssetCommand.Export.Form.init(rawValue:))
        ?? AssetCommand.Export.Form(ending: ending.lowercased())
    else { throw failure("say the format: the file's name does not") }
    var export = AssetCommand.Export(list(.paths), file: file, form: form)
    (export.mixes, export.replaces) = (flag(.mix), flag(.replace))
    (export.start, export.end) = (time(.start) ?? .zero, time(.end))
    if let end = export.end, end <= export.start { throw failure("the end lies behind the start") }
    export.track = integer(.track)
    export.codec = text(.codec).flatMap(AssetCommand.Export.Codec.init(rawValue:))
    (export.sampleRateHz, export.channelCount) = (integer(.sampleRate), integer(.channels))
    export.bitsPerSample = text(.bits).flatMap { Int($0) }
    export.bitRate = integer(.bitRate)
    try checkSound(export)
    export.video = text(.video).flatMap(AssetCommand.Export.VideoCodec.init(rawValue:))
    (export.height, export.quality) = (integer(.height), integer(.quality))
    if export.height ?? export.quality != nil {
      export.video = export.video ?? .h264
      guard export.video == .h264 else { throw failure("height and quality are for pictures that are coded anew") }
    }
    export.tags = text(.metadata).flatMap(AssetCommand.Export.Tags.init(rawValue:)) ?? .all
    export.network = try networkOptions()
    return export
  }

  private func checkSound(_ export: AssetCommand.Export) throws(MediaError) {
    let options: [ParameterName] = [.sampleRate, .channels, .bits, .bitRate]
    guard export.codec == .copy || export.codec == .omit else { return }
    if let option = options.first(where: { isGiven($0) }) {
      throw failure("\(option.rawValue) is for sound that is coded anew")
    }
  }
}
