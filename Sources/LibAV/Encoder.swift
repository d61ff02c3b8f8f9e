import CFFmpeg

/// Turns interleaved sound into packets of one codec: converts it to what the encoder takes, and cuts it into the encoder's frames.
///
/// Used by one thread at a time; works on the calling thread alone.
public final class Encoder {
  /// What is encoded, and how.
  public struct Settings: Sendable, Hashable {
    /// FFmpeg's name of the encoder, such as `libopus`.
    public var encoderName: String
    /// What goes in: not planar.
    public var input: SampleLayout
    /// Frames a second of what comes out; one that the encoder has.
    public var sampleRateHz: Int
    /// Channels of what comes out.
    public var channelCount: Int
    /// Speakers of what comes out; nil: FFmpeg's guess for so many channels.
    public var channelMask: UInt64?
    /// Bits a second; nil: the encoder's own.
    public var bitRate: Int?
    /// Bits of a sample, for lossless codecs; nil: as many as goes in.
    public var bitsPerSample: Int?
    /// The container has the encoder's headers; the packets do not.
    public var hasGlobalHeader = false

    /// Sound at its own rate and channels.
    public init(encoderName: String, input: SampleLayout) {
      self.encoderName = encoderName
      self.input = input
      sampleRateHz = input.sampleRateHz
      channelCount = input.channelCount
      channelMask = input.channelMask
    }
  }

  /// What receiving a packet came to.
  public enum ReceiveResult: Sendable, Hashable {
    case packet
    /// More sound is needed.
    case wouldBlock
    /// Every packet was given.
    case endOfStream
  }

  /// What was asked for.
  public let settings: Settings
  /// Frames that the encoder puts before the first true one.
  public var initialPaddingFrames: Int { Int(max(0, context.pointee.initial_padding)) }
  /// Of the packets' times: frames.
  public let timeBase: TimeBase

  let context: UnsafeMutablePointer<AVCodecContext>
  private let converter: OpaquePointer
  private let queue: OpaquePointer
  private let frame: Frame
  private let stepFrames: Int
  private var nextPTS: Int64 = 0
  private var isConverterDrained = false
  private var isEndSent = false

