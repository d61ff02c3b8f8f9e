import PlayheadMediaCore

/// A position of a player, and the instant at which it is heard. The positions at other instants follow from it.
/// Corresponds to the anchor of an AVPlayerItem's timebase (`CMSyncGetRelativeRateAndAnchorTime`).
///
/// <!-- listing: timebase-anchor -->
/// ```swift
/// let anchor = await player.timebaseAnchor
/// let soon = anchor.time(at: HostTime.now.advanced(byNanoseconds: 16_000_000))
/// ```
public struct TimebaseAnchor: Sendable, Hashable {
  /// The time of the current item.
  public var time: MediaTime
  /// The rate at which the time advances; 0 while paused or waiting.
  public var rate: Double
  /// The instant at which `time` is heard: just now, or soon if the device has not played it yet. Nil while the time
  /// does not advance: the player is paused or waits, or the device is stopped.
  public var hostTime: HostTime?

  /// Creates an anchor.
  public init(time: MediaTime, rate: Double, hostTime: HostTime?) {
    self.time = time
    self.rate = rate
    self.hostTime = hostTime
  }

  /// Returns the time that is heard at an instant, if the rate and the item stay the same. Before `hostTime`, and
  /// without one, this is `time`.
  public func time(at instant: HostTime) -> MediaTime {
    guard let hostTime, instant > hostTime, let rate = PlaybackRate(rate) else { return time }
    return MediaTime(
      time, advancedByFrames: instant.nanoseconds(since: hostTime), rate: 1_000_000_000, playbackRate: rate)
  }
}
