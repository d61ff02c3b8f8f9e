import PlayheadMediaCore

/// The source of an output's samples.
///
/// Threading: one thread at a time, which may block. `cancel` may be called on any thread.
protocol SampleBufferSource: AnyObject, Sendable {
  /// Moves to a range, which begins at or after 0 and may have an infinite end.
  ///
  /// - Throws: the errors of opening and seeking; `cancelled`.
  func start(_ range: TimeRange) throws(MediaError)
  /// Returns the next buffer of the range; nil at the end of the range or of the source.
  ///
  /// - Throws: the error at which reading ended; `cancelled`.
  func read() throws(MediaError) -> SampleBuffer?
  /// Returns the first fault since the last call that did not stop reading; nil if there is none.
  func popFault() -> MediaError?
  /// The minimum number of buffers that are read ahead, regardless of their size.
  var minimumReadAheadCount: Int { get }
  /// Makes blocking calls return with an error. Does not block.
  func cancel()
}

extension SampleBufferSource {
  var minimumReadAheadCount: Int { 1 }
}
