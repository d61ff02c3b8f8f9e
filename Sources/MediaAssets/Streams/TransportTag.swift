/// An ID3 tag in a packet of a transport stream.
///
/// FFmpeg takes the first five bytes of such packets for the header of an access unit, as ISO/IEC 13818-1, 2.12.4 has it. In HLS there is
/// none: what it takes away is `ID3` and the version; and what FFmpeg has written from one stream into another lacks these, so that reading
/// it takes all of the tag's header away.
enum TransportTag {
  /// How the frames of a version are written.
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

  /// The packet as it was in the stream; nil when it is no tag.
  static func restored(_ packet: [UInt8]) -> [UInt8]? {
    if packet.starts(with: "ID3".utf8) { return packet }
    if let first = packet.first, first != 0, let layout = layouts.first(where: { fits(packet[...], $0) }) {
      let size = (0..<4).map { UInt8(packet.count >> (21 - 7 * $0) & 0x7F) }
      return Array("ID3".utf8) + [layout.version, 0, 0] + size + packet
    }
    guard packet.count > 5, packet[0] & 0x0F == 0, packet[1..<5].allSatisfy({ $0 < 0x80 }) else { return nil }
    let size = packet[1..<5].reduce(0) { $0 << 7 | Int($1) }
    let end = 5 + size + (packet[0] & 0x10 != 0 ? 10 : 0)
    // Another may follow it.
    guard end == packet.count || (end < packet.count && packet[end...].starts(with: "ID3".utf8)) else { return nil }
    // HLS asks for 2.4. Where its frames cannot be of that, they may be of another.
    let frames = packet[5..<(5 + size)]
    let layout = packet[0] & 0x40 == 0 ? layouts.first { fits(frames, $0) } : nil
    return Array("ID3".utf8) + [layout?.version ?? 4, 0] + packet
  }

  /// Whether frames follow each other to the end, or to padding.
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
