/// How the pixels of a picture that is not compressed lie.
public enum PixelFormat: String, Sendable, Hashable, CaseIterable {
  /// Blue, green, red, alpha: a byte each, pixel by pixel. Alpha is straight, not multiplied in.
  case bgra
  /// A plane of luma, and one of half the width and height with both chroma samples, blue first.
  case nv12
  /// A plane of luma, and two of half the width and height: blue, then red.
  case i420

  /// FFmpeg's name.
  public var name: String { self == .i420 ? "yuv420p" : rawValue }

  /// The format of FFmpeg's name; nil for others than these.
  public init?(name: String) {
    guard let format = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = format
  }

  /// Where one of a picture's planes lies in its bytes.
  public struct Plane: Sendable, Hashable {
    /// Of its first byte.
    public let offset: Int
    /// Without a gap between rows.
    public let bytesPerRow: Int
    /// How many.
    public let rowCount: Int
  }

  /// A picture's planes, one behind the other; chroma of odd sizes is rounded up. Empty for sizes that are none.
  public func planes(width: Int, height: Int) -> [Plane] {
    guard PixelBuffer.supportedSizes.contains(width), PixelBuffer.supportedSizes.contains(height) else { return [] }
    let (halfWidth, halfHeight) = ((width + 1) / 2, (height + 1) / 2)
    let shapes: [(bytesPerRow: Int, rowCount: Int)] =
      switch self {
      case .bgra: [(4 * width, height)]
      case .nv12: [(width, height), (2 * halfWidth, halfHeight)]
      case .i420: [(width, height), (halfWidth, halfHeight), (halfWidth, halfHeight)]
      }
    var offset = 0
    return shapes.map { shape in
      defer { offset += shape.bytesPerRow * shape.rowCount }
      return Plane(offset: offset, bytesPerRow: shape.bytesPerRow, rowCount: shape.rowCount)
    }
  }

  /// Bytes of a picture; 0 for sizes that are none.
  public func byteCount(width: Int, height: Int) -> Int {
    planes(width: width, height: height).reduce(0) { $0 + $1.bytesPerRow * $1.rowCount }
  }
}
