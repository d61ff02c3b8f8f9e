import Foundation

/// A hand-made Matroska file with one audio track, whose packets may have values that no muxer writes.
struct MatroskaBytes {
  var codecID = "A_PCM/INT/LIT"
  var sampleRateHz = 48_000
  var channelCount = 1
  var bitsPerSample = 16
  /// The default duration of a block.
  var defaultNanoseconds: UInt64?
  /// In milliseconds.
  var duration: Double?
  /// The time of each block in milliseconds, its duration in milliseconds if it has one, and its data.
  var blocks: [(time: Int, duration: UInt64?, data: [UInt8])] = []

  /// The file.
  var bytes: [UInt8] {
    let header = Self.element(
      [0x1a, 0x45, 0xdf, 0xa3], Self.element([0x42, 0x82], Array("matroska".utf8)) + Self.number([0x42, 0x87], 4))
    let info = Self.element(
      [0x15, 0x49, 0xa9, 0x66],
      Self.number([0x2a, 0xd7, 0xb1], 1_000_000) + (duration.map { Self.real([0x44, 0x89], $0) } ?? []))
    let audio = Self.element(
      [0xe1],
      Self.real([0xb5], Double(sampleRateHz)) + Self.number([0x9f], UInt64(channelCount))
        + Self.number([0x62, 0x64], UInt64(bitsPerSample)))
    let track = Self.element(
      [0xae],
      Self.number([0xd7], 1) + Self.number([0x73, 0xc5], 1) + Self.number([0x83], 2)
        + Self.element([0x86], Array(codecID.utf8))
        + (defaultNanoseconds.map { Self.number([0x23, 0xe3, 0x83], $0) } ?? []) + audio)
    let clusters = blocks.flatMap { block in
      // Track 1, at the cluster's time, without lacing.
      let data = [0x81, 0, 0] as [UInt8]
      let content =
        block.duration.map { duration in
          Self.element([0xa0], Self.element([0xa1], data + [0] + block.data) + Self.number([0x9b], duration))
        } ?? Self.element([0xa3], data + [0x80] + block.data)
      return Self.element([0x1f, 0x43, 0xb6, 0x75], Self.number([0xe7], UInt64(block.time)) + content)
    }
    return header
      + Self.element([0x18, 0x53, 0x80, 0x67], info + Self.element([0x16, 0x54, 0xae, 0x6b], track) + clusters)
  }

  private static func element(_ id: [UInt8], _ content: [UInt8]) -> [UInt8] {
    id + [0x01] + bigEndian(UInt64(content.count)).dropFirst() + content
  }

  private static func number(_ id: [UInt8], _ value: UInt64) -> [UInt8] { element(id, bigEndian(value)) }
  private static func real(_ id: [UInt8], _ value: Double) -> [UInt8] { element(id, bigEndian(value.bitPattern)) }
  private static func bigEndian(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
}
