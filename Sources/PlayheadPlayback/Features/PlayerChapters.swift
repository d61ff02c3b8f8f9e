import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// Chapters: the current one, its changes, and seeks between chapters.
final class PlayerChapters: PlayerFeature {
  private unowned let player: PlayerCore
  /// The chapters of the current item; nil until they are known.
  private var watch: Watch?

  init(_ player: PlayerCore) { self.player = player }

  /// The observation of the chapters of one item.
  private struct Watch {
    var itemID: PlayerItem.ID
    var chapters: [AssetChapter]
    /// The duration of the item; indefinite while it is unknown.
    var itemDuration: MediaTime
    /// The boundary observer of the chapters' starts and ends; nil without chapters.
    var token: ObserverToken?
    /// The chapter that was reported last; nil: no report yet, `.some(nil)`: outside of chapters.
    var reportedIndex: Int??

    /// The index of the chapter at a time; nil before the first chapter and in gaps. In reverse the start of a chapter
    /// belongs to the audio before it, and the end of a chapter belongs to the chapter.
    func index(at time: MediaTime, isBackward: Bool = false) -> Int? {
      guard let index = lastStartedIndex(at: time, isBackward: isBackward) else { return nil }
      guard let end = end(of: index) else { return index }
      return (isBackward ? time <= end : time + PlayerChapters.tolerance < end) ? index : nil
    }

    /// The index of the last chapter that has begun at a time, even if it has ended; nil before the first one.
    ///
    /// A seek lands on the sample that contains a chapter's start, and the sample may begin slightly earlier.
    func lastStartedIndex(at time: MediaTime, isBackward: Bool = false) -> Int? {
      let latestStart = isBackward ? time : time + PlayerChapters.tolerance
      return chapters.lastIndex { isBackward ? $0.timeRange.start < latestStart : $0.timeRange.start <= latestStart }
    }

    /// The end of a chapter that is followed by a gap; nil if the next chapter or the end of the item follows.
    func end(of index: Int) -> MediaTime? {
      let end = chapters[index].timeRange.end
      let next = index + 1 < chapters.count ? chapters[index + 1].timeRange.start : itemDuration
      guard end.isNumeric, !next.isNumeric || next > end + PlayerChapters.longestGap else { return nil }
      return end
    }

    /// The times at which the current chapter may change.
    var boundaries: [MediaTime] { chapters.map(\.timeRange.start) + chapters.indices.compactMap { end(of: $0) } }
  }

  /// The tolerance of comparisons with chapter times, longer than a sample: 1 ms.
  private static let tolerance = MediaTime(value: 1, timescale: 1_000)

  /// The maximum gap between chapters that is ignored, because programs that write chapters round their times: 100 ms.
  private static let longestGap = MediaTime(value: 1, timescale: 10)

  /// After this time in a chapter, "previous" seeks to the start of the chapter.
  private static let restartTime = MediaTime(value: 3, timescale: 1)

  // MARK: - Observation

  /// Observes the chapters of the current item, once they are known.
  func stateDidPublish() {
    guard let current = player.currentItem, current.status == .readyToPlay else { return endWatch() }
    guard watch?.itemID != current.id else { return }
    endWatch()
    guard !player.isClosed else { return }
    var watch = Watch(itemID: current.id, chapters: current.chapters, itemDuration: current.duration)
    if !watch.chapters.isEmpty {
      watch.token = player.timeObservers.addBoundary(times: watch.boundaries, itemID: current.id) {
        [weak player] observation in
        guard observation.reason == .crossed else { return }
        player?.chapters.report(at: observation.time, in: observation.itemID, isBackward: observation.rate < 0)
      }
    }
    self.watch = watch
    player.timeObservers.setChapters(ChapterStarts(watch.chapters), of: current.id)
    report(at: player.currentTime(), in: current.id)
  }

  private func endWatch() {
    if let token = watch?.token { player.timeObservers.removeIfPresent(token) }
    watch = nil
  }

  /// Reports the chapter at `time`, if it differs from the one reported last.
  func report(at time: MediaTime, in itemID: PlayerItem.ID, isBackward: Bool = false) {
    guard let watch, watch.itemID == itemID, !watch.chapters.isEmpty else { return }
    let index = watch.index(at: time, isBackward: isBackward)
    guard watch.reportedIndex == nil || watch.reportedIndex != .some(index) else { return }
    self.watch?.reportedIndex = .some(index)
    player.send(.chapterChanged(itemID, time, index.map { playerChapter(at: $0, in: watch) }))
  }

  private func playerChapter(at index: Int, in watch: Watch) -> PlayerChapter {
    PlayerChapter(number: index + 1, count: watch.chapters.count, chapter: watch.chapters[index])
  }

  /// The chapter that is heard; nil outside of chapters.
  var current: PlayerChapter? {
    guard let watch, watch.itemID == player.currentItem?.id else { return nil }
    return watch.index(at: player.currentTime()).map { playerChapter(at: $0, in: watch) }
  }

  // MARK: - Seeks

  /// Implements `PlayerControl.seekToNextChapter` and `seekToPreviousChapter`.
  func seek(next: Bool, completion: @escaping @Sendable (SeekResult) -> Void) throws(MediaError) {
    let operation = next ? "next-chapter" : "previous-chapter"
    guard let current = player.currentItem else {
      throw MediaError(.noCurrentItem, "there is no current item", operation: operation)
    }
    if let error = current.error { throw error }
    guard let watch, watch.itemID == current.id else {
      throw MediaError(.invalidState, "the item is not ready: its chapters are unknown", operation: operation)
    }
    let time = player.machine.pendingRequest?.time ?? player.currentTime()
    guard let target = Self.start(from: time, in: watch, next: next) else {
      let reason =
        watch.chapters.isEmpty
        ? "the item has no chapters" : next ? "there is no later chapter" : "no chapter has begun"
      throw MediaError(.noSuchChapter, "no such chapter: \(reason)", operation: operation)
    }
    try player.seeks.seek(to: target, PlayerSeeks.Options(), completion: completion)
  }

  private static func start(from time: MediaTime, in watch: Watch, next: Bool) -> MediaTime? {
    let index = watch.lastStartedIndex(at: time)
    if next {
      let following = index.map { $0 + 1 } ?? 0
      return following < watch.chapters.count ? watch.chapters[following].timeRange.start : nil
    }
    guard let index else { return nil }
    let start = watch.chapters[index].timeRange.start
    return index == 0 || time - start > restartTime ? start : watch.chapters[index - 1].timeRange.start
  }
}
