/// A picture that is not compressed, with its bytes: as CVPixelBuffer.
public struct PixelBuffer: Sendable, Hashable {
  /// Pixels in a row, and rows, that a picture can have.
  public static let supportedSizes = 1...16_384

  /// How the pixels lie.
  public let pixelFormat: PixelFormat
  /// Pixels in a row.
  public let width: Int
  /// Rows.
  public let height: Int
  /// Plane after plane, row after row, without gaps: see `PixelFormat.planes`.
  public var data: [UInt8]

  /// A picture from its bytes.
  ///
  /// Errors: `invalidArgument` for sizes that none has, and bytes that are not those of such a picture.
  public init(_ pixelFormat: PixelFormat, width: Int, height: Int, data: [UInt8]) throws(MediaError) {
    let expected = pixelFormat.byteCount(width: width, height: height)
    guard expected > 0 else {
      throw MediaError(.invalidArgument, "there is no picture of \(width) x \(height) pixels")
    }
    guard data.count == expected else {
      throw MediaError(
        .invalidArgument, "\(data.count) bytes are no picture of \(width) x \(height) pixels in \(pixelFormat)")
    }
    (self.pixelFormat, self.width, self.height, self.data) = (pixelFormat, width, height, data)
  }

  /// Where its planes lie in `data`.
  public var planes: [PixelFormat.Plane] { pixelFormat.planes(width: width, height: height) }
}

extension SampleBuffer {
  /// A picture that is not compressed.
  ///
  /// - Parameter video: what else is to be known of the picture; its sizes and how its pixels lie are set.
  /// Errors: `invalidTime`.
  public init(
    pixels: PixelBuffer, like video: FormatDescription.Video? = nil, presentationTime: MediaTime,
    duration: MediaTime = .invalid, attachments: Attachments = Attachments()
  ) throws(MediaError) {
    try self.init(
      format: .pixels(pixels.pixelFormat, width: pixels.width, height: pixels.height, like: video), data: pixels.data,
      presentationTime: presentationTime, duration: duration, attachments: attachments)
  }

  /// The picture, when it is one that is not compressed.
  public var pixels: PixelBuffer? {
    guard format.codecName == FormatDescription.pixelsCodecName, sampleCount == 1, let video = format.video,
      let pixelFormat = video.pixelFormatName.flatMap(PixelFormat.init(name:))
    else { return nil }
    return try? PixelBuffer(pixelFormat, width: video.width, height: video.height, data: data)
  }
}

extension FormatDescription {
  /// FFmpeg's name of pictures that are not compressed.
  public static let pixelsCodecName = "rawvideo"

  /// Pictures that are not compressed.
  ///
  /// - Parameter video: what else is to be known of them.
  public static func pixels(
    _ pixelFormat: PixelFormat, width: Int, height: Int, like video: Video? = nil
  ) -> FormatDescription {
    var described = video ?? Video(width: width, height: height)
    (described.width, described.height, described.pixelFormatName) = (width, height, pixelFormat.name)
    return FormatDescription(mediaType: .video, codecName: pixelsCodecName, video: described)
  }
}
