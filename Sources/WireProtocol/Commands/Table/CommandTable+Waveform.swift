import MediaCore

extension CommandTable {
  /// The waveform command.
  static let waveforms: [CommandSpec] = [
    CommandSpec(
      .waveform, .assets, "Compute the waveform of a file.",
      details: """
        Each bin has the minimum, the maximum and the root of the mean square of each channel, where 1 is full scale. \
        The range contains every sample at or after `start` and before `end`.

        The bins are selected in one of these ways:

        - `bins` is the number of bins. Their edges are exact: bin I of B over N samples starts at floor(I × N / B).
        - `samples-per-bin` is the number of samples in each bin.

        Without `file`, the reply has a row for each bin: by default 100, at most 1000, and fewer if there are fewer \
        samples. The number of bins times the number of channels is at most 2000. With `file`, the daemon writes a \
        file:

        - `json` and `dat` are the formats of audiowaveform (version 2), which peaks.js and wavesurfer.js read. `json` \
        also has `rms`. The default is 256 samples per bin, and more for long files.
        - `png` and `svg` are images. By default, each column is a bin.
        - The daemon writes the file atomically, and replaces an existing file only with `replace`.
        - The file must be below a folder of `--write-root`. The client needs the right `write`. Neither is necessary \
        for a file that the client has opened (`file=fd:TOKEN`, *Open files*). That file is written in place.

        Files are decoded one after another with low priority. `scan-progress` events come before the reply. \
        `scan.cancel` or the end of the connection cancels the request. A daemon that saves its state caches results \
        until the file changes (`cached=true`).

        `fault` describes decoding errors. Silence replaces the audio that could not be decoded. A file that ends too \
        early is an error.
        """,
      parameters: [
        ParameterSpec(.path, .path, .required, "PATH", "the file"),
        ParameterSpec(.start, .time, .option, "TIME", "the start of the range"),
        ParameterSpec(.end, .time, .option, "TIME", "the end of the range"),
        ParameterSpec(.bins, .integer(1...2_097_152), .option, "N", "the number of bins"),
        ParameterSpec(
          .samplesPerBin, .integer(1...Int(Int32.max)), .option, "N", "the number of samples of each channel in a bin"),
        ParameterSpec(.mono, .flag, .option, "mono", "use the mean of all channels"),
        ParameterSpec(.file, .outputPath, .option, "PATH", "the file to write"),
        ParameterSpec(
          .format, .word(AssetCommand.Waveform.Format.allCases.map(\.rawValue)), .option, "FORMAT",
          "the format of the file; default: from its extension"),
        ParameterSpec(.replace, .flag, .option, "replace", "replace an existing file"),
        ParameterSpec(.width, .integer(16...8_192), .option, "PIXELS", "the width of an image; default: 800"),
        ParameterSpec(.height, .integer(16...2_048), .option, "PIXELS", "the height of an image; default: 200"),
        ParameterSpec(
          .color, .text(maximumByteCount: 7), .option, "RRGGBB", "the colour of the waveform; default: 3070b0"),
        ParameterSpec(
          .background, .text(maximumByteCount: 7), .option, "RRGGBB", "the colour of the background; default: ffffff"),
        ParameterSpec(.axis, .onOff, .option, "on|off", "show times below an image; default: on"),
        ParameterSpec(.bits, .word(["8", "16"]), .option, "8|16", "the bits per value in json and dat; default: 16"),
      ] + network,
      waiting: .always,
      reply: [
        .scan, .path, .sampleRate, .channels, .bins, .start, .duration, .cached, .writtenFile.optional, .fault.optional,
        .message.optional,
      ],
      rows: [.bin, .start, .min, .max, .rms],
      errors: [
        .cancelled, .noPlayableTracks, .unsupportedLocation, .invalidTime, .invalidArgument, .mediaLimitExceeded,
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

extension ParsedArguments {
  /// The parameters of a waveform.
  ///
  /// - Throws: `bad-arguments` for options that exclude each other.
  fileprivate func waveform() throws(MediaError) -> AssetCommand.Waveform {
    let output = try waveformOutput()
    let (bins, length) = (integer(.bins), integer(.samplesPerBin))
    guard bins == nil || length == nil else { throw failure("bins and samples-per-bin exclude each other") }
    if output == nil {
      guard length == nil, bins.map({ $0 <= 1_000 }) ?? true else {
        throw failure("without file, bins must be at most 1000, and samples-per-bin is not allowed")
      }
    } else if output?.format == .dat, bins != nil {
      throw failure("a dat file needs samples-per-bin instead of bins")
    }
    let (start, end) = (time(.start) ?? .zero, time(.end))
    try checkRange(start: start, end: end)
    return AssetCommand.Waveform(
      try required(.path, path(.path)), start: start, end: end,
      binCount: output == nil ? bins ?? 100 : bins, framesPerBin: length, mixesChannels: flag(.mono), output: output,
      network: try networkOptions())
  }

  private func waveformOutput() throws(MediaError) -> AssetCommand.Waveform.Output? {
    guard let file = try outputFile() else {
      let options: [ParameterName] = [.format, .replace, .width, .height, .color, .background, .axis, .bits]
      if let option = options.first(where: { isGiven($0) }) { throw failure("\(option.rawValue) needs file") }
      return nil
    }
    let fileExtension = fileExtension(of: file)
    guard
      let format = (text(.format) ?? fileExtension?.lowercased()).flatMap(AssetCommand.Waveform.Format.init(rawValue:))
    else { throw unknownExtension(fileExtension) }
    let isImage = format == .png || format == .svg
    let wrong: [ParameterName] = isImage ? [.bits] : [.width, .height, .color, .background, .axis]
    if let option = wrong.first(where: { isGiven($0) }) {
      throw failure("\(option.rawValue) does not apply to \(format.rawValue)")
    }
    for name in [ParameterName.color, .background] {
      guard let color = text(name) else { continue }
      let digits = color.hasPrefix("#") ? color.dropFirst() : color[...]
      guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit) else {
        throw failure("\(name.rawValue) must be six hexadecimal digits such as 3070b0 (got \(Excerpt.quoted(color)))")
      }
    }
    return AssetCommand.Waveform.Output(
      file, format, replaces: flag(.replace), width: integer(.width), height: integer(.height), color: text(.color),
      background: text(.background), hasAxis: text(.axis) != "off", bits: text(.bits) == "8" ? 8 : 16)
  }
}
