import MediaAssets
import MediaCore

/// The part of a queue that repeats after its end.
public enum RepeatMode: String, Sendable, Hashable, CaseIterable {
  /// Nothing repeats: an item that was played to its end leaves the queue.
  case off
  /// The current item repeats from its beginning.
  case one
  /// The queue repeats: an item that was played to its end moves to the end of the queue and keeps its id.
  case all
}

/// A range of the current item that repeats.
public struct PlayerLoop: Sendable, Hashable {
  /// The range from the first to the last sample heard, in whole frames of the item.
  public var range: TimeRange
  /// How many more times playback returns to the beginning of the range; nil: until a request ends the loop.
  public var remainingCount: Int?
  /// How many times playback has returned: 0 in the first pass. As AVPlayerLooper.loopCount.
  public var loopCount: Int
  /// Whether the present pass is the last one and ends the item.
  public var isFinishing: Bool

  public init(range: TimeRange, remainingCount: Int? = nil, loopCount: Int = 0, isFinishing: Bool = false) {
    self.range = range
    self.remainingCount = remainingCount
    self.loopCount = loopCount
    self.isFinishing = isFinishing
  }
}

/// A transition from one item, or one pass of it, to the next, as it was heard.
public struct PlayerTransition: Sendable, Hashable {
  public var fromItemID: PlayerItem.ID
  /// Equal to `fromItemID` if an item repeats or loops.
  public var toItemID: PlayerItem.ID
  /// The start time of the following item: 0, or the beginning of a loop.
  public var time: MediaTime
  /// The audio that was trimmed after the end of the first item, in frames of the item's sample rate, and the source of
  /// this value.
  public var trimmedEnd: EdgeTrim
  /// The audio that was trimmed before the beginning of the following item.
  public var trimmedStart: EdgeTrim
  /// The number of silent output frames in between: 0, unless the following item was late.
  public var insertedFrameCount: Int64
}
