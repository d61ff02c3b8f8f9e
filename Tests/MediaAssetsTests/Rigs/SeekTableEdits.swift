import Foundation
import Testing

/// Edits of files for content that no packaged tool writes.
enum SeekTableEdits {
  /// An MP3 file without a header, with a VBRI header before it: the first frame of Fraunhofer's encoder.
  ///
  /// Format (as in FFmpeg's `mp3_parse_vbri_tag`, libavformat/mp3dec.c): `VBRI` 36 bytes after the frame's start, then
  /// version, delay, quality (16 bits), bytes, frames (32), entries of the table, their scale, size and frames (16),
  /// table.
  static func withVBRI(_ mp3: [UInt8]) throws -> [UInt8] {
    let frames = try mp3Frames(mp3)
    let first = try #require(frames.first)
    // 128 kbit/s at 44,100 Hz without CRC: 417 bytes have room for the header.
    var header: [UInt8] = [0xff, 0xfb, 0x90, mp3[first.lowerBound + 3]]
    header += [UInt8](repeating: 0, count: 32)
    func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.bigEndian) { header += $0 } }
    let perEntry = (frames.count + 99) / 100
    let entries = stride(from: 0, to: frames.count, by: perEntry).map { index in
      frames[index..<min(index + perEntry, frames.count)].reduce(0) { $0 + $1.count }
    }
    header += Array("VBRI".utf8)
    append(UInt16(1))
    append(UInt16(0))
    append(UInt16(75))
    append(UInt32(frames.reduce(417) { $0 + $1.count }))
    append(UInt32(frames.count))
    append(UInt16(entries.count))
    append(UInt16(1))
    append(UInt16(2))
    append(UInt16(perEntry))
    for entry in entries { append(UInt16(entry)) }
    try #require(header.count <= 417)
    header += [UInt8](repeating: 0, count: 417 - header.count)
    return header + mp3[first.lowerBound...]
  }

  /// An MP3 file whose Xing header has a reversed table of contents, as if the end of the file came first.
  ///
  /// Format (the Xing header SDK): `Xing`, flags, frames, bytes (32 bits each), then a hundred bytes. The n-th byte is
  /// the part of the bytes, in 256ths, before n hundredths of the time.
  static func reversingXingTable(_ mp3: [UInt8]) throws -> [UInt8] {
    let header = try #require(mp3.prefix(8_192).firstRange(of: Array("Xing".utf8)))
    try #require(mp3[header.upperBound + 3] & 7 == 7, "the header has frames, bytes and table")
    return try reversing(mp3, from: header.upperBound + 12, count: 100, size: 1)
  }

  /// A file that `withVBRI` wrote, with reversed table entries.
  static func reversingVBRITable(_ mp3: [UInt8]) throws -> [UInt8] {
    let header = try #require(mp3.prefix(8_192).firstRange(of: Array("VBRI".utf8)))
    let count = Int(mp3[header.lowerBound + 18]) << 8 | Int(mp3[header.lowerBound + 19])
    return try reversing(mp3, from: header.lowerBound + 26, count: count, size: 2)
  }

  /// Reverses the order of `count` numbers of `size` bytes; the result must differ.
  private static func reversing(_ bytes: [UInt8], from start: Int, count: Int, size: Int) throws -> [UInt8] {
    let range = start..<start + count * size
    try #require(count > 50 && range.upperBound <= bytes.count)
    let numbers = stride(from: range.lowerBound, to: range.upperBound, by: size).map { bytes[$0..<$0 + size] }
    var reversed = bytes
    reversed.replaceSubrange(range, with: numbers.reversed().joined())
    try #require(reversed != bytes)
    return reversed
  }

  /// The byte ranges of an MPEG-1 layer III file's frames.
  static func mp3Frames(_ mp3: [UInt8]) throws -> [Range<Int>] {
    let kilobits = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
    let rates = [44_100, 48_000, 32_000]
    var frames: [Range<Int>] = []
    var offset = 0
    while offset + 4 <= mp3.count, mp3[offset] == 0xff, mp3[offset + 1] & 0xfe == 0xfa {
      let bits = Int(mp3[offset + 2])
      let length = 144_000 * kilobits[bits >> 4] / rates[bits >> 2 & 3] + (bits >> 1 & 1)
      try #require(length > 4)
      frames.append(offset..<min(offset + length, mp3.count))
      offset += length
    }
    return frames
  }

  /// Bytes that are not audio, with some sync codes of frames.
  static func garbage(byteCount: Int, sync: [UInt8]) -> [UInt8] {
    var random = SplitMix64(state: 99)
    var bytes = (0..<byteCount).map { _ in UInt8.random(in: 1...0xfe, using: &random) }
    for offset in stride(from: 700, to: byteCount - 700, by: 1_301) {
      bytes.replaceSubrange(offset..<offset + 4, with: sync)
    }
    return bytes
  }

  /// An ID3v2.4 tag with the size of an image, as in files from music shops (id3.org, 3.1).
  static func id3(byteCount: Int) -> [UInt8] {
    let size = [21, 14, 7, 0].map { UInt8(byteCount >> $0 & 0x7f) }
    return Array("ID3".utf8) + [4, 0, 0] + size + [UInt8](repeating: 0, count: byteCount)
  }

  /// An M4A file of FFmpeg with the comment in which iTunes stores the encoder delay and padding. `removesEditList`
  /// removes its edit list.
  static func withITunSMPB(
    _ m4a: [UInt8], priming: Int, frameCount: Int, packetFrames: Int, removesEditList: Bool
  ) throws -> [UInt8] {
    func hexadecimal(_ value: Int, width: Int) -> String {
      let digits = String(value, radix: 16, uppercase: true)
      return String(repeating: "0", count: width - digits.count) + digits
    }
    let padding = (packetFrames - (priming + frameCount) % packetFrames) % packetFrames
    let text =
      " 00000000 \(hexadecimal(priming, width: 8)) \(hexadecimal(padding, width: 8)) "
      + "\(hexadecimal(frameCount, width: 16))" + String(repeating: " 00000000", count: 8)
    let box = freeForm(name: "iTunSMPB", text: text)
    var bytes = m4a
    if removesEditList {
      let edits = try #require(bytes.firstRange(of: Array("edts".utf8)))
      bytes.replaceSubrange(edits, with: Array("free".utf8))
    }
    // FFmpeg writes `moov` last, so only the parents of the new box move.
    let list = try #require(bytes.firstRange(of: Array("ilst".utf8)))
    let listEnd = list.lowerBound - 4 + size(at: list.lowerBound - 4, in: bytes)
    for name in ["moov", "udta", "meta", "ilst"] {
      let found = try #require(bytes.firstRange(of: Array(name.utf8)))
      let offset = found.lowerBound - 4
      let grown = UInt32(size(at: offset, in: bytes) + box.count)
      withUnsafeBytes(of: grown.bigEndian) { bytes.replaceSubrange(offset..<offset + 4, with: $0) }
    }
    bytes.insert(contentsOf: box, at: listEnd)
    return bytes
  }

  /// An M4A file of FFmpeg at 22,050 Hz that declares SBR, so decoders return twice the rate.
  ///
  /// FFmpeg ends its AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1) with `syncExtensionType` 0x2b7, object type 5 and
  /// `sbrPresentFlag` 0. With 1, the index of the other rate follows: 4, 44,100 Hz.
  static func announcingSBR(_ m4a: [UInt8]) throws -> [UInt8] {
    var bytes = m4a
    let found = try #require(bytes.firstRange(of: [0x13, 0x90, 0x56, 0xe5, 0x00]))
    bytes[found.upperBound - 1] = 0xa0
    return bytes
  }

  private static func size(at offset: Int, in bytes: [UInt8]) -> Int {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func freeForm(name: String, text: String) -> [UInt8] {
    func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
      withUnsafeBytes(of: UInt32(8 + content.count).bigEndian) { Array($0) } + Array(type.utf8) + content
    }
    let none: [UInt8] = [0, 0, 0, 0]
    return box(
      "----",
      box("mean", none + Array("com.apple.iTunes".utf8)) + box("name", none + Array(name.utf8))
        + box("data", [0, 0, 0, 1] + none + Array(text.utf8)))
  }
}
