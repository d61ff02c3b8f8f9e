import DequeModule

/// Stored pictures on their way to the container, which wants to know when each is decoded. Some do not say it, as the first of a
/// Matroska track: they wait for one that does, or until enough have come without one.
///
/// Containers write pictures in decoding order, each decoded at its own time and no later than it is shown. Some files
/// have pictures decoded after they are shown (negative composition offsets), or two that are decoded at the same time
/// (hidden frames of VP9 in separate packets). The decoding times of the pictures before such a picture become earlier.
/// Therefore the last pictures are retained until `settlingCount` others follow.
struct StoredPictures: Sendable {
  /// A coded picture.
  struct Picture: Sendable {
    let data: [UInt8]
    /// When it is shown.
    let ticks: Int64
    /// When it is decoded; nil when that is not said.
    var decodeTicks: Int64?
    let duration: Int64
    let isKeyFrame: Bool
  }

  /// Pictures that wait at most: H.264 has 16 that are shown in another order than they are decoded in.
  static let largestWaitingCount = 32
  /// Pictures whose decoding times may still become earlier: twice the reordering of H.264.
  static let settlingCount = 32
  /// Bytes of these pictures. Codecs with larger pictures reorder none.
  static let settlingByteCount = 16 << 20

  /// Pictures that do not say when they are decoded, in that order.
  private var waiting: Deque<Picture> = []
  /// When those that wait are shown, sorted: as many.
  private var times: [Int64] = []
  /// So much earlier than the next is shown is a picture decoded: one for all of the track, so that there is no seam. Nil before the first
  /// that had to be guessed.
  private var lead: Int64?
  /// Pictures with decoding times, which increase. The times of the last `settlingCount` may still become earlier.
  private var dated: Deque<Picture> = []
  private var datedByteCount = 0
  private var isFinished = false

  /// The next that can be written.
  mutating func popFirst() -> Picture? {
    guard isFinished || dated.count > Self.settlingCount || datedByteCount > Self.settlingByteCount,
      let picture = dated.popFirst()
    else { return nil }
    datedByteCount -= picture.data.count
    return picture
  }

  /// Takes the next in the order of decoding.
  mutating func append(_ picture: Picture) {
    guard let decodeTicks = picture.decodeTicks else {
      waiting.append(picture)
      let place = times.firstIndex { $0 > picture.ticks } ?? times.endIndex
      times.insert(picture.ticks, at: place)
      if waiting.count > Self.largestWaitingCount { guessFirst() }
      return
    }
    // Those before it were decoded before it, in steps as long as a picture, and before they were shown.
    var next = decodeTicks
    for index in waiting.indices.reversed() {
      next = min(waiting[index].ticks, next - max(1, waiting[index].duration))
      waiting[index].decodeTicks = next
    }
    while let first = waiting.popFirst() { give(first, decodedAt: first.decodeTicks ?? first.ticks) }
    times = []
    give(picture, decodedAt: decodeTicks)
  }

  /// None follows.
  mutating func finish() {
    while !waiting.isEmpty { guessFirst() }
    isFinished = true
  }

  /// The first that waits is decoded in the order of what is shown, by the lead earlier: before it is shown, and so that those behind
  /// it can be, too.
  private mutating func guessFirst() {
    let lead = lead ?? zip(waiting, times).map { $1 - $0.ticks }.max() ?? 0
    self.lead = lead
    guard let picture = waiting.popFirst(), let time = times.first else { return }
    times.removeFirst()
    var decodeTicks = min(time - lead, picture.ticks)
    for (index, later) in waiting.enumerated() { decodeTicks = min(decodeTicks, later.ticks - Int64(index) - 1) }
    give(picture, decodedAt: decodeTicks)
  }

  /// One is decoded after the other and before it is shown, whatever was guessed.
  private mutating func give(_ picture: Picture, decodedAt ticks: Int64) {
    var picture = picture
    let following = dated.last?.decodeTicks.map { max(ticks, $0 + 1) } ?? ticks
    var latest = min(following, picture.ticks)
    picture.decodeTicks = latest
    dated.append(picture)
    datedByteCount += picture.data.count
    for index in dated.indices.dropLast().reversed() {
      latest -= 1
      guard let decodeTicks = dated[index].decodeTicks, decodeTicks > latest else { break }
      dated[index].decodeTicks = latest
    }
  }
}
