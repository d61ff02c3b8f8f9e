import MediaCore

/// What the pictures of a track are read as.
public struct VideoReadSettings: Sendable, Hashable {
  /// How the pixels lie.
  public var pixelFormat: PixelFormat
  /// Pixels in a row, and rows, of what is handed over; nil: as each picture has them. Pictures are stretched to it: the shape of a pixel in the buffers' formats
  /// then says how they are to be shown.
  public var size: Size?
  /// Turns pictures by what their track says, so that they stand upright; false: the buffers' formats say it.
  public var appliesPreferredTrackTransform = false

  /// A size in pixels.
  public struct Size: Sendable, Hashable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
  }

  /// Pictures of a format, of their own size unless said.
  public init(_ pixelFormat: PixelFormat = .bgra, size: Size? = nil) {
    self.pixelFormat = pixelFormat
    self.size = size
  }

  /// Errors: `invalidArgument`.
  func check() throws(MediaError) {
    guard let size else { return }
    guard PixelBuffer.supportedSizes.contains(size.width), PixelBuffer.supportedSizes.contains(size.height) else {
      throw MediaError(
        .invalidArgument, "there is no picture of \(size.width) x \(size.height) pixels", operation: "read")
    }
  }
}
