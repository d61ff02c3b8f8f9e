import PlayheadLibAV

/// Estimated positions in MPEG audio and ADTS from a network source.
///
/// The exact position of a packet depends on all packets before it, so an exact seek would load the whole file. The
/// position is estimated from the byte position, and reported as estimated.
extension MediaTrackReader {
  /// Returns a packet near `target`, at the proportional byte position. Nil if the file's start is near enough or an
  /// estimate is impossible. Blocks; reads a few thousand bytes.
  func estimateEntry(
    before target: Int64, firstByte: Int64, startFrame: Int64, byteCount: Int64
  ) throws(AVFailure) -> Entry? {
    let packetFrames =
      reader.packetPositions.firstPacket?.durationTicks.flatMap { reader.timeline?.frameCount(ofTicks: $0) } ?? 0
    let prerollStart = target - prerollFrames
    guard packetFrames > 0, let end = declaredEnd, end > 0, byteCount > firstByte,
      prerollStart - startFrame > packetFrames
    else { return nil }
    let share = min(1, Double(prerollStart - startFrame) / Double(end - startFrame))
    let byte = firstByte + Int64(Double(byteCount - firstByte) * share)
    var window = FileWindow(source: reader.demuxer.source)
    guard let packet = try Self.packet(near: byte, in: &window, isADTS: positioning == .counted(.adts)) else {
      return nil
    }
    let frame = startFrame + (prerollStart - startFrame) / packetFrames * packetFrames
    positionDoubt = .estimated
    isPositionExact = false
    return Entry(byte: packet, frame: frame, prerollStart: prerollStart)
  }

  /// The search range for a packet in bytes, and the number of consecutive headers that confirm a packet.
  private static let searchedByteCount: Int64 = 16_384
  private static let chainCount = 3

  /// Returns the first byte at or after `byte` at which a chain of packets begins.
  private static func packet(near byte: Int64, in window: inout FileWindow, isADTS: Bool) throws(AVFailure) -> Int64? {
    var offset = byte
    while offset < byte + searchedByteCount {
      if try beginsChain(at: offset, in: &window, isADTS: isADTS) { return offset }
      offset += 1
    }
    return nil
  }

  private static func beginsChain(at byte: Int64, in window: inout FileWindow, isADTS: Bool) throws(AVFailure) -> Bool {
    var offset = byte
    for _ in 0..<chainCount {
      guard let bytes = try window.bytes(at: offset, count: 8),
        let count = packetByteCount(UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)), isADTS: isADTS)
      else { return false }
      offset += count
    }
    return true
  }

  /// Returns the size in bytes of the packet with this header; nil if the header is invalid.
  private static func packetByteCount(_ bits: UInt64, isADTS: Bool) -> Int64? {
    guard isADTS else {
      return MPEGAudioFrameSizes.shared.byteCount(UInt32(truncatingIfNeeded: bits >> 32)).map { Int64($0) }
    }
    let count = Int64(bits >> 21 & 0x1fff)
    return bits >> 52 == 0xfff && bits >> 49 & 3 == 0 && count > 7 ? count : nil
  }
}
