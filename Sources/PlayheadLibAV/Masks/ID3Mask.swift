/// Masks ID3v2 tags at a file's beginning. FFmpeg creates an object for every frame, so that millions of tiny frames
/// need gigabytes of memory. In the masked range FFmpeg reads zeros, which are valid padding of a tag.
///
/// Source: id3.org, id3v2.3.0 and id3v2.4.0-structure, sections 3 and 4; id3v2-00, section 3.
enum ID3Mask {
  /// The size of a tag, in bytes, for which FFmpeg needs at most 16 MB of memory.
  static let harmlessByteCount: Int64 = 262_144
  /// The same limit for a tag of a byte source, where reading each frame would be slow.
  static let harmlessStreamedByteCount: Int64 = 4 << 20
  /// More frames than any legitimate tag has.
  static let maximumFrameCount = 4_096
  private static let maximumTagCount = 64

  /// Returns the masked ranges: the content of long tags with too many frames, or with an invalid frame.
  ///
  /// - Parameter harmlessByteCount: Tags up to this size are not examined.
  /// - Returns: The ranges, and the end of the last tag.
  static func ranges(
    of source: FileSource, harmlessByteCount: Int64 = harmlessByteCount
  ) -> (ranges: [Range<Int64>], end: Int64) {
    guard source.isSeekable else { return ([], 0) }
    var ranges: [Range<Int64>] = []
    var offset: Int64 = 0
    for _ in 0..<maximumTagCount {
      guard let tag = Tag(source.bytes(at: offset, count: 10)) else { break }
      let content = offset + 10..<offset + 10 + tag.byteCount
      let end = content.upperBound + (tag.hasFooter ? 10 : 0)
      if source.byteSource != nil { return (tag.byteCount > harmlessStreamedByteCount ? [content] : [], end) }
      if tag.byteCount > harmlessByteCount, !hasFewFrames(tag, in: content, of: source) {
        ranges.append(content)
      }
      offset = end
    }
    return (ranges, offset)
  }

  private struct Tag {
    let version: UInt8
    let hasExtendedHeader: Bool
    let hasFooter: Bool
    /// The size of the content, without the header and the footer.
    let byteCount: Int64

    /// Parses a tag header; nil if it is not one.
    init?(_ header: [UInt8]) {
      guard header.count == 10, header.starts(with: "ID3".utf8), (2...4).contains(header[3]),
        header[6..<10].allSatisfy({ $0 < 0x80 })
      else { return nil }
      version = header[3]
      hasExtendedHeader = version > 2 && header[5] & 0x40 != 0
      hasFooter = version == 4 && header[5] & 0x10 != 0
      byteCount = ID3Mask.number(header[6..<10], bits: 7)
    }
  }

  /// Returns whether the tag consists of valid frames up to its end or its padding, and of at most `maximumFrameCount`.
  private static func hasFewFrames(_ tag: Tag, in content: Range<Int64>, of source: FileSource) -> Bool {
    let headerCount: Int64 = tag.version == 2 ? 6 : 10
    var offset = content.lowerBound
    if tag.hasExtendedHeader {
      let size = source.bytes(at: offset, count: 4)
      guard size.count == 4 else { return true }
      offset += tag.version == 4 ? number(size[...], bits: 7) : number(size[...], bits: 8) + 4
    }
    for _ in 0..<maximumFrameCount {
      guard offset + headerCount <= content.upperBound else { return true }
      let header = source.bytes(at: offset, count: Int(headerCount))
      // FFmpeg stops where the file ends or the padding begins.
      guard header.count == headerCount, header[0] != 0 else { return true }
      guard let size = size(of: header, tag.version, at: offset, in: content, of: source) else { return false }
      offset += headerCount + size
    }
    return false
  }

  /// Returns the size of a frame after its header; nil if the header is invalid.
  private static func size(
    of header: [UInt8], _ version: UInt8, at offset: Int64, in content: Range<Int64>, of source: FileSource
  ) -> Int64? {
    guard isName(header.prefix(version == 2 ? 3 : 4)) else { return nil }
    guard version == 4 else { return number(version == 2 ? header[3..<6] : header[4..<8], bits: 8) }
    let size = number(header[4..<8], bits: 7)
    // Some programs write sizes with 8 bits per byte instead of 7.
    let plain = number(header[4..<8], bits: 8)
    guard size != plain else { return size }
    let isFollowed = [size, plain].map { size -> Bool in
      let next = offset + 10 + size
      guard next < content.upperBound else { return next == content.upperBound }
      let name = source.bytes(at: next, count: 4)
      return name.first == 0 || name.count == 4 && isName(name[...])
    }
    return isFollowed[1] && (!isFollowed[0] || header[4..<8].contains { $0 >= 0x80 }) ? plain : size
  }

  private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>, bits: Int64) -> Int64 {
    bytes.reduce(0) { $0 << bits | Int64($1) & ((1 << bits) - 1) }
  }
}
