import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Failed items that are opened again (`ItemFailurePolicy.retry`), each with its own delay. One timer, only while the
/// player plays and an item among the next ones has failed.
extension PlayerCore {
  /// The retries of a player's failed items.
  struct Retries {
    /// The retries of one item.
    struct Schedule {
      /// The time before the next retry. Each retry doubles it.
      var delayNanoseconds = Retries.firstNanoseconds
      /// The time of the next retry. Nil while the item is being opened, or after it was opened.
      var nextTime: HostTime?
      /// The position at which the item failed while it played.
      var failurePosition: MediaTime?

      /// Starts again with the first delay, unless the item failed near its last failure.
      mutating func fail(at position: MediaTime) {
        let distance = failurePosition.map { (position - $0).absoluteValue }
        if distance.map({ $0 >= Retries.shortestProgress }) ?? true { self = Self() }
        nextTime = nil
        failurePosition = position
      }
    }

    /// The delay after the first failure: 1 s.
    static let firstNanoseconds: Int64 = 1_000_000_000
    /// The maximum delay: 60 s.
    static let maximumNanoseconds: Int64 = 60_000_000_000
    /// An item that fails at least this far from its last failure is retried after the first delay again: 1 s.
    static let shortestProgress = MediaTime(value: 1, timescale: 1)

    /// The items that have failed since a pass of them last played to its end, and since the player was paused.
    var schedules: [PlayerItem.ID: Schedule] = [:]
    /// The timer of the earliest retry, and its time.
    var timer: (time: HostTime, control: any ControlTimer)?
  }

  /// Sets, moves or cancels the timer of the next retry.
  func scheduleRetry() {
    guard machine.failurePolicy == .retry, machine.rate != 0, !isClosed else {
      cancelRetryTimer()
      if !retries.schedules.isEmpty { retries.schedules = [:] }
      return
    }
    let ids = retryableIDs
    for id in ids where retries.schedules[id]?.nextTime == nil {
      let delay = retries.schedules[id]?.delayNanoseconds ?? Retries.firstNanoseconds
      retries.schedules[id, default: Retries.Schedule()].nextTime = engine.loop.now.advanced(byNanoseconds: delay)
    }
    let time = ids.compactMap { retries.schedules[$0]?.nextTime }.min()
    guard time != retries.timer?.time else { return }
    cancelRetryTimer()
    guard let time else { return }
    let control = engine.loop.schedule(at: time) { [weak self] in self?.retryFailedItems() }
    retries.timer = (time, control)
  }

  /// Forgets the retries of entries that left the queue.
  func releaseRetries(_ removal: RemovedEntries) {
    for id in removal.ids { retries.schedules[id] = nil }
    if removal.wholeOrder != nil { retries.schedules = retries.schedules.filter { machine.entry($0.key) != nil } }
  }

  /// Cancels the timer of the next retry.
  func cancelRetryTimer() {
    retries.timer?.control.cancel()
    retries.timer = nil
  }

  private var retryableIDs: [PlayerItem.ID] {
    machine.itemsToRetry.filter { items[$0]?.canBeRetried == true }
  }

  private func retryFailedItems() {
    retries.timer = nil
    guard !isClosed else { return }
    let now = engine.loop.now
    let ids = retryableIDs.filter { id in retries.schedules[id]?.nextTime.map { $0 <= now } ?? false }
    for id in ids {
      retries.schedules[id]?.nextTime = nil
      let delay = retries.schedules[id]?.delayNanoseconds ?? Retries.firstNanoseconds
      retries.schedules[id]?.delayNanoseconds = min(2 * delay, Retries.maximumNanoseconds)
      items[id]?.forgetFailure()
    }
    perform(machine.retry(ids), cause: .itemLoaded)
  }

  // MARK: - Failures during playback

  /// The item time of a failure during playback, if opening the item again may succeed: its file or server failed, and
  /// not its content.
  func retryTime(of end: ItemEnd) -> MediaTime? {
    guard end.error?.concernsFileOrServer == true, items[end.itemID]?.canBeOpenedAgain == true else { return nil }
    let time = endTime(of: end.itemID)
    return time.isNumeric ? time : nil
  }

  /// Handles an item that failed while it was heard, and that is opened again later.
  func failedWhilePlaying(_ id: PlayerItem.ID, _ error: MediaError) {
    guard let item = items[id] else { return }
    let position = endTime(of: id)
    retries.schedules[id, default: Retries.Schedule()].fail(at: position)
    item.fail(error)
    item.resumeTime = position
    item.asset.dropFile()
    logger.warning("item failed during playback", metadata: ["item": "\(id)", "error": "\(error)"])
    send(itemChanged(item))
  }
}

extension MediaError {
  /// Whether reading from a file or a server failed. False for invalid content.
  var concernsFileOrServer: Bool { (2_000..<3_000).contains(code.rawValue) }
}
