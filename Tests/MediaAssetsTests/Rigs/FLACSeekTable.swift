import PlayheadLibAV
import Testing

/// Writes seek tables into FLAC files (RFC 9639, section 8.5), including wrong ones, which no packaged tool can write.
enum FLACSeekTable {
  /// The file's bytes with a SEEKTABLE that has a point for every `interval`th frame. `shift` moves each point's target
  /// by a number of FLAC frames, which makes the table wrong.
  static func inserted(into path: String, bytes: [UInt8], interval: Int, shift: Int = 0) throws -> [UInt8] {
    let demuxer = try Demuxer(source: FileSource(path: Array(path.utf8), interrupt: Interrupt()))
    let packet = try Packet()
    var frames: [(sample: Int64, offset: Int64, count: Int64)] = []
    while try demuxer.readPacket(into: packet) == .packet {
      frames.append(
        (try #require(packet.pts), try #require(packet.bytePosition), try #require(packet.duration)))
    }
    let first = try #require(frames.first)
    var table: [UInt8] = []
    func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.bigEndian) { table += $0 } }
    for index in stride(from: 0, to: frames.count, by: interval) {
      let target = frames[min(max(0, index + shift), frames.count - 1)]
      append(UInt64(frames[index].sample))
      append(UInt64(target.offset - first.offset))
      append(UInt16(frames[index].count))
    }
    // "fLaC", then STREAMINFO (4 + 34 bytes), which is never the last block here.
    let streamInfoEnd = 4 + 4 + 34
    #expect(bytes[4] == 0, "a STREAMINFO block that others follow")
    let length = UInt32(table.count)
    let header: [UInt8] = [3, UInt8(length >> 16 & 0xff), UInt8(length >> 8 & 0xff), UInt8(length & 0xff)]
    return bytes[..<streamInfoEnd] + header + table + bytes[streamInfoEnd...]
  }
}
