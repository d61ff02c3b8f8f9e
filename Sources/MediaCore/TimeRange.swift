/// A stretch of time, as CMTimeRange: from `start`, which belongs to it, up to `end`, which does not.
///
/// Two ranges are equal when their starts and their durations are.
public struct TimeRange: Sendable, Hashable, Codable {
  /// The first instant.
  public var start: MediaTime
  /// How long it lasts. In a valid range: epoch 0 and not below zero.
  public var duration: MediaTime

  /// The empty range at zero.
  public static let zero = TimeRange(start: .zero, duration: .zero)
  /// Not a range: start and duration are invalid.
  public static let invalid = TimeRange(start: .invalid, duration: .invalid)

  /// A range from its parts, whatever they are; `isValid` tells whether they make sense.
  public init(start: MediaTime, duration: MediaTime) {
    self.start = start
    self.duration = duration
  }

  /// From `start` up to `end`. Not valid when `end` lies before `start` or in another epoch, and when only the start is
  /// infinite.
  public init(start: MediaTime, end: MediaTime) {
    if start.isInfinite, end == start {
      self.init(start: start, duration: .zero)
    } else if start.isNegativeInfinity, !end.isPositiveInfinity {
      self.init(start: start, duration: .invalid)  // A duration cannot say where this ends.
    } else {
      self.init(start: start, duration: end - start)
    }
  }

  /// The first instant behind the range: `start + duration`. Of all of time (from -infinity, +infinity long) it is
  /// +infinity.
  public var end: MediaTime {
    start.isNegativeInfinity && duration.isPositiveInfinity ? .positiveInfinity : start + duration
  }

  // MARK: - Predicates

  /// Whether start and duration are valid times, and the duration of epoch 0 and not below zero.
  public var isValid: Bool { start.isValid && duration.isValid && duration.epoch == 0 && duration >= .zero }
  /// Whether this is valid and its start or its duration is not known.
  public var isIndefinite: Bool { isValid && (start.isIndefinite || duration.isIndefinite) }
  /// Whether this is valid and contains no time at all.
  public var isEmpty: Bool { isValid && duration == .zero }

  /// Whether a number lies in this range. False for special values, for times of another epoch, and in a range that is
  /// not valid.
  public func contains(_ time: MediaTime) -> Bool {
    isValid && time.isNumeric && isComparable(with: time) && start <= time && time < end
  }

  /// Whether another range does not reach out of this one on either side. An empty range may also lie at this one's
  /// end.
  public func contains(_ other: TimeRange) -> Bool {
    isValid && other.isValid && isComparable(with: other.start) && start <= other.start && other.end <= end
  }

  // MARK: - Combination

  /// The smallest range with all times of both; a gap between them belongs to it, and an empty range adds nothing.
  ///
  /// Invalid when either range is, or when they start in different epochs.
  public func union(_ other: TimeRange) -> TimeRange {
    guard isValid, other.isValid, isComparable(with: other.start) else { return .invalid }
    if other.isEmpty, !isEmpty { return self }
    if isEmpty, !other.isEmpty { return other }
    if contains(other) { return self }
    if other.contains(self) { return other }
    return TimeRange(start: min(start, other.start), end: max(end, other.end))
  }

  /// The largest range whose times are all in both; `.zero` when they are apart, an empty range where they touch.
  ///
  /// Invalid when either range is, or when they start in different epochs.
  public func intersection(_ other: TimeRange) -> TimeRange {
    guard isValid, other.isValid, isComparable(with: other.start) else { return .invalid }
    if contains(other) { return other }
    if other.contains(self) { return self }
    let (first, last) = (max(start, other.start), min(end, other.end))
    return first <= last ? TimeRange(start: first, end: last) : .zero
  }

  // MARK: - Internals

  /// Whether `time` and this range's start lie on one timeline; a special value lies on every one.
  func isComparable(with time: MediaTime) -> Bool {
    !start.isNumeric || !time.isNumeric || start.epoch == time.epoch
  }
}

extension TimeRange: CustomStringConvertible {
  /// For people and logs: `[start, end)` in decimal seconds, or `invalid`.
  public var description: String {
    isValid ? "[\(start.decimalDescription), \(end.decimalDescription))" : "invalid"
  }
}
