import ControlLoop
import MediaCore
import PlayerModel

/// Failed items that are opened again (`ItemFailurePolicy.retry`). One timer, only while the player plays and an item
/// among the next ones has failed.
extension PlayerCore {
  /// The timer of the next retry, and the delay that the timer after it has.
  struct RetrySchedule {
    /// The delay after the first failure: 1 s.
    static let firstNanoseconds: Int64 = 1_000_000_000
    /// The maximum delay: 60 s.
    static let maximumNanoseconds: Int64 = 60_000_000_000

    var timer: (any ControlTimer)?
    /// The delay before the next retry. Each retry doubles it. It is reset when no failed item is left.
    var delayNanoseconds = firstNanoseconds
    /// The items that are being opened again.
    var openingIDs: Set<PlayerItem.ID> = []
  }

  /// Sets or cancels the timer of the next retry.
  func scheduleRetry() {
    let ids = machine.failurePolicy == .retry ? retryableIDs : []
    retries.openingIDs = retries.openingIDs.filter { items[$0]?.status == .unknown }
    guard !ids.isEmpty else {
      retries.timer?.cancel()
      retries.timer = nil
      if retries.openingIDs.isEmpty || machine.rate == 0 { retries = RetrySchedule() }
      return
    }
    guard retries.timer == nil else { return }
    retries.timer = engine.loop.schedule(at: engine.loop.now.advanced(byNanoseconds: retries.delayNanoseconds)) {
      [weak self] in self?.retryFailedItems()
    }
  }

  private var retryableIDs: [PlayerItem.ID] {
    machine.itemsToRetry.filter { items[$0]?.canBeRetried == true }
  }

  private func retryFailedItems() {
    retries.timer = nil
    let ids = retryableIDs
    guard !isClosed, !ids.isEmpty else { return }
    retries.delayNanoseconds = min(2 * retries.delayNanoseconds, RetrySchedule.maximumNanoseconds)
    retries.openingIDs = Set(ids)
    for id in ids { items[id]?.forgetFailure() }
    perform(machine.retry(ids), cause: .itemLoaded)
  }
}
