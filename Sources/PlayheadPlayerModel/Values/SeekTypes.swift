import PlayheadMediaCore

/// The effect of a seek on a pending seek.
///
/// <!-- listing: scrub -->
/// ```swift
/// for await position in positions {
///   try await player.seek(to: position, mode: .chase) { _ in }
/// }
/// ```
public enum SeekMode: String, Sendable, Hashable, CaseIterable {
  /// Replaces the pending seek at once. The pending seek completes unfinished.
  case replace
  /// Waits until the pending seek is heard. Of several waiting seeks, only the newest runs. Playback therefore remains
  /// audible while a user drags a slider.
  case chase
}

/// The result of a seek.
///
/// <!-- listing: seek-exactly -->
/// ```swift
/// let result = try await player.seek(to: .seconds(83.5), toleranceBefore: .zero, toleranceAfter: .zero)
/// switch result.outcome {
/// case .finished: print(result.time, result.isExact, result.isClamped)
/// case .unfinished(let reason): print(reason)
/// }
/// ```
public struct SeekResult: Sendable, Hashable {
  /// The reason why a seek did not finish.
  public enum UnfinishedReason: String, Sendable, Hashable, CaseIterable {
    /// A newer seek replaced it.
    case superseded
    /// Another item became current, or no item is current.
    case itemChanged
    /// The item ended before the seek was heard.
    case itemEnded
    /// The item could not be opened, read or decoded.
    case itemFailed
    /// The target is a percentage of the duration or the end, and the item has no known duration.
    case durationUnknown
    /// ``Player/cancelPendingSeeks()`` was called.
    case cancelled
    /// The output was lost. Playback resumes at the target when an output is available again.
    case outputLost
    /// The player was closed.
    case closed
  }

  /// How a seek ended.
  public enum Outcome: Sendable, Hashable {
    /// The first sample at the target has been handed to the device.
    case finished
    /// The seek ended before its audio was handed to the device, for this reason.
    case unfinished(UnfinishedReason)
  }

  /// How the seek ended.
  public var outcome: Outcome
  /// The item of the seek.
  public var itemID: PlayerItemID
  /// The requested time on the item's timeline, before clamping. A relative seek may lead outside the timeline.
  /// Indefinite if it depends on a duration that did not become known.
  public var requested: MediaTime
  /// The tolerance before `requested`: 0 or more, possibly infinite.
  public var toleranceBefore: MediaTime
  /// The tolerance after `requested`: 0 or more, possibly infinite.
  public var toleranceAfter: MediaTime
  /// If the seek finished, the time of the first sample that is heard; otherwise the player's current time.
  public var time: MediaTime
  /// The instant at which `time` is heard; nil while the time does not advance.
  public var hostTime: HostTime?
  /// Whether `time` is the time of the sample that contains `requested`, clamped into the item. If the sample rates of
  /// output and item differ, `time` is that of the first output frame at or after this sample. It is then less than one
  /// output frame away.
  public var isExact: Bool
  /// The reason why `time` is not proven to be the time of the first sample heard; nil if it is proven. If it is set,
  /// `isExact` is false.
  public var positionDoubt: PositionDoubt?
  /// Whether `requested` was outside the item and was clamped to the nearer end.
  public var isClamped: Bool
  /// The time from the call to the completion, in nanoseconds. A finished seek completes when the new audio is handed
  /// to the device.
  public var durationNanoseconds: Int64

  /// Creates a result.
  public init(
    outcome: Outcome, itemID: PlayerItemID, requested: MediaTime, toleranceBefore: MediaTime, toleranceAfter: MediaTime,
    time: MediaTime, hostTime: HostTime? = nil, isExact: Bool, positionDoubt: PositionDoubt? = nil, isClamped: Bool,
    durationNanoseconds: Int64
  ) {
    self.outcome = outcome
    self.itemID = itemID
    self.requested = requested
    self.toleranceBefore = toleranceBefore
    self.toleranceAfter = toleranceAfter
    self.time = time
    self.hostTime = hostTime
    self.isExact = isExact
    self.positionDoubt = positionDoubt
    self.isClamped = isClamped
    self.durationNanoseconds = durationNanoseconds
  }

  /// Whether the seek finished. If false, `unfinishedReason` states the reason.
  public var finished: Bool { outcome == .finished }

  /// The reason why the seek did not finish; nil if it finished.
  public var unfinishedReason: UnfinishedReason? {
    if case .unfinished(let reason) = outcome { reason } else { nil }
  }
}

/// The target position of a seek in an item. It may depend on a duration that is not known yet.
package struct UnresolvedSeekTarget: Sendable, Hashable {
  private enum Base: Sendable, Hashable {
    case time(MediaTime)
    /// A percentage of the duration, or the end.
    case durationBased(TimeExpression)
  }

  private var base: Base
  /// Added to the base.
  private var offset = MediaTime.zero

  /// A target at a time that may be outside the item. Positive infinity is the end, negative infinity the beginning.
  package static func time(_ time: MediaTime) -> UnresolvedSeekTarget {
    if time.isPositiveInfinity { return UnresolvedSeekTarget(base: .durationBased(.end)) }
    return UnresolvedSeekTarget(base: .time(time.isNegativeInfinity ? .zero : time))
  }

  /// Creates the target for `expression`. Relative times are added to `origin`.
  package init(_ expression: TimeExpression, from origin: @autoclosure () -> UnresolvedSeekTarget) {
    switch expression {
    case .absolute(let time): self = .time(time)
    case .relative(let distance):
      self = origin()
      offset = offset + distance
    case .percent, .end: base = .durationBased(expression)
    }
  }

  private init(base: Base) { self.base = base }

  /// Whether the target is the end. For a live stream this is its current end.
  package var isEnd: Bool { base == .durationBased(.end) }

  /// The same offset from another base time.
  package func from(_ time: MediaTime) -> UnresolvedSeekTarget {
    var target = self
    target.base = .time(time)
    return target
  }

  /// Whether the target depends on the item's duration.
  package var needsDuration: Bool { if case .durationBased = base { true } else { false } }

  /// Returns the target time in an item of this duration, before clamping.
  ///
  /// - Throws: `invalidTime` if the duration is needed and not numeric, or if the time is too large.
  package func time(duration: MediaTime) throws(MediaError) -> MediaTime {
    let start: MediaTime
    switch base {
    case .time(let time): start = time
    case .durationBased(let expression): start = try expression.resolve(current: .zero, duration: duration)
    }
    let time = start + offset
    guard time.isNumeric else { throw MediaError(.invalidTime, "the time is out of range", operation: "seek") }
    return time
  }
}

extension MediaTime {
  /// Returns this time clamped to [0, `latest`]. If `latest` is not numeric, only the lower limit applies.
  package func clamped(to latest: MediaTime) -> MediaTime {
    let lower = max(self, .zero)
    return latest.isNumeric ? min(lower, latest) : lower
  }
}
