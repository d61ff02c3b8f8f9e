import PlayheadMediaCore

/// The format in which a track's video frames are read.
public struct VideoReadSettings: Sendable, Hashable, Codable {
  /// The pixel format.
  public var pixelFormat: PixelFormat
  /// The size of the delivered frames in pixels. Default: nil, the size of each frame. Frames are stretched to this
  /// size; the pixel aspect ratio in the buffers' formats states how to show them.
  public var size: PixelSize?
  /// Whether frames are rotated upright as their track specifies. Default: false, the buffers' formats state the
  /// rotation.
  public var appliesPreferredTrackTransform = false

  /// Creates settings with a pixel format, by default without scaling.
  public init(_ pixelFormat: PixelFormat = .bgra, size: PixelSize? = nil) {
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
