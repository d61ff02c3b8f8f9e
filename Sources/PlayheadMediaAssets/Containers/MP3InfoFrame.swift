/// The information frame before the audio of an MP3 file: Xing or Info, with LAME's extension, or VBRI.
///
/// FFmpeg also reads this frame and trims by LAME's extension, but does not report the resulting length. Sources: the
/// Xing header SDK, the LAME tag specification (revision 1), Fraunhofer's VBRI header.
struct MP3InfoFrame: Sendable, Hashable {
  /// The delay of layer III decoders in frames, in addition to the encoder's delay.
  static let decoderDelayFrames: Int64 = 529

  /// The number of MPEG frames that follow; nil if the header does not state it.
  var mpegFrameCount: Int64?
  /// The number of bytes from this frame to the end of the audio; nil if the header does not state it.
  var byteCount: Int64?
  /// The number of audio frames in each MPEG frame.
  var framesPerMPEGFrame: Int64
  /// The encoder's padding at both ends; nil without LAME's extension.
  var padding: Padding?

  /// The encoder's padding in frames, without the decoder's delay.
  struct Padding: Sendable, Hashable {
    var startFrames: Int64
    var endFrames: Int64
  }

  /// The number of frames that the encoder received, as far as they can be decoded; nil if the
  /// header does not state it.
  var audioFrameCount: Int64? {
    guard let mpegFrameCount else { return nil }
    let all = mpegFrameCount * framesPerMPEGFrame
    guard let padding else { return all }
    let endFrames = max(0, padding.endFrames - Self.decoderDelayFrames)
    return max(0, all - padding.startFrames - Self.decoderDelayFrames - endFrames)
  }

  /// Finds the frame in `bytes`, which begin at or before the first MPEG frame; nil if there is none.
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
    // FFmpeg accepts the padding of the same encoders.
    guard let encoder = bytes.text(4), ["LAME", "Lavf", "Lavc"].contains(encoder) else { return true }
    bytes.skip(17)
    padding = bytes.number(3).map { Padding(startFrames: $0 >> 12, endFrames: $0 & 0xfff) }
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

/// Reads big-endian numbers and text in sequence. Reads beyond the end return nil.
struct BigEndianBytes {
  private let bytes: [UInt8]
  private(set) var offset: Int

  init(_ bytes: [UInt8], at offset: Int = 0) {
    self.bytes = bytes
    self.offset = offset
  }

  /// Returns the four bytes at an offset as a number; nil if they are out of range.
  func header(at offset: Int) -> UInt32? {
    guard offset >= 0, offset <= bytes.count - 4 else { return nil }
    return bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
  }

  mutating func skip(_ count: Int) { offset += count }

  /// Reads `count` bytes as an unsigned number; at most 7.
  mutating func number(_ count: Int) -> Int64? {
    guard let field = read(count) else { return nil }
    return field.reduce(0) { $0 << 8 | Int64($1) }
  }

  mutating func text(_ count: Int) -> String? { read(count).map { String(decoding: $0, as: UTF8.self) } }

  private mutating func read(_ count: Int) -> ArraySlice<UInt8>? {
    guard offset >= 0, offset <= bytes.count - count else { return nil }
    defer { offset += count }
    return bytes[offset..<(offset + count)]
  }
}
