import PlayheadMediaCore

/// Masks comments if their number is excessive. FFmpeg compares each comment with all previous ones, so that a million
/// comments take hours. FFmpeg skips the bytes that replace the masked comments.
///
/// Only files and bytes in memory are examined: for other sources, each read would be a request. A scan has at most
/// `maximumStepCount` steps.
struct CommentMask {
  /// The total size of comments up to which they are not counted, in bytes.
  static let harmlessByteCount: Int64 = 65_536
  /// More comments than any legitimate file has.
  static let maximumCount = 4_096
  /// The maximum product of comments and bytes. It limits the bytes that FFmpeg copies to join comments of one name.
  static let maximumCost: Int64 = 1 << 32
  /// The maximum number of headers of blocks, pages, atoms and chunks that are examined in one file.
  static let maximumStepCount = 100_000

  let source: FileSource
  private let harmlessByteCount: Int64
  let maximumCount: Int
  private(set) var masks: [Mask] = []
  private var byteCount: Int64 = 0
  private var count: Int64 = 0
  private var stepCount = 0

  private init(source: FileSource, harmlessByteCount: Int64, maximumCount: Int) {
    self.source = source
    self.harmlessByteCount = harmlessByteCount
    self.maximumCount = maximumCount
  }

  /// Returns the masked ranges of a file whose format begins at `start`, after ID3 tags. The limits are parameters for
  /// tests. Blocks.
  static func masks(
    of source: FileSource, from start: Int64, harmlessByteCount: Int64 = harmlessByteCount,
    maximumCount: Int = maximumCount
  ) -> [Mask] {
    guard let end = source.byteCount else { return [] }
    var scan = CommentMask(source: source, harmlessByteCount: harmlessByteCount, maximumCount: maximumCount)
    let head = source.bytes(at: start, count: 16)
    guard head.count == 16 else { return [] }
    if head.starts(with: "fLaC".utf8) {
      scan.scanFLAC(from: start + 4)
    } else if head.starts(with: "OggS".utf8) {
      scan.scanOgg(from: start)
    } else if head.starts(with: "caff".utf8) {
      scan.scanCAF(from: start + 8)
    } else if head.starts(with: "RIFF".utf8) || head.starts(with: "RF64".utf8) || head.starts(with: "BW64".utf8) {
      scan.scanRIFF(from: start, end: end)
    } else if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
      scan.scanMatroska(in: start..<end)
    } else if head.starts(with: [0x30, 0x26, 0xB2, 0x75]) {
      scan.scanASF(from: start)
    } else if head[4..<8] == ArraySlice("ftyp".utf8) || head[4..<8] == ArraySlice("moov".utf8)
      || head[4..<8] == ArraySlice("wide".utf8) || head[4..<8] == ArraySlice("mdat".utf8)
    {
      scan.scanMovie(in: start..<end, depth: 0)
    }
    scan.scanAPE(end: end)
    return scan.masks.filter { $0.range.upperBound <= end }
  }

  /// Adds comments of `bytes` bytes, and returns whether the total exceeds a limit. `counted` is called only if the
  /// total size exceeds `harmlessByteCount`.
  mutating func exceedsLimits(_ bytes: Int64, count counted: (Self) -> Int) -> Bool {
    byteCount = byteCount.addingReportingOverflow(max(0, bytes)).partialValue
    guard byteCount > harmlessByteCount || byteCount < 0 else { return false }
    count += Int64(counted(self))
    let (cost, overflow) = count.multipliedReportingOverflow(by: byteCount)
    return count > Int64(maximumCount) || overflow || cost > Self.maximumCost
  }

  /// Masks the bytes at a position with other bytes.
  mutating func maskBytes(with bytes: [UInt8], at position: Int64) {
    masks.append(Mask(range: position..<position + Int64(bytes.count), bytes: bytes))
  }

  /// Counts an examined header; returns false after the maximum number of steps.
  mutating func step() -> Bool {
    stepCount += 1
    return stepCount <= Self.maximumStepCount
  }

  /// Reads bytes as a big-endian number; nil when there are fewer.
  func bigEndian(at position: Int64, _ count: Int) -> Int64? {
    Self.bigEndian(source.bytes(at: position, count: count), count)
  }

  func littleEndian(at position: Int64, _ count: Int) -> Int64? {
    Self.bigEndian(source.bytes(at: position, count: count).reversed(), count)
  }

  static func bigEndian(_ bytes: some Collection<UInt8>, _ count: Int) -> Int64? {
    bytes.count == count ? bytes.reduce(0) { $0 << 8 | Int64($1) } : nil
  }
}
