import MediaCore

/// What a seek does to one that is under way.
public enum SeekMode: String, Sendable, Hashable, CaseIterable {
  /// It takes its place at once: the earlier one completes unfinished.
  case replace
  /// It lets the one under way be heard first, and begins then; of several that wait only the newest is carried out. Who
  /// drags a slider always hears something.
  case chase
}

/// What came of a seek.
public struct SeekResult: Sendable, Hashable {
  /// Why a seek was not carried out.
  public enum UnfinishedReason: String, Sendable, Hashable, CaseIterable {
    /// A newer seek took its place.
    case superseded
    /// Another item became current, or none.
    case itemChanged
    /// The item's end was heard before.
    case itemEnded
    /// The item could not be opened, read or decoded.
    case itemFailed
    /// A part of the duration or the end was asked for, and the item turned out to have no known duration.
    case durationUnknown
    /// `cancelPendingSeeks()` was called.
    case cancelled
    /// The output went away. The player goes on from the asked-for place once there is one again.
    case outputLost
    /// The player was closed.
    case closed
  }

  /// How a seek ended.
  public enum Outcome: Sendable, Hashable {
    /// The first sample is where it will be heard from.
    case finished
    case unfinished(UnfinishedReason)
  }

  public var outcome: Outcome
  /// The item that was sought in.
  public var itemID: PlayerItem.ID
  /// The time asked for, before clamping, on the item's timeline: a relative seek's may lie outside of it. Indefinite when
  /// it hung on a duration that did not become known.
  public var requested: MediaTime
  /// How much earlier than `requested` was allowed; 0 or more, possibly infinite.
  public var toleranceBefore: MediaTime
  /// How much later than `requested` was allowed; 0 or more, possibly infinite.
  public var toleranceAfter: MediaTime
  /// With `finished` the time of the first sample that is heard; otherwise where the player is now.
  public var time: MediaTime
  /// Whether `time` is that of the sample that contains `requested` (clamped into the item). Where the output has another
  /// rate than the item: of the first output frame at or after it, which is less than an output frame away.
  public var isExact: Bool
  /// Why `time` is not proved to be that of the first sample that is heard; nil where it is. `isExact` is false with it.
  public var positionDoubt: PositionDoubt?
  /// Whether `requested` lay outside the item and was moved to its nearest end.
  public var isClamped: Bool
  /// Nanoseconds from the call to the completion: with `finished` until the new sound was handed to the device.
  public var durationNanoseconds: Int64

  /// False when something else came first: `unfinishedReason` says what.
  public var finished: Bool { outcome == .finished }

  /// Nil when it finished.
  public var unfinishedReason: UnfinishedReason? {
    if case .unfinished(let reason) = outcome { reason } else { nil }
  }
}

/// A place in an item that somebody wants to go to, perhaps in terms of a duration that is not known yet.
struct SeekTarget: Sendable, Hashable {
  private enum Base: Sendable, Hashable {
    case time(MediaTime)
    /// A part of the duration, or the end.
    case part(TimeExpression)
  }

  private var base: Base
  /// Added to the base.
  private var offset = MediaTime.zero

  /// A time that may lie outside the item; positive infinity is the end, negative infinity the beginning.
  static func time(_ time: MediaTime) -> SeekTarget {
    if time.isPositiveInfinity { return SeekTarget(base: .part(.end)) }
    return SeekTarget(base: .time(time.isNegativeInfinity ? .zero : time))
  }

  /// What `expression` means where `origin` is the place that relative times count from.
  init(_ expression: TimeExpression, from origin: @autoclosure () -> SeekTarget) {
    switch expression {
    case .absolute(let time): self = .time(time)
    case .relative(let distance):
      self = origin()
      offset = offset + distance
    case .percent, .end: base = .part(expression)
    }
  }

  private init(base: Base) { self.base = base }

  /// Whether it is the end, which of a live stream is where that is now.
  var isEnd: Bool { base == .part(.end) }

  /// The same counted from a time.
  func from(_ time: MediaTime) -> SeekTarget {
    var target = self
    target.base = .time(time)
    return target
  }

  /// Whether it cannot be told without the item's duration.
  var needsDuration: Bool { if case .part = base { true } else { false } }

  /// The time that it means in an item of that duration, before clamping. Errors: `invalidTime` when the duration is needed
  /// and not numeric, or when the time is too large.
  func time(duration: MediaTime) throws(MediaError) -> MediaTime {
    let start: MediaTime
    switch base {
    case .time(let time): start = time
    case .part(let expression): start = try expression.resolve(current: .zero, duration: duration)
    }
    let time = start + offset
    guard time.isNumeric else { throw MediaError(.invalidTime, "the time is out of range", operation: "seek") }
    return time
  }
}

extension MediaTime {
  /// This time within [0, latest]; at least 0 where `latest` is no numeric time.
  func clamped(to latest: MediaTime) -> MediaTime {
    let lower = max(self, .zero)
    return latest.isNumeric ? min(lower, latest) : lower
  }
}
