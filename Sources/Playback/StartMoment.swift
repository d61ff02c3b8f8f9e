import MediaCore

/// When players that start together do.
public enum StartMoment: Sendable, Hashable {
  /// As soon as all of them are ready: the earliest frame of the output that can still be changed.
  case whenReady
  /// So long after the call, from 0 to a day.
  case after(MediaTime)
  /// With the first frame of the output that is heard at this instant or after it; at most a day ahead.
  case hostTime(HostTime)
  /// With this frame of the output, as `TogetherStart.outputFrame` counts them; at most a day ahead.
  case outputFrame(Int64)
}

/// How players started together.
public struct TogetherStart: Sendable, Hashable {
  /// The frame of the output with which they began. It counts from when the device was opened.
  public var outputFrame: Int64
  /// When that frame is heard, or was; nil when the device stands still by now.
  public var hostTime: HostTime?
  /// How many frames later than asked for they began: 0, unless a player was not ready in time.
  public var lateFrameCount: Int64
  /// How many frames lie between the first and the last beginning: 0, unless a player was told something else meanwhile.
  public var spreadFrameCount: Int64
}
