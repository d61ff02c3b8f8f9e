// Lists number their entries, and leave out what has no name. So a part of a list that begins amidst a queue has to know how many
// of the entries before it are listed. That is counted slice by slice, and once for each version of a queue, whoever asks for parts.
import Playback
import Playlists

/// What a list has of the entries before a place.
struct Listed {
  private(set) var count: Int
  /// Says where a part of a file begins.
  private(set) var last: PlaylistEntry?

  init(count: Int = 0, last: PlaylistEntry? = nil) {
    self.count = count
    self.last = last
  }

  mutating func append(_ entry: PlaylistEntry) {
    count += 1
    last = entry
  }
}

/// How many entries of a queue, in one of its versions, a list has: of its first blocks, as many as are counted.
struct ListedCounts {
  /// Entries of a block.
  static let blockLength = 250
  /// Entries that are counted before others have a turn on the control loop.
  static let sliceLength = 1_000

  /// The queue's.
  let version: UInt64
  /// For each block, and for what is behind them, how many there are before it.
  private var sums = [0]

  /// Nothing is counted yet.
  init(version: UInt64) { self.version = version }

  /// Blocks that are counted.
  var blockCount: Int { sums.count - 1 }

  /// The next block has so many.
  mutating func append(_ count: Int) { sums.append(sums[blockCount] + count) }

  /// How many there are before a block; those are counted.
  func count(before block: Int) -> Int { sums[block] }

  /// The last block before this one in which there is any.
  func lastBlock(before block: Int) -> Int? { (0..<block).last { sums[$0] < sums[$0 + 1] } }
}

extension NamedPlayer {
  /// What a list of the queue has of the entries before a place that is in the queue or at its end. Nil when more than `slice` of them
  /// were still to be counted: so many are now, and it is asked for again in another turn of the loop.
  func listed(before place: Int, counting slice: Int) -> Listed? {
    let version = state.queueVersion
    if listedCounts.version != version { listedCounts = ListedCounts(version: version) }
    let length = ListedCounts.blockLength
    let block = place / length
    let end = min(block, listedCounts.blockCount + slice / length)
    while listedCounts.blockCount < end {
      let start = listedCounts.blockCount * length
      let count = listedCount(in: start..<start + length)
      listedCounts.append(count)
    }
    guard listedCounts.blockCount >= block else { return nil }
    let rest = block * length..<place
    let count = listedCounts.count(before: block) + listedCount(in: rest)
    if let last = lastListed(in: rest) { return Listed(count: count, last: last) }
    let last = listedCounts.lastBlock(before: block).flatMap { lastListed(in: $0 * length..<($0 + 1) * length) }
    return Listed(count: count, last: last)
  }

  /// How many of the entries at these places a list has.
  func listedCount(in places: Range<Int>) -> Int {
    player.onLoop { player in player.items(in: places).count { $0.isListable } }
  }

  private func lastListed(in places: Range<Int>) -> PlaylistEntry? {
    player.onLoop { player in player.items(in: places).last { $0.isListable }?.exported }
  }
}

extension PlayerItem {
  /// Whether a list could say where it is; then it has an `exported`. No entry is made to know that.
  var isListable: Bool { asset.url != nil || !asset.path.isEmpty }
}
