import PlayheadMediaCore
import PlayheadPlayerModel

/// Playback of a range of the current item.
final class RangePlayback: PlayerFeature {
  private unowned let player: PlayerCore
  /// The range that is played; nil: none.
  private var current: (id: UInt64, completion: @Sendable (RangeOutcome) -> Void)?
  private var newestID: UInt64 = 0

  init(_ player: PlayerCore) { self.player = player }

  /// Implements `PlayerControl.playRange`.
  func play(
    _ range: TimeRange, itemID: PlayerItem.ID?, completion: @escaping @Sendable (RangeOutcome) -> Void
  ) throws(MediaError) -> UInt64 {
    let entry = try player.seeks.checkItem(itemID)
    guard entry.status == .readyToPlay else {
      throw MediaError(.invalidState, "the current item is not ready", operation: "playRange")
    }
    try check(range, in: entry)
    let rate = player.machine.rate != 0 ? player.machine.targetRate : player.rates.next
    guard !rate.isReverse else {
      throw MediaError(
        .unsupportedRate, "a range is played forward; the rate is \(rate.value)", operation: "playRange")
    }
    newestID += 1
    let id = newestID
    if current != nil {
      complete(.replaced)
      player.run(player.machine.removeRangeEnd(), cause: .request)
      // An observer may have changed the queue.
      guard !player.isClosed, player.machine.entries.first?.id == entry.id, current == nil else {
        completion(.itemChanged)
        return id
      }
    }
    current = (id, completion)
    player.seeks.start(to: .time(range.start), PlayerSeeks.Options(rangeEnd: range.end), in: entry) { _ in }
    if current?.id == id, player.machine.rate == 0 { player.changeRate(to: rate.value) }
    return id
  }

  /// Checks that a range lies within the item.
  ///
  /// - Throws: `invalidTime`.
  private func check(_ range: TimeRange, in entry: PlayerStateMachine.Entry) throws(MediaError) {
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
  func complete(_ outcome: RangeOutcome) {
    guard let completion = current?.completion else { return }
    current = nil
    player.calls.add { _ in completion(outcome) }
  }

  /// Removes the end of a range, if it is still played. Playback continues past it.
  func cancel(_ id: UInt64) {
    guard current?.id == id else { return }
    complete(.cancelled)
    player.run(player.machine.removeRangeEnd(), cause: .request)
  }

  func playerWillClose() { complete(.closed) }
}
