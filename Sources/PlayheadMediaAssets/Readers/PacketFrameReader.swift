// The one loop from packets to frames. Every reader of audio or video in this module reads through it, so that damaged
// data, the end of the file and seeks are handled alike. It knows no positions on a timeline, and takes no lock.
import PlayheadLibAV

/// Reads the packets of one track and decodes them.
///
/// - Data that cannot be read or decoded is skipped, and returned as `skipped`. Too many failed reads in a row end the
///   reading (``ReadErrorBudget``).
/// - At the end of the file, the decoder returns its remaining frames. Later calls stay at the end.
/// - After the end and after a failure, a seek or `reopen` begins again.
///
/// Threading: one thread at a time, which may block.
final class PacketFrameReader {
  /// The progress of reading.
  enum State: Equatable {
    /// More packets can be read.
    case reading(ReadErrorBudget)
    /// `packet` was read, and is the next one to decode.
    case hasPacket
    /// All packets were read. The decoder may still return frames.
    case draining
    /// All frames were returned.
    case ended
    /// Reading failed.
    case failed(AVFailure)
    /// Reopening the file failed or was interrupted, so the demuxer is unusable.
    case closed
  }

  /// The result of reading a packet.
  enum PacketResult: Equatable {
    /// `packet` is a packet of the track.
    case packet
    /// `packet` is a packet of one of the other streams.
    case otherPacket
    /// Data was skipped, because no packet could be read from it.
    case skipped(AVFailure)
    case endOfFile
    case cancelled
    /// The caller needs no further packet.
    case stopped
  }

  /// The result of decoding a frame.
  enum FrameResult: Equatable {
    case frame
    /// Data was skipped, because it could not be read or decoded.
    case skipped(AVFailure)
    case end
    case cancelled
    case stopped
  }

  let stream: StreamInfo
  /// The packet that was read last.
  let packet: Packet
  private(set) var demuxer: Demuxer
  private(set) var state = State.reading(ReadErrorBudget())
  private var decoder: Decoder
  private let otherStreamIndices: [Int]

  /// - Parameter others: Further streams whose packets are read, but not decoded.
  init(demuxer: Demuxer, streamIndex: Int, others: [Int] = []) throws(AVFailure) {
    self.demuxer = demuxer
    stream = demuxer.streams[streamIndex]
    otherStreamIndices = others
    demuxer.select(streamIndex: streamIndex, and: others)
    decoder = try Decoder(demuxer: demuxer, streamIndex: streamIndex)
    packet = try Packet()
  }

  /// Whether all packets were read.
  var isAtEndOfFile: Bool { state == .draining || state == .ended }
  /// Whether all frames were returned, or reading failed.
  var isFinished: Bool {
    if case .failed = state { return true }
    return state == .ended
  }

  var hasPacket: Bool { state == .hasPacket }
  var isClosed: Bool { state == .closed }

  // MARK: - Reading

  /// Decodes the next frame into `frame`. Blocks.
  ///
  /// - Parameter readPacket: Reads the next packet to decode: calls `readPacket()`, and may skip packets.
  /// - Throws: The failure that ended the reading, also on each later call.
  func next(
    into frame: Frame, reading readPacket: () throws(AVFailure) -> PacketResult
  ) throws(AVFailure) -> FrameResult {
    while state != .ended {
      switch try decoder.receive(into: frame) {
      case .frame: return .frame
      case .undecodable(let failure): return .skipped(failure)
      case .endOfStream: state = .ended
      case .wouldBlock:
        if state == .draining {
          state = .ended
          continue
        }
        switch try readPacket() {
        case .packet: if case .undecodable(let failure) = try decoder.send(packet) { return .skipped(failure) }
        case .otherPacket, .endOfFile: continue
        case .skipped(let failure): return .skipped(failure)
        case .cancelled: return .cancelled
        case .stopped: return .stopped
        }
      }
    }
    return .end
  }

  /// Reads the next packet. At the end of the file, the decoder begins to drain. Blocks.
  ///
  /// - Throws: The failure that ended the reading, also on each later call.
  func readPacket() throws(AVFailure) -> PacketResult {
    var budget: ReadErrorBudget
    switch state {
    case .hasPacket:
      state = .reading(ReadErrorBudget())
      return .packet
    case .draining, .ended: return .endOfFile
    case .failed(let failure): throw failure
    case .closed: throw AVFailure(invalidDataIn: "avformat_open_input")
    case .reading(let errors): budget = errors
    }
    do throws(AVFailure) {
      while true {
        switch try demuxer.readPacket(into: packet) {
        case .packet where packet.streamIndex == stream.index:
          state = .reading(ReadErrorBudget())
          return .packet
        case .packet: if otherStreamIndices.contains(packet.streamIndex) { return .otherPacket }
        case .endOfFile:
          try drain()
          return .endOfFile
        case .cancelled: return .cancelled
        }
      }
    } catch {
      if error.kind == .cancelled { throw error }
      guard budget.accept(error) else {
        state = .failed(error)
        throw error
      }
      state = .reading(budget)
      return .skipped(error)
    }
  }

  /// Makes `packet` the next packet again.
  func returnPacket() { state = .hasPacket }

  /// Continues after an interruption of a source that cannot seek, with the next packet.
  func resumeReading() { demuxer.resumeReading() }

  private func drain() throws(AVFailure) {
    state = .draining
    _ = try decoder.sendEndOfStream()
  }

  // MARK: - Special packets

  /// Sends `packet` to the decoder for its headers, and discards the frames.
  func decodeHeaders(using frame: Frame) throws(AVFailure) {
    if case .undecodable = try decoder.send(packet) { return }
    while case .frame = try decoder.receive(into: frame) {}
  }

  /// Decodes `packet` as if no other followed it, so that the decoder returns its frame at once.
  func decodeAlone() throws(AVFailure) {
    _ = try decoder.send(packet)
    try drain()
  }

  // MARK: - Repositioning

  /// Discards what the decoder has not returned. The next packet is unchanged.
  func flush() {
    decoder.flush()
    if case .failed = state { state = .reading(ReadErrorBudget()) }
  }

  /// Begins to read again at the demuxer's position, which the caller may then change. A closed file stays closed.
  func restart() {
    decoder.flush()
    if state != .closed { state = .reading(ReadErrorBudget()) }
  }

  /// Seeks to a timestamp at or before `ticks` with the container's own seek. Reopens a closed file first.
  func seek(toTicks ticks: Int64) throws(AVFailure) {
    try begin()
    try demuxer.seek(streamIndex: stream.index, earliest: .min + 1, target: ticks, latest: ticks)
  }

  /// Seeks to a byte at which a packet should begin. Reopens a closed file first.
  func seek(toByte byte: Int64) throws(AVFailure) {
    try begin()
    try demuxer.seek(streamIndex: stream.index, toByte: byte)
  }

  private func begin() throws(AVFailure) {
    if state == .closed { try reopen() } else { restart() }
  }

  /// Reopens the file with a new decoder, at its first packet.
  func reopen() throws(AVFailure) {
    state = .closed
    demuxer = try demuxer.reopened()
    guard demuxer.streams.indices.contains(stream.index) else {
      throw AVFailure(invalidDataIn: "avformat_find_stream_info")
    }
    demuxer.select(streamIndex: stream.index, and: otherStreamIndices)
    try renewDecoder()
    state = .reading(ReadErrorBudget())
  }

  /// Replaces the decoder with a new one, which has no memory of earlier packets.
  func renewDecoder() throws(AVFailure) { decoder = try Decoder(demuxer: demuxer, streamIndex: stream.index) }
}
