import MediaCore

extension CommandTable {
  /// The image command.
  static let images: [CommandSpec] = [
    CommandSpec(
      .image, .assets, "Writes images of a file's video.",
      details:
        "An image is the picture that is shown at its time: `time` says when that one begins. A time before the first picture is that one's, and up to the end of the file it is the last one's; a later one is"
        + " `invalid-time`. With `before` and `after` it may be one that is so much earlier or later, a key frame, where that saves decoding, and with `fast` any: that is much faster in a long file. It"
        + " has square pixels, is cut as the file says, stands upright (unless `upright=off`), and is no larger than `width` and `height`; it keeps its shape, and is never made larger. `file` ends with .png, .jpg"
        + " or .jpeg, unless `format` says more. With several times its name has `%d` (or `%03d`) where the number of the image stands, from 1 on. `sheet` has all of them written as one image, `width` and"
        + " `height` being of each; without times they are equally far from each other. The daemon writes below a folder of `--write-root`, for who has the right to `write`: all files or none,"
        + " whole, and only if there is no such file, or with `replace`. At most 100 images, or 400 on a sheet. Of several video tracks it is the first that is enabled; a cover is none. Files are decoded one after another with low priority."
        + " `scan-progress` events of `scan` come before the reply: when the file is open, behind each image, and when all are written. `scan.cancel` ends it, and so does the end of the connection. `fault` says what in the file did not decode.",
      parameters: [
        ParameterSpec(.path, .path, .required, "PATH", "the file"),
        ParameterSpec(.times, .time, .optionalList, "TIME", "of the images"),
        ParameterSpec(.file, .localPath, .option, "PATH", "write it into this file; there must be one"),
        ParameterSpec(
          .format, .word(["png", "jpeg"]), .option, "FORM", "how; what the file's name ends with unless said"),
        ParameterSpec(.quality, .integer(1...100), .option, "N", "of JPEG; 90 unless said"),
        ParameterSpec(.replace, .flag, .option, "replace", "even if there is a file"),
        ParameterSpec(.width, .integer(1...16_384), .option, "PIXELS", "at most"),
        ParameterSpec(.height, .integer(1...16_384), .option, "PIXELS", "at most"),
        ParameterSpec(.before, .tolerance, .option, "TIME", "how much earlier will do; 0 unless said"),
        ParameterSpec(.after, .tolerance, .option, "TIME", "how much later will do; 0 unless said"),
        ParameterSpec(.fast, .flag, .option, "fast", "any tolerance will do"),
        ParameterSpec(.upright, .onOff, .option, "on|off", "turned as the file says; on unless said"),
        ParameterSpec(
          .sheet, .text(maximumByteCount: 7), .option, "COLUMNSxROWS", "all as one image, such as 4x3"),
        ParameterSpec(.gap, .integer(0...1_024), .option, "PIXELS", "between a sheet's images; 4 unless said"),
      ] + network,
      waiting: .always,
      reply: ["scan", "path", "count", "width", "height", "[file]", "[fault]", "[message]"],
      rows: ["image", "requested", "time", "width", "height", "[file]"],
      errors: [
        .cancelled, .noPlayableTracks, .unknownCodec, .unsupportedPlace, .invalidTime, .invalidArgument,
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

extension Arguments {
  /// The parameters of an image request.
  ///
  /// - Throws: `bad-arguments` for options that exclude each other.
  fileprivate func image() throws(MediaError) -> AssetCommand.Image {
    let path = try required(.path, path(.path))
    guard let file = self.path(.file) else {
      throw failure("say file=PATH: where the image is written, such as frame.png")
    }
    let times: WireList<MediaTime> = list(.times)
    let sheet = try imageSheet()
    if sheet == nil {
      guard !times.isEmpty else { throw failure("say a time, or sheet=COLUMNSxROWS") }
      guard times.count <= 100 else { throw failure("at most 100 images are written at once") }
      guard times.count == 1 || NumberPattern(file.bytes) != nil else {
        throw failure("several images need a name with one %d in it, such as frame-%d.png, or sheet=COLUMNSxROWS")
      }
    } else if let sheet, times.count > sheet.columns * sheet.rows {
      throw failure("there are more times than the sheet has images")
    }
    let isFast = flag(.fast)
    if isFast, isGiven(.before) || isGiven(.after) {
      throw failure("fast allows any tolerance: it stands without before and after")
    }
    return AssetCommand.Image(
      path, times, file: file, try imageForm(file), replaces: flag(.replace), width: integer(.width),
      height: integer(.height), before: isFast ? .positiveInfinity : time(.before) ?? .zero,
      after: isFast ? .positiveInfinity : time(.after) ?? .zero, isUpright: text(.upright) != "off", sheet: sheet,
      network: try networkOptions())
  }

  private func imageForm(_ file: FilePath) throws(MediaError) -> AssetCommand.Image.Form {
    let end = String(decoding: file.bytes.split(separator: UInt8(ascii: ".")).last ?? [], as: UTF8.self).lowercased()
    switch text(.format) ?? end {
    case "png":
      guard !isGiven(.quality) else { throw failure("quality is not for png") }
      return .png
    case "jpg", "jpeg": return .jpeg(quality: integer(.quality) ?? 90)
    default: throw failure("say the format: the file's name does not end with .png, .jpg or .jpeg")
    }
  }

  private func imageSheet() throws(MediaError) -> AssetCommand.Image.Sheet? {
    guard let text = text(.sheet) else {
      guard !isGiven(.gap) else { throw failure("gap is for a sheet") }
      return nil
    }
    let numbers = text.split(separator: "x", omittingEmptySubsequences: false)
      .map { $0.utf8.allSatisfy { (48...57).contains($0) } ? Int($0) : nil }
    guard numbers.count == 2, let columns = numbers[0], let rows = numbers[1], columns > 0, rows > 0,
      columns * rows <= 400
    else { throw failure("a sheet is COLUMNSxROWS, such as 4x3, with 400 images at most") }
    return .init(columns: columns, rows: rows, gap: integer(.gap))
  }
}
