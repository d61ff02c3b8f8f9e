/// A range of time, as CMTimeRange: from `start` (inclusive) up to `end` (exclusive).
///
/// <!-- listing: time-ranges -->
/// ```swift
/// let chorus = TimeRange(start: .seconds(60), end: .seconds(90))
/// print(chorus.contains(.seconds(60)), chorus.contains(.seconds(90)))
/// let part = TimeRange(start: .seconds(75), duration: .seconds(30)).intersection(chorus)
/// print(part.duration)
/// ```
///
/// Two ranges are equal when their starts and durations are equal.
public struct TimeRange: Sendable, Hashable, Codable {
  /// The first instant.
  public var start: MediaTime
  /// The length of the range. In a valid range: of epoch 0 and not negative.
  public var duration: MediaTime

  /// The empty range at zero.
  public static let zero = TimeRange(start: .zero, duration: .zero)
  /// An invalid range: start and duration are invalid.
  public static let invalid = TimeRange(start: .invalid, duration: .invalid)

  /// Creates a range from any start and duration; ``isValid`` states whether they form a valid range.
  public init(start: MediaTime, duration: MediaTime) {
    self.start = start
    self.duration = duration
  }

  /// Creates the range from `start` up to `end`. The range is not valid if `end` is before `start` or in another epoch,
  /// or if only the start is infinite.
  public init(start: MediaTime, end: MediaTime) {
    if start.isInfinite, end == start {
      self.init(start: start, duration: .zero)
    } else if start.isNegativeInfinity, !end.isPositiveInfinity {
      self.init(start: start, duration: .invalid)  // No duration represents this end.
    } else {
      self.init(start: start, duration: end - start)
    }
  }

  /// The first instant after the range: `start + duration`. For a range that starts at -infinity with duration
  /// +infinity: +infinity.
  public var end: MediaTime {
    start.isNegativeInfinity && duration.isPositiveInfinity ? .positiveInfinity : start + duration
  }

  // MARK: - Predicates

  /// Whether start and duration are valid, and the duration is of epoch 0 and not negative.
  public var isValid: Bool { start.isValid && duration.isValid && duration.epoch == 0 && duration >= .zero }
  /// Whether the range is valid and its start or duration is indefinite.
  public var isIndefinite: Bool { isValid && (start.isIndefinite || duration.isIndefinite) }
  /// Whether the range is valid and contains no instant.
  public var isEmpty: Bool { isValid && duration == .zero }

  /// Whether a numeric time is within this range. False for special values, for times of another epoch, and for a
  /// range that is not valid.
  public func contains(_ time: MediaTime) -> Bool {
    isValid && time.isNumeric && isComparable(with: time) && start <= time && time < end
  }

  /// Whether another range is completely within this one. An empty range at the end of this one is also contained.
  public func contains(_ other: TimeRange) -> Bool {
    isValid && other.isValid && isComparable(with: other.start) && start <= other.start && other.end <= end
  }

  // MARK: - Combination

  /// The smallest range that contains both ranges, including a gap between them. An empty range adds nothing.
  ///
  /// Invalid when either range is invalid, or when the starts are in different epochs.
  public func union(_ other: TimeRange) -> TimeRange {
    guard isValid, other.isValid, isComparable(with: other.start) else { return .invalid }
    if other.isEmpty, !isEmpty { return self }
    if isEmpty, !other.isEmpty { return other }
    if contains(other) { return self }
    if other.contains(self) { return other }
    return TimeRange(start: min(start, other.start), end: max(end, other.end))
  }

  /// The largest range contained in both ranges. `.zero` when they are disjoint, an empty range where they touch.
  ///
  /// Invalid when either range is invalid, or when the starts are in different epochs.
  public func intersection(_ other: TimeRange) -> TimeRange {
    guard isValid, other.isValid, isComparable(with: other.start) else { return .invalid }
    if contains(other) { return other }
    if other.contains(self) { return self }
    let (first, last) = (max(start, other.start), min(end, other.end))
    return first <= last ? TimeRange(start: first, end: last) : .zero
  }

  // MARK: - Internals

  /// Whether `time` and the start of this range are on one timeline. A special value is on every timeline.
  func isComparable(with time: MediaTime) -> Bool {
    !start.isNumeric || !time.isNumeric || start.epoch == time.epoch
  }
}

extension TimeRange: CustomStringConvertible {
  /// A description for users and logs: `[start, end)` in decimal seconds, or `invalid`.
  public var description: String {
    isValid ? "[\(start.decimalDescription), \(end.decimalDescription))" : "invalid"
  }
}
