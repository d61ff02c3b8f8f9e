import Foundation

/// Hand-made ID3 tags in streams: FFmpeg's tools write none.
enum TimedID3 {
  /// A tag with a title and a private frame. Default version: ID3v2.4.
  static func tag(_ title: String, owner: String? = nil, data: [UInt8] = [], version: UInt8 = 4) -> [UInt8] {
    func number(_ value: Int, bits: Int, count: Int) -> [UInt8] {
      (0..<count).map { UInt8(value >> (bits * (count - 1 - $0)) & (1 << bits - 1)) }
    }
    func frame(_ name: String, _ content: [UInt8]) -> [UInt8] {
      switch version {
      case 2: Array(name.prefix(2).utf8) + name.suffix(1).utf8 + number(content.count, bits: 8, count: 3) + content
      case 3: Array(name.utf8) + number(content.count, bits: 8, count: 4) + [0, 0] + content
      default: Array(name.utf8) + number(content.count, bits: 7, count: 4) + [0, 0] + content
      }
    }
    var frames = title.isEmpty ? [] : frame("TIT2", [version == 4 ? 3 : 0] + Array(title.utf8))
    if let owner { frames += frame("PRIV", Array(owner.utf8) + [0] + data) }
    return Array("ID3".utf8) + [version, 0, 0] + number(frames.count, bits: 7, count: 4) + frames
  }

  /// How a transport stream declares a stream of tags, and the data before each tag.
  enum Carriage: CaseIterable {
    /// Metadata in PES packets, as in HLS and FFmpeg's output.
    case hls
    /// Like `hls`, with the header of an access unit (ISO/IEC 13818-1, 2.12.4).
    case accessUnits
    /// FFmpeg's output when it copies another stream: the first five bytes of each tag are missing.
    case copied
    /// Private data with a registration descriptor.
    case registered

    fileprivate var kind: UInt8 { self == .registered ? 0x06 : 0x15 }
    fileprivate var descriptor: [UInt8] {
      self == .registered
        ? [0x05, 4] + Array("ID3 ".utf8)
        : [0x26, 13, 0xFF, 0xFF] + Array("ID3 ".utf8) + [0xFF] + Array("ID3 ".utf8) + [0, 0x0F]
    }
    fileprivate func unit(_ tag: [UInt8]) -> [UInt8] {
      switch self {
      case .accessUnits: [0, 0, 0xCF, UInt8(tag.count >> 8), UInt8(tag.count & 0xFF)] + tag
      case .copied: Array(tag.dropFirst(5))
      case .hls, .registered: tag
      }
    }
  }

  /// A tag with the timestamp of audio without a container, in units of 1/90,000 s.
  static func stamped(_ ticks: Int, title: String) -> [UInt8] {
    tag(
      title, owner: "com.apple.streaming.transportStreamTimestamp",
      data: (0..<8).map { UInt8(truncatingIfNeeded: ticks >> (56 - 8 * $0)) })
  }

  /// The first audio timestamp in a transport stream, in units of 1/90,000 s.
  static func firstStamp(in stream: [UInt8]) -> Int? {
    for start in stride(from: 0, to: stream.count - 187, by: 188) where stream[start + 1] & 0x40 != 0 {
      let packet = stream[start..<(start + 188)]
      var offset = start + 4
      if packet[start + 3] & 0x20 != 0 { offset += 1 + Int(packet[start + 4]) }
      guard offset + 14 <= start + 188, Array(packet[offset..<(offset + 3)]) == [0, 0, 1],
        packet[offset + 7] & 0x80 != 0
      else { continue }
      let b = packet[(offset + 9)..<(offset + 14)].map(Int.init)
      return (b[0] >> 1 & 7) << 30 | b[1] << 22 | (b[2] >> 1) << 15 | b[3] << 7 | b[4] >> 1
    }
    return nil
  }

