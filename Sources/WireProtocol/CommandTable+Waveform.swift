import MediaCore

extension CommandTable {
  /// The waveform command.
  static let waveforms: [CommandSpec] = [
    CommandSpec(
      .waveform, .assets, "Finds out what a file looks like: its waveform.",
      details:
        "The sound is cut into `bins`, the edges of which are exact (that of bin I of B over N samples is floor(I × N / B)), or into `samples-per-bin`; of each bin and channel"
        + " there are the least sample, the greatest and the root of the mean square, 1 being full scale. The range is exact to the sample: from the first"
        + " one that is not before `start` up to that which is not before `end`. Without `file` there is a row for each bin, at most 1000 (100 unless said; fewer where there are"
        + " not as many samples), and 2000 of all channels together. `file` has the daemon write it: whole or not at all, and only if there is no such file, or with `replace`; below a"
        + " folder of `--write-root`, and with the right to `write`. `json` and `dat` are audiowaveform's forms (version 2), which peaks.js and wavesurfer.js read, with 256"
        + " samples a bin unless said, or more where a file is long; in JSON there is `rms`, too. `png` and `svg` are pictures, with a bin for each column unless said. Files are"
        + " decoded one after another with low priority. `scan-progress` events of `scan` come before the reply; `scan.cancel` ends it, and so does the end of the connection. Where the"
        + " daemon saves its state it keeps what was made, beside that, for the file as it is (`cached=true`). `fault` says what in the file did not decode; silence stands for it. One"
        + " that breaks off is an error.",
      parameters: [
        ParameterSpec(.path, .path, .required, "PATH", "the file"),
        ParameterSpec(.start, .time, .option, "TIME", "from there on"),
        ParameterSpec(.end, .time, .option, "TIME", "up to there"),
        ParameterSpec(.bins, .integer(1...2_097_152), .option, "N", "into how many it is cut"),
        ParameterSpec(
          .samplesPerBin, .integer(1...Int(Int32.max)), .option, "N", "how many samples of each channel a bin has"),
        ParameterSpec(.mono, .flag, .option, "mono", "the mean of the channels, not each of them"),
        ParameterSpec(.file, .localPath, .option, "PATH", "write it into this file"),
        ParameterSpec(
          .format, .word(AssetCommand.Waveform.Form.allCases.map(\.rawValue)), .option, "FORM",
          "how; what the file's name ends with unless said"),
        ParameterSpec(.replace, .flag, .option, "replace", "even if there is a file"),
        ParameterSpec(.width, .integer(16...8_192), .option, "PIXELS", "of a picture; 800 unless said"),
        ParameterSpec(.height, .integer(16...2_048), .option, "PIXELS", "of a picture; 200 unless said"),
        ParameterSpec(
          .color, .text(maximumByteCount: 7), .option, "RRGGBB", "of what is drawn; 3070b0 unless said"),
        ParameterSpec(.background, .text(maximumByteCount: 7), .option, "RRGGBB", "behind it; ffffff unless said"),
        ParameterSpec(.axis, .onOff, .option, "on|off", "times below a picture; on unless said"),
        ParameterSpec(.bits, .word(["8", "16"]), .option, "8|16", "of a value in json and dat; 16 unless said"),
      ] + network,
      waiting: .always,
      reply: [
        "scan", "path", "sampleRate", "channels", "bins", "start", "duration", "cached", "[file]", "[fault]",
        "[message]",
      ],
      rows: ["bin", "start", "min", "max", "rms"],
      errors: [
        .cancelled, .noPlayableTracks, .unsupportedPlace, .invalidTime, .invalidArgument, .mediaLimitExceeded,
        .fileExists, .outsideRoots, .writeFailed, .notAllowed,
      ] + mediaErrors,
      example: [
        "> @9 waveform /music/one.flac bins=2", "< * scan-progress scan=1 file=1 count=1 path=/music/one.flac done=0",
        "< @9 | bin=0 start=0 min=-0.7,-0.69 max=0.71,0.7 rms=0.2,0.19",
        "< @9 | bin=1 start=91.6 min=-0.5,-0.5 max=0.5,0.48 rms=0.1,0.1",
        "< @9 ok scan=1 path=/music/one.flac sampleRate=44100 channels=2 bins=2 start=0 duration=183.2 cached=false",
      ]
    ) { arguments throws(MediaError) in .asset(.waveform(try arguments.waveform())) }
  ]
}

extension Arguments {
  /// The parameters of a waveform.
  ///
  /// - Throws: `bad-arguments` for options that exclude each other.
  fileprivate func waveform() throws(MediaError) -> AssetCommand.Waveform {
    let output = try waveformOutput()
    let (bins, length) = (integer(.bins), integer(.samplesPerBin))
    guard bins == nil || length == nil else { throw failure("say bins or samples-per-bin, not both") }
    if output == nil {
      guard length == nil, bins.map({ $0 <= 1_000 }) ?? true else {
        throw failure("a reply has at most 1000 bins, and says how many: more go into a file")
      }
    } else if output?.form == .dat, bins != nil {
      throw failure("a dat has samples-per-bin, not bins")
    }
    let (start, end) = (time(.start) ?? .zero, time(.end))
    if let end, end <= start { throw failure("the end lies behind the start") }
    return AssetCommand.Waveform(
      try required(.path, path(.path)), start: start, end: end,
      binCount: output == nil ? bins ?? 100 : bins, framesPerBin: length, mixesChannels: flag(.mono), output: output,
      network: try networkOptions())
  }

  private func waveformOutput() throws(MediaError) -> AssetCommand.Waveform.Output? {
    guard let file = path(.file) else {
      let options: [ParameterName] = [.format, .replace, .width, .height, .color, .background, .axis, .bits]
      if let option = options.first(where: { isGiven($0) }) { throw failure("\(option.rawValue) is for a file") }
      return nil
    }
    let end = String(decoding: file.bytes.split(separator: UInt8(ascii: ".")).last ?? [], as: UTF8.self)
    guard let form = AssetCommand.Waveform.Form(rawValue: text(.format) ?? end.lowercased()) else {
      throw failure("say the format: the file's name does not")
    }
    let isPicture = form == .png || form == .svg
    let wrong: [ParameterName] = isPicture ? [.bits] : [.width, .height, .color, .background, .axis]
    if let option = wrong.first(where: { isGiven($0) }) {
      throw failure("\(option.rawValue) is not for \(form.rawValue)")
    }
    for color in [text(.color), text(.background)].compactMap({ $0 }) {
      let digits = color.hasPrefix("#") ? color.dropFirst() : color[...]
      guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit) else {
        throw failure("a colour is six hexadecimal digits such as 3070b0")
      }
    }
    return AssetCommand.Waveform.Output(
      file, form, replaces: flag(.replace), width: integer(.width), height: integer(.height), color: text(.color),
      background: text(.background), hasAxis: text(.axis) != "off", bits: text(.bits) == "8" ? 8 : 16)
  }
}
