import PlayheadLibAV

/// Reads the headers of an Ogg file's pages (RFC 3533, section 6).
///
/// Threading: one thread at a time; blocks.
struct OggPages: ~Copyable {
  struct Page {
    /// The byte at which the page begins.
    var byte: Int64
    var byteCount: Int64
    var serialNumber: UInt32
    var sequenceNumber: UInt32
    /// The granule position: the end of the last packet that ends on the page; nil if none does.
    var granule: Int64?
    /// Whether the first packet began on an earlier page.
    var isContinuation: Bool
    var isFirstOfStream: Bool
    var isLastOfStream: Bool

    var end: Int64 { byte + byteCount }
  }

  private var window: FileWindow
  /// The number of false page headers found. The search ends after `maximumFalsePageCount`.
  private var falsePageCount = 0
  private static let maximumFalsePageCount = 2_000

  init(source: FileSource) { window = FileWindow(source: source) }

  /// Returns the page that begins at a byte; nil if there is none, or if the file ends within it.
  ///
  /// - Parameter isChecked: whether a page with a wrong checksum counts as none.
  mutating func page(at byte: Int64, isChecked: Bool = false) throws(AVFailure) -> Page? {
    guard let header = try window.bytes(at: byte, count: 27), isCapture(header) else { return nil }
    func number<Number: FixedWidthInteger>(_ offset: Int, _: Number.Type) -> Number {
      Number(littleEndian: header.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
    let flags = header.load(fromByteOffset: 5, as: UInt8.self)
    let granule = number(6, Int64.self)
    let serialNumber = number(14, UInt32.self)
    let sequenceNumber = number(18, UInt32.self)
    let checksum = number(22, UInt32.self)
    let segmentCount = Int(header.load(fromByteOffset: 26, as: UInt8.self))
    guard let table = try window.bytes(at: byte, count: 27 + segmentCount) else { return nil }
    var byteCount = 27 + segmentCount
    for segment in 0..<segmentCount {
      byteCount += Int(table.load(fromByteOffset: 27 + segment, as: UInt8.self))
    }
    if isChecked {
      guard let bytes = try window.bytes(at: byte, count: byteCount) else { return nil }
      guard OggChecksum.shared.checksum(UnsafeRawBufferPointer(start: bytes, count: byteCount)) == checksum else {
        return nil
      }
    }
    return Page(
      byte: byte, byteCount: Int64(byteCount), serialNumber: serialNumber, sequenceNumber: sequenceNumber,
      granule: granule >= 0 && granule < .max / 4 ? granule : nil, isContinuation: flags & 1 != 0,
      isFirstOfStream: flags & 2 != 0, isLastOfStream: flags & 4 != 0)
  }

  /// Returns the first page with a valid checksum that begins at or after `byte` and before `limit`.
  mutating func firstPage(from byte: Int64, before limit: Int64) throws(AVFailure) -> Page? {
    var position = byte
    while position < limit, falsePageCount < Self.maximumFalsePageCount {
      let count = try window.available(at: position, maximum: Int(min(16_384, limit - position + 3)))
      guard count >= 4, let bytes = try window.bytes(at: position, count: count) else { return nil }
      guard let offset = (0...(count - 4)).first(where: { isCapture(bytes + $0) }) else {
        position += Int64(count - 3)
        continue
      }
      position += Int64(offset)
      guard position < limit else { return nil }
      if let page = try page(at: position, isChecked: true) { return page }
      falsePageCount += 1
      position += 1
    }
    return nil
  }

  /// Whether the page numbers of a stream restart between two of its pages. Then the file is a chain whose streams have
  /// the same serial number, which RFC 3533 forbids. Blocks; reads a few pages.
  ///
  /// The search halves the distance from `first` four times, so it finds a stream that is longer than a sixteenth of
  /// the range.
  mutating func hasRestartedNumbering(after first: Page, before last: Page) throws(AVFailure) -> Bool {
    var later = last
    for shift in 1...4 {
      let byte = first.end + (last.byte - first.end) >> shift
      var page = try firstPage(from: byte, before: last.byte)
      while let found = page, found.serialNumber != last.serialNumber { page = try self.page(at: found.end) }
      guard let page, page.serialNumber == last.serialNumber, page.byte < later.byte else { continue }
      if page.sequenceNumber > later.sequenceNumber { return true }
      if let granule = page.granule, let end = later.granule, granule > end { return true }
      later = page
    }
    return first.sequenceNumber > later.sequenceNumber
  }

  /// "OggS"
  private func isCapture(_ bytes: UnsafeRawPointer) -> Bool {
    bytes.loadUnaligned(as: UInt32.self) == UInt32(bigEndian: 0x4f67_6753)
  }
}

/// The checksum of an Ogg page (RFC 3533, section 6, field 7).
///
/// It is CRC-32 with the polynomial 0x04c11db7 and the initial value 0, neither reflected nor inverted. The four bytes
/// of the checksum itself count as zeros.
struct OggChecksum: Sendable {
  static let shared = OggChecksum()
  private let table: [UInt32]

  private init() {
    table = (0..<256).map { index in
      (0..<8).reduce(UInt32(index) << 24) { value, _ in value & 0x8000_0000 != 0 ? value << 1 ^ 0x04c1_1db7 : value << 1
      }
    }
  }

  func checksum(_ page: UnsafeRawBufferPointer) -> UInt32 {
    var value: UInt32 = 0
    for (offset, byte) in page.enumerated() {
      value = value << 8 ^ table[Int(UInt8(truncatingIfNeeded: value >> 24) ^ ((22..<26).contains(offset) ? 0 : byte))]
    }
    return value
  }
}

/// The streams of an Ogg file, as far as a look-up of positions needs them.
struct OggStreams: Sendable, Hashable {
  /// The serial number of the stream that is read.
  let serialNumber: UInt32
  /// The serial numbers of all streams that begin at the file's start.
  let serialNumbersAtStart: Set<UInt32>

  private static let maximumCount = 256
  /// The number of bytes at the end in which the last page is searched: twice the size of the largest page.
  private static let endByteCount: Int64 = 131_072

  private init(serialNumber: UInt32, serialNumbersAtStart: Set<UInt32>) {
    self.serialNumber = serialNumber
    self.serialNumbersAtStart = serialNumbersAtStart
  }

  /// Finds the streams of a file of `byteCount` bytes. The first audio packet begins on the page at `firstByte`.
  ///
  /// - Returns: nil if a binary search of positions is impossible: no page at `firstByte`, or a chain of streams.
  static func find(source: FileSource, firstByte: Int64, byteCount: Int64) throws(AVFailure) -> OggStreams? {
    var pages = OggPages(source: source)
    guard let first = try pages.page(at: firstByte, isChecked: true) else { return nil }
    var numbers: Set<UInt32> = []
    var next = try pages.firstPage(from: 0, before: firstByte)
    while let page = next, page.isFirstOfStream, numbers.count < maximumCount {
      numbers.insert(page.serialNumber)
      next = try pages.page(at: page.end)
    }
    var last: OggPages.Page?
    var (pagesByteCount, pageCount) = (Int64(0), Int64(0))
    var page = try pages.firstPage(from: max(firstByte, byteCount - endByteCount), before: byteCount)
    while let found = page {
      last = found
      (pagesByteCount, pageCount) = (pagesByteCount + found.byteCount, pageCount + 1)
      page = try pages.page(at: found.end)
    }
    guard let last, numbers.contains(last.serialNumber), numbers.contains(first.serialNumber) else { return nil }
    // The search is necessary only if the number of pages is too small for the size of the file.
    let averageByteCount = byteCount / (Int64(last.sequenceNumber) + 1)
    if averageByteCount > pagesByteCount / max(1, pageCount) * 5 / 4,
      try pages.hasRestartedNumbering(after: first, before: last)
    {
      return nil
    }
    return OggStreams(serialNumber: first.serialNumber, serialNumbersAtStart: numbers)
  }
}

/// Finds the page of an Ogg stream at which reading begins, by the granule positions of its
/// pages (RFC 3533, section 4).
///
/// The granule position of a page is the end of the last packet that ends on it. If the first packet of the following
/// page begins there, it begins at that position, whatever the codec. Two consecutive pages prove this.
struct OggLocator: ~Copyable {
  private var pages: OggPages
  private let streams: OggStreams
  private let firstByte: Int64
  private let byteCount: Int64

  /// The size of a range that is searched page by page and not by bisection.
  private static let rangeByteCount: Int64 = 65_536

  init(source: FileSource, streams: OggStreams, firstByte: Int64, byteCount: Int64) {
    pages = OggPages(source: source)
    self.streams = streams
    self.firstByte = firstByte
    self.byteCount = byteCount
  }

  /// Returns the last known start of a packet at or before granule position `target`.
  ///
  /// - Returns: nil if there is none after the first page, or if the pages are invalid.
  mutating func locate(granule target: Int64) throws(AVFailure) -> PacketIndex.Entry? {
    var low = firstByte
    var high = byteCount
    while high - low > Self.rangeByteCount {
      let middle = low + (high - low) / 2
      switch try firstGranulePage(from: middle, before: high) {
      case .page(let page): if page.granule ?? .max <= target { low = page.byte } else { high = middle }
      case .none: high = middle
      case .foreign: return nil
      }
    }
    var start = low
    var rangeByteCount = Self.rangeByteCount
    while true {
      if let entry = try lastEntry(from: start, granule: target) { return entry }
      guard start > firstByte else { return nil }
      start = max(firstByte, start - rangeByteCount)
      rangeByteCount *= 2
    }
  }

  /// Whether all pages from `byte` to the page that ends after `granule` are present and have valid checksums. Blocks;
  /// reads these pages.
  mutating func isIntact(from byte: Int64, toGranule granule: Int64) throws(AVFailure) -> Bool {
    var byte = byte
    var sequenceNumber: UInt32?
    while byte < byteCount {
      guard let page = try pages.page(at: byte, isChecked: true) else { return false }
      byte = page.end
      guard page.serialNumber == streams.serialNumber else { continue }
      if let sequenceNumber, sequenceNumber &+ 1 != page.sequenceNumber { return false }
      sequenceNumber = page.sequenceNumber
      if page.granule ?? 0 > granule { return true }
    }
    return true
  }

  private enum PageSearchResult {
    case page(OggPages.Page)
    case none
    /// A page of a stream that does not begin at the file's start.
    case foreign
  }

  /// Returns the first page of the stream with a granule position, at or after `byte` and before `limit`.
  private mutating func firstGranulePage(from byte: Int64, before limit: Int64) throws(AVFailure) -> PageSearchResult {
    var next = try pages.firstPage(from: byte, before: limit)
    while let page = next {
      guard streams.serialNumbersAtStart.contains(page.serialNumber), !page.isFirstOfStream else { return .foreign }
      if page.serialNumber == streams.serialNumber, page.granule != nil { return .page(page) }
      let end = page.end
      next = try pages.page(at: end, isChecked: true)
      if next == nil { next = try pages.firstPage(from: end, before: limit) }
    }
    return .none
  }

  /// Returns the last proven position at or before `target`, found by reading forward from `byte`.
  private mutating func lastEntry(from byte: Int64, granule target: Int64) throws(AVFailure) -> PacketIndex.Entry? {
    var found: PacketIndex.Entry?
    var before: OggPages.Page?
    var position: Int64?
    var next = try pages.firstPage(from: byte, before: byteCount)
    while let page = next {
      if page.serialNumber == streams.serialNumber {
        if let before, before.sequenceNumber &+ 1 != page.sequenceNumber { position = nil }
        // If reading begins at a stream's last page, FFmpeg gives the packets of this page no timestamps.
        if let position, position <= target, !page.isContinuation, !page.isLastOfStream, !page.isFirstOfStream {
          found = PacketIndex.Entry(byte: page.byte, frame: position)
        }
        if let granule = page.granule {
          if granule > target { return found }
          position = granule
        }
        before = page
      } else if !streams.serialNumbersAtStart.contains(page.serialNumber) {
        return nil
      }
      let end = page.end
      next = try pages.page(at: end)
      if next == nil { next = try pages.firstPage(from: end, before: byteCount) }
    }
    return found
  }
}
