import CFFmpeg
import MediaCore

/// The whole shape of a stream of pictures that are not compressed.
public struct PictureLayout: Sendable, Hashable {
  /// FFmpeg's name of how pixels lie, such as `yuv420p`.
  public var pixelFormatName: String
  /// Pixels in a row.
  public var width: Int
  /// Rows.
  public var height: Int
  /// What the numbers of a pixel mean; where it is not said, FFmpeg's guess.
  public var color: FormatDescription.Video.Color

  /// Pictures of a size.
  public init(
    pixelFormatName: String, width: Int, height: Int,
    color: FormatDescription.Video.Color = FormatDescription.Video.Color()
  ) {
    self.pixelFormatName = pixelFormatName
    self.width = width
    self.height = height
    self.color = color
  }

  /// `AV_PIX_FMT_NONE` for a name that this FFmpeg does not know.
  var avFormat: AVPixelFormat { av_get_pix_fmt(pixelFormatName) }

  /// Whether its numbers are red, green and blue.
  var isRGB: Bool {
    guard let descriptor = av_pix_fmt_desc_get(avFormat) else { return false }
    return descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
  }
}
