import CPlayheadFFmpeg
import PlayheadMediaCore

/// Encodes video frames to packets of one codec. It scales and converts them to the encoder's input format.
///
/// Threading: one thread at a time. The encoder uses additional threads, up to `Settings.maximumThreadCount`.
package final class VideoEncoder {
  /// The input, the output and the parameters of the encoder.
  package struct Settings: Sendable, Hashable {
    /// The layout of the input.
    package var input: ImageLayout
    /// The layout of the encoded frames.
    package var output: ImageLayout
    /// The time base of the frames' times.
    package var timeBase: TimeBase
    /// The average duration of a frame, in seconds, for rate control; nil: unknown.
    package var frameDuration: TimeBase?
    /// The maximum distance of key frames, in frames; nil: the encoder's default.
    package var keyFrameInterval: Int?
    /// The bit rate, in bits per second; nil: `constantQuality` applies.
    package var bitRate: Int?
    /// x264's rate factor, 0 to 51; nil: `bitRate` applies, or the encoder's default.
    package var constantQuality: Double?
    /// The encoder's name of the profile; nil: its default.
    package var profile: String?
    /// The level, such as `4.1`; nil: the encoder's default.
    package var level: String?
    /// The encoder's name of the preset, which trades time for compression.
    package var preset = "medium"
    /// The aspect ratio of a pixel; nil: unspecified.
    package var pixelAspectRatio: FormatDescription.Video.PixelAspectRatio?
    /// The pixels at the edges that players must not show, even numbers; stored in the codec's headers.
    package var cropping: Cropping?
    /// Whether the encoder may reorder frames (B-frames).
    package var allowsReordering = true
    /// The maximum number of encoder threads; nil: the encoder's default.
    package var maximumThreadCount: Int?
    /// Whether the container stores the encoder's headers, instead of the packets.
    package var hasGlobalHeader = false

    /// Creates settings for frames of one layout, encoded in another.
    package init(from input: ImageLayout, to output: ImageLayout, timeBase: TimeBase) {
      self.input = input
      self.output = output
      self.timeBase = timeBase
    }
  }

  /// Numbers of pixels at the edges.
  package struct Cropping: Sendable, Hashable {
    package var left: Int
    package var top: Int
    package var right: Int
    package var bottom: Int

    package init(left: Int, top: Int, right: Int, bottom: Int) {
      self.left = left
      self.top = top
      self.right = right
      self.bottom = bottom
    }
  }

  /// FFmpeg's name of the encoder.
  package static let encoderName = "libx264"
  /// The settings that were requested.
  package let settings: Settings
  let context: UnsafeMutablePointer<AVCodecContext>
  /// The converter; nil when the input is encoded without conversion.
  private let scaler: ImageScaler?
  private let frame: Frame
  /// The durations of the frames in the encoder's lookahead, by presentation time.
  private var durations: [Int64: Int64] = [:]
  private var isEndSent = false

  /// Whether this FFmpeg has the encoder.
  package static var isAvailable: Bool { avcodec_find_encoder_by_name(encoderName) != nil }

  /// Creates an encoder and opens it.
  ///
  /// - Throws: `noEncoder` when this FFmpeg has no such encoder; the encoder's failure for settings that it does not
  ///   support.
  package init(settings: Settings) throws(AVFailure) {
    _ = LibAV.discardLogByDefault
    guard let codec = avcodec_find_encoder_by_name(Self.encoderName) else {
      throw AVFailure(code: shim_AVERROR_ENCODER_NOT_FOUND(), call: "avcodec_find_encoder_by_name")
    }
    frame = try Frame()
    scaler =
      settings.input == settings.output ? nil : try ImageScaler(from: settings.input, to: settings.output)
    let context = try check(avcodec_alloc_context3(codec), "avcodec_alloc_context3")
    do throws(AVFailure) {
      try Self.configure(context, settings)
      var options = try Self.privateOptions(settings)
      let result = avcodec_open2(context, codec, &options)
      av_dict_free(&options)
      try check(result, "avcodec_open2")
    } catch {
      var released: UnsafeMutablePointer<AVCodecContext>? = context
      avcodec_free_context(&released)
      throw error
    }
    self.settings = settings
    self.context = context
  }

  deinit {
    var released: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&released)
  }

  // MARK: - Encoding

  /// Appends a video frame of the `settings.input` layout. All resulting packets must be received before the next
  /// frame.
  ///
  /// - Parameters:
  ///   - data: The bytes of the frame, with the planes at their offsets.
  ///   - ticks: The presentation time, in `settings.timeBase`; later than that of the previous frame.
  ///   - durationTicks: The duration, in `settings.timeBase`.
  ///   - isKeyFrame: Whether decoding must be able to begin with this frame.
  package func append(
    _ data: UnsafePointer<UInt8>, planes: [PixelFormat.Plane], at ticks: Int64, durationTicks: Int64, isKeyFrame: Bool
  ) throws(AVFailure) {
    let pointer = frame.pointer
    // The frame is writable again when the encoder has copied it; x264 copies it immediately.
    if pointer.pointee.buf.0 == nil || av_frame_is_writable(pointer) <= 0 { try allocate() }
    if let scaler {
      try scaler.convert(data, planes: planes, into: frame)
    } else {
      frame.copyPlanes(data, planes)
    }
    pointer.pointee.pts = ticks
    pointer.pointee.pict_type = isKeyFrame ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
    durations[ticks] = durationTicks
    try check(avcodec_send_frame(context, pointer), "avcodec_send_frame")
  }

  /// Signals the end of the video. Afterwards nothing can be appended.
  package func finish() throws(AVFailure) {
    guard !isEndSent else { return }
    isEndSent = true
    try check(avcodec_send_frame(context, nil), "avcodec_send_frame")
  }

  /// Receives the next packet, in decoding order, which replaces the content of `packet`. The first decoding times are
  /// before the first frame's time.
  package func receive(into packet: Packet) throws(AVFailure) -> Encoder.ReceiveResult {
    let result = avcodec_receive_packet(context, packet.pointer)
    switch result {
    case 0...:
      if let duration = durations.removeValue(forKey: packet.pointer.pointee.pts) {
        packet.pointer.pointee.duration = duration
      }
      return .packet
    case shim_AVERROR_EOF(): return .endOfStream
    case shim_AVERROR(EAGAIN): return .wouldBlock
    default: throw AVFailure(code: result, call: "avcodec_receive_packet")
    }
  }

  // MARK: - Internals

  private func allocate() throws(AVFailure) {
    frame.clear()
    let pointer = frame.pointer
    pointer.pointee.format = context.pointee.pix_fmt.rawValue
    pointer.pointee.width = context.pointee.width
    pointer.pointee.height = context.pointee.height
    pointer.pointee.color_range = context.pointee.color_range
    pointer.pointee.color_primaries = context.pointee.color_primaries
    pointer.pointee.color_trc = context.pointee.color_trc
    pointer.pointee.colorspace = context.pointee.colorspace
    pointer.pointee.sample_aspect_ratio = context.pointee.sample_aspect_ratio
    try check(av_frame_get_buffer(pointer, 0), "av_frame_get_buffer")
  }

  private static func configure(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ settings: Settings
  ) throws(AVFailure) {
    guard let width = Int32(exactly: settings.output.width), let height = Int32(exactly: settings.output.height),
      settings.output.avFormat != AV_PIX_FMT_NONE
    else { throw AVFailure(errno: EINVAL, call: "Encoder.init") }
    let color = settings.output.color
    context.pointee.width = width
    context.pointee.height = height
    context.pointee.pix_fmt = settings.output.avFormat
    context.pointee.time_base = settings.timeBase.rational
    if let duration = settings.frameDuration {
      context.pointee.framerate = AVRational(num: duration.denominator, den: duration.numerator)
    }
    context.pointee.color_primaries = AVColorPrimaries(rawValue: UInt32(clamping: color.primaries))
    context.pointee.color_trc = AVColorTransferCharacteristic(rawValue: UInt32(clamping: color.transfer))
    context.pointee.colorspace = AVColorSpace(rawValue: UInt32(clamping: color.matrix))
    context.pointee.color_range = color.isFullRange == true ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
    if let ratio = settings.pixelAspectRatio {
      context.pointee.sample_aspect_ratio = AVRational(
        num: Int32(clamping: ratio.horizontal), den: Int32(clamping: ratio.vertical))
    }
    if let interval = settings.keyFrameInterval { context.pointee.gop_size = Int32(clamping: interval) }
    if let bitRate = settings.bitRate { context.pointee.bit_rate = Int64(bitRate) }
    if !settings.allowsReordering { context.pointee.max_b_frames = 0 }
    context.pointee.thread_count = Int32(clamping: settings.maximumThreadCount ?? 0)
    if settings.hasGlobalHeader { context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
  }

  /// Returns the options that are specific to libx264.
  private static func privateOptions(_ settings: Settings) throws(AVFailure) -> OpaquePointer? {
    var options = ["preset": settings.preset, "forced-idr": "1"]
    options["profile"] = settings.profile
    options["level"] = settings.level
    options["crf"] = settings.constantQuality.map { "\($0)" }
    if let cropping = settings.cropping {
      options["x264-params"] = "crop-rect=\(cropping.left),\(cropping.top),\(cropping.right),\(cropping.bottom)"
    }
    return try Muxer.dictionary(options)
  }
}
