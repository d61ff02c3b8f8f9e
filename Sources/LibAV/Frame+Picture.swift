import CFFmpeg
import Glibc
import MediaCore

/// A frame that is a picture.
extension Frame {
  /// What a decoded picture is.
  public struct Picture: Sendable, Hashable {
    /// Pixels in a row, and rows, after what the stream crops.
    public let width: Int
    public let height: Int
    /// FFmpeg's name of how pixels lie, such as `yuv420p10le`.
    public let pixelFormatName: String
    /// It was decoded by itself.
    public let isKey: Bool
    /// Something of it did not decode, and was made up.
    public let isDamaged: Bool
    /// How wide a pixel is for its height, as the codec says; nil when it does not.
    public let pixelAspectRatio: FormatDescription.Video.PixelAspectRatio?
    /// What the numbers of a pixel mean.
    public let color: FormatDescription.Video.Color
  }

  /// What it is as a picture; nil for an empty frame or one that is none.
  public var picture: Picture? {
    let frame = pointer.pointee
    let format = AVPixelFormat(frame.format)
    guard frame.width > 0, frame.height > 0, let name = av_get_pix_fmt_name(format) else { return nil }
    return Picture(
      width: Int(frame.width), height: Int(frame.height), pixelFormatName: String(cString: name),
      isKey: frame.key_frame != 0,
      isDamaged: frame.decode_error_flags != 0 || frame.flags & AV_FRAME_FLAG_CORRUPT != 0,
      pixelAspectRatio: .init(frame.sample_aspect_ratio),
      color: .init(
        primaries: frame.color_primaries, transfer: frame.color_trc, matrix: frame.colorspace,
        range: frame.color_range, format: format))
  }

  /// Presentation time of a picture in the stream's ticks: its own, or what follows from decoding times where a container has
  /// only those; nil when nothing is known.
  public var bestTicks: Int64? { optionalTimestamp(pointer.pointee.best_effort_timestamp) ?? pts }

  /// How long a picture is shown by what its packet says, in the stream's ticks; nil when not known.
  public var durationTicks: Int64? { optionalCount(pointer.pointee.pkt_duration) }

  /// Makes room for a picture, in rows that swscale may write behind.
  func allocatePicture(_ format: AVPixelFormat, width: Int, height: Int) throws(AVFailure) {
    clear()
    pointer.pointee.format = format.rawValue
    pointer.pointee.width = Int32(clamping: width)
    pointer.pointee.height = Int32(clamping: height)
    try check(av_frame_get_buffer(pointer, 0), "av_frame_get_buffer")
  }

  /// A picture from its bytes, which are copied.
  public convenience init(_ pixels: PixelBuffer, color: FormatDescription.Video.Color = .init()) throws(AVFailure) {
    try self.init()
    try allocatePicture(pixels.pixelFormat.avFormat, width: pixels.width, height: pixels.height)
    let frame = pointer
    try check(
      pixels.data.withUnsafeBufferPointer { shim_copy_picture_in(frame, $0.baseAddress) }, "av_image_fill_arrays")
    frame.pointee.colorspace = AVColorSpace(UInt32(clamping: color.matrix))
    frame.pointee.color_primaries = AVColorPrimaries(UInt32(clamping: color.primaries))
    frame.pointee.color_trc = AVColorTransferCharacteristic(UInt32(clamping: color.transfer))
    frame.pointee.color_range =
      switch color.isFullRange {
      case true?: AVCOL_RANGE_JPEG
      case false?: AVCOL_RANGE_MPEG
      case nil: AVCOL_RANGE_UNSPECIFIED
      }
  }

  /// Copies a picture of the frame's own shape into its memory, which is there.
  ///
  /// - Parameter data: planes lie at their offsets.
  func copyPlanes(_ data: UnsafePointer<UInt8>, _ planes: [PixelFormat.Plane]) {
    let frame = pointer.pointee
    let targets = [frame.data.0, frame.data.1, frame.data.2]
    let strides = [frame.linesize.0, frame.linesize.1, frame.linesize.2]
    for (index, plane) in planes.prefix(3).enumerated() {
      av_image_copy_plane(
        targets[index], strides[index], data + plane.offset, Int32(clamping: plane.bytesPerRow),
        Int32(clamping: plane.bytesPerRow), Int32(clamping: plane.rowCount))
    }
  }

  /// A picture's bytes as they are, without the gaps of its rows. Errors: of a picture that is larger than any may be.
  func copiedPixels(_ format: PixelFormat) throws(AVFailure) -> PixelBuffer {
    let (width, height) = (Int(pointer.pointee.width), Int(pointer.pointee.height))
    let byteCount = format.byteCount(width: width, height: height)
    guard let room = Int32(exactly: byteCount) else { throw AVFailure(errno: ENOMEM, call: "av_image_copy_to_buffer") }
    var result: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      result = shim_copy_picture_out(buffer.baseAddress, room, pointer, format.avFormat)
      count = result == room ? byteCount : 0
    }
    try check(result, "av_image_copy_to_buffer")
    do throws(MediaError) { return try PixelBuffer(format, width: width, height: height, data: bytes) } catch {
      throw AVFailure(error)
    }
  }
}
