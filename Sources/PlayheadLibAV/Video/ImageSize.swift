import CPlayheadFFmpeg

/// The size of a PNG or JPEG, from its first headers, for containers that store it.
struct ImageSize: Sendable, Hashable {
  let width: Int
  let height: Int

  /// Parses the size; nil for bytes of another format, and for truncated bytes. PNG: W3C PNG, 11.2.2; JPEG: ITU-T T.81,
  /// B.2.2.
  init?(_ bytes: [UInt8]) {
    func number(_ offset: Int, _ count: Int) -> Int? {
      guard offset >= 0, offset + count <= bytes.count else { return nil }
      return bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
      guard let width = number(16, 4), let height = number(20, 4) else { return nil }
      (self.width, self.height) = (width, height)
      return
    }
    guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
    var offset = 2
    while let mark = number(offset, 2), mark >> 8 == 0xFF, let length = number(offset + 2, 2), length >= 2 {
      let kind = mark & 0xFF
      // A frame header; 0xC4, 0xC8 and 0xCC are other markers.
      if (0xC0...0xCF).contains(kind), ![0xC4, 0xC8, 0xCC].contains(kind) {
        guard let height = number(offset + 5, 2), let width = number(offset + 7, 2) else { return nil }
        (self.width, self.height) = (width, height)
        return
      }
      offset += 2 + length
    }
    return nil
  }
}

extension LibAV {
  /// Returns the size of a PNG or JPEG, in pixels; nil when the bytes do not contain it.
  package static func imageSize(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
    ImageSize(bytes).map { ($0.width, $0.height) }
  }

  /// Encodes bytes in base64 (RFC 4648, 4).
  package static func base64(_ bytes: [UInt8]) -> String {
    var text = [CChar](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    guard let count = Int32(exactly: bytes.count),
      av_base64_encode(&text, Int32(clamping: text.count), bytes, count) != nil
    else { return "" }
    return String(decoding: text.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
