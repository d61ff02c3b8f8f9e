/// Restores ID3 tags in packets of a transport stream.
///
/// FFmpeg removes the first five bytes of such packets, as an access unit header (ISO/IEC 13818-1, 2.12.4). HLS has no
/// such header, so that FFmpeg removes `ID3` and the version. If FFmpeg has remuxed the stream, these bytes are missing
/// already, and FFmpeg removes the rest of the tag header.
enum TransportTag {
  /// The layout of the frames in an ID3 version.
  private struct Layout {
    var version: UInt8
    var nameCount: Int
    var sizeCount: Int
    var headerCount: Int
    var bitsPerByte: Int
  }

  private static let layouts = [
    Layout(version: 4, nameCount: 4, sizeCount: 4, headerCount: 10, bitsPerByte: 7),
    Layout(version: 3, nameCount: 4, sizeCount: 4, headerCount: 10, bitsPerByte: 8),
    Layout(version: 2, nameCount: 3, sizeCount: 3, headerCount: 6, bitsPerByte: 8),
  ]

  /// Returns the packet as it was in the stream; nil if it is not a tag.
  static func restored(_ packet: [UInt8]) -> [UInt8]? {
    if packet.starts(with: "ID3".utf8) { return packet }
    if let first = packet.first, first != 0, let layout = layouts.first(where: { fits(packet[...], $0) }) {
      let size = (0..<4).map { UInt8(packet.count >> (21 - 7 * $0) & 0x7F) }
      return Array("ID3".utf8) + [layout.version, 0, 0] + size + packet
    }
    guard packet.count > 5, packet[0] & 0x0F == 0, packet[1..<5].allSatisfy({ $0 < 0x80 }) else { return nil }
    let size = packet[1..<5].reduce(0) { $0 << 7 | Int($1) }
    let end = 5 + size + (packet[0] & 0x10 != 0 ? 10 : 0)
    // Another tag may follow.
    guard end == packet.count || (end < packet.count && packet[end...].starts(with: "ID3".utf8)) else { return nil }
    // HLS requires version 2.4. If the frames do not fit that version, they may have another one.
    let frames = packet[5..<(5 + size)]
    let layout = packet[0] & 0x40 == 0 ? layouts.first { fits(frames, $0) } : nil
    return Array("ID3".utf8) + [layout?.version ?? 4, 0] + packet
  }

  /// Returns whether frames follow each other up to the end or to padding.
  private static func fits(_ frames: ArraySlice<UInt8>, _ layout: Layout) -> Bool {
    var rest = frames
    while let first = rest.first, first != 0 {
      guard rest.count >= layout.headerCount,
        rest.prefix(layout.nameCount).allSatisfy({ 0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 })
      else { return false }
      let bytes = rest.dropFirst(layout.nameCount).prefix(layout.sizeCount)
      let size = bytes.reduce(0) { $0 << layout.bitsPerByte | Int($1) }
      guard bytes.allSatisfy({ Int($0) < 1 << layout.bitsPerByte }), size <= rest.count - layout.headerCount else {
        return false
      }
      rest = rest.dropFirst(layout.headerCount + size)
    }
    return rest.allSatisfy { $0 == 0 }
  }
}
