import LibAV

/// Goes through MPEG audio from header to header, cutting it into the packets that FFmpeg's parser cuts it into
/// (`libavcodec/mpegaudio_parser.c`): what lies between two frames belongs to the packet of the second, and no header is
/// asked whether another follows, so that what is counted here is what a read from the start counts, in damaged files,
/// too. Compared with it by a test.
///
/// Threading: one thread at a time; blocks.
struct MPEGAudioWalker: ~Copyable {
  struct Packet {
    /// Where it begins, with what lies in front of its header.
    var byte: Int64
    /// Its first frame, counted from the first packet's.
    var frame: Int64
    var frameCount: Int
    /// Bytes that the frames after it may reach back into.
    var mainDataByteCount: Int
    /// How far it may reach back itself.
    var reservoirByteCount: Int
    /// Headers before it agree with its own: a parser that begins here cuts and counts as one that came by.
    var isSteady: Bool
  }

  private var window: FileWindow
  private let sizes = MPEGAudioFrameSizes.shared
  private var byte: Int64
  private var frame: Int64
  // What the parser remembers, under its names.
  private var header: UInt32 = 0
  private var headerCount = 0
  private var duration = 0
  private var codecLayer = 0
  /// Version and sampling rate of the first header.
  private var rateBits: UInt32?

  /// Layer, version and sampling rate (`SAME_HEADER_MASK`).
  private static let sameMask: UInt32 = 0xffe0_0000 | 3 << 17 | 3 << 10 | 3 << 19
  private static let rateMask: UInt32 = 3 << 10 | 3 << 19
  /// A stretch without any header that is given up: no sound for minutes.
  private static let maximumGapByteCount: Int64 = 64 << 20

  init(source: FileSource, from place: PacketIndex.Place) {
    window = FileWindow(source: source)
    byte = place.byte
    frame = place.frame
  }

  /// The next packet; nil at the end of the file, of what has one sampling rate, and of what can be counted.
  ///
  /// Throws what `FileSource.read` throws, `cancelled` among it.
  mutating func next() throws(AVFailure) -> Packet? {
    var place = byte
    var size: Int
    while true {
      guard let bytes = try window.bytes(at: place, count: 4) else { return nil }
      let bits = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
      if let found = sizes.byteCount(bits) {
        note(bits)
        size = found
        break
      }
      if place > byte { headerCount = -2 }
      place += 1
      guard place - byte < Self.maximumGapByteCount else { return nil }
    }
    if let rateBits, headerCount > 0, header & Self.rateMask != rateBits { return nil }
    if rateBits == nil { rateBits = header & Self.rateMask }
    guard let parsed = MPEGAudioHeader(header) else { return nil }
    let packet = Packet(
      byte: byte, frame: frame, frameCount: duration, mainDataByteCount: parsed.mainDataByteCount,
      reservoirByteCount: parsed.reservoirByteCount, isSteady: headerCount > 0 && place == byte)
    byte = place + Int64(size)
    frame += Int64(duration)
    return packet
  }

  /// Takes a header as the parser does.
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

/// Finds out where to begin to decode MPEG audio.
enum MPEGAudioLocator {
  private static let historyCount = 512

  /// The packet from which decoding gives the right samples from `target` on; nil when that lies beyond what can be walked.
  /// Walks on from the furthest place that is known and notes what it passes. Blocks.
  ///
  /// A frame takes its main data from up to 511 bytes (255 in MPEG-2) of main data before it, however many packets those
  /// are (ISO/IEC 11172-3, 2.4.2.7: `main_data_begin`), and its overlap and filter bank need the two frames before it.
  static func locate(
    frame target: Int64, index: PacketIndex, source: FileSource
  ) throws(AVFailure) -> PacketIndex.Place? {
    var marginFrames: Int64 = 16 * 1_152
    while true {
      let start = index.place(atOrBefore: target - marginFrames)
      var history = [MPEGAudioWalker.Packet?](repeating: nil, count: historyCount)
      guard let count = try walk(from: start, to: target, index: index, source: source, history: &history) else {
        return nil
      }
      if let place = firstPacket(in: history, count: count) { return place }
      if start == index.place(atOrBefore: 0) || count >= historyCount { return start }
      marginFrames *= 4
    }
  }

  /// Walks up to the packet that holds `target`; answers how many packets that were, the last of which lie in `history`.
  private static func walk(
    from start: PacketIndex.Place, to target: Int64, index: PacketIndex, source: FileSource,
    history: inout [MPEGAudioWalker.Packet?]
  ) throws(AVFailure) -> Int? {
    var walker = MPEGAudioWalker(source: source, from: start)
    var count = 0
    let reach = index.reach
    var nextNoted = reach.last.frame + reach.spacingFrames
    while let packet = try walker.next() {
      history[count & (historyCount - 1)] = packet
      count += 1
      if packet.frame >= nextNoted, packet.isSteady {
        index.note(PacketIndex.Place(byte: packet.byte, frame: packet.frame))
        nextNoted = packet.frame + reach.spacingFrames
      }
      if packet.frame + Int64(packet.frameCount) > target { return count }
    }
    return nil
  }

  /// Goes back from the last packet of the history as far as it needs; nil when the history is too short.
  private static func firstPacket(in history: [MPEGAudioWalker.Packet?], count: Int) -> PacketIndex.Place? {
    var mainDataByteCount = 0
    var wanted = 0
    for back in 0..<min(count, historyCount) {
      guard let packet = history[(count - 1 - back) & (historyCount - 1)] else { return nil }
      if back == 2 { wanted = packet.reservoirByteCount }
      if back > 2 { mainDataByteCount += packet.mainDataByteCount }
      if back >= 2, mainDataByteCount >= wanted, packet.isSteady {
        return PacketIndex.Place(byte: packet.byte, frame: packet.frame)
      }
    }
    return nil
  }
}
