import PlayheadMediaCore

/// The format in which a track's video frames are read.
public struct VideoReadSettings: Sendable, Hashable, Codable {
  /// The pixel format.
  public var pixelFormat: PixelFormat
  /// The size of the delivered frames in pixels. Default: nil, the size of each frame. Frames are stretched to this
  /// size; the pixel aspect ratio in the buffers' formats states how to show them.
  public var size: Size?
  /// Whether frames are rotated upright as their track specifies. Default: false, the buffers' formats state the
  /// rotation.
  public var appliesPreferredTrackTransform = false

  /// A size in pixels.
  public struct Size: Sendable, Hashable, Codable {
    /// The number of pixels in a row.
    public var width: Int
    /// The number of rows.
    public var height: Int

    /// Creates a size.
    public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
  }

  /// Creates settings with a pixel format, by default without scaling.
  public init(_ pixelFormat: PixelFormat = .bgra, size: Size? = nil) {
    self.pixelFormat = pixelFormat
    self.size = size
  }

  /// - Throws: `invalidArgument`.
  func check() throws(MediaError) {
    guard let size else { return }
    guard PixelBuffer.supportedSizes.contains(size.width), PixelBuffer.supportedSizes.contains(size.height) else {
      throw MediaError(
        .invalidArgument, "unsupported frame size: \(size.width) x \(size.height) pixels", operation: "read")
    }
  }
}
