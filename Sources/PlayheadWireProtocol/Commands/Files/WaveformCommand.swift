import PlayheadMediaCore

/// `waveform`: computes the waveform of a file.
package enum WaveformCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    package let path: Parameter<FilePath>
    /// In seconds.
    package let start: Parameter<MediaTime>
    /// In seconds. Nil: the end of the file.
    package let end: Parameter<MediaTime?>
    /// The start and end as one value.
    package let range: Parameter<TimeRange?>
    /// The number of bins. Nil: the default, or derived from `samplesPerBin`.
    package let bins: Parameter<Int?>
    /// The number of samples of each channel in a bin. Nil: derived from `bins`.
    package let samplesPerBin: Parameter<Int?>
    package let mono: Parameter<Bool>
    package let file: Parameter<FilePath?>
    package let format: Parameter<WaveformFileRequest.Format?>
    package let replace: Parameter<Bool>
    /// In pixels. Nil: 800.
    package let width: Parameter<Int?>
    /// In pixels. Nil: 200.
    package let height: Parameter<Int?>
    /// Six hexadecimal digits. Nil: 3070b0.
    package let color: Parameter<String?>
    /// Six hexadecimal digits. Nil: ffffff.
    package let background: Parameter<String?>
    package let axis: Parameter<Bool>
    /// `8` or `16`.
    package let bits: Parameter<String>
    package let network: Parameter<NetworkOptions>

    package init(_ list: inout ParameterListBuilder) {
      path = list.required(.path, .path, "PATH", "the file")
      start = list.option(.start, .time, "TIME", default: .zero, "the start of the range")
      end = list.option(.end, .time, "TIME", "the end of the range")
      range = list.option(.range, .range, "START-END", "the range, instead of `start` and `end`")
      bins = list.option(.bins, .integer(1...2_097_152), "N", "the number of bins")
      samplesPerBin = list.option(
        .samplesPerBin, .integer(1...Int(Int32.max)), "N", "the number of samples of each channel in a bin")
      mono = list.flag(.mono, "use the mean of all channels")
      file = list.option(.file, .outputPath, "PATH", "the file to write")
      format = list.option(.format, .word, "FORMAT", "the format of the file; default: from its extension")
      replace = list.flag(.replace, "replace an existing file")
      width = list.option(.width, .integer(16...8_192), "PIXELS", "the width of an image; default: 800")
      height = list.option(.height, .integer(16...2_048), "PIXELS", "the height of an image; default: 200")
      color = list.option(
        .color, .text(maximumByteCount: 7), "RRGGBB", "the colour of the waveform; default: 3070b0")
      background = list.option(
        .background, .text(maximumByteCount: 7), "RRGGBB", "the colour of the background; default: ffffff")
      axis = list.option(.axis, .onOff, "on|off", default: true, "show times below an image; default: on")
      bits = list.option(
        .bits, .word(["8", "16"]), "8|16", default: "16", "the bits per value in json and dat; default: 16")
      network = list.network()
    }
  }

  /// A bin of a waveform, with a value for each channel. 1 is full scale.
  package struct Row: ReplyFields {
    /// The index of the bin, from 0.
    package var bin: Int
    /// In seconds.
    package var start: MediaTime
    /// The smallest sample of each channel; 1 is full scale.
    package var minima: [Double]
    /// The largest sample of each channel; 1 is full scale.
    package var maxima: [Double]
    /// The root mean square of each channel; 1 is full scale.
    package var rms: [Double]

    package init(bin: Int, start: MediaTime, minima: [Double], maxima: [Double], rms: [Double]) {
      (self.bin, self.start) = (bin, start)
      (self.minima, self.maxima, self.rms) = (minima, maxima, rms)
    }

    package static let fields: [Field<Self>] = [
      Field(.bin) { $0.bin }, Field(.start) { $0.start }, Field(.min) { $0.minima }, Field(.max) { $0.maxima },
      Field(.rms) { $0.rms },
    ]
  }

  package struct Reply: ReplyRows {
    /// The number of the request, as in `scan-progress`.
    package var scan: Int
    package var path: FilePath
    package var sampleRateHz: Int
    package var channelCount: Int
    package var binCount: Int
    /// In seconds.
    package var start: MediaTime
    /// The duration of the range, in seconds.
    package var duration: MediaTime
    package var isCached: Bool
    /// The written file. Nil: the rows have the waveform.
    package var file: FilePath?
    package var fault: MediaError?
    /// Empty with a file.
    package var rows: [Row]

    package init(
      scan: Int, path: FilePath, sampleRateHz: Int, channelCount: Int, binCount: Int, start: MediaTime,
      duration: MediaTime, isCached: Bool, file: FilePath?, fault: MediaError?, rows: [Row]
    ) {
      (self.scan, self.path, self.sampleRateHz) = (scan, path, sampleRateHz)
      (self.channelCount, self.binCount, self.start) = (channelCount, binCount, start)
      (self.duration, self.isCached, self.file) = (duration, isCached, file)
      (self.fault, self.rows) = (fault, rows)
    }

    package static let fields: [Field<Self>] = [
      Field(.scan) { $0.scan }, Field(.path) { $0.path }, Field(.sampleRate) { $0.sampleRateHz },
      Field(.channels) { $0.channelCount }, Field(.bins) { $0.binCount }, Field(.start) { $0.start },
      Field(.duration) { $0.duration }, Field(.cached) { $0.isCached }, Field(optional: .writtenFile) { $0.file },
      Field(optional: .fault) { $0.fault?.code.name }, Field(optional: .message) { $0.fault?.message },
    ]
  }

  package static let name: CommandName = "waveform"

  package static let definition = CommandDefinition<Self>(
    .assets, "Compute the waveform of a file.",
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
    errors: [
      .cancelled, .noPlayableTracks, .unsupportedLocation, .invalidTime, .invalidArgument, .mediaLimitExceeded,
      .fileExists, .outsideRoots, .writeFailed, .notAllowed,
    ] + CommandTable.mediaErrors,
    example: [
      "> @9 waveform /music/one.flac bins=2", "< * scan-progress scan=1 file=1 count=1 path=/music/one.flac done=0",
      "< @9 | bin=0 start=0 min=-0.7,-0.69 max=0.71,0.7 rms=0.2,0.19",
      "< @9 | bin=1 start=91.6 min=-0.5,-0.5 max=0.5,0.48 rms=0.1,0.1",
      "< @9 ok scan=1 path=/music/one.flac sampleRate=44100 channels=2 bins=2 start=0 duration=183.2 cached=false",
    ])

  package static func writesFile(_ arguments: Arguments<Self>) -> Bool { arguments.file?.isFile ?? false }

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.waveform() }
}

