import PlayheadLibAV

/// Walks through MPEG audio from header to header, and cuts it into the same packets as FFmpeg's parser
/// (`libavcodec/mpegaudio_parser.c`).
///
/// Bytes between two frames belong to the packet of the second frame. A header is accepted even if no other header
/// follows. So the count equals that of a read from the start, even in damaged files. A test compares both.
///
/// Threading: one thread at a time; blocks.
struct MPEGAudioWalker: ~Copyable {
  struct Packet {
    /// The start of the packet, with the bytes before its header.
    var byte: Int64
    /// The first frame, counted from the first packet's first frame.
    var frame: Int64
    var frameCount: Int
    /// The number of main data bytes that later frames may use.
    var mainDataByteCount: Int
    /// The maximum number of earlier main data bytes that this frame may use.
    var reservoirByteCount: Int
    /// Whether earlier headers agree with this one: a parser that begins here cuts and counts the
    /// same as one from the start.
    var isSteady: Bool
  }

  private var window: FileWindow
  private let sizes = MPEGAudioFrameSizes.shared
  private var byte: Int64
  private var frame: Int64
  // The state of the parser, with FFmpeg's names.
  private var header: UInt32 = 0
  private var headerCount = 0
  private var duration = 0
  private var codecLayer = 0
  /// The version and sampling rate of the first header.
  private var rateBits: UInt32?

  /// The bits of layer, version and sampling rate (`SAME_HEADER_MASK`).
  private static let sameMask: UInt32 = 0xffe0_0000 | 3 << 17 | 3 << 10 | 3 << 19
  private static let rateMask: UInt32 = 3 << 10 | 3 << 19
  /// The maximum number of bytes without a header, after which the walk ends.
  private static let maximumGapByteCount: Int64 = 64 << 20

  init(source: FileSource, from entry: PacketIndex.Entry) {
    window = FileWindow(source: source)
    byte = entry.byte
    frame = entry.frame
  }

  /// Returns the next packet; nil at the end of the file, at a change of the sampling rate, and after too large a gap.
  ///
  /// - Throws: the errors of `FileSource.read`, `cancelled` included.
  mutating func next() throws(AVFailure) -> Packet? {
    var headerByte = byte
    var size: Int
    while true {
      guard let bytes = try window.bytes(at: headerByte, count: 4) else { return nil }
      let bits = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
      if let found = sizes.byteCount(bits) {
        note(bits)
        size = found
        break
      }
      if headerByte > byte { headerCount = -2 }
      headerByte += 1
      guard headerByte - byte < Self.maximumGapByteCount else { return nil }
    }
    if let rateBits, headerCount > 0, header & Self.rateMask != rateBits { return nil }
    if rateBits == nil { rateBits = header & Self.rateMask }
    guard let parsed = MPEGAudioHeader(header) else { return nil }
    let packet = Packet(
      byte: byte, frame: frame, frameCount: duration, mainDataByteCount: parsed.mainDataByteCount,
      reservoirByteCount: parsed.reservoirByteCount, isSteady: headerCount > 0 && headerByte == byte)
    byte = headerByte + Int64(size)
    frame += Int64(duration)
    return packet
  }

  /// Processes a header like the parser.
  @inline(__always)
  private mutating func note(_ bits: UInt32) {
    let layer = 4 - Int(bits >> 17 & 3)
    if codecLayer == 0 { codecLayer = layer }
    let threshold = layer == codecLayer ? 0 : 1
    if header != 0, (bits ^ header) & Self.sameMask != 0 { headerCount = -3 }
    header = bits
    headerCount += 1
    let frameCount = layer == 1 ? 384 : layer == 3 && bits >> 19 & 1 == 0 ? 576 : 1_152
    if headerCount > threshold {
      duration = frameCount
      codecLayer = layer
    } else if duration == 0 {
      duration = frameCount
    }
  }
}

/// Finds the packet at which decoding of MPEG audio begins.
enum MPEGAudioLocator {
  private static let historyCount = 512

  /// Returns the packet from which decoding gives the right samples from `target` on; nil if the walk
  /// does not reach it. Blocks.
  ///
  /// The function walks from the last indexed packet and adds packets to the index.
  ///
  /// A frame uses up to 511 earlier bytes of main data (255 in MPEG-2), from any number of packets (ISO/IEC 11172-3,
  /// 2.4.2.7: `main_data_begin`). Its overlap and filter bank need the two frames before it.
  static func locate(
    frame target: Int64, index: PacketIndex, source: FileSource
  ) throws(AVFailure) -> PacketIndex.Entry? {
    var marginFrames: Int64 = 16 * 1_152
    while true {
      let start = index.entry(atOrBefore: target - marginFrames)
      var history = [MPEGAudioWalker.Packet?](repeating: nil, count: historyCount)
      guard let count = try walk(from: start, to: target, index: index, source: source, history: &history) else {
        return nil
      }
      if let entry = firstPacket(in: history, count: count) { return entry }
      if start == index.entry(atOrBefore: 0) || count >= historyCount { return start }
      marginFrames *= 4
    }
  }

  /// Walks to the packet that contains `target`. Returns the number of packets. `history` is a ring of the last ones.
  private static func walk(
    from start: PacketIndex.Entry, to target: Int64, index: PacketIndex, source: FileSource,
    history: inout [MPEGAudioWalker.Packet?]
  ) throws(AVFailure) -> Int? {
    var walker = MPEGAudioWalker(source: source, from: start)
    var count = 0
    let tail = index.tail
    var nextEntryFrame = tail.last.frame + tail.spacingFrames
    while let packet = try walker.next() {
      history[count & (historyCount - 1)] = packet
      count += 1
      if packet.frame >= nextEntryFrame, packet.isSteady {
        index.add(PacketIndex.Entry(byte: packet.byte, frame: packet.frame))
        nextEntryFrame = packet.frame + tail.spacingFrames
      }
      if packet.frame + Int64(packet.frameCount) > target { return count }
    }
    return nil
  }

  /// Returns the packet at which decoding for the last packet must begin; nil if the history is too short.
  private static func firstPacket(in history: [MPEGAudioWalker.Packet?], count: Int) -> PacketIndex.Entry? {
    var mainDataByteCount = 0
    var neededByteCount = 0
    for back in 0..<min(count, historyCount) {
      guard let packet = history[(count - 1 - back) & (historyCount - 1)] else { return nil }
      if back == 2 { neededByteCount = packet.reservoirByteCount }
      if back > 2 { mainDataByteCount += packet.mainDataByteCount }
      if back >= 2, mainDataByteCount >= neededByteCount, packet.isSteady {
        return PacketIndex.Entry(byte: packet.byte, frame: packet.frame)
      }
    }
    return nil
  }
}
