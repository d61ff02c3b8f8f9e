import CPlayheadFFmpeg
import PlayheadMediaCore

extension FormatDescription.Video {
  /// Reads the properties of a video stream; nil when its size is unknown.
  init?(_ stream: UnsafePointer<AVStream>) {
    let parameters = stream.pointee.codecpar.pointee
    guard parameters.width > 0, parameters.height > 0 else { return nil }
    let format = AVPixelFormat(parameters.format)
    self.init(
      width: Int(parameters.width), height: Int(parameters.height),
      pixelFormatName: av_get_pix_fmt_name(format).map { String(cString: $0) })
    pixelAspectRatio =
      PixelAspectRatio(stream.pointee.sample_aspect_ratio) ?? PixelAspectRatio(parameters.sample_aspect_ratio)
    rotationDegrees = Self.rotationDegrees(of: stream)
    color = ColorProperties(
      primaries: parameters.color_primaries, transfer: parameters.color_trc, matrix: parameters.color_space,
      range: parameters.color_range, format: format)
    let rate = stream.pointee.avg_frame_rate
    if rate.num > 0, rate.den > 0 { frameDuration = MediaTime(value: Int64(rate.den), timescale: rate.num) }
    bitRate = optionalCount(parameters.bit_rate).map { Int($0) }
  }

  /// Returns the clockwise rotation of the container's matrix if it is a multiple of 90 degrees; otherwise 0.
  private static func rotationDegrees(of stream: UnsafePointer<AVStream>) -> Int {
    var byteCount = 0
    guard let data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &byteCount),
      byteCount >= 9 * MemoryLayout<Int32>.size
    else { return 0 }
    let degrees = -av_display_rotation_get(UnsafeRawPointer(data).assumingMemoryBound(to: Int32.self))
    guard degrees.isFinite else { return 0 }
    let quarters = (degrees / 90).rounded()
    // The tolerance covers the inexact matrices of programs that rotate files.
    guard abs(degrees - 90 * quarters) < 1 else { return 0 }
    return (Int(quarters) % 4 + 4) % 4 * 90
  }
}

extension FormatDescription.Video.PixelAspectRatio {
  /// Converts a ratio; nil when it is unspecified.
  init?(_ ratio: AVRational) {
    guard ratio.num > 0, ratio.den > 0 else { return nil }
    self.init(horizontal: Int(ratio.num), vertical: Int(ratio.den))
  }
}

extension FormatDescription.Video.ColorProperties {
  init(
    primaries: AVColorPrimaries, transfer: AVColorTransferCharacteristic, matrix: AVColorSpace, range: AVColorRange,
    format: AVPixelFormat
  ) {
    self.init()
    self.primaries = Int(primaries.rawValue)
    self.transfer = Int(transfer.rawValue)
    self.matrix = Int(matrix.rawValue)
    switch range {
    case AVCOL_RANGE_JPEG: isFullRange = true
    case AVCOL_RANGE_MPEG: isFullRange = false
    // Some pixel formats imply the full range.
    default: isFullRange = PixelFormatTraits(format).isAlwaysFullRange ? true : nil
    }
  }
}
