import CFFmpeg
import MediaCore

/// Converts pictures of one shape to another, through an `SwsContext`: size, how pixels lie, and what their numbers mean.
///
/// Used by one thread at a time; works on the calling thread alone.
public final class PictureScaler {
  /// Shape of what goes in.
  public let input: PictureLayout
  /// Shape of what comes out.
  public let output: PictureLayout
  private let context: OpaquePointer

  /// Sets up a conversion. Other sizes are filtered bicubically.
  ///
  /// Throws when swscale does not have it.
  public init(from input: PictureLayout, to output: PictureLayout) throws(AVFailure) {
    guard let width = Int32(exactly: input.width), let height = Int32(exactly: input.height),
      let newWidth = Int32(exactly: output.width), let newHeight = Int32(exactly: output.height),
      input.avFormat != AV_PIX_FMT_NONE, output.avFormat != AV_PIX_FMT_NONE,
      let context = sws_getContext(
        width, height, input.avFormat, newWidth, newHeight, output.avFormat,
        SWS_BICUBIC | SWS_ACCURATE_RND, nil, nil, nil)
    else { throw AVFailure(errno: EINVAL, call: "sws_getContext") }
    (self.input, self.output, self.context) = (input, output, context)
    // Every number of red, green and blue is used.
    let ranges = [input, output].map { Int32($0.isRGB || $0.color.isFullRange == true ? 1 : 0) }
    // Where one side does not say it, and where it is red, green and blue, it is as the other.
    let matrices = [
      Self.matrix(of: input) ?? Self.matrix(of: output), Self.matrix(of: output) ?? Self.matrix(of: input),
    ]
    sws_setColorspaceDetails(
      context, sws_getCoefficients(matrices[0] ?? SWS_CS_DEFAULT), ranges[0],
      sws_getCoefficients(matrices[1] ?? SWS_CS_DEFAULT), ranges[1], 0, 1 << 16, 1 << 16)
  }

  deinit { sws_freeContext(context) }

  /// Converts a picture whose planes lie at offsets of `data`, into a frame of `output`'s shape.
  func convert(
    _ data: UnsafePointer<UInt8>, planes: [PixelFormat.Plane], into frame: UnsafeMutablePointer<AVFrame>
  ) throws(AVFailure) {
    var sources: [UnsafePointer<UInt8>?] = planes.map { data + $0.offset }
    var strides = planes.map { Int32(clamping: $0.bytesPerRow) }
    while sources.count < 4 {
      sources.append(nil)
      strides.append(0)
    }
    var targets = [
      frame.pointee.data.0, frame.pointee.data.1, frame.pointee.data.2, frame.pointee.data.3,
    ]
    let targetStrides = [
      frame.pointee.linesize.0, frame.pointee.linesize.1, frame.pointee.linesize.2, frame.pointee.linesize.3,
    ]
    let rows = sws_scale(context, sources, strides, 0, Int32(clamping: input.height), &targets, targetStrides)
    try check(rows, "sws_scale")
    guard rows == Int32(clamping: output.height) else { throw AVFailure(errno: EINVAL, call: "sws_scale") }
  }

  /// swscale's number of a matrix, which is H.273's; nil where it is not said, or there is none.
  private static func matrix(of layout: PictureLayout) -> Int32? {
    guard !layout.isRGB, [1, 4, 5, 6, 7, 9, 10].contains(layout.color.matrix) else { return nil }
    return layout.color.matrix == 10 ? 9 : Int32(layout.color.matrix)
  }
}
