import MediaCore

/// What an output of a reader hands over, wherever it comes from.
///
/// Threading: one thread at a time, which may block; `cancel` from any.
protocol ReadPass: AnyObject, Sendable {
  /// Goes to a range, from a time from 0 on up to one that may be infinite.
  ///
  /// Errors: those of opening and seeking; `cancelled`.
  func begin(_ range: TimeRange) throws(MediaError)
  /// What comes next of the range; nil at its end, or that of what is read.
  ///
  /// Errors: why it broke off; `cancelled`.
  func read() throws(MediaError) -> SampleBuffer?
  /// What was found to be wrong though it was read, since the last time; nil: nothing.
  func takeFault() -> MediaError?
  /// How many buffers are read ahead, however large they are.
  var leastAheadCount: Int { get }
  /// Makes what blocks give up. Does not block.
  func cancel()
}

extension ReadPass {
  var leastAheadCount: Int { 1 }
}
