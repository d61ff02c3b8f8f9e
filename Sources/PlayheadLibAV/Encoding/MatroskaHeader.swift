import CPlayheadFFmpeg

/// The start of a Matroska file that FFmpeg wrote (RFC 9559), as bytes that can be changed and written again.
struct MatroskaHeader {
  /// The number of bytes at the start of a file that contain its segment information.
  static let maximumByteCount = 1 << 20

  private(set) var bytes: [UInt8]

  /// - Parameter bytes: The first bytes of the file, `maximumByteCount` or all.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Replaces the duration in the segment information.
  ///
  /// - Parameter duration: The duration in units of the timestamp scale, which is a millisecond in FFmpeg's files.
  /// - Returns: The changed bytes; nil if there is no duration of 8 bytes.
  mutating func replaceDuration(_ duration: Double) -> Range<Int>? {
    guard let segment = element(0x1853_8067, in: bytes.indices), let info = element(0x1549_a966, in: segment),
      let value = element(0x4489, in: info), value.count == 8
    else { return nil }
    for index in 0..<8 {
      bytes[value.lowerBound + index] = UInt8(truncatingIfNeeded: duration.bitPattern >> (56 - 8 * UInt64(index)))
    }
    // RFC 8794, 11.3.1: the checksum is the first element, and covers the elements after it.
    guard let checksum = element(0xbf, in: info), checksum.count == 4 else { return value }
    let sum = bytes[checksum.upperBound..<info.upperBound].withUnsafeBufferPointer { covered in
      ~av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), .max, covered.baseAddress, covered.count)
    }
    for index in 0..<4 { bytes[checksum.lowerBound + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index))) }
    return min(checksum.lowerBound, value.lowerBound)..<max(checksum.upperBound, value.upperBound)
  }

  /// Returns the content of the first element with an ID in a sequence of elements; nil if there is none.
  ///
  /// The content ends with the sequence if its size is unknown, or if it exceeds the sequence.
  private func element(_ wanted: UInt64, in sequence: Range<Int>) -> Range<Int>? {
    var offset = sequence.lowerBound
    while let id = number(at: offset, before: sequence.upperBound),
      let size = number(at: offset + id.byteCount, before: sequence.upperBound)
    {
      let start = offset + id.byteCount + size.byteCount
      // Without the leading bit, which marks the number of bytes.
      let count = Int(size.value & ((1 << (7 * UInt64(size.byteCount))) - 1))
      let end = start + min(count, sequence.upperBound - start)
      if id.value == wanted { return start..<end }
      offset = end
    }
    return nil
  }

  /// Returns a number of variable length with its leading bit (RFC 8794, section 4); nil if it is invalid or cut off.
  private func number(at offset: Int, before end: Int) -> (value: UInt64, byteCount: Int)? {
    guard offset < end else { return nil }
    let byteCount = bytes[offset].leadingZeroBitCount + 1
    guard byteCount <= 8, offset + byteCount <= end else { return nil }
    return (bytes[offset..<(offset + byteCount)].reduce(0) { $0 << 8 | UInt64($1) }, byteCount)
  }
}
