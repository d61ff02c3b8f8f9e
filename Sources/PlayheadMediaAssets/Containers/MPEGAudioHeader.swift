/// The four bytes at the start of every frame of MPEG audio (ISO/IEC 11172-3 and 13818-3, 2.4.2.3;
/// MPEG-2.5 as written by LAME).
struct MPEGAudioHeader: Sendable, Hashable {
  /// The layer, 1 to 3.
  let layer: Int
  /// Whether the version is MPEG-2 or 2.5, which have lower sampling rates, and in layer III half the frames.
  let isLowSampling: Bool
  let sampleRateHz: Int
  /// The size of the whole frame, header included.
  let byteCount: Int
  /// The number of samples of each channel.
  let frameCount: Int
  let isMono: Bool
  let hasChecksum: Bool

  /// Returns nil for an invalid header, and for frames of free format, whose size the header does not state. FFmpeg
  /// rejects them, too.
  init?(_ bits: UInt32) {
    guard let byteCount = MPEGAudioFrameSizes.shared.byteCount(bits) else { return nil }
    self.byteCount = byteCount
    layer = 4 - Int(bits >> 17 & 3)
    isLowSampling = bits >> 19 & 1 == 0
    sampleRateHz = Self.sampleRateHz(bits)
    frameCount = layer == 1 ? 384 : layer == 3 && isLowSampling ? 576 : 1_152
    isMono = bits >> 6 & 3 == 3
    hasChecksum = bits >> 16 & 1 == 0
  }

  /// Returns a silent frame of layer III with the format of another one; nil if `bytes` is no such frame.
  ///
  /// Its main data is zeros at the lowest gain. The first granule uses all main data, so a decoder has none left for
  /// the following frame, as at the start of a file.
  static func silentFrame(like bytes: ArraySlice<UInt8>) -> (bytes: [UInt8], frameCount: Int)? {
    guard bytes.count >= 4 else { return nil }
    var bits = bytes.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    // No checksum, no padding, and the lowest bit rate.
    bits = (bits | 1 << 16) & ~(1 << 9 | 15 << 12) | 1 << 12
    guard let header = MPEGAudioHeader(bits), header.layer == 3,
      header.byteCount >= 4 + header.sideInformationByteCount
    else { return nil }
    var frame = [UInt8](repeating: 0, count: header.byteCount)
    for index in 0..<4 { frame[index] = UInt8(truncatingIfNeeded: bits >> UInt32(24 - 8 * index)) }
    // The 12 bits of `part2_3_length` of the first granule (ISO/IEC 11172-3, 2.4.1.7; 13818-3, 2.4.1.7).
    let offset = header.isLowSampling ? (header.isMono ? 9 : 10) : (header.isMono ? 18 : 20)
    let length = min(4_095, header.mainDataByteCount * 8)
    for bit in 0..<12 where length >> (11 - bit) & 1 == 1 {
      let bitIndex = 32 + offset + bit
      frame[bitIndex / 8] |= 0x80 >> UInt8(bitIndex % 8)
    }
    return (frame, header.frameCount)
  }

  /// The number of bytes of the frame that belong to the stream of main data, which layer III frames
  /// share; 0 for other layers.
  var mainDataByteCount: Int {
    guard layer == 3 else { return 0 }
    return max(0, byteCount - 4 - (hasChecksum ? 2 : 0) - sideInformationByteCount)
  }

  /// The size of the side information; valid for layer III only.
  var sideInformationByteCount: Int { isLowSampling ? (isMono ? 9 : 17) : (isMono ? 17 : 32) }

  /// The maximum distance back to a layer III frame's main data: `main_data_begin` has 9 bits, or 8.
  var reservoirByteCount: Int { layer == 3 ? (isLowSampling ? 255 : 511) : 0 }

  fileprivate static func sampleRateHz(_ bits: UInt32) -> Int {
    let rate = [44_100, 48_000, 32_000, 0][Int(bits >> 10 & 3)]
    return bits >> 19 & 3 == 3 ? rate : bits >> 19 & 3 == 2 ? rate / 2 : rate / 4
  }
}

/// A table of frame sizes by header bits, because a long file needs a million look-ups.
struct MPEGAudioFrameSizes: Sendable {
  static let shared = MPEGAudioFrameSizes()

  /// The sizes by version, layer, bit rate, sampling rate and padding (bits 20 to 17 and 15 to 9 of
  /// the header); 0: invalid.
  private let sizes: [UInt16]

  private static let kilobits: [[Int]] = [
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ]

  private init() {
    sizes = (0..<2_048).map { index in
      let bits = UInt32(index >> 7) << 17 | UInt32(index & 0x7f) << 9
      let version = Int(bits >> 19 & 3)
      let layer = 4 - Int(bits >> 17 & 3)
      let rateIndex = Int(bits >> 12 & 15)
      guard version != 1, layer < 4, rateIndex > 0, rateIndex < 15, bits >> 10 & 3 < 3 else { return 0 }
      let isLow = version != 3
      let kilobits = Self.kilobits[isLow ? (layer == 1 ? 3 : 4) : layer - 1][rateIndex]
      let padding = Int(bits >> 9 & 1)
      let rate = MPEGAudioHeader.sampleRateHz(bits)
      switch layer {
      case 1: return UInt16((kilobits * 12_000 / rate + padding) * 4)
      case 2: return UInt16(kilobits * 144_000 / rate + padding)
      default: return UInt16(kilobits * 144_000 / (isLow ? rate * 2 : rate) + padding)
      }
    }
  }

  /// Returns the size in bytes of the frame with this header; nil if the header is invalid.
  @inline(__always)
  func byteCount(_ bits: UInt32) -> Int? {
    guard bits >= 0xffe0_0000 else { return nil }
    let size = sizes[Int(bits >> 17 & 15) << 7 | Int(bits >> 9 & 0x7f)]
    return size == 0 ? nil : Int(size)
  }
}
