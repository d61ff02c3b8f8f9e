import CPlayheadFFmpeg
import Glibc
import PlayheadMediaCore

/// Video frames.
extension Frame {
  /// The properties of a decoded video frame.
  package struct VideoProperties: Sendable, Hashable, Codable {
    /// The width and height in pixels, after cropping.
    package let width: Int
    package let height: Int
    /// FFmpeg's name of the pixel format, such as `yuv420p10le`.
    package let pixelFormatName: String
    /// Whether the frame is a key frame, which is decoded without other frames.
    package let isKey: Bool
    /// Whether the decoder concealed a part of the frame that could not be decoded.
    package let isDamaged: Bool
    /// The aspect ratio of a pixel, as the codec states it; nil when unknown.
    package let pixelAspectRatio: FormatDescription.Video.PixelAspectRatio?
    /// The colour space of the pixel values.
    package let color: FormatDescription.Video.ColorProperties
  }

  /// The video properties of the frame; nil for an empty or an audio frame.
  package var videoProperties: VideoProperties? {
    let frame = pointer.pointee
    let format = AVPixelFormat(frame.format)
    guard frame.width > 0, frame.height > 0, let name = av_get_pix_fmt_name(format) else { return nil }
    return VideoProperties(
      width: Int(frame.width), height: Int(frame.height), pixelFormatName: String(cString: name),
      isKey: frame.key_frame != 0,
      isDamaged: isDamaged,
      pixelAspectRatio: .init(frame.sample_aspect_ratio),
      color: .init(
        primaries: frame.color_primaries, transfer: frame.color_trc, matrix: frame.colorspace,
        range: frame.color_range, format: format))
  }

  /// Returns the number of bytes of the pixels of a video frame, without padding; nil for an unknown pixel format, and
  /// for a size that FFmpeg does not support.
  ///
  /// - Parameter pixelFormatName: FFmpeg's name of the pixel format.
  package static func byteCount(pixelFormatName: String, width: Int, height: Int) -> Int? {
    let count = av_image_get_buffer_size(
      av_get_pix_fmt(pixelFormatName), Int32(clamping: width), Int32(clamping: height), 1)
    return count > 0 ? Int(count) : nil
  }

  /// The presentation time of a video frame, in the stream's ticks. Derived from decoding times if the frame has no
  /// timestamp (`best_effort_timestamp`); nil when unknown.
  package var bestEffortTicks: Int64? { optionalTimestamp(pointer.pointee.best_effort_timestamp) ?? pts }

  /// The duration of a video frame, as its packet states it, in the stream's ticks; nil when unknown.
  package var durationTicks: Int64? { optionalCount(pointer.pointee.pkt_duration) }

  /// Allocates memory for a video frame, with padding after the rows, to which swscale may write.
  func allocateImage(_ format: AVPixelFormat, width: Int, height: Int) throws(AVFailure) {
    clear()
    pointer.pointee.format = format.rawValue
    pointer.pointee.width = Int32(clamping: width)
    pointer.pointee.height = Int32(clamping: height)
    try check(av_frame_get_buffer(pointer, 0), "av_frame_get_buffer")
  }

  /// Describes an image in memory that the caller owns, until `clear()`.
  ///
  /// - Parameter planes: At most three planes, from `start`.
  func setPlanes(
    _ start: UnsafeMutablePointer<UInt8>, _ planes: [PaddedPlanes.Plane], _ format: AVPixelFormat, width: Int,
    height: Int
  ) {
    clear()
    pointer.pointee.format = format.rawValue
    pointer.pointee.width = Int32(clamping: width)
    pointer.pointee.height = Int32(clamping: height)
    let addresses = planes.map { start + $0.offset } + Array(repeating: nil, count: 3)
    let strides = planes.map { Int32(clamping: $0.stride) } + [0, 0, 0]
    (pointer.pointee.data.0, pointer.pointee.data.1, pointer.pointee.data.2) = (
      addresses[0], addresses[1], addresses[2]
    )
    (pointer.pointee.linesize.0, pointer.pointee.linesize.1, pointer.pointee.linesize.2) = (
      strides[0], strides[1], strides[2]
    )
  }

  /// Creates a video frame with a copy of `pixels`.
  package convenience init(_ pixels: PixelBuffer, color: FormatDescription.Video.ColorProperties = .init())
    throws(AVFailure)
  {
    try self.init()
    try allocateImage(pixels.pixelFormat.avFormat, width: pixels.width, height: pixels.height)
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

  /// Copies an image of the frame's format and size to the frame's memory, which must be allocated.
  ///
  /// - Parameter data: The planes, at their offsets.
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

  /// Returns a copy of the frame's pixels without the padding of the rows.
  ///
  /// - Throws: A failure for a frame that exceeds the size limit.
  func copiedPixels(_ format: PixelFormat) throws(AVFailure) -> PixelBuffer {
    let (width, height) = (Int(pointer.pointee.width), Int(pointer.pointee.height))
    let byteCount = format.byteCount(width: width, height: height)
    guard let capacity = Int32(exactly: byteCount) else {
      throw AVFailure(errno: ENOMEM, call: "av_image_copy_to_buffer")
    }
    var result: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      result = shim_copy_picture_out(buffer.baseAddress, capacity, pointer, format.avFormat)
      count = result == capacity ? byteCount : 0
    }
    try check(result, "av_image_copy_to_buffer")
    do throws(MediaError) { return try PixelBuffer(format, width: width, height: height, data: bytes) } catch {
      throw AVFailure(error)
    }
  }
}
