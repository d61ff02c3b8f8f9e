import CFFmpeg

/// How many frames of sound packets of one stream decode to, by what they say themselves, without decoding them: timestamps of some
/// containers are coarser than that.
///
/// Used by one thread at a time, with packets in order.
public final class PacketLengths {
  private let stream: StreamInfo
  private let frameSize: Int64
  /// Bits of a frame of plain numbers; 0: it is something else.
  private let pcmFrameBits: Int
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let parser: UnsafeMutablePointer<AVCodecParserContext>?

  /// For a stream of a demuxer; stays usable without it.
  public init(demuxer: Demuxer, streamIndex: Int) throws(AVFailure) {
    guard demuxer.streams.indices.contains(streamIndex), let stream = demuxer.context.pointee.streams[streamIndex],
      let parameters = stream.pointee.codecpar
    else { throw AVFailure(errno: EINVAL, call: "PacketLengths.init") }
    self.stream = demuxer.streams[streamIndex]
    frameSize = Int64(parameters.pointee.frame_size)
    let isPCM = self.stream.codecName.hasPrefix("pcm_")
    let bits = isPCM ? Int(av_get_exact_bits_per_sample(parameters.pointee.codec_id)) : 0
    // Neither is more than 64.
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
    // Those of other codecs find where packets begin, and say nothing of packets that are whole.
    let isParsed = ["opus", "vorbis", "flac"].contains(self.stream.codecName)
    parser = isParsed ? av_parser_init(Int32(bitPattern: parameters.pointee.codec_id.rawValue)) : nil
    parser?.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
  }

  deinit {
    if let parser { av_parser_close(parser) }
    var released: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&released)
  }

  /// Frames that a packet decodes to, before anything is cut off; nil when only its duration in the container tells.
  ///
  /// In Vorbis a packet's length follows from the one before, too: after a seek the first is a guess.
  public func frameCount(of packet: Packet) -> Int64? {
    // Whatever a container takes for a block: half a frame at the end is none.
    if pcmFrameBits > 0 { return Int64(packet.byteCount) * 8 / Int64(pcmFrameBits) }
    if let blockFrames = stream.blockFrameCount, let blockBytes = stream.blockByteCount, blockBytes > 0,
      packet.byteCount >= blockBytes
    {
      return Int64(packet.byteCount / blockBytes) * Int64(blockFrames)
    }
    switch stream.codecName {
    case "aac": return frameSize > 0 ? frameSize : nil
    case "mp1": return 384
    case "mp2", "mp3", "ac3":
      return optionalCount(Int64(av_get_audio_frame_duration(context, Int32(packet.byteCount))))
    // FFmpeg writes the number of frames in front of what the file has (`ape_read_packet`).
    case "ape": return optionalCount(Int64(packet.leadingUInt32 ?? 0))
    case "alac": return Self.alacFrameCount(packet) ?? alacFrameSize
    default: return parsed(packet)
    }
  }

  private func parsed(_ packet: Packet) -> Int64? {
    guard let parser, let data = packet.pointer.pointee.data else { return nil }
    var output: UnsafeMutablePointer<UInt8>?
    var outputCount: Int32 = 0
    parser.pointee.duration = 0
    let none = shim_AV_NOPTS_VALUE()
    _ = av_parser_parse2(parser, context, &output, &outputCount, data, packet.pointer.pointee.size, none, none, 0)
    return optionalCount(Int64(parser.pointee.duration))
  }

  /// Behind the length and the name of its box, and a version; nil where it makes no sense.
  private var alacFrameSize: Int64? {
    guard let data = context.pointee.extradata, context.pointee.extradata_size >= 16 else { return nil }
    let count = (12..<16).reduce(Int64(0)) { $0 << 8 | Int64(data[$1]) }
    return (1...65_536).contains(count) ? count : nil
  }

  /// A packet that is shorter than the others says so: three bits of what it is, four of which, twelve unused, then whether a count
  /// of 32 bits follows behind three others. Nil for one that does not.
  private static func alacFrameCount(_ packet: Packet) -> Int64? {
    guard packet.byteCount >= 7, let data = packet.pointer.pointee.data, data[2] & 0x10 != 0 else { return nil }
    // From bit 23 on.
    let bits = (2..<7).reduce(UInt64(0)) { $0 << 8 | UInt64(data[$1]) }
    return optionalCount(Int64(bits >> 1 & 0xffff_ffff))
  }
}
