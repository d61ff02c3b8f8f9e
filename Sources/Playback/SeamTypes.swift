import MediaAssets
import MediaCore

/// What is played again when it has ended.
public enum RepeatMode: String, Sendable, Hashable, CaseIterable {
  /// Nothing: an item that was heard to its end leaves the queue.
  case off
  /// The current item, from its beginning.
  case one
  /// The queue: an item that was heard to its end goes to the end of the queue, and keeps its id.
  case all
}

/// A part of the current item that is played again and again.
public struct PlayerLoop: Sendable, Hashable {
  /// From the first sample heard to the one behind the last: whole frames of the item.
  public var range: TimeRange
  /// How many more times playback goes back to its beginning; nil: until it is told otherwise.
  public var remainingCount: Int?
  /// How many times it has gone back: 0 in the first pass. As AVPlayerLooper.loopCount.
  public var loopCount: Int
  /// The present pass is the last, and ends the item.
  public var isFinishing: Bool

  public init(range: TimeRange, remainingCount: Int? = nil, loopCount: Int = 0, isFinishing: Bool = false) {
    self.range = range
    self.remainingCount = remainingCount
    self.loopCount = loopCount
    self.isFinishing = isFinishing
  }
}

/// Where one item, or one pass of it, was followed by the next, as it was heard.
public struct PlayerSeam: Sendable, Hashable {
  public var fromItemID: PlayerItem.ID
  /// The same as `fromItemID` where an item is repeated or looped.
  public var toItemID: PlayerItem.ID
  /// Where the following item began: 0, or the beginning of a loop.
  public var time: MediaTime
  /// What was cut off behind the end of the one, in frames of its own rate, and what said so.
  public var trimmedEnd: EdgeTrim
  /// What was cut off before the beginning of the other.
  public var trimmedStart: EdgeTrim
  /// Frames of the output that were silent in between: 0, unless the following item did not come in time.
  public var insertedFrameCount: Int64
}
