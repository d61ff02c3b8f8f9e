import PlayheadMediaCore

/// Comments of formats that consist of chunks with a name and a length:
/// - MP4 and QuickTime (ISO/IEC 14496-12; the QuickTime File Format Specification)
/// - RIFF (Multimedia Programming Interface and Data Specifications 1.0)
/// - CAF (Apple Core Audio Format Specification 1.0)
/// - Matroska (RFC 9559)
/// - ASF (Advanced Systems Format specification, 3)
/// - APEv2
extension CommentMask {
  // MARK: - MP4

  private static let movieContainers: Set<String> = ["moov", "trak", "udta", "meta"]
  private static let maximumDepth = 8

  /// Renames lists with too many values to `free`.
  mutating func scanMovie(in range: Range<Int64>, depth: Int) {
    var position = range.lowerBound
    while let atom = atom(at: position, in: range), step() {
      if atom.name == "ilst" || atom.name == "udta" || atom.name == "keys" {
        let content = atom.name == "keys" ? atom.content.dropFirst(8) : atom.content
        if exceedsLimits(Int64(atom.content.count), count: { $0.atomCount(in: content) }) {
          maskBytes(with: Array("free".utf8), at: position + 4)
          position = atom.content.upperBound
          continue
        }
      }
      if Self.movieContainers.contains(atom.name), depth < Self.maximumDepth {
        // A `meta` of MP4 begins with a version, one of QuickTime does not.
        let isVersioned = atom.name == "meta" && name(at: atom.content.lowerBound + 4) != "hdlr"
        scanMovie(in: isVersioned ? atom.content.dropFirst(4) : atom.content, depth: depth + 1)
      }
      position = atom.content.upperBound
    }
  }

  private func name(at position: Int64) -> String {
    String(decoding: source.bytes(at: position, count: 4), as: UTF8.self)
  }

  private func atom(at position: Int64, in range: Range<Int64>) -> (name: String, content: Range<Int64>)? {
    let header = source.bytes(at: position, count: 16)
    guard position + 8 <= range.upperBound, header.count >= 8, let short = Self.bigEndian(header[..<4], 4) else {
      return nil
    }
    var (size, headerCount) = (short, 8 as Int64)
    if short == 1 {
      guard let long = Self.bigEndian(header[8...], 8) else { return nil }
      (size, headerCount) = (long, 16)
    } else if short == 0 {
      size = range.upperBound - position
    }
    guard size >= headerCount, size <= range.upperBound - position else { return nil }
    return (String(decoding: header[4..<8], as: UTF8.self), position + headerCount..<position + size)
  }

  private func atomCount(in range: Range<Int64>) -> Int {
    var (position, count) = (range.lowerBound, 0)
    while count <= maximumCount, let atom = atom(at: position, in: range) {
      (position, count) = (atom.content.upperBound, count + 1)
    }
    return count
  }

  // MARK: - RIFF

  /// Renames `INFO` lists with too many texts to `JUNK`.
  mutating func scanRIFF(from start: Int64, end: Int64) {
    var position = start + 12
    while position + 12 <= end, step(), var size = littleEndian(at: position + 4, 4) {
      let kind = name(at: position)
      // RF64 (EBU Tech 3306) stores the length of the audio after the header of its first chunk.
      if kind == "data", size == 0xFFFF_FFFF { size = min(end, max(0, littleEndian(at: start + 28, 8) ?? end)) }
      if kind == "LIST", name(at: position + 8) == "INFO" {
        let content = position + 12..<max(position + 12, min(position + 8 + size, end))
        if exceedsLimits(Int64(content.count), count: { $0.chunkCount(in: content) }) {
          maskBytes(with: Array("JUNK".utf8), at: position)
        }
      }
      // AVI continues in another RIFF chunk, whose chunks are examined, too.
      position += kind == "RIFF" ? 12 : 8 + size + size & 1
    }
  }

  private func chunkCount(in range: Range<Int64>) -> Int {
    var (position, count) = (range.lowerBound, 0)
    while count <= maximumCount, position + 8 <= range.upperBound, let size = littleEndian(at: position + 4, 4) {
      (position, count) = (position + 8 + size + size & 1, count + 1)
    }
    return count
  }

  // MARK: - CAF

  /// Renames an `info` chunk with too many entries to `free`.
  mutating func scanCAF(from start: Int64) {
    var position = start
    while step(), let size = bigEndian(at: position + 4, 8) {
      let content = position + 12
      if name(at: position) == "info" {
        let claimed = bigEndian(at: content, 4) ?? 0
        if exceedsLimits(max(0, size), count: { _ in Int(claimed) }) {
          maskBytes(with: Array("free".utf8), at: position)
        }
      }
      let (next, overflow) = content.addingReportingOverflow(size)
      // A negative size is unknown: the audio is then the last chunk.
      guard size >= 0, !overflow else { return }
      position = next
    }
  }

  // MARK: - Matroska

  private static let (segment, tags, tag, simpleTag): (Int64, Int64, Int64, Int64) = (
    0x1853_8067, 0x1254_C367, 0x7373, 0x67C8
  )

  /// Replaces tags with too many values by `Void` elements.
  mutating func scanMatroska(in range: Range<Int64>) {
    var position = range.lowerBound
    while step(), let element = element(at: position, in: range) {
      if element.id == Self.segment { return scanSegment(in: element.content) }
      position = element.content.upperBound
    }
  }

