// An exported playlist omits entries without a location. The other entries are called listed. Some formats number them,
// so a part of a playlist needs the number of listed entries before it. The entries are counted in slices, and once for
// each version of a queue.
import PlayheadPlayback
import PlayheadPlaylists

/// The number of listed entries before an index of the queue, and the last of them.
struct ListedPrefix {
  private(set) var count: Int
  /// The last listed entry. In a CUE sheet, the next entry may be a later part of the same file.
  private(set) var lastEntry: PlaylistEntry?

  init(count: Int = 0, lastEntry: PlaylistEntry? = nil) {
    self.count = count
    self.lastEntry = lastEntry
  }

  mutating func append(_ entry: PlaylistEntry) {
    count += 1
    lastEntry = entry
  }
}

/// The numbers of listed entries in the first blocks of a queue, for one version of the queue.
struct ListedCounts {
  /// The number of entries in a block.
  static let blockLength = 250
  /// The number of entries that are counted in one loop iteration.
  static let sliceLength = 1_000

  /// The version of the queue.
  let version: UInt64
  /// For each counted block, the number of listed entries before it. The last element is the number in all counted
  /// blocks.
  private var sums = [0]

  /// Creates the counts of a queue without counted blocks.
  init(version: UInt64) { self.version = version }

  /// The number of counted blocks.
  var blockCount: Int { sums.count - 1 }

  /// Adds the count of the next block.
  mutating func append(_ count: Int) { sums.append(sums[blockCount] + count) }

  /// The number of listed entries before a block. All earlier blocks must be counted.
  func count(before block: Int) -> Int { sums[block] }

  /// The last block before this one that contains a listed entry.
  func lastBlock(before block: Int) -> Int? { (0..<block).last { sums[$0] < sums[$0 + 1] } }
}

extension NamedPlayer {
  /// Counts the listed entries before an index, which is in the queue or at its end. Stores the counts of whole blocks
  /// in `listedCounts`.
  ///
  /// - Parameter sliceLength: The number of entries that may be counted in this call.
  /// - Returns: Nil if more than `sliceLength` entries must still be counted. The function has then counted
  ///   `sliceLength` entries, and the caller calls it again in another loop iteration.
  func listedPrefix(before index: Int, counting sliceLength: Int) -> ListedPrefix? {
    let version = state.queueVersion
    if listedCounts.version != version { listedCounts = ListedCounts(version: version) }
    let blockLength = ListedCounts.blockLength
    let block = index / blockLength
    let end = min(block, listedCounts.blockCount + sliceLength / blockLength)
    while listedCounts.blockCount < end {
      let start = listedCounts.blockCount * blockLength
      let count = listedCount(in: start..<start + blockLength)
      listedCounts.append(count)
    }
    guard listedCounts.blockCount >= block else { return nil }
    let range = block * blockLength..<index
    let count = listedCounts.count(before: block) + listedCount(in: range)
    if let lastEntry = lastListed(in: range) { return ListedPrefix(count: count, lastEntry: lastEntry) }
    let lastEntry = listedCounts.lastBlock(before: block).flatMap {
      lastListed(in: $0 * blockLength..<($0 + 1) * blockLength)
    }
    return ListedPrefix(count: count, lastEntry: lastEntry)
  }

  /// The number of listed entries in a range of indices.
  func listedCount(in indices: Range<Int>) -> Int {
    player.onLoop { player in player.items(in: indices).count { $0.isListable } }
  }

  private func lastListed(in indices: Range<Int>) -> PlaylistEntry? {
    player.onLoop { player in player.items(in: indices).last { $0.isListable }?.exportedEntry }
  }
}

extension PlayerItem {
  /// Whether a playlist can contain the item, so that `exportedEntry` is not nil. Does not create a playlist entry.
  var isListable: Bool { asset.url != nil || !asset.pathBytes.isEmpty }
}
