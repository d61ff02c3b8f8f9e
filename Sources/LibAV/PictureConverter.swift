import CFFmpeg
import Glibc
import MediaCore

/// Turns pictures of any format into those of `PixelFormat`, of any size, through swscale.
///
/// What is in the same format and of the same size is copied as it is. Between formats of luma and chroma the numbers' meaning stays what it
/// is: matrix and range are the picture's own. Where one side is red, green and blue the matrix is the one that the picture says, else
/// BT.709 for what is as large as HD and BT.601 for what is smaller; plain numbers of luma go from 16 to 235 unless the picture says that
/// they go from 0 to 255.
///
/// Used by one thread at a time. It keeps what the last conversion needed, and one picture.
public final class PictureConverter {
  /// What a conversion depends on.
  private struct Shape: Hashable {
    var source: ScalingContext.Side
    var target: ScalingContext.Side
  }

  private var context: (shape: Shape, scaling: ScalingContext)?
  private let output: Frame

  /// A converter that has done nothing yet.
  public init() throws(AVFailure) { output = try Frame() }

  /// A picture in another format, or of another size; its width and height unless said.
  ///
  /// Errors: `limit` for sizes that no picture has; what swscale says of formats that it does not know.
  public func convert(
    _ frame: Frame, to format: PixelFormat, width: Int? = nil, height: Int? = nil
  ) throws(AVFailure) -> PixelBuffer {
    let source = frame.pointer.pointee
    let (width, height) = (width ?? Int(source.width), height ?? Int(source.height))
    guard PixelBuffer.supportedSizes.contains(width), PixelBuffer.supportedSizes.contains(height) else {
      throw AVFailure(errno: ENOMEM, call: "PictureConverter")
    }
    let traits = PictureFormat(AVPixelFormat(source.format))
    if traits.format == format.avFormat, width == Int(source.width), height == Int(source.height) {
      return try frame.copiedPixels(format)
    }
    let (isFull, matrix) = (Self.isFullRange(source, traits), Self.matrix(source))
    let shape = Shape(
      source: .init(traits.format, width: source.width, height: source.height, matrix: matrix, isFullRange: isFull),
      target: .init(
        format.avFormat, width: Int32(width), height: Int32(height), matrix: matrix,
        isFullRange: traits.isRGB || format == .bgra ? false : isFull))
    let scaling = try scaling(shape, isRGB: traits.isRGB || format == .bgra, traits)
    try output.allocatePicture(format.avFormat, width: width, height: height)
    defer { output.clear() }
    try scaling.scale(frame, into: output)
    return try output.copiedPixels(format)
  }

  /// What the numbers of `frame`'s pixels mean once it is converted.
  public static func color(of frame: Frame, as format: PixelFormat) -> FormatDescription.Video.Color {
    let source = frame.pointer.pointee
    let traits = PictureFormat(AVPixelFormat(source.format))
    guard var color = frame.picture?.color else { return .init() }
    if format == .bgra {
      color.matrix = 0
      color.isFullRange = true
    } else if traits.isRGB {
      color.matrix = matrix(source) == SWS_CS_ITU709 ? 1 : 6
      color.isFullRange = false
    }
    return color
  }

  // MARK: - Internals

  /// What was used last, when it does.
  private func scaling(_ shape: Shape, isRGB: Bool, _ traits: PictureFormat) throws(AVFailure) -> ScalingContext {
    if let context, context.shape == shape { return context.scaling }
    context = nil
    guard sws_isSupportedInput(AVPixelFormat(shape.source.format)) > 0 else {
      throw AVFailure(errno: ENOSYS, call: "sws_isSupportedInput")
    }
    var flags = SWS_BICUBIC
    if isRGB {
      flags |= SWS_ACCURATE_RND
      // Where two pixels have one chroma it is that of both: to make one for each would take twice as long. Of an odd one swscale makes
      // them all in any case.
      let isSameSize = shape.target.width == shape.source.width && shape.target.height == shape.source.height
      if !traits.hasHalvedChroma || !isSameSize || shape.target.width % 2 != 0 {
        flags |= SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP
      }
    }
    let scaling = try ScalingContext(from: shape.source, to: shape.target, flags: flags)
    context = (shape, scaling)
    return scaling
  }

  static func isFullRange(_ frame: AVFrame, _ traits: PictureFormat) -> Bool {
    switch frame.color_range {
    case AVCOL_RANGE_JPEG: true
    case AVCOL_RANGE_MPEG: false
    default: traits.isAlwaysFullRange
    }
  }

  /// swscale's number of the matrix that the picture says, or is likely to have.
  static func matrix(_ frame: AVFrame) -> Int32 {
    ScalingContext.matrix(codePoint: Int(frame.colorspace.rawValue))
      ?? (frame.width >= 1_280 || frame.height >= 720 ? SWS_CS_ITU709 : SWS_CS_ITU601)
  }
}
