import PlayheadMediaCore

/// The moment of a synchronised start of several players.
public enum StartMoment: Sendable, Hashable {
  /// As soon as all players are ready: at the earliest output frame that can still be changed.
  case whenReady
  /// This long after the call, from 0 to a day.
  case after(MediaTime)
  /// At the first output frame that is heard at this instant or later; at most a day ahead.
  case hostTime(HostTime)
  /// At the first output frame that is heard at this date or later; at most 366 days ahead.
  ///
  /// The start follows the wall clock: when the clock is set, the start moves with it. If the clock is set past the
  /// date, the players start as soon as possible. A time of day is the next one after the request, for which the new
  /// time counts. Until 2 s before the start, the players stay paused. A change of the clock in these 2 s may be too
  /// late to move the start.
  case date(DateExpression)
  /// At this output frame, counted like ``SynchronizedStart/outputFrame``; at most a day ahead.
  case outputFrame(Int64)
}

/// The result of a synchronised start of several players.
public struct SynchronizedStart: Sendable, Hashable {
  /// The output frame of the start, counted from the opening of the device.
  public var outputFrame: Int64
  /// The instant at which that frame is heard; nil if the device has stopped since.
  public var hostTime: HostTime?
  /// The delay of the start in frames: 0, unless a player was not ready in time.
  public var lateFrameCount: Int64
  /// The number of frames between the first and the last player's start: 0, unless a player got another command
  /// meanwhile.
  public var spreadFrameCount: Int64
}