extension Arguments<WaveformCommand> {
  /// The requested waveform.
  ///
  /// - Throws: `bad-arguments` for options that exclude each other.
  package func waveform() throws(MediaError) -> WaveformFileRequest {
    let output = try output()
    let (bins, length) = (self.bins, self.samplesPerBin)
    guard bins == nil || length == nil else { throw failure("bins and samples-per-bin exclude each other") }
    if output == nil {
      guard length == nil, bins.map({ $0 <= 1_000 }) ?? true else {
        throw failure("without file, bins must be at most 1000, and samples-per-bin is not allowed")
      }
    } else if output?.format == .dat, bins != nil {
      throw failure("a dat file needs samples-per-bin instead of bins")
    }
    let (start, end) = try timeRange(start: self.start, end: self.end, range: self.range)
    try self.network.checkHeader()
    return WaveformFileRequest(
      self.path, start: start, end: end, binCount: output == nil ? bins ?? 100 : bins,
      framesPerBin: length, mixesChannels: self.mono, output: output, network: self.network)
  }

  private func output() throws(MediaError) -> WaveformFileRequest.Output? {
    guard let file = self.file else {
      if let option = firstGiven([.format, .replace, .width, .height, .color, .background, .axis, .bits]) {
        throw failure("\(option.rawValue) needs file")
      }
      return nil
    }
    try checkReplacement(of: file, self.replace)
    let fileExtension = file.fileExtension
    guard let format = self.format ?? fileExtension.flatMap({ .init(rawValue: $0.lowercased()) }) else {
      throw unknownExtension(fileExtension)
    }
    let isImage = format == .png || format == .svg
    if let option = firstGiven(isImage ? [.bits] : [.width, .height, .color, .background, .axis]) {
      throw failure("\(option.rawValue) does not apply to \(format.rawValue)")
    }
    for (name, color) in [("color", self.color), ("background", self.background)] {
      guard let color else { continue }
      let digits = color.hasPrefix("#") ? color.dropFirst() : color[...]
      guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit) else {
        throw failure("\(name) must be six hexadecimal digits such as 3070b0 (got \(Excerpt.quoted(color)))")
      }
    }
    return WaveformFileRequest.Output(
      file, format, replaces: self.replace, width: self.width, height: self.height, color: self.color,
      background: self.background, hasAxis: self.axis, bits: self.bits == "8" ? 8 : 16)
  }
}
