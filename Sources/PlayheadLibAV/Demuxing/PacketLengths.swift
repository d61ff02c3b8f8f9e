import CPlayheadFFmpeg

/// Determines how many audio frames the packets of one stream decode to, from their headers, without decoding. The
/// timestamps of some containers are less exact.
///
/// Threading: one thread at a time, with packets in order.
package final class PacketLengths {
  private let stream: StreamInfo
  private let frameSize: Int64
  /// The number of bits of a PCM frame; 0 for other codecs.
  private let pcmFrameBits: Int
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let parser: UnsafeMutablePointer<AVCodecParserContext>?

  /// Creates an instance for a stream of `demuxer`; it stays usable without the demuxer.
  package init(demuxer: Demuxer, streamIndex: Int) throws(AVFailure) {
    guard demuxer.streams.indices.contains(streamIndex), let stream = demuxer.context.pointee.streams[streamIndex],
      let parameters = stream.pointee.codecpar
    else { throw AVFailure(errno: EINVAL, call: "PacketLengths.init") }
    self.stream = demuxer.streams[streamIndex]
    frameSize = Int64(parameters.pointee.frame_size) * Self.framesPerPacket(parameters)
    let isPCM = self.stream.codecName.hasPrefix("pcm_")
    let bits = isPCM ? Int(av_get_exact_bits_per_sample(parameters.pointee.codec_id)) : 0
    // Neither factor is more than 64.
    pcmFrameBits = max(0, bits) * (self.stream.channelCount ?? 0)
    let context = try check(avcodec_alloc_context3(nil), "avcodec_alloc_context3")
    do throws(AVFailure) {
      try check(avcodec_parameters_to_context(context, parameters), "avcodec_parameters_to_context")
    } catch {
      var released: UnsafeMutablePointer<AVCodecContext>? = context
      avcodec_free_context(&released)
      throw error
    }
    self.context = context
    // The parsers of other codecs find packet boundaries, and report nothing about complete packets.
    let isParsed = ["opus", "vorbis", "flac"].contains(self.stream.codecName)
    parser = isParsed ? av_parser_init(Int32(bitPattern: parameters.pointee.codec_id.rawValue)) : nil
    parser?.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
  }

  /// Returns the number of frames per packet in the header of Speex; 1 for other codecs, and for an invalid header.
  private static func framesPerPacket(_ parameters: UnsafeMutablePointer<AVCodecParameters>) -> Int64 {
    guard parameters.pointee.codec_id == AV_CODEC_ID_SPEEX, let data = parameters.pointee.extradata,
      parameters.pointee.extradata_size >= 68
    else { return 1 }
    let count = (64..<68).reversed().reduce(Int64(0)) { $0 << 8 | Int64(data[$1]) }
    return (1...64).contains(count) ? count : 1
  }

  deinit {
    if let parser { av_parser_close(parser) }
    var released: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&released)
  }

  /// Returns the number of frames that a packet decodes to, before trimming; nil when only its duration in the
  /// container is known.
  ///
  /// In Vorbis, a packet's length also depends on the packet before it: after a seek, the first result is a guess.
  package func frameCount(of packet: Packet) -> Int64? {
    // Independent of the container's block size; a partial frame at the end does not count.
    if pcmFrameBits > 0 { return Int64(packet.byteCount) * 8 / Int64(pcmFrameBits) }
    if let blockFrames = stream.blockFrameCount, let blockBytes = stream.blockByteCount, blockBytes > 0,
      packet.byteCount >= blockBytes
    {
      return Int64(packet.byteCount / blockBytes) * Int64(blockFrames)
    }
    switch stream.codecName {
    case "aac": return frameSize > 0 ? frameSize : nil
    case "eac3": return Self.eac3FrameCount(packet)
    case "dts": return Self.dtsFrameCount(packet)
    case "mp1": return 384
    case "mp2", "mp3", "ac3":
      return optionalCount(Int64(av_get_audio_frame_duration(context, Int32(packet.byteCount))))
    // FFmpeg writes the number of frames before the file's data (`ape_read_packet`).
    case "ape": return optionalCount(Int64(packet.leadingUInt32 ?? 0))
    case "alac": return Self.alacFrameCount(packet) ?? alacFrameSize
    case "tta": return ttaFrameCount(packet)
    // Matroska states no durations for these codecs.
    case "truehd", "mlp", "speex": return packet.duration == nil && frameSize > 0 ? frameSize : nil
    default: return parsedFrameCount(packet)
    }
  }

  /// Returns the length of the packet's first frame: 1, 2, 3 or 6 blocks of 256 samples (ATSC A/52, E.2.3.1.5).
  private static func eac3FrameCount(_ packet: Packet) -> Int64? {
    guard packet.byteCount >= 6, let data = packet.pointer.pointee.data, data[0] == 0x0b, data[1] == 0x77,
      data[5] >> 3 > 10
    else { return nil }
    // With a reduced sample rate, the bits of the block count contain the rate, and there are 6 blocks.
    return data[4] >> 6 == 3 ? 1_536 : [256, 512, 768, 1_536][Int(data[4] >> 4 & 3)]
  }

  /// Returns the length of a core frame: blocks of 32 samples (ETSI TS 102 114, 5.3.1).
  private static func dtsFrameCount(_ packet: Packet) -> Int64? {
    guard packet.byteCount >= 6, let data = packet.pointer.pointee.data,
      [0x7f, 0xfe, 0x80, 0x01].elementsEqual((0..<4).map { data[$0] })
    else { return nil }
    return ((Int64(data[4] & 1) << 6 | Int64(data[5] >> 2)) + 1) * 32
  }

  private func parsedFrameCount(_ packet: Packet) -> Int64? {
    guard let parser, let data = packet.pointer.pointee.data else { return nil }
    var output: UnsafeMutablePointer<UInt8>?
    var outputCount: Int32 = 0
    parser.pointee.duration = 0
    let none = shim_AV_NOPTS_VALUE()
    _ = av_parser_parse2(parser, context, &output, &outputCount, data, packet.pointer.pointee.size, none, none, 0)
    return optionalCount(Int64(parser.pointee.duration))
  }

  /// Returns the length of a True Audio frame: all frames have one length, except for the last one. The header states
  /// the number of samples, and FFmpeg makes such a header for Matroska (`matroska_parse_tracks`). Nil if the header
  /// or the timestamp is missing.
  private func ttaFrameCount(_ packet: Packet) -> Int64? {
    guard let data = context.pointee.extradata, context.pointee.extradata_size >= 18, let rate = stream.sampleRateHz,
      let frameBase = TimeBase(sampleRateHz: rate), let pts = packet.pts
    else { return nil }
    let total = (14..<18).reversed().reduce(Int64(0)) { $0 << 8 | Int64(data[$1]) }
    let length = TrueAudioTimes.packetFrameCount(sampleRateHz: rate)
    let (ticks, overflow) = pts.subtractingReportingOverflow(stream.startTicks ?? 0)
    guard !overflow, length > 0, let frame = frameBase.ticks(from: ticks, of: stream.timeBase, rounding: .nearest),
      frame >= 0, frame < total + length
    else { return nil }
    // The timestamp is rounded, and may be after the end if the last frame is short.
    let start = (frame + length / 2) / length * length
    return start < total ? min(length, total - start) : nil
  }

  /// The frame size in the ALAC setup data, after the size, the name and the version of its box; nil when it is
  /// invalid.
  private var alacFrameSize: Int64? {
    guard let data = context.pointee.extradata, context.pointee.extradata_size >= 16 else { return nil }
    let count = (12..<16).reduce(Int64(0)) { $0 << 8 | Int64(data[$1]) }
    return (1...65_536).contains(count) ? count : nil
  }

  /// Returns the frame count of a packet that is shorter than the others; nil for a full packet. The header
  /// of the packet has these bits: 3 element type, 4 instance, 12 unused, 1 whether the count is present, 3 others, 32
  /// count.
  private static func alacFrameCount(_ packet: Packet) -> Int64? {
    guard packet.byteCount >= 7, let data = packet.pointer.pointee.data, data[2] & 0x10 != 0 else { return nil }
    // From bit 23 on.
    let bits = (2..<7).reduce(UInt64(0)) { $0 << 8 | UInt64(data[$1]) }
    return optionalCount(Int64(bits >> 1 & 0xffff_ffff))
  }
}
