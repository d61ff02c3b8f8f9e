import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The retries of failed items, which are opened again (`ItemFailurePolicy.retry`), each with a separate delay. There
/// is one timer, only while the player plays and an item among the next ones has failed.
final class ItemRetries: PlayerFeature {
  /// The retries of one item.
  struct Schedule {
    /// The time before the next retry. Each retry doubles it.
    var delayNanoseconds = ItemRetries.firstNanoseconds
    /// The time of the next retry. Nil while the item is being opened, or after it was opened.
    var nextTime: HostTime?
    /// The position at which the item failed while it played.
    var failurePosition: MediaTime?

    /// Starts again with the first delay, unless the item failed near its last failure.
    mutating func fail(at position: MediaTime) {
      let distance = failurePosition.map { (position - $0).absoluteValue }
      if distance.map({ $0 >= ItemRetries.shortestProgress }) ?? true { self = Self() }
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

  private unowned let player: PlayerCore
  /// The items that have failed since a pass of them last played to its end, and since the player was paused.
  private var schedules: [PlayerItem.ID: Schedule] = [:]
  /// The timer of the earliest retry, and its time.
  private var timer: (time: HostTime, control: any ControlTimer)?

  init(_ player: PlayerCore) { self.player = player }

  /// Sets, moves or cancels the timer of the next retry.
  func stateDidPublish() {
    guard player.machine.failurePolicy == .retry, player.machine.rate != 0, !player.isClosed else {
      cancelTimer()
      if !schedules.isEmpty { schedules = [:] }
      return
    }
    let ids = retryableIDs
    for id in ids where schedules[id]?.nextTime == nil {
      let delay = schedules[id]?.delayNanoseconds ?? Self.firstNanoseconds
      schedules[id, default: Schedule()].nextTime = player.engine.loop.now.advanced(byNanoseconds: delay)
    }
    let time = ids.compactMap { schedules[$0]?.nextTime }.min()
    guard time != timer?.time else { return }
    cancelTimer()
    guard let time else { return }
    let control = player.engine.loop.schedule(at: time) { [weak player] in
      guard let player else { return }
      player.retries.retryFailedItems()
    }
    timer = (time, control)
  }

  /// Forgets the retries of entries that left the queue.
  func release(_ removal: RemovedEntries) {
    guard !schedules.isEmpty else { return }
    for id in removal.ids { schedules[id] = nil }
    if removal.wholeOrder != nil { schedules = schedules.filter { player.machine.entry($0.key) != nil } }
  }

  /// Forgets the retries of an item that has played to its end.
  func forget(_ id: PlayerItem.ID) { schedules[id] = nil }

  func playerDidClose() { cancelTimer() }

  private func cancelTimer() {
    timer?.control.cancel()
    timer = nil
  }

  private var retryableIDs: [PlayerItem.ID] {
    player.machine.itemsToRetry.filter { player.items[$0]?.canBeRetried == true }
  }

  private func retryFailedItems() {
    timer = nil
    guard !player.isClosed else { return }
    let now = player.engine.loop.now
    let ids = retryableIDs.filter { id in schedules[id]?.nextTime.map { $0 <= now } ?? false }
    for id in ids {
      schedules[id]?.nextTime = nil
      let delay = schedules[id]?.delayNanoseconds ?? Self.firstNanoseconds
      schedules[id]?.delayNanoseconds = min(2 * delay, Self.maximumNanoseconds)
      player.items[id]?.forgetFailure()
    }
    player.perform(player.machine.retry(ids), cause: .itemLoaded)
  }

  // MARK: - Failures during playback

  /// The item time of a failure during playback, if opening the item again may succeed: its file or server failed, and
  /// not its content.
  func retryTime(of end: PlayerCore.ItemEnd) -> MediaTime? {
    guard end.error?.concernsFileOrServer == true, player.items[end.itemID]?.canBeOpenedAgain == true else {
      return nil
    }
    let time = player.endTime(of: end.itemID)
    return time.isNumeric ? time : nil
  }

  /// Handles an item that failed while it was heard, and that is opened again later.
  func itemFailed(_ id: PlayerItem.ID, _ error: MediaError) {
    guard let item = player.items[id] else { return }
    let position = player.endTime(of: id)
    schedules[id, default: Schedule()].fail(at: position)
    item.fail(error)
    item.resumeTime = position
    item.asset.dropFile()
    player.logger.warning("item failed during playback", metadata: ["item": "\(id)", "error": "\(error)"])
    player.send(player.itemChanged(item))
  }
}

extension MediaError {
  /// Whether reading from a file or a server failed. False for invalid content.
  var concernsFileOrServer: Bool { (2_000..<3_000).contains(code.rawValue) }
}
