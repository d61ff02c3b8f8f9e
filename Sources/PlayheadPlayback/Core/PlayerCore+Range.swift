import PlayheadMediaCore
import PlayheadPlayerModel

/// Playback of a range of the current item.
extension PlayerCore {
  /// A range that is played.
  struct RangePlayback {
    let id: UInt64
    let completion: @Sendable (RangeOutcome) -> Void
  }

  /// Implements `PlayerControl.playRange`.
  func playRange(
    _ range: TimeRange, itemID: PlayerItem.ID?, completion: @escaping @Sendable (RangeOutcome) -> Void
  ) throws(MediaError) -> UInt64 {
    let entry = try checkItem(itemID)
    guard entry.status == .readyToPlay else {
      throw MediaError(.invalidState, "the current item is not ready", operation: "playRange")
    }
    try check(range, in: entry)
    let rate = machine.rate != 0 ? machine.targetRate : nextRate ?? defaultRate
    guard !rate.isReverse else {
      throw MediaError(
        .unsupportedRate, "a range is played forward; the rate is \(rate.value)", operation: "playRange")
    }
    newestRangeID += 1
    let id = newestRangeID
    if rangePlayback != nil {
      completeRange(.replaced)
      run(machine.removeRangeEnd(), cause: .request)
      // An observer may have changed the queue.
      guard !isClosed, machine.entries.first?.id == entry.id, rangePlayback == nil else {
        completion(.itemChanged)
        return id
      }
    }
    rangePlayback = RangePlayback(id: id, completion: completion)
    startSeek(to: .time(range.start), SeekOptions(rangeEnd: range.end), in: entry) { _ in }
    if rangePlayback?.id == id, machine.rate == 0 { changeRate(to: rate.value) }
    return id
  }

  /// Checks that a range lies within the item.
  ///
  /// - Throws: `invalidTime`.
  private func check(_ range: TimeRange, in entry: Machine.Entry) throws(MediaError) {
    let (start, end) = (range.start, range.end)
    guard start.isNumeric, end.isNumeric, start >= .zero, start < end else {
      throw MediaError(
        .invalidTime,
        "the range must begin at 0 or later, and end after its beginning"
          + " (got \(start.decimalDescription) to \(end.decimalDescription))",
        operation: "playRange")
    }
    // An item whose duration is an estimate may be longer.
    let latest = entry.forwardEnd ?? (entry.isDurationPrecise ? entry.duration : .positiveInfinity)
    guard end <= latest else {
      throw MediaError(
        .invalidTime,
        "the range must end by \(latest.decimalDescription), the end of the item (got \(end.decimalDescription))",
        operation: "playRange")
    }
  }

  /// Completes the range.
  func completeRange(_ outcome: RangeOutcome) {
    guard let ended = rangePlayback else { return }
    rangePlayback = nil
    enqueue(.range(ended.completion, outcome))
  }

  /// Removes the end of a range, if it is still played. Playback continues past it.
  func cancelRange(_ id: UInt64) {
    guard rangePlayback?.id == id else { return }
    completeRange(.cancelled)
    run(machine.removeRangeEnd(), cause: .request)
  }
}