  private mutating func scanSegment(in range: Range<Int64>) {
    var position = range.lowerBound
    while step(), let element = element(at: position, in: range) {
      let content = element.content
      if element.id == Self.tags, exceedsLimits(Int64(content.count), count: { $0.valueCount(in: content) }) {
        maskBytes(with: Self.voidElementHeader(Int64(content.upperBound - position)), at: position)
      }
      // An element of unknown length cannot be skipped.
      guard !element.isUnknown else { return }
      position = content.upperBound
    }
  }

  /// Returns the header of a `Void` element of `byteCount` bytes in total.
  private static func voidElementHeader(_ byteCount: Int64) -> [UInt8] {
    let sizeCount: Int64 = byteCount < 128 ? 1 : 8
    let size = byteCount - 1 - sizeCount
    guard sizeCount == 8 else { return [0xEC, 0x80 | UInt8(truncatingIfNeeded: size)] }
    return [0xEC, 0x01] + (0..<7).reversed().map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
  }

  /// Counts the values in tags, including nested ones, each at the beginning of its element.
  private func valueCount(in range: Range<Int64>) -> Int {
    var (position, count) = (range.lowerBound, 0)
    while count <= maximumCount, let element = element(at: position, in: range) {
      if element.id == Self.simpleTag { count += 1 }
      // Only elements that contain values are entered; all others are skipped.
      let containsValues = element.id == Self.tag || element.id == Self.simpleTag
      let next = containsValues ? element.content.lowerBound : element.content.upperBound
      guard next > position else { break }
      position = next
    }
    return count
  }

  private func element(
    at position: Int64, in range: Range<Int64>
  ) -> (id: Int64, content: Range<Int64>, isUnknown: Bool)? {
    let header = source.bytes(at: position, count: 12)
    guard position < range.upperBound, let first = header.first, first >= 0x10 else { return nil }
    let idCount = first.leadingZeroBitCount + 1
    guard header.count > idCount, header[idCount] != 0 else { return nil }
    let sizeCount = header[idCount].leadingZeroBitCount + 1
    guard header.count >= idCount + sizeCount, let id = Self.bigEndian(header[..<idCount], idCount) else { return nil }
    let mask = Int64(1) << (7 * sizeCount) - 1
    let size = header[idCount..<idCount + sizeCount].reduce(0) { $0 << 8 | Int64($1) } & mask
    let start = position + Int64(idCount + sizeCount)
    guard start <= range.upperBound else { return nil }
    let isUnknown = size == mask
    let end = isUnknown ? range.upperBound : min(range.upperBound, start + size)
    return (id, start..<end, isUnknown)
  }

  // MARK: - ASF

  private static let extendedDescription: [UInt8] = [
    0x40, 0xA4, 0xD0, 0xD2, 0x07, 0xE3, 0xD2, 0x11, 0x97, 0xF0, 0x00, 0xA0, 0xC9, 0x5E, 0xA8, 0x50,
  ]
  private static let metadata: [UInt8] = [
    0xEA, 0xCB, 0xF8, 0xC5, 0xAF, 0x5B, 0x77, 0x48, 0x84, 0x67, 0xAA, 0x8C, 0x44, 0xFA, 0x4C, 0xCA,
  ]
  private static let metadataLibrary: [UInt8] = [
    0x94, 0x1C, 0x23, 0x44, 0x98, 0x94, 0xD1, 0x49, 0xA1, 0x41, 0x1D, 0x13, 0x4E, 0x45, 0x70, 0x54,
  ]
  private static let headerExtension: [UInt8] = [
    0xB5, 0x03, 0xBF, 0x5F, 0x2E, 0xA9, 0xCF, 0x11, 0x8E, 0xE3, 0x00, 0xC0, 0x0C, 0x20, 0x53, 0x65,
  ]

  /// Replaces the name of objects with too many values by an unknown one.
  mutating func scanASF(from start: Int64) {
    guard let size = littleEndian(at: start + 16, 8), size >= 30, let end = Self.sum(start, size) else { return }
    scanASFObjects(in: start + 30..<end, depth: 0)
  }

  private mutating func scanASFObjects(in range: Range<Int64>, depth: Int) {
    var position = range.lowerBound
    while position + 24 <= range.upperBound, step(), let size = littleEndian(at: position + 16, 8), size >= 24,
      let next = Self.sum(position, size)
    {
      let name = source.bytes(at: position, count: 16)
      if [Self.extendedDescription, Self.metadata, Self.metadataLibrary].contains(name) {
        let claimed = littleEndian(at: position + 24, 2) ?? 0
        if exceedsLimits(size, count: { _ in Int(claimed) }) { maskBytes(with: [0], at: position) }
      } else if name == Self.headerExtension, depth == 0, position + 46 <= min(next, range.upperBound) {
        scanASFObjects(in: position + 46..<min(next, range.upperBound), depth: 1)
      }
      position = next
    }
  }

  private static func sum(_ position: Int64, _ size: Int64) -> Int64? {
    let (sum, overflow) = position.addingReportingOverflow(size)
    return overflow ? nil : sum
  }

  // MARK: - APEv2

  /// Replaces the number of items by 0 in a tag with too many items. The tag is at the file's end, or before an ID3v1
  /// tag.
  mutating func scanAPE(end: Int64) {
    for footer in [end - 32, end - 160] where footer >= 0 {
      guard source.bytes(at: footer, count: 8) == Array("APETAGEX".utf8), let size = littleEndian(at: footer + 12, 4),
        let count = littleEndian(at: footer + 16, 4)
      else { continue }
      if exceedsLimits(size, count: { _ in Int(count) }) { maskBytes(with: [0, 0, 0, 0], at: footer + 16) }
    }
  }
}
