import PlayheadMediaCore

/// Vorbis comments, in FLAC (RFC 9639, section 8) and in Ogg (RFC 3533; RFC 7845, section 5.2; the Vorbis I
/// specification, section 5).
extension CommentMask {
  /// The maximum total size of images that FFmpeg may keep in memory, in bytes.
  private static let maximumPictureBlockByteCount: Int64 = 64 << 20
  private static let maximumBlockCount = 4_096

  /// Turns blocks with too many comments, and images beyond the maximum total size, into padding.
  mutating func scanFLAC(from start: Int64) {
    let source = source
    var position = start
    var pictureBlockByteCount: Int64 = 0
    for index in 0... {
      let header = source.bytes(at: position, count: 4)
      guard header.count == 4, let size = Self.bigEndian(header[1...], 3) else { return }
      // FFmpeg searches for the audio after the last block.
      guard index < Self.maximumBlockCount else { return maskBytes(with: [0x81], at: position) }
      let content = position + 4
      var isMasked = false
      switch header[0] & 0x7F {
      case 4:
        isMasked = exceedsLimits(size) { scan in
          Self.commentCount(size, limit: scan.maximumCount) { source.bytes(at: content + $0, count: $1) }.count
        }
      case 6:
        pictureBlockByteCount += size
        isMasked = pictureBlockByteCount > Self.maximumPictureBlockByteCount
      default: break
      }
      if isMasked { maskBytes(with: [header[0] & 0x80 | 1], at: position) }
      guard header[0] & 0x80 == 0 else { return }
      position = content + size
    }
  }

  /// Counts the comments in `byteCount` bytes, up to `limit` + 1. Also returns the position of the stored count.
  private static func commentCount(
    _ byteCount: Int64, limit: Int, read: (Int64, Int) -> [UInt8]
  ) -> (count: Int, position: Int64) {
    func number(_ position: Int64) -> Int64? { bigEndian(read(position, 4).reversed(), 4) }
    guard let vendor = number(0), let claimed = number(vendor + 4) else { return (0, 0) }
    var position = vendor + 8
    var count = 0
    while count <= limit, count < claimed, let size = number(position), position + 4 + size <= byteCount {
      position += 4 + size
      count += 1
    }
    return (count, vendor + 4)
  }

  // MARK: - Ogg

  /// The position of one page, and the content of its header.
  private struct Page {
    let position: Int64
    let isContinued: Bool
    let isFirst: Bool
    let granule: Int64
    let serial: Int64
    let laces: [UInt8]

    init?(_ source: FileSource, at position: Int64) {
      let header = source.bytes(at: position, count: 27)
      guard header.count == 27, header.starts(with: "OggS".utf8) else { return nil }
      laces = source.bytes(at: position + 27, count: Int(header[26]))
      guard laces.count == Int(header[26]) else { return nil }
      self.position = position
      (isContinued, isFirst) = (header[5] & 1 != 0, header[5] & 2 != 0)
      granule = header[6..<14].reversed().reduce(0) { $0 << 8 | Int64($1) }
      serial = header[14..<18].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }

    var content: Int64 { position + 27 + Int64(laces.count) }
    var end: Int64 { content + laces.reduce(0) { $0 + Int64($1) } }
    /// The size of the part of the first packet that is in this page, and whether the packet ends in this page.
    var first: (byteCount: Int64, isEnded: Bool) {
      var count: Int64 = 0
      for lace in laces {
        count += Int64(lace)
        if lace < 255 { return (count, true) }
      }
      return (count, false)
    }
  }

  /// A comment packet, which may extend over many pages.
  private struct CommentPacket {
    var fragments: [(page: Int64, range: Range<Int64>, offset: Int64)] = []
    var byteCount: Int64 = 0
    var isComplete = false

    mutating func append(_ page: Page) {
      let first = page.first
      fragments.append((page.position, page.content..<page.content + first.byteCount, byteCount))
      byteCount += first.byteCount
      isComplete = first.isEnded
    }

    /// Converts a position in the packet to the position in the file, and to the page that contains it.
    func position(of offset: Int64) -> (page: Int64, position: Int64)? {
      guard offset >= 0, offset < byteCount else { return nil }
      var (low, high) = (0, fragments.count - 1)
      while low < high {
        let middle = (low + high + 1) / 2
        if fragments[middle].offset <= offset { low = middle } else { high = middle - 1 }
      }
      return (fragments[low].page, fragments[low].range.lowerBound + offset - fragments[low].offset)
    }

    func read(_ source: FileSource, _ offset: Int64, _ count: Int) -> [UInt8] {
      guard let first = position(of: offset), let last = position(of: offset + Int64(count) - 1) else { return [] }
      if first.page == last.page { return source.bytes(at: first.position, count: count) }
      return (0..<Int64(count)).flatMap { index in
        position(of: offset + index).map { source.bytes(at: $0.position, count: 1) } ?? []
      }
    }
  }

  /// Replaces the number of comments by 0 in a packet with too many, and corrects the checksum of the page.
  mutating func scanOgg(from start: Int64) {
    var serialsAfterFirstPage: Set<Int64> = []
    var packets: [Int64: CommentPacket] = [:]
    var position = start
    while step(), let page = Page(source, at: position) {
      position = page.end
      if page.isFirst {
        serialsAfterFirstPage.insert(page.serial)
        continue
      }
      if serialsAfterFirstPage.remove(page.serial) != nil {
        packets[page.serial] = CommentPacket()
      } else if packets[page.serial]?.fragments.isEmpty != false || !page.isContinued {
        packets[page.serial] = nil
      }
      packets[page.serial]?.append(page)
      if let packet = packets[page.serial], packet.isComplete {
        scan(packet)
        packets[page.serial] = nil
      }
      if serialsAfterFirstPage.isEmpty, packets.isEmpty { return }
    }
  }

  private mutating func scan(_ packet: CommentPacket) {
    let source = source
    let start = packet.read(source, 0, 8)
    // The header before the comments: OpusTags, vorbis, theora, a FLAC block's header, or none (Speex).
    let skipped: Int64 =
      start == Array("OpusTags".utf8)
      ? 8
      : start.dropFirst().starts(with: "vorbis".utf8) || start.dropFirst().starts(with: "theora".utf8)
        ? 7 : start.first.map { $0 & 0x7F } == 4 ? 4 : 0
    var countOffset: Int64 = 0
    let isMasked = exceedsLimits(packet.byteCount - skipped) { scan in
      let found = Self.commentCount(packet.byteCount - skipped, limit: scan.maximumCount) {
        packet.read(source, skipped + $0, $1)
      }
      countOffset = skipped + found.position
      return found.count
    }
    guard isMasked, countOffset > 0 else { return }
    var pages: [Int64: [UInt8]] = [:]
    for offset in countOffset..<countOffset + 4 {
      guard let (position, byte) = packet.position(of: offset), let page = Page(source, at: position) else { return }
      var bytes = pages[position] ?? source.bytes(at: position, count: Int(page.end - position))
      guard bytes.indices.contains(Int(byte - position)) else { return }
      bytes[Int(byte - position)] = 0
      pages[position] = bytes
    }
    for (position, bytes) in pages.sorted(by: { $0.key < $1.key }) {
      var bytes = bytes
      bytes.replaceSubrange(22..<26, with: [0, 0, 0, 0])
      let sum = Self.checksum(bytes)
      bytes.replaceSubrange(22..<26, with: (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) })
      maskBytes(with: bytes, at: position)
    }
  }

  /// Computes a page's checksum (RFC 3533, section 6).
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    bytes.reduce(0 as UInt32) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte) << 24) { sum, _ in sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
    }
  }
}
