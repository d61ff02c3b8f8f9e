import PlayheadMediaCore

/// A change of the loop of the current item (`loop`).
package enum LoopRequest: Sendable, Hashable {
  /// Returns the current loop.
  case show
  case off
  /// Makes the current pass the last one.
  case last
  /// Loops a range. `count` is the number of times that playback returns to the start. Nil: indefinitely.
  case range(start: TimeExpression, end: TimeExpression, count: Int?)
}

extension Arguments<LoopCommand> {
  /// The requested change.
  ///
  /// - Throws: `bad-arguments` for arguments that exclude each other.
  package func loop() throws(MediaError) -> LoopRequest {
    let count = self.count
    if let range = self.range {
      guard self.start == nil, self.end == nil, !self.off, !self.last else {
        throw failure("range cannot be combined with START, END, off and last")
      }
      guard range.end.isNumeric else {
        throw failure("range must have an end (got a range from \(NumberText.seconds(range.start)) without an end)")
      }
      return .range(start: .absolute(range.start), end: .absolute(range.end), count: count)
    }
    switch (self.start, self.end, self.off, self.last) {
    case (let start?, let end?, false, false): return .range(start: start, end: end, count: count)
    case (nil, nil, true, false) where count == nil: return .off
    case (nil, nil, false, true) where count == nil: return .last
    case (nil, nil, false, false) where count == nil: return .show
    default:
      throw failure("loop must have START and END (optionally with count), off, last, or no value to show the loop")
    }
  }
}