  /// An encoder at work.
  ///
  /// Throws `noEncoder` when this FFmpeg has no such encoder; what it said to settings that it does not take.
  public init(settings: Settings) throws(AVFailure) {
    guard let codec = avcodec_find_encoder_by_name(settings.encoderName), codec.pointee.type == AVMEDIA_TYPE_AUDIO
    else {
      throw AVFailure(code: shim_AVERROR_ENCODER_NOT_FOUND(), call: "avcodec_find_encoder_by_name")
    }
    guard let rate = Int32(exactly: settings.sampleRateHz),
      let timeBase = TimeBase(sampleRateHz: settings.sampleRateHz),
      !settings.input.format.isPlanar, (1...64).contains(settings.channelCount)
    else { throw AVFailure(errno: EINVAL, call: "Encoder.init") }
    let context = try check(avcodec_alloc_context3(codec), "avcodec_alloc_context3")
    var made: (converter: OpaquePointer?, queue: OpaquePointer?) = (nil, nil)
    do throws(AVFailure) {
      let format = Self.sampleFormat(of: codec, for: settings)
      context.pointee.sample_fmt = format.avFormat
      context.pointee.sample_rate = rate
      context.pointee.time_base = timeBase.rational
      context.pointee.thread_count = 1
      if let mask = settings.channelMask ?? SampleLayout.defaultChannelMask(channelCount: settings.channelCount) {
        try check(av_channel_layout_from_mask(&context.pointee.ch_layout, mask), "av_channel_layout_from_mask")
      } else {
        shim_channel_layout_unspecified(&context.pointee.ch_layout, Int32(settings.channelCount))
      }
      guard Int(context.pointee.ch_layout.nb_channels) == settings.channelCount else {
        throw AVFailure(errno: EINVAL, call: "av_channel_layout_from_mask")
      }
      if let bitRate = settings.bitRate { context.pointee.bit_rate = Int64(bitRate) }
      if format.byteCount == 4, let bits = settings.bitsPerSample {
        context.pointee.bits_per_raw_sample = Int32(clamping: bits)
      }
      if settings.hasGlobalHeader { context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
      try check(avcodec_open2(context, codec, nil), "avcodec_open2")
      made.converter = try Self.makeConverter(from: settings.input, to: context)
      made.queue = try check(
        av_audio_fifo_alloc(format.avFormat, Int32(settings.channelCount), 8_192), "av_audio_fifo_alloc")
      frame = try Frame()
    } catch {
      Self.release(context, made.converter, made.queue)
      throw error
    }
    guard let converter = made.converter, let queue = made.queue else {
      Self.release(context, made.converter, made.queue)
      throw AVFailure(errno: ENOMEM, call: "Encoder.init")
    }
    self.settings = settings
    self.timeBase = timeBase
    (self.context, self.converter, self.queue) = (context, converter, queue)
    stepFrames = context.pointee.frame_size > 0 ? Int(context.pointee.frame_size) : 4_096
  }

  deinit { Self.release(context, converter, queue) }

  private static func release(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ converter: OpaquePointer?, _ queue: OpaquePointer?
  ) {
    var (context, converter): (UnsafeMutablePointer<AVCodecContext>?, OpaquePointer?) = (context, converter)
    avcodec_free_context(&context)
    swr_free(&converter)
    if let queue { av_audio_fifo_free(queue) }
  }

  // MARK: - Encoding

  /// Gives it sound: `frameCount` frames of `settings.input` lie at `samples`. What it comes to waits until it is received.
  public func append(_ samples: UnsafeRawPointer, frameCount: Int) throws(AVFailure) {
    let frameByteCount = settings.input.format.byteCount * settings.input.channelCount
    var done = 0
    while done < frameCount {
      let count = min(8_192, frameCount - done)
      try convert(samples + done * frameByteCount, frameCount: count)
      done += count
    }
  }

  /// Says that no sound follows. Nothing can be appended afterwards.
  public func finish() throws(AVFailure) {
    guard !isConverterDrained else { return }
    try convert(nil, frameCount: 0)
    isConverterDrained = true
  }

  /// Takes the next packet, replacing what `packet` held. Its times are in `timeBase`; the first is below zero by the padding.
  public func receive(into packet: Packet) throws(AVFailure) -> ReceiveResult {
    while true {
      let result = avcodec_receive_packet(context, packet.pointer)
      switch result {
      case 0...:
        try markShortEnd(packet)
        return .packet
      case shim_AVERROR_EOF(): return .endOfStream
      case shim_AVERROR(EAGAIN): break
      default: throw AVFailure(code: result, call: "avcodec_receive_packet")
      }
      guard try sendNext() else { return .wouldBlock }
    }
  }

  // MARK: - Internals

  private func convert(_ samples: UnsafeRawPointer?, frameCount: Int) throws(AVFailure) {
    let bound = Int(max(0, swr_get_out_samples(converter, Int32(frameCount))))
    try allocate(frameCount: max(1, bound))
    guard let output = frame.pointer.pointee.extended_data else {
      throw AVFailure(errno: ENOMEM, call: "av_frame_get_buffer")
    }
    var input = samples?.assumingMemoryBound(to: UInt8.self)
    let count =
      samples == nil
      ? swr_convert(converter, output, Int32(max(1, bound)), nil, 0)
      : swr_convert(converter, output, Int32(max(1, bound)), &input, Int32(frameCount))
    try check(count, "swr_convert")
    _ = try output.withMemoryRebound(to: UnsafeMutableRawPointer?.self, capacity: Int(settings.channelCount)) {
      planes throws(AVFailure) in
      try check(av_audio_fifo_write(queue, planes, count), "av_audio_fifo_write")
    }
  }

  /// Gives the encoder a frame, or the end; false when there is nothing to give yet.
  private func sendNext() throws(AVFailure) -> Bool {
    let waiting = Int(max(0, av_audio_fifo_size(queue)))
    if waiting >= stepFrames || isConverterDrained && waiting > 0 {
      let count = min(waiting, stepFrames)
      try allocate(frameCount: count)
      guard let planes = frame.pointer.pointee.extended_data else {
        throw AVFailure(errno: ENOMEM, call: "av_frame_get_buffer")
      }
      _ = try planes.withMemoryRebound(to: UnsafeMutableRawPointer?.self, capacity: Int(settings.channelCount)) {
        planes throws(AVFailure) in
        try check(av_audio_fifo_read(queue, planes, Int32(count)), "av_audio_fifo_read")
      }
      frame.pointer.pointee.pts = nextPTS
      nextPTS += Int64(count)
      try check(avcodec_send_frame(context, frame.pointer), "avcodec_send_frame")
      return true
    }
    guard isConverterDrained, !isEndSent else { return false }
    isEndSent = true
    try check(avcodec_send_frame(context, nil), "avcodec_send_frame")
    return true
  }

  /// A new buffer for the frame: the encoder may still hold the one before.
  private func allocate(frameCount: Int) throws(AVFailure) {
    frame.clear()
    let pointer = frame.pointer
    pointer.pointee.nb_samples = Int32(clamping: frameCount)
    pointer.pointee.format = context.pointee.sample_fmt.rawValue
    pointer.pointee.sample_rate = context.pointee.sample_rate
    try check(
      av_channel_layout_copy(&pointer.pointee.ch_layout, &context.pointee.ch_layout), "av_channel_layout_copy")
    try check(av_frame_get_buffer(pointer, 0), "av_frame_get_buffer")
  }

  /// A last packet that is shorter than it decodes to says so (`AV_PKT_DATA_SKIP_SAMPLES`), whichever encoder it is: containers
  /// that can say it then do.
  private func markShortEnd(_ packet: Packet) throws(AVFailure) {
    let frames = Int64(context.pointee.frame_size)
    let duration = packet.pointer.pointee.duration
    guard isEndSent, frames > 0, duration > 0, duration < frames, packet.byteCount > 0, !Self.isLossless(context),
      av_packet_get_side_data(packet.pointer, AV_PKT_DATA_SKIP_SAMPLES, nil) == nil
    else { return }
    try packet.setTrims(start: 0, end: frames - duration)
  }

  /// Such codecs' last packets are as short as they are.
  private static func isLossless(_ context: UnsafePointer<AVCodecContext>) -> Bool {
    guard let descriptor = avcodec_descriptor_get(context.pointee.codec_id) else { return false }
    return descriptor.pointee.props & AV_CODEC_PROP_LOSSY == 0
  }

  /// What the encoder takes that loses least: what goes in as it is, else as many bits, else the first that it names.
  private static func sampleFormat(of codec: UnsafePointer<AVCodec>, for settings: Settings) -> SampleFormat {
    let input = settings.input.format
    let offered = Traits(codec).sampleFormats
    let byteCount = settings.bitsPerSample.map { $0 > 16 ? 4 : 2 } ?? min(4, input.byteCount)
    let isFloat = input == .float32 || input == .float64
    func isFloating(_ format: SampleFormat) -> Bool {
      [.float32, .float64, .float32Planar, .float64Planar].contains(format)
    }
    return offered.first { $0.byteCount == byteCount && isFloating($0) == isFloat && settings.bitsPerSample == nil }
      ?? offered.first { $0.byteCount == byteCount && !isFloating($0) }
      ?? offered.first { $0.byteCount >= byteCount } ?? offered.first ?? input
  }

  private static func makeConverter(
    from input: SampleLayout, to context: UnsafeMutablePointer<AVCodecContext>
  ) throws(AVFailure) -> OpaquePointer {
    guard let inputRate = Int32(exactly: input.sampleRateHz), inputRate > 0, (1...64).contains(input.channelCount)
    else {
      throw AVFailure(errno: EINVAL, call: "swr_alloc_set_opts2")
    }
    var (source, target) = (AVChannelLayout(), AVChannelLayout())
    defer {
      av_channel_layout_uninit(&source)
      av_channel_layout_uninit(&target)
    }
    let channelCount = Int(context.pointee.ch_layout.nb_channels)
    if channelCount == input.channelCount {
      // Every channel stays what it is.
      shim_channel_layout_unspecified(&source, Int32(channelCount))
      shim_channel_layout_unspecified(&target, Int32(channelCount))
    } else {
      guard let mask = input.channelMask ?? SampleLayout.defaultChannelMask(channelCount: input.channelCount) else {
        throw AVFailure(errno: EINVAL, call: "av_channel_layout_from_mask")
      }
      try check(av_channel_layout_from_mask(&source, mask), "av_channel_layout_from_mask")
      // It is read by what the layout says.
      guard Int(source.nb_channels) == input.channelCount else {
        throw AVFailure(errno: EINVAL, call: "av_channel_layout_from_mask")
      }
      try check(av_channel_layout_copy(&target, &context.pointee.ch_layout), "av_channel_layout_copy")
    }
    var made: OpaquePointer?
    try check(
      swr_alloc_set_opts2(
        &made, &target, context.pointee.sample_fmt, context.pointee.sample_rate, &source, input.format.avFormat,
        inputRate, 0, nil), "swr_alloc_set_opts2")
    let result = swr_init(made)
    guard let made, result >= 0 else {
      swr_free(&made)
      throw AVFailure(code: min(result, -1), call: "swr_init")
    }
    return made
  }
}

extension Encoder {
  /// What an encoder takes.
  public struct Traits: Sendable, Hashable {
    /// FFmpeg's name of the codec that it writes, such as `opus`.
    public let codecName: String
    /// What it takes; the best first.
    public let sampleFormats: [SampleFormat]
    /// Frames a second that it takes; empty: any.
    public let sampleRatesHz: [Int]
    /// Most channels that it takes, as far as it says; nil: it does not.
    public let largestChannelCount: Int?

    /// What this FFmpeg's encoder of a name takes; nil when it has none.
    public init?(encoderName: String) {
      guard let codec = avcodec_find_encoder_by_name(encoderName), codec.pointee.type == AVMEDIA_TYPE_AUDIO else {
        return nil
      }
      self.init(codec)
    }

    fileprivate init(_ codec: UnsafePointer<AVCodec>) {
      codecName = String(cString: avcodec_get_name(codec.pointee.id))
      var formats: [SampleFormat] = []
      if var next = codec.pointee.sample_fmts {
        while let format = SampleFormat(rawValue: next.pointee.rawValue) {
          formats.append(format)
          next += 1
        }
      }
      var rates: [Int] = []
      if var next = codec.pointee.supported_samplerates {
        while next.pointee > 0 {
          rates.append(Int(next.pointee))
          next += 1
        }
      }
      var largest: Int?
      if var next = codec.pointee.ch_layouts {
        while next.pointee.nb_channels > 0 {
          largest = max(largest ?? 0, Int(next.pointee.nb_channels))
          next += 1
        }
      }
      (sampleFormats, sampleRatesHz, largestChannelCount) = (formats, rates, largest)
    }
  }
}
