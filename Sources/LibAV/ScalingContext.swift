import CFFmpeg

/// One owner of an `SwsContext`: turns pictures of one shape into those of another.
///
/// Used by one thread at a time; works on the calling thread alone.
final class ScalingContext {
  /// What one side of a conversion is.
  struct Side: Hashable {
    /// FFmpeg's pixel format, one without a range of its own: see `PictureFormat`.
    var format: Int32
    var width: Int32
    var height: Int32
    /// swscale's number of the matrix; of red, green and blue it is nothing.
    var matrix: Int32
    /// Luma goes from 0 to 255; of red, green and blue it is nothing.
    var isFullRange: Bool

    init(_ format: AVPixelFormat, width: Int32, height: Int32, matrix: Int32, isFullRange: Bool) {
      (self.format, self.width, self.height) = (format.rawValue, width, height)
      (self.matrix, self.isFullRange) = (matrix, isFullRange)
    }

    fileprivate var range: Int32 { isFullRange && !PictureFormat(AVPixelFormat(format)).isRGB ? 1 : 0 }
  }

  /// swscale's number of a matrix, of which it has fewer; nil where the picture does not say it, or has none.
  ///
  /// - Parameter codePoint: ITU-T H.273's, table 4, as `AVCOL_SPC_*`.
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

  /// Sets up a conversion.
  ///
  /// - Parameter flags: `SWS_*`.
  /// Throws when swscale does not have it.
  init(from source: Side, to target: Side, flags: Int32) throws(AVFailure) {
    _ = LibAV.isQuiet
    pointer = try check(sws_alloc_context(), "sws_alloc_context")
    // The ranges are options, for what is already said when it begins decides: of ranges that seem alike the picture is copied, whatever
    // is said of them later.
    let options: [(String, Int32)] = [
      ("srcw", source.width), ("srch", source.height), ("src_format", source.format), ("src_range", source.range),
      ("dstw", target.width), ("dsth", target.height), ("dst_format", target.format), ("dst_range", target.range),
      ("sws_flags", flags),
    ]
    for (name, value) in options {
      try check(av_opt_set_int(UnsafeMutableRawPointer(pointer), name, Int64(value), 0), "av_opt_set_int")
    }
    try check(sws_init_context(pointer, nil, nil), "sws_init_context")
    // It answers below zero where there is nothing to be set, as between formats of red, green and blue.
    _ = sws_setColorspaceDetails(
      pointer, sws_getCoefficients(source.matrix), source.range, sws_getCoefficients(target.matrix), target.range, 0,
      1 << 16, 1 << 16)
  }

  deinit { sws_freeContext(pointer) }

  /// Converts all of a picture into another, which has its memory.
  ///
  /// Both are pictures of the context's shapes with the gaps that FFmpeg's frames have: swscale reads and writes behind rows.
  func scale(_ source: Frame, into target: Frame) throws(AVFailure) {
    let rows = try check(shim_sws_scale(pointer, source.pointer, target.pointer), "sws_scale")
    guard rows == target.pointer.pointee.height else { throw AVFailure(errno: EINVAL, call: "sws_scale") }
  }
}
