import PlayheadMediaCore

/// `image`: writes images of a file's video.
package enum ImageCommand: WaitingCommand {
  /// The formats of images.
  package enum Format: String, Sendable, CaseIterable {
    case png, jpeg
  }

  package struct Parameters: ParameterList {
    package let path: Parameter<FilePath>
    /// The times of the frames, in seconds.
    package let times: Parameter<WireList<MediaTime>>
    package let file: Parameter<FilePath?>
    package let format: Parameter<Format?>
    /// The quality of JPEG. Nil: the default.
    package let quality: Parameter<Int?>
    package let replace: Parameter<Bool>
    /// In pixels.
    package let width: Parameter<Int?>
    /// In pixels.
    package let height: Parameter<Int?>
    /// How far before the requested time the frame may be. Seconds, 0 or more.
    package let before: Parameter<MediaTime>
    /// How far after the requested time the frame may be. Seconds, 0 or more.
    package let after: Parameter<MediaTime>
    package let fast: Parameter<Bool>
    package let upright: Parameter<Bool>
    /// The grid of a contact sheet, such as `4x3`. Nil: single images.
    package let sheet: Parameter<String?>
    /// The distance between the images of a sheet, in pixels. Nil: the default.
    package let gap: Parameter<Int?>
    package let network: Parameter<NetworkOptions>

    package init(_ list: inout ParameterListBuilder) {
      path = list.required(.path, .path, "PATH", "the file")
      times = list.optionalList(.times, .time, "TIME", "the times of the images")
      file = list.option(.file, .outputPath, "PATH", "the file to write (required)")
      format = list.option(
        .format, .word, "FORMAT", "the format of the images; default: from the extension of `file`")
      quality = list.option(.quality, .integer(1...100), "N", "the quality of a JPEG image; default: 90")
      replace = list.flag(.replace, "replace an existing file")
      width = list.option(.width, .integer(1...16_384), "PIXELS", "the maximum width")
      height = list.option(.height, .integer(1...16_384), "PIXELS", "the maximum height")
      before = list.option(
        .before, .tolerance, "TIME", default: .zero, "how much earlier the frame may be; default: 0")
      after = list.option(
        .after, .tolerance, "TIME", default: .zero, "how much later the frame may be; default: 0")
      fast = list.flag(.fast, "permit any key frame")
      upright = list.option(
        .upright, .onOff, "on|off", default: true, "rotate as the file specifies; default: on")
      sheet = list.option(
        .sheet, .text(maximumByteCount: 7), "COLUMNSxROWS",
        "write all images as a grid in one file, such as 4x3")
      gap = list.option(
        .gap, .integer(0...1_024), "PIXELS", "the gap between the images of a sheet; default: 4")
      network = list.network()
    }
  }

  /// A written image.
  package struct Row: ReplyFields {
    /// The number of the image, from 1.
    package var image: Int
    /// The requested time, in seconds.
    package var requested: MediaTime
    /// The time of the frame, in seconds.
    package var time: MediaTime
    /// In pixels.
    package var width: Int
    /// In pixels.
    package var height: Int
    /// Nil with a sheet.
    package var file: FilePath?

    package init(image: Int, requested: MediaTime, time: MediaTime, width: Int, height: Int, file: FilePath?) {
      (self.image, self.requested, self.time) = (image, requested, time)
      (self.width, self.height, self.file) = (width, height, file)
    }

    package static let fields: [Field<Self>] = [
      Field(.image) { $0.image }, Field(.requested) { $0.requested }, Field(.time) { $0.time },
      Field(.width) { $0.width }, Field(.height) { $0.height }, Field(optional: .writtenFile) { $0.file },
    ]
  }

  package struct Reply: ReplyRows {
    package var scan: Int
    package var path: FilePath
    /// In pixels.
    package var width: Int
    /// In pixels.
    package var height: Int
    /// The file of a sheet.
    package var file: FilePath?
    package var fault: MediaError?
    package var rows: [Row]

    package init(
      scan: Int, path: FilePath, width: Int, height: Int, file: FilePath?, fault: MediaError?, rows: [Row]
    ) {
      (self.scan, self.path, self.width, self.height) = (scan, path, width, height)
      (self.file, self.fault, self.rows) = (file, fault, rows)
    }

    package static let fields: [Field<Self>] = [
      Field(.scan) { $0.scan }, Field(.path) { $0.path }, Field(.count) { $0.rows.count },
      Field(.width) { $0.width }, Field(.height) { $0.height }, Field(optional: .writtenFile) { $0.file },
      Field(optional: .fault) { $0.fault?.code.name }, Field(optional: .message) { $0.fault?.message },
    ]
  }

  package static let name: CommandName = "image"

  package static let definition = CommandDefinition<Self>(
    .assets, "Write images of a file's video.",
    details: """
      An image is the video frame that is shown at the requested time, from the first enabled video track. Its \
      `time` in the reply is the start of that frame. A time before the first frame selects the first frame. A time \
      from the last frame to the end of the file selects the last frame. A later time is the error `invalid-time`.

      Frames:

      - `before` and `after` permit a key frame that is at most this much earlier or later, which saves decoding.
      - `fast` permits any key frame, which is much faster in a long file.
      - An image has square pixels, is cropped as the file specifies, and is upright unless `upright=off`.
      - `width` and `height` limit the size. The aspect ratio stays, and an image is never enlarged.

      Files:

      - `file` must end with .png, .jpg or .jpeg, unless `format` is given.
      - For several images, `file` must contain `%d` (or `%03d`), which is replaced by the number of the image, from \
      1.
      - `sheet` writes all images as a grid to one file. `width` and `height` then limit each image. Without times, \
      the images are evenly spaced.
      - A request writes at most 100 images, or 400 on a sheet.
      - The daemon writes all files atomically or none. It replaces existing files only with `replace`.
      - The files must be below a folder of `--write-root`. The client needs the right `write`. Neither is necessary \
      for one file that the client has opened (`file=fd:TOKEN`, *Open files*). That file is written in place.

      Files are decoded one after another with low priority. `scan-progress` events come before the reply: when the \
      file is open, after each image, and when all images are written. `scan.cancel` or the end of the connection \
      cancels the request. `fault` describes decoding errors.
      """,
    errors: [
      .cancelled, .noPlayableTracks, .unknownCodec, .unsupportedLocation, .invalidTime, .invalidArgument,
      .mediaLimitExceeded, .fileExists, .outsideRoots, .writeFailed, .notAllowed, .damagedFile, .decodeFailed,
      .conversionFailed, .readFailed,
    ] + CommandTable.mediaErrors,
    example: [
      "> @9 image /films/one.mkv 83.5 1:30 file=/shots/one-%d.png width=640",
      "< * scan-progress scan=1 file=1 count=1 path=/films/one.mkv done=0",
      "< * scan-progress scan=1 file=1 count=1 path=/films/one.mkv done=0.5",
      "< * scan-progress scan=1 file=1 count=1 path=/films/one.mkv done=1",
      "< @9 | image=1 requested=83.5 time=83.48 width=640 height=360 file=/shots/one-1.png",
      "< @9 | image=2 requested=90 time=90 width=640 height=360 file=/shots/one-2.png",
      "< @9 ok scan=1 path=/films/one.mkv count=2 width=640 height=360",
    ])

  package static func writesFile(_ arguments: Arguments<Self>) -> Bool { arguments.file?.isFile ?? false }

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.images() }
}

