import CPlayheadFFmpeg

/// An owner of an `SwsContext`: converts video frames from one layout to another.
///
/// Threading: one thread at a time; works on the calling thread only.
final class ScalingContext {
  /// One side of a conversion.
  struct Side: Hashable {
    /// FFmpeg's pixel format, without an implied range: see `PixelFormatTraits`.
    var format: Int32
    var width: Int32
    var height: Int32
    /// swscale's number of the matrix; ignored for RGB.
    var matrix: Int32
    /// Whether luma ranges from 0 to 255; ignored for RGB.
    var isFullRange: Bool

    init(_ format: AVPixelFormat, width: Int32, height: Int32, matrix: Int32, isFullRange: Bool) {
      (self.format, self.width, self.height) = (format.rawValue, width, height)
      (self.matrix, self.isFullRange) = (matrix, isFullRange)
    }

    fileprivate var range: Int32 { isFullRange && !PixelFormatTraits(AVPixelFormat(format)).isRGB ? 1 : 0 }
  }

  /// Returns swscale's number of a matrix; nil for an unspecified matrix, or one that swscale does not support.
  ///
  /// - Parameter codePoint: The code point of ITU-T H.273, table 4, as `AVCOL_SPC_*`.
  static func matrix(codePoint: Int) -> Int32? {
    switch codePoint {
    case 1: SWS_CS_ITU709
    case 4: SWS_CS_FCC
    case 5, 6: SWS_CS_ITU601
    case 7: SWS_CS_SMPTE240M
    case 9, 10: SWS_CS_BT2020
    default: nil
    }
  }

  private let pointer: OpaquePointer

  /// Creates a conversion.
  ///
  /// - Parameter flags: `SWS_*`.
  /// - Throws: swscale's failure for an unsupported conversion.
  init(from source: Side, to target: Side, flags: Int32) throws(AVFailure) {
    _ = LibAV.discardLogByDefault
    pointer = try check(sws_alloc_context(), "sws_alloc_context")
    // The ranges must be set as options: between equal formats and ranges, swscale decides at initialization to copy
    // frames, and ignores ranges that are set later.
    let options: [(String, Int32)] = [
      ("srcw", source.width), ("srch", source.height), ("src_format", source.format), ("src_range", source.range),
      ("dstw", target.width), ("dsth", target.height), ("dst_format", target.format), ("dst_range", target.range),
      ("sws_flags", flags),
    ]
    for (name, value) in options {
      try check(av_opt_set_int(UnsafeMutableRawPointer(pointer), name, Int64(value), 0), "av_opt_set_int")
    }
    try check(sws_init_context(pointer, nil, nil), "sws_init_context")
    // The result is negative if there is nothing to set, as between RGB formats.
    _ = sws_setColorspaceDetails(
      pointer, sws_getCoefficients(source.matrix), source.range, sws_getCoefficients(target.matrix), target.range, 0,
      1 << 16, 1 << 16)
  }

  deinit { sws_freeContext(pointer) }

  /// Converts a whole video frame into `target`, whose memory must be allocated.
  ///
  /// Both frames must have the context's layouts and the row padding of FFmpeg's frames: swscale reads and writes
  /// beyond rows.
  func scale(_ source: Frame, into target: Frame) throws(AVFailure) {
    let rows = try check(shim_sws_scale(pointer, source.pointer, target.pointer), "sws_scale")
    guard rows == target.pointer.pointee.height else { throw AVFailure(errno: EINVAL, call: "sws_scale") }
  }
}
