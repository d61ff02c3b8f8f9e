import PlayheadMediaCore

/// The state of a loop that is needed to continue it.
public struct LoopSnapshot: Sendable, Hashable {
  public var range: TimeRange
  /// The number of remaining returns to the beginning; nil: unlimited.
  public var remainingCount: Int?
  public var loopCount: Int
  public var isArmed: Bool
  public var isFinishing: Bool

  public init(range: TimeRange, remainingCount: Int?, loopCount: Int, isArmed: Bool, isFinishing: Bool) {
    self.range = range
    self.remainingCount = remainingCount
    self.loopCount = loopCount
    self.isArmed = isArmed
    self.isFinishing = isFinishing
  }
}
