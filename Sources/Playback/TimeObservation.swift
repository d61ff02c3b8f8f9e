import MediaCore

/// What a time observer is told.
public struct TimeObservation: Sendable, Hashable {
  /// The reason of the call. Periodic observers get `periodic`, `jump`, `start` and `stop`; boundary observers get
  /// `crossed` and `skipped`.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// A multiple of the interval was heard.
    case periodic
    /// A boundary was reached in normal playback.
    case crossed
    /// A seek went over a boundary; only for observers that include seeks.
    case skipped
    /// The current time changed other than by playing.
    case jump
    /// Sound began, or went on after a silence.
    case start
    /// Sound ceased: a pause, an end that nothing follows, samples that did not come, an output that went away.
    case stop
  }

  /// The item that `time` belongs to.
  public var itemID: PlayerItem.ID
  /// Exact and always numeric: a multiple of the interval, or the boundary; for `jump`, `start` and `stop` the position.
  public var time: MediaTime
  /// The rate at which time passes: 0 while it stands still.
  public var rate: Double
  public var reason: Reason
  /// How long ago the sample at `time` was heard, in nanoseconds; 0 where nothing was due.
  public var lateNanoseconds: Int64
  /// Only with `skipped`: the seek went towards the item's beginning.
  public var isBackward = false
  /// For who observes chapters: the one that begins at `time`.
  public var chapter: PlayerChapter?
}
