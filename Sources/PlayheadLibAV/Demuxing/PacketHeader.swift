import CPlayheadFFmpeg

/// Values from the header of an audio frame, read from a packet without a parser.
extension Packet {
  /// Returns the code of the sample rate in the frame's header. Equal codes of one codec mean equal rates. Nil if the
  /// codec or the packet has no such header.
  ///
  /// Sources: ISO/IEC 13818-7, 6.2 (ADTS); ISO/IEC 11172-3, 2.4.1.3 (MPEG audio); ATSC A/52, 5.3 and E.2.2 (AC-3).
  package func samplingRateCode(codecName: String) -> UInt8? {
    guard byteCount >= 7, let data = pointer.pointee.data else { return nil }
    switch codecName {
    case "aac": return data[0] == 0xff && data[1] & 0xf6 == 0xf0 ? data[2] >> 2 & 15 : nil
    case "mp1", "mp2", "mp3":
      return data[0] == 0xff && data[1] & 0xe0 == 0xe0 ? (data[1] & 0x18) | (data[2] >> 2 & 3) : nil
    case "ac3", "eac3": return data[0] == 0x0b && data[1] == 0x77 ? data[4] >> 6 : nil
    default: return nil
    }
  }

  /// The position in the header of a FLAC frame (RFC 9639, 9.1).
  package struct FLACPosition: Sendable, Hashable {
    /// The number of the frame's first sample, or of the frame if all blocks have one size.
    package var number: UInt64
    /// Whether `number` counts samples per channel; otherwise it counts FLAC frames.
    package var countsSamples: Bool
    /// The number of audio frames in the FLAC frame.
    package var frameCount: Int64
  }

  /// The position of the FLAC frame in this packet; nil if the packet does not begin with an intact header.
  package var flacPosition: FLACPosition? {
    guard byteCount >= 17, let data = pointer.pointee.data, data[0] == 0xff, data[1] & 0xfe == 0xf8 else { return nil }
    // The number is coded as in UTF-8, extended to 36 bits.
    let lead = data[4]
    let length = max(1, (~lead).leadingZeroBitCount)
    guard length <= 7, lead & 0xc0 != 0x80 else { return nil }
    var number = length == 1 ? UInt64(lead) : UInt64(lead) & (0xff >> UInt64(length + 1))
    for index in 1..<length {
      guard data[4 + index] & 0xc0 == 0x80 else { return nil }
      number = number << 6 | UInt64(data[4 + index] & 0x3f)
    }
    var end = 4 + length
    let frameCount: Int64
    switch data[2] >> 4 {
    case 0: return nil
    case 1: frameCount = 192
    case let code where code <= 5: frameCount = 576 << Int64(code - 2)
    case 6:
      frameCount = Int64(data[end]) + 1
      end += 1
    case 7:
      frameCount = (Int64(data[end]) << 8 | Int64(data[end + 1])) + 1
      end += 2
    case let code: frameCount = 256 << Int64(code - 8)
    }
    switch data[2] & 15 {
    case 12: end += 1
    case 13, 14: end += 2
    case 15: return nil
    default: break
    }
    // CRC-8 with the polynomial x^8 + x^2 + x + 1.
    guard end < byteCount, let table = av_crc_get_table(AV_CRC_8_ATM), av_crc(table, 0, data, end) == UInt32(data[end])
    else { return nil }
    return FLACPosition(number: number, countsSamples: data[1] & 1 == 1, frameCount: frameCount)
  }
}
