import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// Chapters: the current one, its changes, and seeks between chapters.
extension PlayerCore {
  /// The observation of the chapters of one item.
  struct ChapterWatch {
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
      return (isBackward ? time <= end : time + PlayerCore.chapterTolerance < end) ? index : nil
    }

    /// The index of the last chapter that has begun at a time, even if it has ended; nil before the first one.
    ///
    /// A seek lands on the sample that contains a chapter's start, and the sample may begin slightly earlier.
    func lastStartedIndex(at time: MediaTime, isBackward: Bool = false) -> Int? {
      let latestStart = isBackward ? time : time + PlayerCore.chapterTolerance
      return chapters.lastIndex { isBackward ? $0.timeRange.start < latestStart : $0.timeRange.start <= latestStart }
    }

    /// The end of a chapter that is followed by a gap; nil if the next chapter or the end of the item follows.
    func end(of index: Int) -> MediaTime? {
      let end = chapters[index].timeRange.end
      let next = index + 1 < chapters.count ? chapters[index + 1].timeRange.start : itemDuration
      guard end.isNumeric, !next.isNumeric || next > end + PlayerCore.chapterGap else { return nil }
      return end
    }

    /// The times at which the current chapter may change.
    var boundaries: [MediaTime] { chapters.map(\.timeRange.start) + chapters.indices.compactMap { end(of: $0) } }
  }

  /// The tolerance of comparisons with chapter times, longer than a sample: 1 ms.
  static let chapterTolerance = MediaTime(value: 1, timescale: 1_000)

  /// The maximum gap between chapters that is ignored, because programs that write chapters round their times: 100 ms.
  static let chapterGap = MediaTime(value: 1, timescale: 10)

  /// After this time in a chapter, "previous" seeks to the start of the chapter.
  static let chapterRestartTime = MediaTime(value: 3, timescale: 1)

  // MARK: - Observation

  /// Observes the chapters of the current item, once they are known.
  func watchChapters() {
    guard let current = currentItem, current.status == .readyToPlay else { return endChapterWatch() }
    guard chapterWatch?.itemID != current.id else { return }
    endChapterWatch()
    guard !isClosed else { return }
    var watch = ChapterWatch(itemID: current.id, chapters: current.chapters, itemDuration: current.duration)
    if !watch.chapters.isEmpty {
      let token = engine.makeToken()
      watch.token = token
      updateObserverPosition()
      observers.table.addBoundary(token, times: watch.boundaries, itemID: current.id) {
        [weak self] observation in
        guard observation.reason == .crossed else { return }
        self?.reportChapter(at: observation.time, in: observation.itemID, isBackward: observation.rate < 0)
      }
    }
    chapterWatch = watch
    updateObserverPosition()
    observers.table.setChapters(ChapterStarts(watch.chapters), of: current.id)
    reportChapter(at: currentTime(), in: current.id)
  }

  private func endChapterWatch() {
    if let token = chapterWatch?.token { _ = observers.table.remove(token) }
    chapterWatch = nil
  }

  /// Reports the chapter at `time`, if it differs from the one reported last.
  func reportChapter(at time: MediaTime, in itemID: PlayerItem.ID, isBackward: Bool = false) {
    guard let watch = chapterWatch, watch.itemID == itemID, !watch.chapters.isEmpty else { return }
    let index = watch.index(at: time, isBackward: isBackward)
    guard watch.reportedIndex == nil || watch.reportedIndex != .some(index) else { return }
    chapterWatch?.reportedIndex = .some(index)
    send(.chapterChanged(itemID, time, index.map { playerChapter(at: $0, in: watch) }))
  }

  private func playerChapter(at index: Int, in watch: ChapterWatch) -> PlayerChapter {
    PlayerChapter(number: index + 1, count: watch.chapters.count, chapter: watch.chapters[index])
  }

  /// The chapter that is heard; nil outside of chapters.
  var currentChapter: PlayerChapter? {
    guard let watch = chapterWatch, watch.itemID == currentItem?.id else { return nil }
    return watch.index(at: currentTime()).map { playerChapter(at: $0, in: watch) }
  }

  // MARK: - Seeks

  /// Implements `PlayerControl.seekToNextChapter` and `seekToPreviousChapter`.
  func seekToChapter(next: Bool, completion: @escaping @Sendable (SeekResult) -> Void) throws(MediaError) {
    let operation = next ? "next-chapter" : "previous-chapter"
    guard let current = currentItem else {
      throw MediaError(.noCurrentItem, "there is no current item", operation: operation)
    }
    if let error = current.error { throw error }
    guard let watch = chapterWatch, watch.itemID == current.id else {
      throw MediaError(.invalidState, "the item is not ready: its chapters are unknown", operation: operation)
    }
    let time = machine.pendingRequest?.time ?? currentTime()
    guard let target = Self.chapterStart(from: time, in: watch, next: next) else {
      let reason =
        watch.chapters.isEmpty
        ? "the item has no chapters" : next ? "there is no later chapter" : "no chapter has begun"
      throw MediaError(.noSuchChapter, "no such chapter: \(reason)", operation: operation)
    }
    try seek(to: target, SeekOptions(), completion: completion)
  }

  private static func chapterStart(from time: MediaTime, in watch: ChapterWatch, next: Bool) -> MediaTime? {
    let index = watch.lastStartedIndex(at: time)
    if next {
      let following = index.map { $0 + 1 } ?? 0
      return following < watch.chapters.count ? watch.chapters[following].timeRange.start : nil
    }
    guard let index else { return nil }
    let start = watch.chapters[index].timeRange.start
    return index == 0 || time - start > chapterRestartTime ? start : watch.chapters[index - 1].timeRange.start
  }
}
