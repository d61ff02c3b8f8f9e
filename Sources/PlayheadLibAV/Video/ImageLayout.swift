import CPlayheadFFmpeg
import PlayheadMediaCore

/// The layout of a stream of uncompressed video frames.
public struct ImageLayout: Sendable, Hashable {
  /// FFmpeg's name of the pixel format, such as `yuv420p`.
  public var pixelFormatName: String
  /// The width, in pixels.
  public var width: Int
  /// The height, in rows.
  public var height: Int
  /// The colour space of the pixel values; FFmpeg's guess where it is not specified.
  public var color: FormatDescription.Video.Color

  /// Creates a layout.
  public init(
    pixelFormatName: String, width: Int, height: Int,
    color: FormatDescription.Video.Color = FormatDescription.Video.Color()
  ) {
    self.pixelFormatName = pixelFormatName
    self.width = width
    self.height = height
    self.color = color
  }

  /// FFmpeg's pixel format; `AV_PIX_FMT_NONE` for an unknown name.
  var avFormat: AVPixelFormat { av_get_pix_fmt(pixelFormatName) }

  /// Whether the values are red, green and blue.
  var isRGB: Bool {
    guard let descriptor = av_pix_fmt_desc_get(avFormat) else { return false }
    return descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
  }
}
