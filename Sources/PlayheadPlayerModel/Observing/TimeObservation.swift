import PlayheadMediaCore

/// The argument of a time observer's handler.
///
/// <!-- listing: periodic-observer -->
/// ```swift
/// let token = try await player.addPeriodicTimeObserver(forInterval: .seconds(0.5)) { print($0.time, $0.reason) }
/// ```
public struct TimeObservation: Sendable, Hashable {
  /// The reason of the call. Periodic observers get `periodic`, `jump`, `start` and `stop`; boundary observers get
  /// `crossed` and `skipped`.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// A multiple of the interval was heard.
    case periodic
    /// Playback reached a boundary.
    case crossed
    /// A seek crossed a boundary; only for observers that include seeks.
    case skipped
    /// The current time changed other than by playback.
    case jump
    /// Audio began, or continued after silence.
    case start
    /// Audio stopped: after a pause, an end without a successor, an underrun, or the loss of the output.
    case stop
  }

  /// The item to which `time` belongs.
  public var itemID: PlayerItemID
  /// The exact item time; always numeric: the multiple of the interval, the boundary, or the position for `jump`,
  /// `start` and `stop`.
  public var time: MediaTime
  /// The rate at which time passes; 0 while it does not pass.
  public var rate: Double
  /// Why the observer is called.
  public var reason: Reason
  /// The delay since the sample at `time` was heard, in nanoseconds; 0 if no sample was due.
  public var lateNanoseconds: Int64
  /// The instant at which `time` is heard; nil if the time does not advance from there.
  public var hostTime: HostTime?
  /// Whether a seek went towards the beginning of the item. Only with `skipped`.
  public var isBackward = false
  /// The chapter that begins at `time`; only for observers of chapters.
  public var chapter: PlayerChapter?

  /// Creates an observation.
  public init(
    itemID: PlayerItemID, time: MediaTime, rate: Double, reason: Reason, lateNanoseconds: Int64,
    hostTime: HostTime? = nil, isBackward: Bool = false, chapter: PlayerChapter? = nil
  ) {
    self.itemID = itemID
    self.time = time
    self.rate = rate
    self.reason = reason
    self.lateNanoseconds = lateNanoseconds
    self.hostTime = hostTime
    self.isBackward = isBackward
    self.chapter = chapter
  }
}
