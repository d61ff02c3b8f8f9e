import CPlayheadFFmpeg
import PlayheadMediaCore

/// Converts video frames from one layout to another, through swscale: size, pixel format and colour space.
///
/// Threading: one thread at a time; works on the calling thread only. It retains one video frame.
package final class ImageScaler {
  /// The layout of the input.
  package let input: ImageLayout
  /// The layout of the output.
  package let output: ImageLayout
  private let scaling: ScalingContext
  /// The input frame, with padding after its rows, because swscale reads beyond them.
  private let source: Frame

  /// Creates a conversion. Size changes use bicubic filtering.
  ///
  /// - Throws: swscale's failure for an unsupported conversion.
  package init(from input: ImageLayout, to output: ImageLayout) throws(AVFailure) {
    (self.input, self.output) = (input, output)
    // A side that is RGB or has no matrix uses the matrix of the other side.
    let matrix = Self.matrix(of: input) ?? Self.matrix(of: output) ?? SWS_CS_DEFAULT
    scaling = try ScalingContext(
      from: Self.side(input, matrix: matrix), to: Self.side(output, matrix: Self.matrix(of: output) ?? matrix),
      flags: SWS_BICUBIC | SWS_ACCURATE_RND)
    source = try Frame()
    try source.allocateImage(input.avFormat, width: input.width, height: input.height)
  }

  /// Converts an image, whose planes are at their offsets in `data`, into a frame of the `output` layout.
  func convert(
    _ data: UnsafePointer<UInt8>, planes: [PixelFormat.Plane], into frame: Frame
  ) throws(AVFailure) {
    source.copyPlanes(data, planes)
    try scaling.scale(source, into: frame)
  }

  private static func side(_ layout: ImageLayout, matrix: Int32) throws(AVFailure) -> ScalingContext.Side {
    guard let width = Int32(exactly: layout.width), let height = Int32(exactly: layout.height),
      layout.avFormat != AV_PIX_FMT_NONE
    else { throw AVFailure(errno: EINVAL, call: "sws_init_context") }
    return ScalingContext.Side(
      layout.avFormat, width: width, height: height, matrix: matrix, isFullRange: layout.color.isFullRange == true)
  }

  /// Returns swscale's matrix of a layout; nil for RGB or an unspecified matrix.
  private static func matrix(of layout: ImageLayout) -> Int32? {
    layout.isRGB ? nil : ScalingContext.matrix(codePoint: layout.color.matrix)
  }
}
