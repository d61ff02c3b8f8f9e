/// The memory layout of the pixels of an uncompressed video frame.
public enum PixelFormat: String, Sendable, Hashable, Codable, CaseIterable {
  /// Blue, green, red, alpha: one byte each, interleaved. Alpha is straight, not premultiplied.
  case bgra
  /// A luma plane, and a plane of half the width and height with both chroma samples, blue first.
  case nv12
  /// A luma plane, and two chroma planes of half the width and height: blue, then red.
  case i420

  /// FFmpeg's name of the format.
  public var name: String { self == .i420 ? "yuv420p" : rawValue }

  /// Creates a format from FFmpeg's name; nil for formats other than these.
  public init?(name: String) {
    guard let format = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = format
  }

  /// The position of a plane in the bytes of a video frame.
  public struct Plane: Sendable, Hashable {
    /// The offset of the first byte.
    public let offset: Int
    /// The number of bytes of a row. Rows have no gaps between them.
    public let bytesPerRow: Int
    /// The number of rows.
    public let rowCount: Int
  }

  /// The planes of a video frame, in order. Chroma dimensions of odd sizes are rounded up. Empty for unsupported
  /// sizes.
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

  /// The number of bytes of a video frame; 0 for unsupported sizes.
  public func byteCount(width: Int, height: Int) -> Int {
    planes(width: width, height: height).reduce(0) { $0 + $1.bytesPerRow * $1.rowCount }
  }
}