extension Arguments<ImageCommand> {
  /// The requested images.
  ///
  /// - Throws: `bad-arguments` for options that exclude each other.
  package func images() throws(MediaError) -> ImageRequest {
    guard let file = self.file else {
      throw failure("file=PATH is missing: the file to write, such as frame.png")
    }
    try checkReplacement(of: file, self.replace)
    let (times, sheet) = (self.times, try requestedSheet())
    if let sheet {
      let count = sheet.columns * sheet.rows
      guard times.count <= count else {
        throw failure("a sheet of \(count) images must have at most \(count) times (got \(times.count))")
      }
    } else {
      guard !times.isEmpty else { throw failure("an image needs a time, or sheet=COLUMNSxROWS") }
      guard times.count <= 100 else { throw failure("a request must have at most 100 times (got \(times.count))") }
      guard times.count == 1 || NumberPattern(file.bytes) != nil else {
        throw failure(
          "file must contain one %d for several images, such as frame-%d.png, unless sheet=COLUMNSxROWS is given")
      }
    }
    if self.fast, firstGiven([.before, .after]) != nil {
      throw failure("fast cannot be combined with before or after")
    }
    try self.network.checkHeader()
    return ImageRequest(
      self.path, times, file: file, try requestedFormat(of: file), replaces: self.replace, width: self.width,
      height: self.height, before: self.fast ? .positiveInfinity : self.before,
      after: self.fast ? .positiveInfinity : self.after, isUpright: self.upright, sheet: sheet,
      network: self.network)
  }

  private func requestedFormat(of file: FilePath) throws(MediaError) -> ImageRequest.Format {
    let fileExtension = file.fileExtension
    switch self.format?.rawValue ?? fileExtension?.lowercased() {
    case "png":
      guard self.quality == nil else { throw failure("quality does not apply to png, only to jpeg") }
      return .png
    case "jpg", "jpeg": return .jpeg(quality: self.quality ?? 90)
    default: throw unknownExtension(fileExtension)
    }
  }

  private func requestedSheet() throws(MediaError) -> ImageRequest.Sheet? {
    guard let text = self.sheet else {
      guard self.gap == nil else { throw failure("gap needs sheet") }
      return nil
    }
    let numbers = text.split(separator: "x", omittingEmptySubsequences: false)
      .map { $0.utf8.allSatisfy { (48...57).contains($0) } ? Int($0) : nil }
    guard numbers.count == 2, let columns = numbers[0], let rows = numbers[1], columns > 0, rows > 0,
      columns * rows <= 400
    else {
      throw failure(
        "sheet must be COLUMNSxROWS such as 4x3, with at most 400 images (got \(Excerpt.quoted(text)))")
    }
    return .init(columns: columns, rows: rows, gap: self.gap)
  }
}
