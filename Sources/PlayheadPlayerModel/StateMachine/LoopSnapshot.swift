import PlayheadMediaCore

/// The state of a loop that is needed to continue it.
package struct LoopSnapshot: Sendable, Hashable {
  /// The range of the loop.
  package var range: TimeRange
  /// The number of remaining returns to the beginning; nil: unlimited.
  package var remainingCount: Int?
  /// The number of returns so far.
  package var loopCount: Int
  /// Whether playback has been inside or before the range, so that it returns at the end of the range.
  package var isArmed: Bool
  /// Whether the current pass is the last one.
  package var isFinishing: Bool

  /// Creates the state of a loop.
  package init(range: TimeRange, remainingCount: Int?, loopCount: Int, isArmed: Bool, isFinishing: Bool) {
    self.range = range
    self.remainingCount = remainingCount
    self.loopCount = loopCount
    self.isArmed = isArmed
    self.isFinishing = isFinishing
  }
}
