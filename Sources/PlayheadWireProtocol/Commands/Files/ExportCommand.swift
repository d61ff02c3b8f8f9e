import PlayheadMediaCore

/// `export`: converts, cuts or joins files.
package enum ExportCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    /// At least one.
    package let paths: Parameter<WireList<FilePath>>
    package let file: Parameter<FilePath?>
    package let format: Parameter<ExportRequest.Format?>
    package let replace: Parameter<Bool>
    /// In seconds.
    package let start: Parameter<MediaTime>
    /// In seconds. Nil: the end of the input.
    package let end: Parameter<MediaTime?>
    /// The start and end as one value.
    package let range: Parameter<TimeRange?>
    package let mix: Parameter<Bool>
    /// The number of the audio track, from 0. Nil: the track that playback would select.
    package let track: Parameter<Int?>
    package let codec: Parameter<ExportRequest.Codec?>
    /// In hertz. Nil: that of the input.
    package let sampleRate: Parameter<Int?>
    /// Nil: those of the input.
    package let channels: Parameter<Int?>
    /// The bits per sample: `16`, `24`, `32` or `64`. Nil: the default of the codec.
    package let bits: Parameter<String?>
    /// In bits per second. Nil: the default of the codec.
    package let bitRate: Parameter<Int?>
    package let video: Parameter<ExportRequest.VideoCodec?>
    /// In pixels. Nil: that of the input.
    package let height: Parameter<Int?>
    /// The constant rate factor (CRF) of H.264, from 0 (best) to 51. Nil: 23.
    package let quality: Parameter<Int?>
    package let metadata: Parameter<ExportRequest.Tags>
    package let network: Parameter<NetworkOptions>

    package init(_ list: inout ParameterListBuilder) {
      paths = list.list(.paths, .path, "PATH", "the input files")
      file = list.option(.file, .outputPath, "PATH", "the file to write (required)")
      format = list.option(.format, .word, "FORMAT", "the format; default: from the file name extension")
      replace = list.flag(.replace, "replace an existing file")
      start = list.option(.start, .time, "TIME", default: .zero, "the start of the range")
      end = list.option(.end, .time, "TIME", "the end of the range")
      range = list.option(.range, .range, "START-END", "the range, instead of `start` and `end`")
      mix = list.flag(.mix, "mix the files instead of joining them")
      track = list.option(
        .track, .integer(0...255), "N", "the audio track; default: the track that playback would select")
      codec = list.option(.codec, .word, "CODEC", "the audio codec")
      sampleRate = list.option(
        .sampleRate, .integer(1...768_000), "HZ", "the sample rate; default: that of the input")
      channels = list.option(.channels, .integer(1...64), "N", "the number of channels; default: that of the input")
      bits = list.option(.bits, .word(["16", "24", "32", "64"]), "BITS", "the bits per sample")
      bitRate = list.option(
        .bitRate, .integer(1_000...2_000_000), "BPS", "the bit rate of the audio, in bits per second")
      video = list.option(.video, .word, "CODEC", "the video codec")
      height = list.option(
        .height, .integer(16...4_320), "PIXELS", "the height of the video; default: that of the input")
      quality = list.option(
        .quality, .integer(0...51), "N", "the constant rate factor (CRF) of H.264, 0 (best) to 51; default: 23")
      metadata = list.option(.metadata, .word, "WHICH", default: .all, "the tags to copy; default: all")
      network = list.network()
    }
  }

  package struct Reply: ReplyFields {
    /// The number of the request, as in `scan-progress`.
    package var scan: Int
    package var file: FilePath
    package var format: ExportRequest.Format
    package var duration: MediaTime
    /// In bytes.
    package var size: Int64
    package var fault: MediaError?

    package init(
      scan: Int, file: FilePath, format: ExportRequest.Format, duration: MediaTime, size: Int64, fault: MediaError?
    ) {
      (self.scan, self.file, self.format) = (scan, file, format)
      (self.duration, self.size, self.fault) = (duration, size, fault)
    }

    package static let fields: [Field<Self>] = [
      Field(.scan) { $0.scan }, Field(.writtenFile) { $0.file }, Field(.formatOfExport) { $0.format },
      Field(.duration) { $0.duration }, Field(.size) { $0.size }, Field(optional: .fault) { $0.fault?.code.name },
      Field(optional: .message) { $0.fault?.message },
    ]
  }

  package static let name: CommandName = "export"

  package static let definition = CommandDefinition<Self>(
    .assets, "Export files: convert, cut or join them.",
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
    errors: [
      .cancelled, .noPlayableTracks, .noSuchTrack, .unsupportedLocation, .unsupportedAudioFormat, .invalidTime,
      .invalidArgument, .fileExists, .outsideRoots, .writeFailed, .notAllowed, .conversionFailed,
    ] + CommandTable.mediaErrors,
    example: [
      "> @9 export /music/one.flac file=/out/one.m4a start=1:00 end=1:30",
      "< * scan-progress scan=1 file=1 count=1 path=/music/one.flac done=0",
      "< @9 ok scan=1 file=/out/one.m4a format=m4a duration=30 size=482113",
    ])

  package static func writesFile(_ arguments: Arguments<Self>) -> Bool { arguments.file?.isFile ?? false }

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.export() }
}

extension Arguments<ExportCommand> {
  /// The requested export.
  ///
  /// - Throws: `bad-arguments` for options that exclude each other.
  package func export() throws(MediaError) -> ExportRequest {
    guard let file = self.file else { throw failure("file is missing") }
    try checkReplacement(of: file, self.replace)
    let fileExtension = file.fileExtension
    guard let format = self.format ?? fileExtension.flatMap({ .init(fileExtension: $0.lowercased()) }) else {
      throw unknownExtension(fileExtension)
    }
    var export = ExportRequest(self.paths, file: file, format: format)
    (export.mixes, export.replaces) = (self.mix, self.replace)
    (export.start, export.end) = try timeRange(start: self.start, end: self.end, range: self.range)
    (export.track, export.codec) = (self.track, self.codec)
    (export.sampleRateHz, export.channelCount) = (self.sampleRate, self.channels)
    export.bitsPerSample = self.bits.flatMap { Int($0) }
    export.bitRate = self.bitRate
    if let codec = export.codec, codec == .copy || codec == .omit,
      let option = firstGiven([.sampleRate, .channels, .bits, .bitRate])
    {
      throw failure("\(option.rawValue) cannot be combined with codec=\(codec.rawValue)")
    }
    (export.video, export.height, export.quality) = (self.video, self.height, self.quality)
    if export.height ?? export.quality != nil {
      export.video = export.video ?? .h264
      if let video = export.video, video != .h264 {
        throw failure("height and quality cannot be combined with video=\(video.rawValue)")
      }
    }
    export.tags = self.metadata
    try self.network.checkHeader()
    export.network = self.network
    return export
  }
}
