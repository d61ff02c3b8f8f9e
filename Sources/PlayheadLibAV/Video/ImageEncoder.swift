import CPlayheadFFmpeg
import Glibc
import PlayheadMediaCore

/// Encodes an image file.
package enum ImageEncoder {
  /// The format of the image file.
  package enum FileFormat: Sendable, Hashable {
    /// Lossless; with alpha if a pixel is not opaque.
    case png
    /// Quality from 1, the smallest file, to 100, the best. Alpha is discarded.
    case jpeg(quality: Int)
  }

  /// Returns the bytes of the image file. Blocks while it computes.
  ///
  /// At most two copies of the pixels exist at a time if the caller consumes its copy, because a worker process has
  /// little memory.
  ///
  /// - Parameter pixels: The image, in any format; `color` is the colour space of one with luma and chroma.
  /// - Throws: `noEncoder` when this FFmpeg has none; the failures of `ImageConverter`.
  package static func encode(
    _ pixels: consuming PixelBuffer, as fileFormat: FileFormat, color: FormatDescription.Video.ColorProperties = .init()
  ) throws(AVFailure) -> [UInt8] {
    let (codecID, format) =
      switch fileFormat {
      case .png: (AV_CODEC_ID_PNG, isOpaque(pixels) ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_RGBA)
      case .jpeg: (AV_CODEC_ID_MJPEG, AV_PIX_FMT_YUVJ420P)
      }
    guard let codec = avcodec_find_encoder(codecID) else {
      throw AVFailure(code: shim_AVERROR_ENCODER_NOT_FOUND(), call: "avcodec_find_encoder")
    }
    let context = try check(avcodec_alloc_context3(codec), "avcodec_alloc_context3")
    var owner: UnsafeMutablePointer<AVCodecContext>? = context
    defer { avcodec_free_context(&owner) }
    context.pointee.width = Int32(pixels.width)
    context.pointee.height = Int32(pixels.height)
    context.pointee.pix_fmt = format
    context.pointee.time_base = AVRational(num: 1, den: 25)
    context.pointee.thread_count = 1
    let frame = try Frame()
    if case .jpeg(let quality) = fileFormat {
      context.pointee.flags |= AV_CODEC_FLAG_QSCALE
      context.pointee.global_quality = quantizer(quality) * FF_QP2LAMBDA
      context.pointee.qmin = 1
      context.pointee.color_range = AVCOL_RANGE_JPEG
    }
    try check(avcodec_open2(context, codec, nil), "avcodec_open2")
    try fill(frame, with: Frame(consume pixels, color: color), format)
    frame.pointer.pointee.quality = context.pointee.global_quality
    let packet = try packet(of: frame, context)
    // Release the frame and the encoder's buffer before the file is copied.
    frame.clear()
    avcodec_free_context(&owner)
    guard let bytes = packet.data(limit: .max) else { throw AVFailure(invalidDataIn: "avcodec_receive_packet") }
    return bytes
  }

  /// Converts to FFmpeg's scale for JPEG: 1, the best, to 31.
  private static func quantizer(_ quality: Int) -> Int32 {
    let clamped = max(1, min(100, quality))
    return Int32(31 - (clamped - 1) * 30 / 99)
  }

  private static func isOpaque(_ pixels: PixelBuffer) -> Bool {
    guard pixels.pixelFormat == .bgra else { return true }
    return pixels.data.withUnsafeBufferPointer { bytes in
      stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 }
    }
  }

  /// Converts `source` to the encoder's format. JPEG always uses BT.601 with full range (JFIF 1.02).
  private static func fill(_ frame: Frame, with source: Frame, _ format: AVPixelFormat) throws(AVFailure) {
    let (width, height) = (source.pointer.pointee.width, source.pointer.pointee.height)
    try frame.allocateImage(format, width: Int(width), height: Int(height))
    let traits = PixelFormatTraits(format)
    let sourceTraits = PixelFormatTraits(AVPixelFormat(source.pointer.pointee.format))
    let scaling = try ScalingContext(
      from: .init(
        sourceTraits.format, width: width, height: height, matrix: ImageConverter.matrix(source.pointer.pointee),
        isFullRange: ImageConverter.isFullRange(source.pointer.pointee, sourceTraits)),
      to: .init(traits.format, width: width, height: height, matrix: SWS_CS_ITU601, isFullRange: true),
      flags: SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP)
    try scaling.scale(source, into: frame)
    frame.pointer.pointee.color_range = AVCOL_RANGE_JPEG
  }

  private static func packet(
    of frame: Frame, _ context: UnsafeMutablePointer<AVCodecContext>
  ) throws(AVFailure) -> Packet {
    let packet = try Packet()
    try check(avcodec_send_frame(context, frame.pointer), "avcodec_send_frame")
    try check(avcodec_send_frame(context, nil), "avcodec_send_frame")
    try check(avcodec_receive_packet(context, packet.pointer), "avcodec_receive_packet")
    return packet
  }
}
