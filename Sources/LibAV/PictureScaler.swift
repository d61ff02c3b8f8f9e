import CFFmpeg
import MediaCore

/// Converts pictures of one shape to another, through swscale: size, how pixels lie, and what their numbers mean.
///
/// Used by one thread at a time; works on the calling thread alone. It keeps one picture.
public final class PictureScaler {
  /// Shape of what goes in.
  public let input: PictureLayout
  /// Shape of what comes out.
  public let output: PictureLayout
  private let scaling: ScalingContext
  /// What goes in, with memory behind its rows: swscale reads beyond them.
  private let source: Frame

  /// Sets up a conversion. Other sizes are filtered bicubically.
  ///
  /// Throws when swscale does not have it.
  public init(from input: PictureLayout, to output: PictureLayout) throws(AVFailure) {
    (self.input, self.output) = (input, output)
    // Where one side does not say it, and where it is red, green and blue, it is as the other.
    let matrix = Self.matrix(of: input) ?? Self.matrix(of: output) ?? SWS_CS_DEFAULT
    scaling = try ScalingContext(
      from: Self.side(input, matrix: matrix), to: Self.side(output, matrix: Self.matrix(of: output) ?? matrix),
      flags: SWS_BICUBIC | SWS_ACCURATE_RND)
    source = try Frame()
    try source.allocatePicture(input.avFormat, width: input.width, height: input.height)
  }

  /// Converts a picture whose planes lie at offsets of `data`, into a frame of `output`'s shape.
  func convert(
    _ data: UnsafePointer<UInt8>, planes: [PixelFormat.Plane], into frame: Frame
  ) throws(AVFailure) {
    source.copyPlanes(data, planes)
    try scaling.scale(source, into: frame)
  }

  private static func side(_ layout: PictureLayout, matrix: Int32) throws(AVFailure) -> ScalingContext.Side {
    guard let width = Int32(exactly: layout.width), let height = Int32(exactly: layout.height),
      layout.avFormat != AV_PIX_FMT_NONE
    else { throw AVFailure(errno: EINVAL, call: "sws_init_context") }
    return ScalingContext.Side(
      layout.avFormat, width: width, height: height, matrix: matrix, isFullRange: layout.color.isFullRange == true)
  }

  /// Nil where it is not said, or there is none.
  private static func matrix(of layout: PictureLayout) -> Int32? {
    layout.isRGB ? nil : ScalingContext.matrix(codePoint: layout.color.matrix)
  }
}