  /// The transport stream with an additional stream of tags with timestamps, after its first tables.
  static func adding(
    _ tags: [(ticks: Int, tag: [UInt8])], to stream: [UInt8], _ carriage: Carriage = .hls
  ) -> [UInt8] {
    var result: [UInt8] = []
    var tables = 0
    for start in stride(from: 0, to: stream.count - 187, by: 188) {
      var packet = Array(stream[start..<(start + 188)])
      let pid = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
      // The PID of the program map in FFmpeg's muxer.
      if pid == 0x1000 {
        packet = withTagStream(packet, carriage)
        tables += 1
      }
      result += packet
      if pid == 0x1000, tables == 1 {
        for (index, tag) in tags.enumerated() {
          result += packets(carriage.unit(tag.tag), ticks: tag.ticks, counter: index)
        }
      }
    }
    return result
  }

  private static let pid = 0x123

  /// The program map with an additional stream of tags.
  private static func withTagStream(_ packet: [UInt8], _ carriage: Carriage) -> [UInt8] {
    let start = 5 + Int(packet[4])
    let length = Int(packet[start + 1] & 0x0F) << 8 | Int(packet[start + 2])
    var section = Array(packet[start..<(start + 3 + length - 4)])
    let descriptor = carriage.descriptor
    section += [carriage.kind, 0xE0 | UInt8(pid >> 8), UInt8(pid & 0xFF), 0xF0, UInt8(descriptor.count)] + descriptor
    let size = section.count - 3 + 4
    section[1] = section[1] & 0xF0 | UInt8(size >> 8)
    section[2] = UInt8(size & 0xFF)
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in section {
      crc ^= UInt32(byte) << 24
      for _ in 0..<8 { crc = crc & 0x8000_0000 != 0 ? crc << 1 ^ 0x04C1_1DB7 : crc << 1 }
    }
    section += (0..<4).map { UInt8(truncatingIfNeeded: crc >> (24 - 8 * $0)) }
    let whole = Array(packet[..<start]) + section
    return whole + [UInt8](repeating: 0xFF, count: 188 - whole.count)
  }

  /// A PES packet in the minimum number of transport packets: one for a small tag.
  private static func packets(_ tag: [UInt8], ticks: Int, counter: Int) -> [UInt8] {
    let stamp: [UInt8] = [
      0x21 | UInt8(ticks >> 29 & 0x0E), UInt8(ticks >> 22 & 0xFF), UInt8(ticks >> 14 & 0xFE) | 1,
      UInt8(ticks >> 7 & 0xFF), UInt8(ticks << 1 & 0xFE) | 1,
    ]
    let pes = [0, 0, 1, 0xBD, UInt8((tag.count + 8) >> 8), UInt8((tag.count + 8) & 0xFF), 0x84, 0x80, 5] + stamp + tag
    precondition(pes.count <= 182, "one packet")
    let filling = 184 - pes.count - 2
    return [0x47, 0x40 | UInt8(pid >> 8), UInt8(pid & 0xFF), 0x30 | UInt8(counter & 0x0F)]
      + [UInt8(filling + 1), 0] + [UInt8](repeating: 0xFF, count: filling) + pes
  }

  /// An `emsg` box that contains a tag.
  static func event(
    _ tag: [UInt8], version: UInt8, timescale: Int, time: Int, scheme: String = "https://aomedia.org/emsg/ID3"
  )
    -> [UInt8]
  {
    func big(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }
    let names = Array(scheme.utf8) + [0] + [0]
    let content =
      version == 0
      ? names + big(timescale, 4) + big(time, 4) + big(0xFFFF_FFFF, 4) + big(1, 4)
      : big(timescale, 4) + big(time, 8) + big(0xFFFF_FFFF, 4) + big(1, 4) + names
    let body = [version, 0, 0, 0] + content + tag
    return big(body.count + 8, 4) + Array("emsg".utf8) + body
  }
}
