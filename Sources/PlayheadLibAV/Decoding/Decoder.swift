import CPlayheadFFmpeg

/// Decodes the packets of one stream to audio or video frames.
///
/// Threading: one thread at a time; works on the calling thread only.
package final class Decoder {
  /// The result of sending a packet.
  package enum SendResult: Sendable, Hashable {
    case accepted
    /// Frames must be received first; send the packet again.
    case wouldBlock
    /// The end of the stream was sent before. The decoder accepts packets again after `flush()`.
    case endOfStream
    /// The decoder dropped the packet, because it cannot be decoded. Continue with the next packet.
    case undecodable(AVFailure)
  }

  /// The result of receiving a frame.
  package enum ReceiveResult: Sendable, Hashable {
    case frame
    /// More packets are needed.
    case wouldBlock
    /// All frames have been received.
    case endOfStream
    /// Some data could not be decoded; continue receiving.
    case undecodable(AVFailure)
  }

  /// The maximum number of pixels of a decoded video frame: 8192 x 8192.
  package static let maximumPixelCount = 1 << 26

  /// FFmpeg's name of the decoder.
  package let name: String
  private let context: UnsafeMutablePointer<AVCodecContext>
  /// Whether frames with a wrong checksum are dropped and reported, instead of being played as noise. True only for
  /// FLAC: the optional checksums of other codecs are often wrong in intact files.
  private let verifiesChecksums: Bool

  /// Creates a decoder for a stream of `demuxer`; it stays usable without the demuxer.
  ///
  /// - Throws: `noDecoder` when FFmpeg has no decoder that ``FormatAllowList`` contains, `invalidData` when the
  ///   stream's parameters are invalid.
  package init(demuxer: Demuxer, streamIndex: Int) throws(AVFailure) {
    guard demuxer.streams.indices.contains(streamIndex), let stream = demuxer.context.pointee.streams[streamIndex],
      let parameters = stream.pointee.codecpar
    else { throw AVFailure(errno: EINVAL, call: "Decoder.init") }
    guard let codec = Self.find(parameters.pointee.codec_id) else {
      throw AVFailure(code: shim_AVERROR_DECODER_NOT_FOUND(), call: "avcodec_find_decoder")
    }
    let context = try check(avcodec_alloc_context3(codec), "avcodec_alloc_context3")
    do throws(AVFailure) {
      try check(avcodec_parameters_to_context(context, parameters), "avcodec_parameters_to_context")
      // With the time base known, FFmpeg adjusts a frame's pts when it removes the samples that the file marks for
      // skipping.
      context.pointee.pkt_timebase = stream.pointee.time_base
      context.pointee.thread_count = 1
      if parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO {
        context.pointee.max_pixels = Int64(Self.maximumPixelCount)
        // Cropping at the left is exact to the pixel, even if rows are then unaligned.
        context.pointee.flags |= AV_CODEC_FLAG_UNALIGNED
      }
      if parameters.pointee.codec_id == AV_CODEC_ID_FLAC { context.pointee.err_recognition |= AV_EF_EXPLODE }
      var options = Self.options(parameters.pointee.codec_id)
      defer { av_dict_free(&options) }
      try check(avcodec_open2(context, codec, &options), "avcodec_open2")
    } catch {
      var released: UnsafeMutablePointer<AVCodecContext>? = context
      avcodec_free_context(&released)
      throw error
    }
    self.context = context
    verifiesChecksums = parameters.pointee.codec_id == AV_CODEC_ID_FLAC
    name = String(cString: codec.pointee.name)
  }

  deinit {
    var released: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&released)
  }

  /// Returns FFmpeg's first choice, except that layers I and II of MPEG audio are decoded in floating point, like layer
  /// III. The fixed-point decoder carries rounding errors from frame to frame, so that its output depends on the
  /// position at which decoding begins.
  private static func find(_ codec: AVCodecID) -> UnsafePointer<AVCodec>? {
    switch codec {
    case AV_CODEC_ID_MP1: avcodec_find_decoder_by_name("mp1float") ?? FormatAllowList.decoder(for: codec)
    case AV_CODEC_ID_MP2: avcodec_find_decoder_by_name("mp2float") ?? FormatAllowList.decoder(for: codec)
    default: FormatAllowList.decoder(for: codec)
    }
  }

  /// Returns options that make the output independent of the packet at which decoding began. In AC-3, the dither then
  /// depends only on the frame.
  private static func options(_ codec: AVCodecID) -> OpaquePointer? {
    var options: OpaquePointer?
    if codec == AV_CODEC_ID_AC3 || codec == AV_CODEC_ID_EAC3 { av_dict_set(&options, "cons_noisegen", "1", 0) }
    return options
  }

  /// Sends a packet to the decoder.
  ///
  /// - Throws: `limit` when no memory is available. Other failures concern only this packet: see `undecodable`.
  package func send(_ packet: Packet) throws(AVFailure) -> SendResult {
    if verifiesChecksums { setChecksumVerification(for: packet) }
    return try sendResult(avcodec_send_packet(context, packet.pointer))
  }

  /// Lets the decoder verify the checksum only if the checksum over the whole packet is wrong: the packet may contain
  /// an intact frame and further data.
  private func setChecksumVerification(for packet: Packet) {
    let bytes = UnsafeBufferPointer(start: packet.pointer.pointee.data, count: packet.byteCount)
    if FrameChecksum.isValid(bytes) {
      context.pointee.err_recognition &= ~AV_EF_CRCCHECK
    } else {
      context.pointee.err_recognition |= AV_EF_CRCCHECK
    }
  }

  /// Signals that no packet follows, so that the remaining frames can be received.
  package func sendEndOfStream() throws(AVFailure) -> SendResult {
    try sendResult(avcodec_send_packet(context, nil))
  }

  /// Receives the next frame, which replaces the content of `frame`.
  ///
  /// - Throws: `limit` when no memory is available. Other failures concern only some data: see `undecodable`.
  package func receive(into frame: Frame) throws(AVFailure) -> ReceiveResult {
    let result = avcodec_receive_frame(context, frame.pointer)
    switch result {
    case 0...: return .frame
    case shim_AVERROR(EAGAIN): return .wouldBlock
    case shim_AVERROR_EOF(): return .endOfStream
    default: return .undecodable(try packetFailure(result, call: "avcodec_receive_frame"))
    }
  }

  /// Resets the decoder, for seeks and to continue after the end.
  package func flush() { avcodec_flush_buffers(context) }

  private func sendResult(_ result: Int32) throws(AVFailure) -> SendResult {
    switch result {
    case 0...: return .accepted
    case shim_AVERROR(EAGAIN): return .wouldBlock
    case shim_AVERROR_EOF(): return .endOfStream
    default: return .undecodable(try packetFailure(result, call: "avcodec_send_packet"))
    }
  }

  /// Converts a result to a failure of the packet; only a lack of memory is thrown.
  private func packetFailure(_ result: Int32, call: String) throws(AVFailure) -> AVFailure {
    let failure = AVFailure(code: result, call: call)
    if failure.code == shim_AVERROR(ENOMEM) { throw failure }
    return failure
  }
}
