import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadPlayback
import PlayheadRealtimeAudio

/// Reads the titles of queue entries that are not opened yet, so that lists show them. Titles are saved with their
/// entries. After a restart, the reader checks the saved titles, and reads those of changed files again.
///
/// - Only local files are read, one after the other on one thread, and never more than `batchLength` files in
///   `pauseNanoseconds`.
/// - Only the first `entryCount` entries of a queue are read. The others follow as playback advances.
/// - The memory for titles is limited (`AssetOpening.readTitles`). Beyond the limit entries have no titles until they
///   are opened.
/// - A file that cannot be read has no titles. Opening it reports the error.
///
/// Threading: confined to the control loop, except for reading.
final class TitleReader: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, on which its timers run.

  /// The number of entries of a queue whose titles are read.
  static let entryCount = 10_000
  /// The maximum number of files that are read without a pause, and of files whose status is read.
  static let batchLength = 32
  /// The pause after a batch.
  static let pauseNanoseconds: Int64 = 100_000_000
  /// The delay from a queue edit to the first batch. Entries that are opened at once need no separate reading.
  static let delayNanoseconds: Int64 = 200_000_000
  /// The number of entries that one loop iteration examines.
  private static let sliceLength = 512

  /// The examination of one queue.
  private struct Scan {
    weak var player: NamedPlayer?
    /// The index of the next entry to examine.
    var index = 0
    /// Whether the queue was edited since the scan began, so that another scan must follow.
    var isOutdated = false
  }

  private let loop: any ControlLoop
  private let record: () -> (any OpeningRecord)?
  /// The queues to examine. The first one is being examined. While there are any, a timer, a slice or a reading is
  /// pending.
  private var scans: [Scan] = []
  private var timer: (any ControlTimer)?
  /// The reading that is in progress.
  private var opening: AssetOpening?
  private var isClosed = false

  /// - Parameter record: Returns the record of items that are being opened.
  init(loop: any ControlLoop, record: @escaping () -> (any OpeningRecord)?) {
    (self.loop, self.record) = (loop, record)
  }

  /// Stops reading.
  func close() {
    isClosed = true
    timer?.cancel()
    opening?.cancel()
    scans = []
  }

  /// Reads the unknown titles of a queue that was edited, after a short delay.
  func queueChanged(of player: NamedPlayer) {
    guard !isClosed else { return }
    if let index = scans.firstIndex(where: { $0.player === player }) {
      scans[index].isOutdated = true
    } else {
      scans.append(Scan(player: player))
      if scans.count == 1 { schedule(afterNanoseconds: Self.delayNanoseconds) }
    }
  }

  private func schedule(afterNanoseconds nanoseconds: Int64) {
    timer = loop.schedule(at: loop.now.advanced(byNanoseconds: nanoseconds)) { [weak self] in
      self?.timer = nil
      self?.examineNextSlice()
    }
  }

  /// Examines the next entries of the first queue, and reads the titles that are unknown.
  private func examineNextSlice() {
    guard !isClosed, let scan = scans.first else { return }
    guard let player = scan.player, !player.isClosed else { return finishScan() }
    let end = min(scan.index + Self.sliceLength, Self.entryCount, player.state.itemCount)
    guard scan.index < end else { return finishScan() }
    let items = player.player.onLoop { $0.items(in: scan.index..<end) }
    var batch: [PlayerItem] = []
    var (unreadCount, uncheckedCount) = (0, 0)
    for item in items where unreadCount < Self.batchLength && uncheckedCount < Self.batchLength {
      scans[0].index += 1
      if item.hasUnreadTitles {
        unreadCount += 1
      } else if item.hasUncheckedTitles {
        uncheckedCount += 1
      } else {
        continue
      }
      batch.append(item)
    }
    if batch.isEmpty {
      loop.execute { [weak self] in self?.examineNextSlice() }
    } else {
      read(batch, of: player)
    }
  }

  /// Ends the scan of the first queue. An outdated scan starts again after those of the other queues.
  private func finishScan() {
    let scan = scans.removeFirst()
    if scan.isOutdated { scans.append(Scan(player: scan.player)) }
    if !scans.isEmpty { schedule(afterNanoseconds: Self.delayNanoseconds) }
  }

  /// Reads the titles of these entries on another thread.
  private func read(_ batch: [PlayerItem], of player: NamedPlayer) {
    let opening = AssetOpening()
    self.opening = opening
    let record = record()
    NamedThread.detached(name: "read-titles") { [weak self, weak player, loop] in
      let updates = batch.map { item in
        // A crash of a worker is no crash of the daemon.
        let mark = item.asset.isolation == .none ? record?.begin(item.id) : nil
        defer { if let mark { record?.end(mark) } }
        return (item: item, update: opening.updateTitles(of: item.asset))
      }
      loop.execute { [weak self, weak player] in self?.finishReading(updates, of: player) }
    }
  }

  /// Publishes and saves the titles that were read, and continues after a pause.
  private func finishReading(
    _ updates: [(item: PlayerItem, update: AssetOpening.TitleUpdate)], of player: NamedPlayer?
  ) {
    guard !isClosed else { return }
    opening = nil
    if let player, !player.isClosed {
      player.observer.titlesBecameKnown(updates.filter(\.update.hasNewTitles).map(\.item.id))
      let changed = updates.filter(\.update.mustBeSaved).map(\.item)
      if !changed.isEmpty { player.player.onLoop { $0.reportChange(of: changed) } }
    }
    schedule(afterNanoseconds: Self.pauseNanoseconds)
  }
}

extension PlayerItem {
  /// Whether the entry is a whole local file that was not opened yet, and whose titles are unknown. The tags of a part
  /// of a file describe the whole file.
  fileprivate var hasUnreadTitles: Bool {
    isWholeLocalFile && status == .unknown && asset.titles == nil
  }

  /// Whether the titles of the entry must be compared with its file, or the version of the file must be determined, so
  /// that the titles can be saved.
  fileprivate var hasUncheckedTitles: Bool { isWholeLocalFile && asset.hasUncheckedTitles }

  private var isWholeLocalFile: Bool {
    guard timeRange == nil, case .path = asset.location else { return false }
    return !asset.mayUseNetwork
  }
}
