import PlayheadMediaCore

/// Images of a file's video, and the file or files to write.
package struct ImageRequest: Sendable, Hashable {
  /// The image format.
  package enum Format: Sendable, Hashable {
    case png
    /// JPEG. The quality is 1 to 100.
    case jpeg(quality: Int)
  }

  /// A contact sheet: one image that contains several video frames as a grid.
  package struct Sheet: Sendable, Hashable {
    package var columns: Int
    package var rows: Int
    /// The gap between the images in pixels. Nil: the default.
    package var gap: Int?

    package init(columns: Int, rows: Int, gap: Int? = nil) {
      (self.columns, self.rows, self.gap) = (columns, rows, gap)
    }
  }

  package var path: FilePath
  /// The times of the images. Empty: evenly spaced times, allowed with a sheet only.
  package var times: WireList<MediaTime>
  /// The file to write. With several times it contains a pattern (see ``file(_:)``).
  package var file: FilePath
  package var format: Format
  /// Whether an existing file is replaced.
  package var replaces: Bool
  /// The maximum width in pixels. Nil: no limit.
  package var width: Int?
  /// In pixels. Nil: derived from the width.
  package var height: Int?
  /// The tolerances: how much earlier or later than its time an image may be.
  package var before: MediaTime
  /// How far after the requested time the frame may be. Seconds, 0 or more.
  package var after: MediaTime
  /// Whether the image is rotated as the file specifies.
  package var isUpright: Bool
  package var sheet: Sheet?
  package var network: NetworkOptions

  package init(
    _ path: FilePath, _ times: WireList<MediaTime> = [], file: FilePath, _ format: Format = .png,
    replaces: Bool = false, width: Int? = nil, height: Int? = nil, before: MediaTime = .zero,
    after: MediaTime = .zero, isUpright: Bool = true, sheet: Sheet? = nil,
    network: NetworkOptions = NetworkOptions()
  ) {
    (self.path, self.times, self.file, self.format, self.replaces) = (path, times, file, format, replaces)
    (self.width, self.height, self.before, self.after) = (width, height, before, after)
    (self.isUpright, self.sheet, self.network) = (isUpright, sheet, network)
  }

  /// The file for the image of time `number`, which counts from 1.
  ///
  /// `%d` in the name is replaced with the number, `%03d` with the number in at least three digits. A name without a
  /// pattern, and the name of a sheet, are used unchanged.
  package func file(_ number: Int) -> FilePath {
    guard sheet == nil, let pattern = NumberPattern(file.bytes),
      let numbered = FilePath(bytes: pattern.bytes(number))
    else { return file }
    return numbered
  }
}

/// A file name that contains a pattern for a number: `%d`, or with zero padding `%03d`.
struct NumberPattern {
  private let before: ArraySlice<UInt8>
  private let after: ArraySlice<UInt8>
  private let digitCount: Int

  /// Returns nil unless the part after the last `/` contains exactly one pattern.
  init?(_ name: [UInt8]) {
    let start = name.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    let patterns = (start..<name.count).compactMap { index in Self.pattern(in: name[index...]) }
    guard patterns.count == 1, let (range, count) = patterns.first else { return nil }
    (before, after, digitCount) = (name[..<range.lowerBound], name[range.upperBound...], count)
  }

  private static func pattern(in name: ArraySlice<UInt8>) -> (Range<Int>, digitCount: Int)? {
    guard name.first == UInt8(ascii: "%") else { return nil }
    let digits = name.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard name.dropFirst(1 + digits.count).first == UInt8(ascii: "d") else { return nil }
    let range = name.startIndex..<name.startIndex + digits.count + 2
    if digits.isEmpty { return (range, 1) }
    // `%03d`: a zero, then the minimum number of digits.
    guard digits.count == 2, digits.first == UInt8(ascii: "0"), let count = digits.last else { return nil }
    return (range, max(1, Int(count - UInt8(ascii: "0"))))
  }

  func bytes(_ number: Int) -> [UInt8] {
    let digits = Array("\(number)".utf8)
    let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: max(0, digitCount - digits.count))
    return before + zeros + digits + after
  }
}
