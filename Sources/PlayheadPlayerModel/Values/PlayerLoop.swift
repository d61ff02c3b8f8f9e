import PlayheadMediaCore

/// A range of the current item that repeats.
public struct PlayerLoop: Sendable, Hashable {
  /// The range from the first to the last sample heard, in whole frames of the item.
  public var range: TimeRange
  /// The number of remaining returns to the beginning of the range; nil: until a request ends the loop.
  public var remainingCount: Int?
  /// The number of returns so far, 0 in the first pass; corresponds to AVPlayerLooper.loopCount.
  public var loopCount: Int
  /// Whether the current pass is the last one, and the item ends with it.
  public var isFinishing: Bool

  /// Creates a loop, by default an unlimited one.
  public init(range: TimeRange, remainingCount: Int? = nil, loopCount: Int = 0, isFinishing: Bool = false) {
    self.range = range
    self.remainingCount = remainingCount
    self.loopCount = loopCount
    self.isFinishing = isFinishing
  }
}
