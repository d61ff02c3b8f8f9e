/// An uncompressed video frame with its bytes, as CVPixelBuffer.
///
/// <!-- listing: make-pixel-buffer -->
/// ```swift
/// let black = [UInt8](repeating: 0, count: PixelFormat.bgra.byteCount(width: 64, height: 48))
/// let frame = try PixelBuffer(.bgra, width: 64, height: 48, data: black)
/// ```
public struct PixelBuffer: Sendable, Hashable {
  /// The supported widths and heights of a video frame, in pixels.
  public static let supportedSizes = 1...16_384

  /// The layout of the pixels.
  public let pixelFormat: PixelFormat
  /// The number of pixels in a row.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// The bytes, plane by plane and row by row, without gaps: see ``PixelFormat/planes(width:height:)``.
  public var data: [UInt8]

  /// Creates a video frame from its bytes.
  ///
  /// - Throws: `invalidArgument` for an unsupported size, or when the number of bytes does not match the size.
  public init(_ pixelFormat: PixelFormat, width: Int, height: Int, data: [UInt8]) throws(MediaError) {
    let expected = pixelFormat.byteCount(width: width, height: height)
    guard expected > 0 else {
      throw MediaError(.invalidArgument, "unsupported frame size: \(width) x \(height) pixels")
    }
    guard data.count == expected else {
      throw MediaError(
        .invalidArgument, "a frame of \(width) x \(height) pixels in \(pixelFormat) does not have \(data.count) bytes")
    }
    (self.pixelFormat, self.width, self.height, self.data) = (pixelFormat, width, height, data)
  }

  /// The positions of the planes in `data`.
  public var planes: [PixelFormat.Plane] { pixelFormat.planes(width: width, height: height) }
}

extension SampleBuffer {
  /// Creates a buffer with one uncompressed video frame.
  ///
  /// - Parameters:
  ///   - pixels: The video frame.
  ///   - video: other properties of the video format. Its size and pixel format are replaced by those of `pixels`.
  ///   - presentationTime: The time of the frame.
  ///   - duration: The duration of the frame. Default: invalid, not known.
  ///   - attachments: Additional properties.
  /// - Throws: `invalidTime`.
  public init(
    pixels: PixelBuffer, like video: FormatDescription.Video? = nil, presentationTime: MediaTime,
    duration: MediaTime = .invalid, attachments: Attachments = Attachments()
  ) throws(MediaError) {
    try self.init(
      format: .pixels(pixels.pixelFormat, width: pixels.width, height: pixels.height, like: video), data: pixels.data,
      presentationTime: presentationTime, duration: duration, attachments: attachments)
  }

  /// The video frame; nil unless the buffer contains one uncompressed video frame.
  public var pixels: PixelBuffer? {
    guard format.codecName == FormatDescription.pixelsCodecName, sampleCount == 1, let video = format.video,
      let pixelFormat = video.pixelFormatName.flatMap(PixelFormat.init(name:))
    else { return nil }
    return try? PixelBuffer(pixelFormat, width: video.width, height: video.height, data: data)
  }
}

extension FormatDescription {
  /// FFmpeg's codec name of uncompressed video.
  public static let pixelsCodecName = "rawvideo"

  /// The description of uncompressed video frames.
  ///
  /// - Parameters:
  ///   - pixelFormat: The layout of the pixels.
  ///   - width: The number of pixels in a row.
  ///   - height: The number of rows.
  ///   - video: other properties of the video format.
  public static func pixels(
    _ pixelFormat: PixelFormat, width: Int, height: Int, like video: Video? = nil
  ) -> FormatDescription {
    var described = video ?? Video(width: width, height: height)
    (described.width, described.height, described.pixelFormatName) = (width, height, pixelFormat.name)
    return FormatDescription(mediaType: .video, codecName: pixelsCodecName, video: described)
  }
}
