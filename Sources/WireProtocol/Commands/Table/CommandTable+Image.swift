import MediaCore

extension CommandTable {
  /// The image command.
  static let images: [CommandSpec] = [
    CommandSpec(
      .image, .assets, "Write images of a file's video.",
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
      parameters: [
        ParameterSpec(.path, .path, .required, "PATH", "the file"),
        ParameterSpec(.times, .time, .optionalList, "TIME", "the times of the images"),
        ParameterSpec(.file, .outputPath, .option, "PATH", "the file to write (required)"),
        ParameterSpec(
          .format, .word(["png", "jpeg"]), .option, "FORMAT",
          "the format of the images; default: from the extension of `file`"),
        ParameterSpec(.quality, .integer(1...100), .option, "N", "the quality of a JPEG image; default: 90"),
        ParameterSpec(.replace, .flag, .option, "replace", "replace an existing file"),
        ParameterSpec(.width, .integer(1...16_384), .option, "PIXELS", "the maximum width"),
        ParameterSpec(.height, .integer(1...16_384), .option, "PIXELS", "the maximum height"),
        ParameterSpec(.before, .tolerance, .option, "TIME", "how much earlier the frame may be; default: 0"),
        ParameterSpec(.after, .tolerance, .option, "TIME", "how much later the frame may be; default: 0"),
        ParameterSpec(.fast, .flag, .option, "fast", "permit any key frame"),
        ParameterSpec(.upright, .onOff, .option, "on|off", "rotate as the file specifies; default: on"),
        ParameterSpec(
          .sheet, .text(maximumByteCount: 7), .option, "COLUMNSxROWS",
          "write all images as a grid in one file, such as 4x3"),
        ParameterSpec(
          .gap, .integer(0...1_024), .option, "PIXELS", "the gap between the images of a sheet; default: 4"),
      ] + network,
      waiting: .always,
      reply: [.scan, .path, .count, .width, .height, .writtenFile.optional, .fault.optional, .message.optional],
      rows: [.image, .requested, .time, .width, .height, .writtenFile.optional],
      errors: [
        .cancelled, .noPlayableTracks, .unknownCodec, .unsupportedLocation, .invalidTime, .invalidArgument,
        .mediaLimitExceeded, .fileExists, .outsideRoots, .writeFailed, .notAllowed, .damagedFile, .decodeFailed,
        .conversionFailed, .readFailed,
      ] + mediaErrors,
      example: [
        "> @9 image /films/one.mkv 83.5 1:30 file=/shots/one-%d.png width=640",
        "< * scan-progress scan=1 file=1 count=1 path=/films/one.mkv done=0",
        "< * scan-progress scan=1 file=1 count=1 path=/films/one.mkv done=0.5",
        "< * scan-progress scan=1 file=1 count=1 path=/films/one.mkv done=1",
        "< @9 | image=1 requested=83.5 time=83.48 width=640 height=360 file=/shots/one-1.png",
        "< @9 | image=2 requested=90 time=90 width=640 height=360 file=/shots/one-2.png",
        "< @9 ok scan=1 path=/films/one.mkv count=2 width=640 height=360",
      ]
    ) { arguments throws(MediaError) in .asset(.image(try arguments.image())) }
  ]
}

extension ParsedArguments {
  /// The parameters of an image request.
  ///
  /// - Throws: `bad-arguments` for options that exclude each other.
  fileprivate func image() throws(MediaError) -> AssetCommand.Image {
    let path = try required(.path, path(.path))
    guard let file = try outputFile() else {
      throw failure("file=PATH is missing: the file to write, such as frame.png")
    }
    let times: WireList<MediaTime> = list(.times)
    let sheet = try imageSheet()
    if sheet == nil {
      guard !times.isEmpty else { throw failure("an image needs a time, or sheet=COLUMNSxROWS") }
      guard times.count <= 100 else { throw failure("a request must have at most 100 times (got \(times.count))") }
      guard times.count == 1 || NumberPattern(file.bytes) != nil else {
        throw failure(
          "file must contain one %d for several images, such as frame-%d.png, unless sheet=COLUMNSxROWS is given")
      }
    } else if let sheet, times.count > sheet.columns * sheet.rows {
      let count = sheet.columns * sheet.rows
      throw failure("a sheet of \(count) images must have at most \(count) times (got \(times.count))")
    }
    let isFast = flag(.fast)
    if isFast, isGiven(.before) || isGiven(.after) {
      throw failure("fast cannot be combined with before or after")
    }
    return AssetCommand.Image(
      path, times, file: file, try imageFormat(file), replaces: flag(.replace), width: integer(.width),
      height: integer(.height), before: isFast ? .positiveInfinity : time(.before) ?? .zero,
      after: isFast ? .positiveInfinity : time(.after) ?? .zero, isUpright: text(.upright) != "off", sheet: sheet,
      network: try networkOptions())
  }

  private func imageFormat(_ file: FilePath) throws(MediaError) -> AssetCommand.Image.Format {
    let fileExtension = fileExtension(of: file)
    switch text(.format) ?? fileExtension?.lowercased() {
    case "png":
      guard !isGiven(.quality) else { throw failure("quality does not apply to png, only to jpeg") }
      return .png
    case "jpg", "jpeg": return .jpeg(quality: integer(.quality) ?? 90)
    default: throw unknownExtension(fileExtension)
    }
  }

  private func imageSheet() throws(MediaError) -> AssetCommand.Image.Sheet? {
    guard let text = text(.sheet) else {
      guard !isGiven(.gap) else { throw failure("gap needs sheet") }
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
    return .init(columns: columns, rows: rows, gap: integer(.gap))
  }
}
