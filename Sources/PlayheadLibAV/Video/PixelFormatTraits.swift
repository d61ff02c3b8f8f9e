import CPlayheadFFmpeg
import PlayheadMediaCore

/// The properties of one of FFmpeg's pixel formats that conversions need.
struct PixelFormatTraits {
  /// The format, or its equivalent without an implied range: `yuv420p` for `yuvj420p`.
  let format: AVPixelFormat
  /// Whether values range from 0 to 255 by default: JPEG's formats, and gray.
  let isAlwaysFullRange: Bool
  /// Whether the format is RGB, or a palette of RGB colours.
  let isRGB: Bool
  /// Whether neighboring pixels of a row share their chroma.
  let hasHalvedChroma: Bool

  init(_ format: AVPixelFormat) {
    let plain: AVPixelFormat? =
      switch format {
      case AV_PIX_FMT_YUVJ411P: AV_PIX_FMT_YUV411P
      case AV_PIX_FMT_YUVJ420P: AV_PIX_FMT_YUV420P
      case AV_PIX_FMT_YUVJ422P: AV_PIX_FMT_YUV422P
      case AV_PIX_FMT_YUVJ440P: AV_PIX_FMT_YUV440P
      case AV_PIX_FMT_YUVJ444P: AV_PIX_FMT_YUV444P
      default: nil
      }
    self.format = plain ?? format
    guard let descriptor = av_pix_fmt_desc_get(format) else {
      (isRGB, isAlwaysFullRange, hasHalvedChroma) = (false, plain != nil, false)
      return
    }
    let flags = descriptor.pointee.flags
    isRGB = flags & UInt64(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL) != 0
    hasHalvedChroma = descriptor.pointee.log2_chroma_w > 0
    let isGray = descriptor.pointee.nb_components <= 2 && !isRGB
    isAlwaysFullRange = plain != nil || isGray
  }
}

extension PixelFormat {
  /// The equivalent FFmpeg format.
  var avFormat: AVPixelFormat {
    switch self {
    case .bgra: AV_PIX_FMT_BGRA
    case .nv12: AV_PIX_FMT_NV12
    case .i420: AV_PIX_FMT_YUV420P
    }
  }
}
