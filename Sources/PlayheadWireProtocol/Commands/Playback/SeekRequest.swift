import PlayheadMediaCore

/// The target of a seek, and its tolerances (`seek`).
package struct SeekRequest: Sendable, Hashable {
  /// The target of a seek.
  package enum Target: Sendable, Hashable {
    case time(TimeExpression)
    /// The position that was recorded at this date, in nanoseconds since 1970.
    case date(Int64)
  }

  package var target: Target
  /// Not negative. May be positive infinity. Default: zero.
  package var toleranceBefore: MediaTime
  /// Not negative. May be positive infinity. Default: zero.
  package var toleranceAfter: MediaTime
  /// Whether this seek waits until the audio of the current seek has begun. Otherwise it replaces that seek.
  package var isChase: Bool
  /// The entry that the current item must be. Nil: any. The seek fails for another item.
  package var item: EntryReference?

  package init(
    target: Target, toleranceBefore: MediaTime = .zero, toleranceAfter: MediaTime = .zero,
    isChase: Bool = false, item: EntryReference? = nil
  ) {
    self.target = target
    self.toleranceBefore = toleranceBefore
    self.toleranceAfter = toleranceAfter
    self.isChase = isChase
    self.item = item
  }
}

extension Arguments<SeekCommand> {
  /// The requested seek.
  ///
  /// - Throws: `bad-arguments` if the date is invalid, if not exactly one of time and date is given, or for a tolerance
  ///   together with `fast`.
  package func seek() throws(MediaError) -> SeekRequest {
    let (isFast, before, after) = (self.fast, self.before, self.after)
    guard !isFast || (before == nil && after == nil) else {
      throw failure("fast cannot be combined with before or after")
    }
    return SeekRequest(
      target: try seekTarget(), toleranceBefore: before ?? (isFast ? .positiveInfinity : .zero),
      toleranceAfter: after ?? (isFast ? .positiveInfinity : .zero), isChase: self.chase, item: self.item)
  }

  private func seekTarget() throws(MediaError) -> SeekRequest.Target {
    let time = self.time
    guard let text = self.date else {
      guard let time else { throw failure("time is missing") }
      return .time(time)
    }
    guard let date = ISODate.parse(text) else {
      throw failure("invalid date \(Excerpt.quoted(text)); expected a form such as 2026-11-22T09:30:00Z")
    }
    guard time == nil else { throw failure("TIME and date cannot be combined") }
    return .date(date)
  }
}
