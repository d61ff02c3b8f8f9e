import Testing

/// Edits the boxes of MP4 files (ISO/IEC 14496-12) with one track and `moov` at the end, as written by FFmpeg. No tool
/// writes all kinds of edit lists and comments.
enum MovieBoxes {
  static func box(_ name: String, _ parts: [UInt8]...) -> [UInt8] {
    let body = parts.flatMap { $0 }
    return bigEndian(UInt32(8 + body.count)) + Array(name.utf8) + body
  }

  static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  /// The range of a box; names from the outermost on.
  static func range(of path: [String], in bytes: [UInt8]) throws -> Range<Int> {
    var inside = bytes.indices
    var found = inside
    for name in path {
      var offset = inside.lowerBound
      var hit: Range<Int>?
      while offset + 8 <= inside.upperBound {
        let count = Int(number(bytes, offset))
        guard count >= 8 else { break }
        if Array(bytes[(offset + 4)..<(offset + 8)]) == Array(name.utf8) {
          hit = offset..<(offset + count)
          break
        }
        offset += count
      }
      found = try #require(hit, "no \(name)")
      inside = (found.lowerBound + 8)..<found.upperBound
    }
    return found
  }

  static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Replaces a box, or appends one to its parent, and corrects the enclosing sizes.
  private static func replaced(_ path: [String], with box: [UInt8], in bytes: [UInt8]) throws -> [UInt8] {
    let parents = (1..<path.count).map { Array(path.prefix($0)) }
    let starts = try parents.map { try range(of: $0, in: bytes).lowerBound }
    let parentEnd = try range(of: Array(path.dropLast()), in: bytes).upperBound
    let replacedRange = (try? range(of: path, in: bytes)) ?? parentEnd..<parentEnd
    var result = bytes
    result.replaceSubrange(replacedRange, with: box)
    for start in starts {
      let size = Int(number(bytes, start)) + box.count - replacedRange.count
      result.replaceSubrange(start..<(start + 4), with: bigEndian(UInt32(size)))
    }
    return result
  }

  /// With these edits (duration in the movie's timescale, start in the track's; -1: an empty edit); an empty array
  /// removes them.
  static func withEdits(_ edits: [(Int, Int)], in bytes: [UInt8]) throws -> [UInt8] {
    try withRatedEdits(edits.map { ($0.0, $0.1, 0x1_0000) }, in: bytes)
  }

  /// With these edits, which also have a rate, in 1/65,536.
  static func withRatedEdits(_ edits: [(duration: Int, start: Int, rate: Int)], in bytes: [UInt8]) throws -> [UInt8] {
    let list = edits.flatMap {
      bigEndian(UInt32($0.duration)) + bigEndian(Int32($0.start)) + bigEndian(UInt32($0.rate))
    }
    let box =
      edits.isEmpty ? [] : box("edts", self.box("elst", bigEndian(UInt32(0)) + bigEndian(UInt32(edits.count)) + list))
    return try replaced(["moov", "trak", "edts"], with: box, in: bytes)
  }

  /// With these sample durations (count, duration of each) and this track duration.
  static func withSampleDurations(_ entries: [(Int, Int)], duration: Int, in bytes: [UInt8]) throws -> [UInt8] {
    let list = entries.flatMap { bigEndian(UInt32($0.0)) + bigEndian(UInt32($0.1)) }
    let box = box("stts", bigEndian(UInt32(0)) + bigEndian(UInt32(entries.count)) + list)
    var result = try replaced(["moov", "trak", "mdia", "minf", "stbl", "stts"], with: box, in: bytes)
    let header = try range(of: ["moov", "trak", "mdia", "mdhd"], in: result).lowerBound
    result.replaceSubrange((header + 24)..<(header + 28), with: bigEndian(UInt32(duration)))
    return result
  }

  /// With `moov` before the media, so that a truncated file still has it.
  static func withHeaderFirst(in bytes: [UInt8]) throws -> [UInt8] {
    let range = try range(of: ["moov"], in: bytes)
    let first = try self.range(of: ["ftyp"], in: bytes).upperBound
    let table = try self.range(of: ["moov", "trak", "mdia", "minf", "stbl", "stco"], in: bytes).lowerBound
    var result = bytes
    for entry in 0..<Int(number(bytes, table + 12)) {
      let offset = table + 16 + 4 * entry
      result.replaceSubrange(offset..<(offset + 4), with: bigEndian(number(bytes, offset) + UInt32(range.count)))
    }
    let header = Array(result[range])
    result.removeSubrange(range)
    result.insert(contentsOf: header, at: first)
    return result
  }

  /// With `----:com.apple.iTunes:iTunSMPB` instead of all other tags.
  static func withITunesComment(_ text: String, in bytes: [UInt8]) throws -> [UInt8] {
    let zero = bigEndian(UInt32(0))
    let item = box(
      "----", box("mean", zero + Array("com.apple.iTunes".utf8)), box("name", zero + Array("iTunSMPB".utf8)),
      box("data", bigEndian(UInt32(1)) + zero + Array(text.utf8)))
    let handler = box(
      "hdlr", [UInt8](repeating: 0, count: 8) + Array("mdirappl".utf8) + [UInt8](repeating: 0, count: 9))
    return try replaced(
      ["moov", "udta"], with: box("udta", box("meta", zero + handler + box("ilst", item))), in: bytes)
  }
}
