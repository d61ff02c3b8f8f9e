import MediaCore

extension AssetCommand {
  /// Images of a file's video, and where they are written.
  public struct Image: Sendable, Hashable {
    /// How it is written.
    public enum Form: Sendable, Hashable {
      case png
      /// From 1 to 100.
      case jpeg(quality: Int)
    }

    /// Many images as one.
    public struct Sheet: Sendable, Hashable {
      public var columns: Int
      public var rows: Int
      /// Pixels between them; nil: what is usual.
      public var gap: Int?

      public init(columns: Int, rows: Int, gap: Int? = nil) {
        (self.columns, self.rows, self.gap) = (columns, rows, gap)
      }
    }

    public var path: FilePath
    /// None: with a sheet, equally far from each other.
    public var times: WireList<MediaTime>
    /// Where it is written; with several times a pattern: see `file(_:)`.
    public var file: FilePath
    public var form: Form
    /// Even if there is a file.
    public var replaces: Bool
    /// The most pixels; nil: as many as there are.
    public var width: Int?
    public var height: Int?
    /// How much earlier or later an image may be.
    public var before: MediaTime
    public var after: MediaTime
    /// It is turned as the file says.
    public var isUpright: Bool
    public var sheet: Sheet?
    public var network: NetworkOptions

    public init(
      _ path: FilePath, _ times: WireList<MediaTime> = [], file: FilePath, _ form: Form = .png, replaces: Bool = false,
      width: Int? = nil, height: Int? = nil, before: MediaTime = .zero, after: MediaTime = .zero,
      isUpright: Bool = true, sheet: Sheet? = nil, network: NetworkOptions = NetworkOptions()
    ) {
      (self.path, self.times, self.file, self.form, self.replaces) = (path, times, file, form, replaces)
      (self.width, self.height, self.before, self.after) = (width, height, before, after)
      (self.isUpright, self.sheet, self.network) = (isUpright, sheet, network)
    }

    /// Where the image of the time with this number, from 1 on, is written: `%d` in the name stands for the number, `%03d` for one of
    /// three digits at least. Without a pattern, and for a sheet, it is the file itself.
    public func file(_ number: Int) -> FilePath {
      guard sheet == nil, let pattern = NumberPattern(file.bytes),
        let numbered = FilePath(bytes: pattern.bytes(number))
      else { return file }
      return numbered
    }
  }
}

/// A name in which a number stands: `%d`, or with digits `%03d`.
struct NumberPattern {
  private let before: ArraySlice<UInt8>
  private let after: ArraySlice<UInt8>
  private let digitCount: Int

  /// Nil for a name without exactly one such place behind its last `/`.
  init?(_ name: [UInt8]) {
    let start = name.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    let places = (start..<name.count).compactMap { index in Self.place(in: name[index...]) }
    guard places.count == 1, let (range, count) = places.first else { return nil }
    (before, after, digitCount) = (name[..<range.lowerBound], name[range.upperBound...], count)
  }

  private static func place(in name: ArraySlice<UInt8>) -> (Range<Int>, digitCount: Int)? {
    guard name.first == UInt8(ascii: "%") else { return nil }
    let digits = name.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard name.dropFirst(1 + digits.count).first == UInt8(ascii: "d") else { return nil }
    let range = name.startIndex..<name.startIndex + digits.count + 2
    if digits.isEmpty { return (range, 1) }
    // `%03d`: a zero, and how many.
    guard digits.count == 2, digits.first == UInt8(ascii: "0"), let count = digits.last else { return nil }
    return (range, max(1, Int(count - UInt8(ascii: "0"))))
  }

  func bytes(_ number: Int) -> [UInt8] {
    let digits = Array("\(number)".utf8)
    let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: max(0, digitCount - digits.count))
    return before + zeros + digits + after
  }
}
