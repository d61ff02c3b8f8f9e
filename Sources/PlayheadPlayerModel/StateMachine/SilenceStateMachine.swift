import PlayheadMediaCore

/// Decides when a player has been silent for a duration, and when its audio is heard again. A pure value.
///
/// The caller passes the loud ranges of the heard audio in their order. All other time is silent, also while the player
/// is paused, waits, has no item or no device.
package struct SilenceStateMachine: Sendable {
  /// An instant, and its output frame; nil if no device ran.
  package struct Moment: Sendable, Hashable {
    package var hostTime: HostTime
    package var frame: Int64?

    package init(hostTime: HostTime, frame: Int64?) { (self.hostTime, self.frame) = (hostTime, frame) }
  }

  package enum Action: Sendable, Hashable {
    /// The player has been silent since this moment, for at least the duration.
    case began(Moment)
    /// Audio was heard at a moment, after silence of this duration in nanoseconds.
    case ended(Moment, nanoseconds: Int64)
  }

  /// The largest magnitude of samples that are silent, exclusive; 1 is full scale.
  package let threshold: Float
  private let durationNanoseconds: Int64
  /// The moment since which the player is silent.
  private var start: Moment
  private var isReported = false

  /// - Parameter start: The start of the observation. Earlier silence does not count.
  package init(threshold: Float, durationNanoseconds: Int64, start: Moment) {
    (self.threshold, self.durationNanoseconds, self.start) = (threshold, durationNanoseconds, start)
  }

  /// The instant at which silence is due if no audio is heard; nil if the silence was reported.
  package var dueTime: HostTime? { isReported ? nil : start.hostTime.advanced(byNanoseconds: durationNanoseconds) }

  /// Records that the player was silent until `now`, at least since the end of the last loud range.
  package mutating func silenceLasted(until now: HostTime) -> Action? {
    guard let dueTime, now >= dueTime else { return nil }
    isReported = true
    return .began(start)
  }

  /// Records a range of the heard audio that is loud.
  package mutating func audioHeard(from first: Moment, to end: Moment) -> Action? {
    defer { start = end }
    guard isReported else { return nil }
    isReported = false
    return .ended(first, nanoseconds: max(0, first.hostTime.nanoseconds(since: start.hostTime)))
  }

  /// Records that the audio before a moment was not measured. It counts as loud, unless silence was reported.
  package mutating func audioWasUnknown(until end: Moment) { if !isReported { start = end } }

  /// Records that the device stopped, whose frames no longer count.
  package mutating func deviceStopped() { start.frame = nil }
}
