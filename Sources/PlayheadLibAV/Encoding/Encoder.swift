import CPlayheadFFmpeg

/// Encodes interleaved audio to packets of one codec. It converts the audio to the encoder's input format, and splits
/// it into the encoder's frames.
///
/// Threading: one thread at a time; works on the calling thread only.
package final class Encoder {
  /// The input, the encoder and its parameters.
  package struct Settings: Sendable, Hashable {
    /// FFmpeg's name of the encoder, such as `libopus`.
    package var encoderName: String
    /// The format of the input: not planar.
    package var input: SampleLayout
    /// The sample rate of the output, in Hz; the encoder must support it.
    package var sampleRateHz: Int
    /// The number of channels of the output.
    package var channelCount: Int
    /// The speakers of the output; nil: FFmpeg's default for the channel count.
    package var channelMask: UInt64?
    /// The bit rate, in bits per second; nil: the encoder's default.
    package var bitRate: Int?
    /// The bits per sample, for lossless codecs; nil: as in the input.
    package var bitsPerSample: Int?
    /// Whether the container stores the encoder's headers, instead of the packets.
    package var hasGlobalHeader = false

    /// Creates settings with the rate and the channels of `input`.
    package init(encoderName: String, input: SampleLayout) {
      self.encoderName = encoderName
      self.input = input
      sampleRateHz = input.sampleRateHz
      channelCount = input.channelCount
      channelMask = input.channelMask
    }
  }

  /// The result of receiving a packet.
  package enum ReceiveResult: Sendable, Hashable {
    case packet
    /// More audio is needed.
    case wouldBlock
    /// All packets have been received.
    case endOfStream
  }

  /// The settings that were requested.
  package let settings: Settings
  /// The number of frames that the encoder inserts before the first audio frame.
  package var initialPaddingFrames: Int { Int(max(0, context.pointee.initial_padding)) }
  /// The time base of the packets' times: one tick per frame.
  package let timeBase: TimeBase

  let context: UnsafeMutablePointer<AVCodecContext>
  /// The converter; nil when the encoder accepts the input without conversion.
  private let converter: OpaquePointer?
  /// The number of audio frames of one input frame of the encoder.
  private let frameSize: Int
  /// The frames that have not been sent to the encoder yet; the last one is being filled.
  private var frames: [Frame] = []
  private var filledFrames = 0
  private var nextPTS: Int64 = 0
  private var isFinished = false
  private var isEndSent = false

  /// Creates an encoder and opens it.
  ///
  /// - Throws: `noEncoder` when this FFmpeg has no such encoder; the encoder's failure for settings that it does not
  ///   support.
  package init(settings: Settings) throws(AVFailure) {
    _ = LibAV.discardLogByDefault
    guard let codec = avcodec_find_encoder_by_name(settings.encoderName), codec.pointee.type == AVMEDIA_TYPE_AUDIO
    else {
      throw AVFailure(code: shim_AVERROR_ENCODER_NOT_FOUND(), call: "avcodec_find_encoder_by_name")
    }
    guard let rate = Int32(exactly: settings.sampleRateHz),
      let timeBase = TimeBase(sampleRateHz: settings.sampleRateHz),
      !settings.input.format.isPlanar, (1...64).contains(settings.channelCount)
    else { throw AVFailure(errno: EINVAL, call: "Encoder.init") }
    let context = try check(avcodec_alloc_context3(codec), "avcodec_alloc_context3")
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
      converter = try Self.makeConverter(from: settings.input, to: context)
    } catch {
      var released: UnsafeMutablePointer<AVCodecContext>? = context
      avcodec_free_context(&released)
      throw error
    }
    self.settings = settings
    self.timeBase = timeBase
    self.context = context
    frameSize = context.pointee.frame_size > 0 ? Int(context.pointee.frame_size) : 4_096
  }

  deinit {
    var (context, converter): (UnsafeMutablePointer<AVCodecContext>?, OpaquePointer?) = (context, converter)
    avcodec_free_context(&context)
    swr_free(&converter)
  }

  // MARK: - Encoding

  /// Appends `frameCount` frames of `settings.input` at `samples`. The resulting packets wait until they are received.
  package func append(_ samples: UnsafeRawPointer, frameCount: Int) throws(AVFailure) {
    let frameByteCount = settings.input.format.byteCount * settings.input.channelCount
    var done = 0
    while done < frameCount {
      let freeFrameCount = try reserveSpace()
      let count = min(frameCount - done, freeFrameCount)
      try fill(from: samples + done * frameByteCount, frameCount: count)
      done += count
    }
  }

  /// Signals the end of the audio. Afterwards nothing can be appended.
  package func finish() throws(AVFailure) {
    guard !isFinished else { return }
    if converter != nil, changesRate { try convert(nil, frameCount: 0) }
    isFinished = true
    guard let last = frames.last else { return }
    last.pointer.pointee.nb_samples = Int32(clamping: filledFrames)
    if filledFrames == 0 { frames.removeLast() }
  }

  /// Receives the next packet, which replaces the content of `packet`. Its times are in `timeBase`. The first time is
  /// -`initialPaddingFrames`.
  package func receive(into packet: Packet) throws(AVFailure) -> ReceiveResult {
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

  private var changesRate: Bool { settings.input.sampleRateHz != settings.sampleRateHz }

  /// Returns the free space of the frame that is being filled, after adding a new frame if the last one is full.
  private func reserveSpace() throws(AVFailure) -> Int {
    if frames.isEmpty || filledFrames == frameSize {
      frames.append(try makeFrame())
      filledFrames = 0
    }
    return frameSize - filledFrames
  }

  /// Writes frames to the frame that is being filled, at most as many as fit. A rate conversion may produce more; the
  /// excess goes to the next frames.
  private func fill(from samples: UnsafeRawPointer, frameCount: Int) throws(AVFailure) {
    guard converter == nil else { return try convert(samples, frameCount: frameCount) }
    guard let frame = frames.last, let plane = frame.pointer.pointee.extended_data?[0] else { return }
    let frameByteCount = settings.input.format.byteCount * settings.input.channelCount
    UnsafeMutableRawPointer(plane + filledFrames * frameByteCount)
      .copyMemory(from: samples, byteCount: frameCount * frameByteCount)
    filledFrames += frameCount
  }

  /// Converts samples after the remainder of earlier ones. Nil drains the converter.
  private func convert(_ samples: UnsafeRawPointer?, frameCount: Int) throws(AVFailure) {
    var input = samples?.assumingMemoryBound(to: UInt8.self)
    var inputCount = Int32(clamping: frameCount)
    while true {
      let freeFrameCount = try reserveSpace()
      let count = try withFreePlanes { planes in
        if input == nil { return swr_convert(converter, planes, Int32(clamping: freeFrameCount), nil, 0) }
        return swr_convert(converter, planes, Int32(clamping: freeFrameCount), &input, inputCount)
      }
      filledFrames += Int(try check(count, "swr_convert"))
      // Frames that did not fit stay in the converter. At the end, a call may return fewer frames than fit, and more
      // may follow.
      inputCount = 0
      guard changesRate, samples == nil ? count > 0 : filledFrames == frameSize else { return }
    }
  }

  /// Calls `body` with the position of the next sample in each plane of the frame that is being filled.
  private func withFreePlanes(
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
  ) throws(AVFailure) -> Int32 {
    guard let planes = frames.last?.pointer.pointee.extended_data else {
      throw AVFailure(errno: ENOMEM, call: "av_frame_get_buffer")
    }
    let isPlanar = av_sample_fmt_is_planar(context.pointee.sample_fmt) != 0
    let planeCount = isPlanar ? settings.channelCount : 1
    let sampleByteCount = Int(av_get_bytes_per_sample(context.pointee.sample_fmt))
    let offset = filledFrames * sampleByteCount * (isPlanar ? 1 : settings.channelCount)
    return withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<UInt8>?.self, capacity: planeCount) { pointers in
      for index in 0..<planeCount { pointers.initializeElement(at: index, to: planes[index].map { $0 + offset }) }
      return body(pointers.baseAddress)
    }
  }

  /// Sends a frame, or the end, to the encoder; returns false when nothing can be sent yet.
  private func sendNext() throws(AVFailure) -> Bool {
    if let frame = frames.first, frames.count > 1 || filledFrames == frameSize || isFinished {
      frames.removeFirst()
      frame.pointer.pointee.pts = nextPTS
      nextPTS += Int64(frame.frameCount)
      try check(avcodec_send_frame(context, frame.pointer), "avcodec_send_frame")
      return true
    }
    guard isFinished, !isEndSent else { return false }
    isEndSent = true
    try check(avcodec_send_frame(context, nil), "avcodec_send_frame")
    return true
  }

  /// Creates a frame that the encoder may retain indefinitely.
  private func makeFrame() throws(AVFailure) -> Frame {
    let frame = try Frame()
    let pointer = frame.pointer
    pointer.pointee.nb_samples = Int32(clamping: frameSize)
    pointer.pointee.format = context.pointee.sample_fmt.rawValue
    pointer.pointee.sample_rate = context.pointee.sample_rate
    try check(
      av_channel_layout_copy(&pointer.pointee.ch_layout, &context.pointee.ch_layout), "av_channel_layout_copy")
    try check(av_frame_get_buffer(pointer, 0), "av_frame_get_buffer")
    return frame
  }

  /// Sets the end trim of a last packet that decodes to more frames than were appended (`AV_PKT_DATA_SKIP_SAMPLES`).
  /// Some encoders do not set it. Containers store the trim if they can.
  private func markShortEnd(_ packet: Packet) throws(AVFailure) {
    let frames = Int64(context.pointee.frame_size)
    let duration = packet.pointer.pointee.duration
    guard isEndSent, frames > 0, duration > 0, duration < frames, packet.byteCount > 0, !Self.isLossless(context),
      av_packet_get_side_data(packet.pointer, AV_PKT_DATA_SKIP_SAMPLES, nil) == nil
    else { return }
    try packet.setTrims(start: 0, end: frames - duration)
  }

  /// Whether a codec is lossless: the last packets of such codecs have their exact length.
  private static func isLossless(_ context: UnsafePointer<AVCodecContext>) -> Bool {
    guard let descriptor = avcodec_descriptor_get(context.pointee.codec_id) else { return false }
    return descriptor.pointee.props & AV_CODEC_PROP_LOSSY == 0
  }

  /// Returns the encoder's sample format that loses least: the input's format, otherwise one with as many bits,
  /// otherwise the first one.
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

  /// Creates the converter; nil when no conversion is needed.
  private static func makeConverter(
    from input: SampleLayout, to context: UnsafeMutablePointer<AVCodecContext>
  ) throws(AVFailure) -> OpaquePointer? {
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
    if channelCount == input.channelCount, inputRate == context.pointee.sample_rate,
      input.format.avFormat == context.pointee.sample_fmt
    {
      return nil
    }
    if channelCount == input.channelCount {
      // Without a remix, each channel keeps its meaning.
      shim_channel_layout_unspecified(&source, Int32(channelCount))
      shim_channel_layout_unspecified(&target, Int32(channelCount))
    } else {
      guard let mask = input.channelMask ?? SampleLayout.defaultChannelMask(channelCount: input.channelCount) else {
        throw AVFailure(errno: EINVAL, call: "av_channel_layout_from_mask")
      }
      try check(av_channel_layout_from_mask(&source, mask), "av_channel_layout_from_mask")
      // swresample interprets the channels by the layout.
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
