import CPlayheadFFmpeg
import Glibc
import PlayheadMediaCore

/// Converts video frames of any format to `PixelFormat`, at any size, through swscale.
///
/// - A frame of the same format and size is copied.
/// - Conversions between formats of luma and chroma keep the frame's matrix and range.
/// - Conversions from or to RGB use the matrix that the frame states. Default: BT.709 for frames of at least 1280
///   columns or 720 rows, otherwise BT.601.
/// - Luma ranges from 16 to 235, unless the frame states the full range of 0 to 255.
///
/// Threading: one thread at a time. It retains the state of the last conversion.
package final class ImageConverter {
  /// The parameters of a conversion.
  private struct Shape: Hashable {
    var source: ScalingContext.Side
    var target: ScalingContext.Side
  }

  private var context: (shape: Shape, scaling: ScalingContext)?
  /// The description of the result's memory during a conversion. It owns no memory.
  private let output: Frame

  /// Creates a converter without state.
  package init() throws(AVFailure) { output = try Frame() }

  /// Converts a video frame to another format or size. Default: the frame's width and height.
  ///
  /// - Throws: `limit` for unsupported sizes; swscale's failure for formats that it does not support.
  package func convert(
    _ frame: Frame, to format: PixelFormat, width: Int? = nil, height: Int? = nil
  ) throws(AVFailure) -> PixelBuffer {
    let source = frame.pointer.pointee
    let (width, height) = (width ?? Int(source.width), height ?? Int(source.height))
    guard PixelBuffer.supportedSizes.contains(width), PixelBuffer.supportedSizes.contains(height) else {
      throw AVFailure(errno: ENOMEM, call: "ImageConverter")
    }
    let traits = PixelFormatTraits(AVPixelFormat(source.format))
    if traits.format == format.avFormat, width == Int(source.width), height == Int(source.height) {
      return try frame.copiedPixels(format)
    }
    let (isFull, matrix) = (Self.isFullRange(source, traits), Self.matrix(source))
    let shape = Shape(
      source: .init(traits.format, width: source.width, height: source.height, matrix: matrix, isFullRange: isFull),
      target: .init(
        format.avFormat, width: Int32(width), height: Int32(height), matrix: matrix,
        isFullRange: traits.isRGB || format == .bgra ? false : isFull))
    return try pixels(of: frame, try scaling(shape, isRGB: traits.isRGB || format == .bgra, traits), shape, format)
  }

  /// Returns the colour space of `frame` after its conversion to `format`.
  package static func color(of frame: Frame, as format: PixelFormat) -> FormatDescription.Video.ColorProperties {
    let source = frame.pointer.pointee
    let traits = PixelFormatTraits(AVPixelFormat(source.format))
    guard var color = frame.videoProperties?.color else { return .init() }
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

  /// Scales a frame into the memory of the result, whose rows have padding until they are moved together. A large image
  /// would not fit twice into the memory of a worker process.
  private func pixels(
    of frame: Frame, _ scaling: ScalingContext, _ shape: Shape, _ format: PixelFormat
  ) throws(AVFailure) -> PixelBuffer {
    let (width, height) = (Int(shape.target.width), Int(shape.target.height))
    let planes = format.planes(width: width, height: height)
    let padded = PaddedPlanes(planes)
    var failure: AVFailure?
    let bytes = [UInt8](unsafeUninitializedCapacity: padded.byteCount) { memory, count in
      guard let start = padded.alignedStart(of: memory) else { return }
      output.setPlanes(start, padded.planes, format.avFormat, width: width, height: height)
      defer { output.clear() }
      do throws(AVFailure) {
        try scaling.scale(frame, into: output)
        count = padded.removePadding(from: start, to: memory, planes)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    do throws(MediaError) { return try PixelBuffer(format, width: width, height: height, data: bytes) } catch {
      throw AVFailure(error)
    }
  }

  /// Returns the last scaling context if its shape matches, otherwise a new one.
  private func scaling(_ shape: Shape, isRGB: Bool, _ traits: PixelFormatTraits) throws(AVFailure) -> ScalingContext {
    if let context, context.shape == shape { return context.scaling }
    context = nil
    guard sws_isSupportedInput(AVPixelFormat(shape.source.format)) > 0 else {
      throw AVFailure(errno: ENOSYS, call: "sws_isSupportedInput")
    }
    var flags = SWS_BICUBIC
    if isRGB {
      flags |= SWS_ACCURATE_RND
      // With halved chroma, neighboring pixels keep their common chroma, because interpolation would take twice as
      // long. For an odd width, swscale interpolates in any case.
      let isSameSize = shape.target.width == shape.source.width && shape.target.height == shape.source.height
      if !traits.hasHalvedChroma || !isSameSize || shape.target.width % 2 != 0 {
        flags |= SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP
      }
    }
    let scaling = try ScalingContext(from: shape.source, to: shape.target, flags: flags)
    context = (shape, scaling)
    return scaling
  }

  static func isFullRange(_ frame: AVFrame, _ traits: PixelFormatTraits) -> Bool {
    switch frame.color_range {
    case AVCOL_RANGE_JPEG: true
    case AVCOL_RANGE_MPEG: false
    default: traits.isAlwaysFullRange
    }
  }

  /// Returns swscale's number of the matrix that the frame states, or of the most likely one.
  static func matrix(_ frame: AVFrame) -> Int32 {
    ScalingContext.matrix(codePoint: Int(frame.colorspace.rawValue))
      ?? (frame.width >= 1_280 || frame.height >= 720 ? SWS_CS_ITU709 : SWS_CS_ITU601)
  }
}
