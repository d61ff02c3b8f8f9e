import DequeModule

/// Stored pictures on their way to the container, which wants to know when each is decoded. Some do not say it, as the first of a
/// Matroska track: they wait for one that does, or until enough have come without one.
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

  private var waiting: [Picture] = []
  private var ready: Deque<Picture> = []

  /// The next that can be written.
  mutating func popFirst() -> Picture? { ready.popFirst() }

  /// Takes the next in the order of decoding.
  mutating func append(_ picture: Picture) {
    guard let decodeTicks = picture.decodeTicks else {
      waiting.append(picture)
      if waiting.count >= Self.largestWaitingCount { finish() }
      return
    }
    // Those before it were decoded before it, in steps as long as a picture, and before they were shown.
    var next = decodeTicks
    for index in waiting.indices.reversed() {
      next = min(waiting[index].ticks, next - max(1, waiting[index].duration))
      waiting[index].decodeTicks = next
    }
    ready.append(contentsOf: waiting)
    waiting = []
    ready.append(picture)
  }

  /// None follows: what waits is decoded in the order of what is shown, so much earlier that each is before it is shown.
  mutating func finish() {
    let sorted = waiting.map(\.ticks).sorted()
    let lead = zip(waiting, sorted).map { $1 - $0.ticks }.max() ?? 0
    for index in waiting.indices { waiting[index].decodeTicks = sorted[index] - lead }
    ready.append(contentsOf: waiting)
    waiting = []
  }
}
