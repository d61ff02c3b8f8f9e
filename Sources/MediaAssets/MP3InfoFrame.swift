/// The information frame in front of an MP3 file's sound: Xing or Info, with LAME's extension, or VBRI.
///
/// FFmpeg reads it, too, and cuts off what LAME's extension says, but tells nobody how long the sound is then. Source:
/// the Xing header SDK, the LAME tag specification (revision 1), Fraunhofer's VBRI header.
struct MP3InfoFrame: Sendable, Hashable {
  /// Layer III decoders give this many frames more at the start than the encoder says.
  static let decoderDelayFrames: Int64 = 529

  /// MPEG frames that follow; nil when it does not say.
  var mpegFrameCount: Int64?
  /// The number of bytes from this frame to the end of the audio; nil if the header does not state it.
  var byteCount: Int64?
  /// Frames of sound in each.
  var framesPerMPEGFrame: Int64
  /// What the encoder put in front and behind; nil without LAME's extension.
  var delay: Delay?

  /// Frames by the encoder's own count.
  struct Delay: Sendable, Hashable {
    var startFrames: Int64
    var endFrames: Int64
  }

  /// Frames that the encoder was given, or at least can be decoded of them; nil when it does not say.
  var soundFrameCount: Int64? {
    guard let mpegFrameCount else { return nil }
    let all = mpegFrameCount * framesPerMPEGFrame
    guard let delay else { return all }
    return max(0, all - delay.startFrames - Self.decoderDelayFrames - max(0, delay.endFrames - Self.decoderDelayFrames))
  }

  /// Finds the frame in the bytes from the first MPEG frame on, with garbage before it; nil when there is none.
  init?(bytes: [UInt8]) {
    for offset in bytes.indices.dropLast(4) where bytes[offset] == 0xff && bytes[offset + 1] & 0xe6 == 0xe2 {
      let isMPEG1 = bytes[offset + 1] & 0x18 == 0x18
      let isMono = bytes[offset + 3] & 0xc0 == 0xc0
      let sideInfoByteCount = isMPEG1 ? (isMono ? 17 : 32) : (isMono ? 9 : 17)
      framesPerMPEGFrame = isMPEG1 ? 1_152 : 576
      if readXing(BigEndianBytes(bytes, at: offset + 4 + sideInfoByteCount)) { return }
      if readVBRI(BigEndianBytes(bytes, at: offset + 36)) { return }
    }
    return nil
  }

  private mutating func readXing(_ start: BigEndianBytes) -> Bool {
    var bytes = start
    guard let tag = bytes.text(4), tag == "Xing" || tag == "Info", let flags = bytes.number(4) else { return false }
    if flags & 1 != 0 { mpegFrameCount = bytes.number(4).flatMap { $0 > 0 ? $0 : nil } }
    if flags & 2 != 0 { byteCount = bytes.number(4).flatMap { $0 > 0 ? $0 : nil } }
    if flags & 4 != 0 { bytes.skip(100) }
    if flags & 8 != 0 { bytes.skip(4) }
    // The encoders whose delays FFmpeg believes, too.
    guard let encoder = bytes.text(4), ["LAME", "Lavf", "Lavc"].contains(encoder) else { return true }
    bytes.skip(17)
    delay = bytes.number(3).map { Delay(startFrames: $0 >> 12, endFrames: $0 & 0xfff) }
    return true
  }

  private mutating func readVBRI(_ start: BigEndianBytes) -> Bool {
    var bytes = start
    guard bytes.text(4) == "VBRI" else { return false }
    bytes.skip(6)
    byteCount = bytes.number(4).flatMap { $0 > 0 ? $0 : nil }
    mpegFrameCount = bytes.number(4).flatMap { $0 > 0 ? $0 : nil }
    return true
  }
}

/// Reads numbers and letters one after another; nil beyond the end.
struct BigEndianBytes {
  private let bytes: [UInt8]
  private(set) var offset: Int

  init(_ bytes: [UInt8], at offset: Int = 0) {
    self.bytes = bytes
    self.offset = offset
  }

  /// The four bytes at a place.
  func header(at offset: Int) -> UInt32? {
    guard offset >= 0, offset <= bytes.count - 4 else { return nil }
    return bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
  }

  mutating func skip(_ count: Int) { offset += count }

  /// `count` bytes as an unsigned number; at most 7.
  mutating func number(_ count: Int) -> Int64? {
    guard let taken = take(count) else { return nil }
    return taken.reduce(0) { $0 << 8 | Int64($1) }
  }

  mutating func text(_ count: Int) -> String? { take(count).map { String(decoding: $0, as: UTF8.self) } }

  private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard offset >= 0, offset <= bytes.count - count else { return nil }
    defer { offset += count }
    return bytes[offset..<(offset + count)]
  }
}
