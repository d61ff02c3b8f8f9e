import PlayheadMediaCore

/// Arranges many images of a video in one image, in rows from the top left.
public struct ContactSheet: Sendable, Hashable, Codable {
  /// Maximum number of images on a sheet.
  public static let maximumImageCount = 400
  /// Maximum number of pixels of a sheet: 256 MiB of memory.
  public static let maximumPixelCount = 1 << 26

  /// The number of images in a row.
  public var columns: Int
  /// The number of rows.
  public var rows: Int
  /// Pixels between and around the images, from 0 to 1,024.
  public var gap = 4
  /// The colour around the images, whose alpha is ignored. Default: black.
  public var background = RGBColor.black

  /// Creates a sheet with `columns` times `rows` images; the product must be from 1 to 400.
  public init(columns: Int, rows: Int) { (self.columns, self.rows) = (columns, rows) }

  /// The number of images.
  public var imageCount: Int { columns * rows }

  /// Returns the size in pixels of a sheet with images of this size.
  func size(imageWidth: Int, imageHeight: Int) -> (width: Int, height: Int) {
    (columns * (imageWidth + gap) + gap, rows * (imageHeight + gap) + gap)
  }

  /// - Throws: `invalidArgument`.
  public func check() throws(MediaError) {
    guard (1...Self.maximumImageCount).contains(columns), (1...Self.maximumImageCount).contains(rows),
      imageCount <= Self.maximumImageCount
    else {
      throw MediaError(
        .invalidArgument, "a sheet must have 1 to \(Self.maximumImageCount) images (got \(columns) x \(rows))",
        operation: "image")
    }
    guard (0...1_024).contains(gap) else {
      throw MediaError(
        .invalidArgument, "the gap between images must be between 0 and 1024 (got \(gap))", operation: "image")
    }
  }

  /// Returns equally distant times, one for each image: the midpoints of equal parts of the range. Empty if the range
  /// is not numeric.
  public func times(in range: TimeRange) -> [MediaTime] {
    guard range.start.isNumeric, range.duration.isNumeric, let scale = Int32(exactly: 2 * imageCount) else { return [] }
    let duration = range.duration
    return (0..<imageCount).map { index in
      // The time is exact, unless its timescale exceeds 31 bits.
      let (timescale, isTooLarge) = duration.timescale.multipliedReportingOverflow(by: scale)
      let (value, overflow) = duration.value.multipliedReportingOverflow(by: Int64(2 * index + 1))
      guard !isTooLarge, !overflow else {
        let part = duration.seconds * Double(2 * index + 1) / Double(scale)
        return range.start + MediaTime(seconds: part, preferredTimescale: 1_000_000)
      }
      return range.start + MediaTime(value: value, timescale: timescale)
    }
  }

  /// Returns the sheet with these images in BGRA. The cells have the size of the first image; images of other sizes are
  /// centered and cropped.
  ///
  /// - Throws: `invalidArgument`; `mediaLimitExceeded` for a sheet that is too large.
  public func image(of images: [PixelBuffer]) throws(MediaError) -> PixelBuffer {
    guard let first = images.first else {
      throw MediaError(.invalidArgument, "a sheet must have at least one image", operation: "image")
    }
    var painter = try ContactSheetPainter(self, imageWidth: first.width, imageHeight: first.height)
    for (index, image) in images.prefix(imageCount).enumerated() { try painter.paint(image, at: index) }
    return try painter.image()
  }
}

/// A sheet that is being painted.
struct ContactSheetPainter {
  private let sheet: ContactSheet
  private let imageWidth: Int
  private let imageHeight: Int
  private let width: Int
  private let height: Int
  private var bytes: [UInt8]

  /// Creates an empty sheet.
  ///
  /// - Parameter maximumPixelCount: The limit of the sheet's pixels in this process.
  /// - Throws: The errors of `ContactSheet.image`.
  init(
    _ sheet: ContactSheet, imageWidth: Int, imageHeight: Int, maximumPixelCount: Int = ContactSheet.maximumPixelCount
  ) throws(MediaError) {
    try sheet.check()
    (self.sheet, self.imageWidth, self.imageHeight) = (sheet, imageWidth, imageHeight)
    (width, height) = try Self.size(sheet, imageWidth, imageHeight, maximumPixelCount: maximumPixelCount)
    let color = sheet.background
    let pixel = UInt32(
      littleEndian: UInt32(color.blue) | UInt32(color.green) << 8 | UInt32(color.red) << 16 | 255 << 24)
    bytes = [UInt8](unsafeUninitializedCapacity: 4 * width * height) { [count = 4 * width * height] buffer, filled in
      buffer.withMemoryRebound(to: UInt32.self) { $0.initialize(repeating: pixel) }
      filled = count
    }
  }

  /// Returns the size of a sheet.
  ///
  /// - Throws: `mediaLimitExceeded` if it is too large.
  static func size(
    _ sheet: ContactSheet, _ imageWidth: Int, _ imageHeight: Int, maximumPixelCount: Int
  ) throws(MediaError) -> (width: Int, height: Int) {
    let (width, height) = sheet.size(imageWidth: imageWidth, imageHeight: imageHeight)
    let lengths = PixelBuffer.supportedSizes
    guard lengths.contains(width), lengths.contains(height), width * height <= maximumPixelCount else {
      throw MediaError(
        .mediaLimitExceeded,
        "a sheet must have at most \(maximumPixelCount) pixels, and \(lengths.upperBound) in a row or column "
          + "(got \(width) x \(height)): use smaller images", operation: "image")
    }
    return (width, height)
  }

  /// Paints an image in BGRA into a cell.
  ///
  /// - Throws: `invalidArgument` for another pixel format.
  mutating func paint(_ image: PixelBuffer, at index: Int) throws(MediaError) {
    guard image.pixelFormat == .bgra else {
      throw MediaError(.invalidArgument, "the images of a sheet must be BGRA", operation: "image")
    }
    let left = sheet.gap + index % sheet.columns * (imageWidth + sheet.gap)
    let top = sheet.gap + index / sheet.columns * (imageHeight + sheet.gap)
    let (columns, rows) = (min(imageWidth, image.width), min(imageHeight, image.height))
    let (x, y) = (left + (imageWidth - columns) / 2, top + (imageHeight - rows) / 2)
    let (sourceX, sourceY) = ((image.width - columns) / 2, (image.height - rows) / 2)
    for row in 0..<rows {
      let source = 4 * ((sourceY + row) * image.width + sourceX)
      let target = 4 * ((y + row) * width + x)
      bytes.replaceSubrange(target..<target + 4 * columns, with: image.data[source..<source + 4 * columns])
    }
  }

  /// Returns the sheet as painted so far.
  consuming func image() throws(MediaError) -> PixelBuffer {
    try PixelBuffer(.bgra, width: width, height: height, data: bytes)
  }
}
