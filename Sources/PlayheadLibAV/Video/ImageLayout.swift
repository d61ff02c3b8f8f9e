import CPlayheadFFmpeg
import PlayheadMediaCore

/// The layout of a stream of uncompressed video frames.
package struct ImageLayout: Sendable, Hashable {
  /// FFmpeg's name of the pixel format, such as `yuv420p`.
  package var pixelFormatName: String
  /// The width, in pixels.
  package var width: Int
  /// The height, in rows.
  package var height: Int
  /// The colour space of the pixel values; FFmpeg's guess where it is not specified.
  package var color: FormatDescription.Video.ColorProperties

  /// Creates a layout.
  package init(
    pixelFormatName: String, width: Int, height: Int,
    color: FormatDescription.Video.ColorProperties = FormatDescription.Video.ColorProperties()
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
