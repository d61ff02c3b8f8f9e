import CFFmpeg
import MediaCore

/// Turns pictures into packets of one codec: scales and converts them to what the encoder takes.
///
/// Used by one thread at a time. The encoder has threads of its own, as many as it is allowed.
public final class VideoEncoder {
  /// What is encoded, and how.
  public struct Settings: Sendable, Hashable {
    /// What goes in.
    public var input: PictureLayout
    /// What is encoded.
    public var output: PictureLayout
    /// Of the pictures' times.
    public var timeBase: TimeBase
    /// What a picture lasts on average, in seconds, for the control of the bit rate; nil: not known.
    public var frameDuration: TimeBase?
    /// Most pictures from a key frame to the next; nil: the encoder's own.
    public var keyFrameInterval: Int?
    /// Bits a second; nil: `constantQuality`.
    public var bitRate: Int?
    /// x264's rate factor, 0 to 51; nil: `bitRate`, or the encoder's own.
    public var constantQuality: Double?
    /// The encoder's name of the profile; nil: its own choice.
    public var profile: String?
    /// Such as `4.1`; nil: the encoder's own choice.
    public var level: String?
    /// The encoder's name of how thorough it is.
    public var preset = "medium"
    /// How wide a pixel is for its height; nil: not said.
    public var pixelAspectRatio: FormatDescription.Video.PixelAspectRatio?
    /// Pixels at the edges that are not to be shown, even numbers: they stand in the codec's own headers.
    public var cropping: Cropping?
    /// Pictures may be coded in another order than they are shown in.
    public var allowsReordering = true
    /// Most threads of the encoder; nil: its own choice.
    public var maximumThreadCount: Int?
    /// The container has the encoder's headers; the packets do not.
    public var hasGlobalHeader = false

    /// Pictures of one shape, coded as another.
    public init(from input: PictureLayout, to output: PictureLayout, timeBase: TimeBase) {
      self.input = input
      self.output = output
      self.timeBase = timeBase
    }
  }

  /// Pixels at the edges.
  public struct Cropping: Sendable, Hashable {
    public var left: Int
    public var top: Int
    public var right: Int
    public var bottom: Int

    public init(left: Int, top: Int, right: Int, bottom: Int) {
      self.left = left
      self.top = top
      self.right = right
      self.bottom = bottom
    }
  }

  /// FFmpeg's name of the encoder.
  public static let encoderName = "libx264"
  /// What was asked for.
  public let settings: Settings
  let context: UnsafeMutablePointer<AVCodecContext>
  /// Nil when what goes in is what is encoded.
  private let scaler: PictureScaler?
  private let frame: Frame
  /// How long the pictures last that are in the encoder, by their times: as many as it looks ahead.
  private var durations: [Int64: Int64] = [:]
  private var isEndSent = false

  /// Whether this FFmpeg has the encoder.
  public static var isAvailable: Bool { avcodec_find_encoder_by_name(encoderName) != nil }

  /// An encoder at work.
  ///
  /// Throws `noEncoder` when this FFmpeg has no such encoder; what it said to settings that it does not take.
  public init(settings: Settings) throws(AVFailure) {
    _ = LibAV.isQuiet
    guard let codec = avcodec_find_encoder_by_name(Self.encoderName) else {
      throw AVFailure(code: shim_AVERROR_ENCODER_NOT_FOUND(), call: "avcodec_find_encoder_by_name")
    }
    frame = try Frame()
    scaler =
      settings.input == settings.output ? nil : try PictureScaler(from: settings.input, to: settings.output)
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

  /// Gives it a picture of `settings.input`; what it comes to waits until it is received: all of that is, before the next.
  ///
  /// - Parameters:
  ///   - data: its bytes; planes lie at their offsets.
  ///   - ticks: when it is shown, in `settings.timeBase`; later than the one before.
  ///   - durationTicks: for how long.
  ///   - isKeyFrame: decoding is to be able to begin with it.
  public func append(
    _ data: UnsafePointer<UInt8>, planes: [PixelFormat.Plane], at ticks: Int64, durationTicks: Int64, isKeyFrame: Bool
  ) throws(AVFailure) {
    let pointer = frame.pointer
    // It is this object's alone again when the encoder has taken the picture out of it, as x264 does at once.
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

  /// Says that no picture follows. Nothing can be appended afterwards.
  public func finish() throws(AVFailure) {
    guard !isEndSent else { return }
    isEndSent = true
    try check(avcodec_send_frame(context, nil), "avcodec_send_frame")
  }

  /// Takes the next packet, replacing what `packet` held: in the order of decoding, the first decoding times below the first picture's.
  public func receive(into packet: Packet) throws(AVFailure) -> Encoder.ReceiveResult {
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

  /// What libx264's own options are told.
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
