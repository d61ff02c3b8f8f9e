// Moves of the reading position: with the container's seek, by reading without decoding, and to the start of the file.
import PlayheadLibAV

extension FrameReader {
  /// Seeks with the container's own seek; the frames that follow define the position.
  func seekByTimestamp(toFrame target: Int64) throws(AVFailure) {
    if packets.isClosed { try rewind() } else { restart() }
    packetPositions.restartAnywhere()
    framePositions.timestampsDefineSeekPosition = format.timestampSource == .container
    guard let ticks = timeline?.ticks(ofFrame: target) else { return }
    try packets.seek(toTicks: ticks)
  }

  /// Seeks to the byte at which the packet of `frame` begins.
  ///
  /// - Returns: false if the demuxer begins elsewhere or reports another position; the position is then unknown.
  /// - Throws: also `cancelled`.
  func seek(toByte byte: Int64, frame: Int64) throws(AVFailure) -> Bool {
    if packets.isClosed { try rewind() } else { restart() }
    packetPositions.discardCount()
    do throws(AVFailure) { try packets.seek(toByte: byte) } catch {
      if error.kind == .cancelled { throw error }
      return false
    }
    packetPositions.restart(atEntry: frame, in: timeline)
    framePositions.timestampsDefineSeekPosition = format == .programStream
    let result = try readPacket()
    if result == .cancelled { throw AVFailure(cancelledIn: "av_read_frame") }
    guard result == .packet, packetPositions.isAtEntry(packet, byte: byte, frame: frame) else {
      packetPositions.interruptCount()
      return false
    }
    packets.returnPacket()
    return true
  }

  /// Reads without decoding up to the first packet that ends after `target`, from here or from the file's start.
  ///
  /// - Returns: false if cancelled.
  func skip(toFrame target: Int64) throws(AVFailure) -> Bool {
    if canSkip(toFrame: target) {
      // The count continues from the last seek.
      let previousValue = framePositions.timestampsDefineSeekPosition
      if !packets.hasPacket { restart() }
      framePositions.timestampsDefineSeekPosition = previousValue
    } else {
      try rewind()
    }
    while true {
      let before = nextPacketFrame
      let result = try readPacket()
      guard result == .packet else { return result == .endOfFile }
      isDecodedFromStart = false
      if packetPositions.vorbisTimes?.isAtHeader ?? false {
        // The decoder needs the headers of each stream of a chained file.
        try packets.decodeHeaders(using: frame)
        continue
      }
      guard packet.pts != nil, let end = packetPositions.countedFrame, end <= target else {
        if packet.pts == nil { framePositions.restart(at: before) }
        packets.returnPacket()
        packetPositions.beginDecoding()
        return true
      }
      framePositions.setAtFirstPacket(false)
    }
  }

  /// Reads to the end without decoding and returns the end of the last packet; nil if cancelled. The result is valid
  /// only if `counting.isLengthKnown`.
  func scanToEnd() throws(AVFailure) -> Int64? {
    if !packetPositions.isCounted || packets.isAtEndOfFile { try rewind() }
    packets.flush()
    rates.restart()
    var result = PacketFrameReader.PacketResult.packet
    while result == .packet { result = try readPacket() }
    guard result == .endOfFile else { return nil }
    let end = packetPositions.trailingBytesFrame ?? packetPositions.countedFrame ?? 0
    return end - (format.hasTrimmedDurations ? 0 : trims.endFrames)
  }

  /// Reopens the file and restarts at its first packet.
  func rewind() throws(AVFailure) {
    restart()
    packetPositions.prepareForReopening()
    try packets.reopen()
    packetPositions.restartAtFile(timeline)
    framePositions.setAtFirstPacket(true)
    (isDecoderFlushed, isDecodedFromStart) = (false, true)
    stored.restart(atStart: true)
  }

  private func restart() {
    (isDecoderFlushed, isDecodedFromStart) = (true, false)
    packets.restart()
    rates.restart()
    frame.clear()
    packetPositions.restart()
    framePositions.restart()
    trims.restart()
    reports.restart()
    stored.restart(atStart: false)
  }

  /// Counts packets by their lengths from the next rewind on, because the stream's timestamps are irregular.
  func startCountingByLengths() throws(AVFailure) {
    guard let timeline else { return }
    try packetPositions.startCountingByLengths(timeline, demuxer: demuxer, stream: stream, grid: grid)
  }

  // MARK: - Reachable positions

  /// The position of the packet that is read next; nil if unknown.
  private var nextPacketFrame: Int64? {
    packets.hasPacket ? packetPositions.packetFrame : packetPositions.countedFrame
  }

  /// The end of the last packet, after all packets were read without decoding; nil while packets remain.
  var scannedEndFrame: Int64? {
    packets.isAtEndOfFile && packetPositions.isCounted ? packetPositions.countedFrame : nil
  }

  /// Whether reading forward from a packet at or after `earliest` reaches `target`.
  func canSkip(from earliest: Int64, toFrame target: Int64) -> Bool {
    canSkip(toFrame: target) && nextPacketFrame.map { $0 >= earliest } ?? false
  }

  /// Whether reading forward reaches `target` with a known position.
  private func canSkip(toFrame target: Int64) -> Bool {
    if !packetPositions.isCounted || packets.isAtEndOfFile || packets.isClosed { return false }
    let next = packets.hasPacket ? nextPacketFrame ?? packetPositions.countedFrame ?? .max : nextPacketFrame
    return next.map { $0 <= target } ?? false
  }

  /// Whether decoding forward reaches `target`, and everything since the file's start has been decoded.
  func canDecode(toFrame target: Int64) -> Bool {
    guard isDecodedFromStart, !packets.isAtEndOfFile, !packets.isClosed else { return false }
    return timeline?.expectedFrame.map { $0 <= target } ?? false
  }

  /// Whether the file has fewer bytes than `byteCount`.
  func isShorter(than byteCount: Int64) -> Bool { demuxer.currentByteCount.map { $0 < byteCount } ?? false }
}
