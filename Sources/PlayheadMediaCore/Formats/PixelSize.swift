/// A width and a height in pixels.
public struct PixelSize: Sendable, Hashable, Codable {
  /// The number of pixels in a row.
  public var width: Int
  /// The number of rows.
  public var height: Int

  /// Creates a size.
  public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
}
