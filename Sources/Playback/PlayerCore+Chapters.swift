import MediaAssets
import MediaCore

/// A chapter of an item, and its place among the others.
public struct PlayerChapter: Sendable, Hashable {
  /// From 1.
  public var number: Int
  /// How many the item has.
  public var count: Int
  public var chapter: AssetChapter
}

/// Where the chapters of an item begin.
struct ChapterStarts {
  /// Ascending, without duplicates.
  let times: [MediaTime]
  /// The one that begins at each.
  let chapters: [PlayerChapter]

  /// Chapters in their order. Of several that begin together, all but one are over at once: the last one counts.
  init(_ all: [AssetChapter]) {
    var (times, chapters): ([MediaTime], [PlayerChapter]) = ([], [])
    for (index, chapter) in all.enumerated() {
      if times.last == chapter.timeRange.start {
        times.removeLast()
        chapters.removeLast()
      }
      times.append(chapter.timeRange.start)
      chapters.append(PlayerChapter(number: index + 1, count: all.count, chapter: chapter))
    }
    (self.times, self.chapters) = (times, chapters)
  }
}

/// Chapters: which is the current one, when that changes, and going from one to another.
extension PlayerCore {
  /// What is watched of the current item.
  struct ChapterWatch {
    var itemID: PlayerItem.ID
    var chapters: [AssetChapter]
    /// Indefinite where it is not known.
    var itemDuration: MediaTime
    /// Told when a chapter's beginning or its end is heard; nil where there are none.
    var token: ObserverToken?
    /// The chapter that was told last; nil: none has been.
    var told: Int??

    /// The chapter at a time, counted from 0; nil before the first, and between two. Backwards a chapter's beginning belongs to what is
    /// before, and its end to the chapter.
    func index(at time: MediaTime, isBackward: Bool = false) -> Int? {
      guard let index = indexBegun(at: time, isBackward: isBackward) else { return nil }
      guard let end = end(of: index) else { return index }
      return (isBackward ? time <= end : time + PlayerCore.chapterReach < end) ? index : nil
    }

    /// The last chapter that has begun at a time, though it may be over; nil before the first.
    ///
    /// A seek lands on the sample that contains a chapter's beginning, which may begin a little before it.
    func indexBegun(at time: MediaTime, isBackward: Bool = false) -> Int? {
      let reach = isBackward ? time : time + PlayerCore.chapterReach
      return chapters.lastIndex { isBackward ? $0.timeRange.start < reach : $0.timeRange.start <= reach }
    }

    /// Where a chapter is over without another one's beginning; nil where that follows at once, or the item ends.
    func end(of index: Int) -> MediaTime? {
      let end = chapters[index].timeRange.end
      let next = index + 1 < chapters.count ? chapters[index + 1].timeRange.start : itemDuration
      guard end.isNumeric, !next.isNumeric || next > end + PlayerCore.chapterGap else { return nil }
      return end
    }

    /// Where another chapter may be heard, or none.
    var boundaries: [MediaTime] { chapters.map(\.timeRange.start) + chapters.indices.compactMap { end(of: $0) } }
  }

  /// More than a sample lasts: 1 ms.
  static let chapterReach = MediaTime(value: 1, timescale: 1_000)

  /// Room between chapters that is none: writers round.
  static let chapterGap = MediaTime(value: 1, timescale: 10)

  /// From so far within a chapter on, going back is going to its beginning.
  static let chapterRestartTime = MediaTime(value: 3, timescale: 1)

  // MARK: - Watching

  /// Watches the chapters of the current item, once they are known.
  func watchChapters() {
    guard let current = currentItem, current.status == .readyToPlay else { return endChapterWatch() }
    guard chapterWatch?.itemID != current.id else { return }
    endChapterWatch()
    guard !isClosed else { return }
    var watch = ChapterWatch(itemID: current.id, chapters: current.chapters, itemDuration: current.duration)
    if !watch.chapters.isEmpty {
      let token = engine.makeToken()
      watch.token = token
      movePlace()
      observers.table.addBoundary(token, times: watch.boundaries, itemID: current.id) {
        [weak self] observation in
        guard observation.reason == .crossed else { return }
        self?.chapterMoved(to: observation.time, in: observation.itemID, isBackward: observation.rate < 0)
      }
    }
    chapterWatch = watch
    movePlace()
    observers.table.setChapters(ChapterStarts(watch.chapters), of: current.id)
    chapterMoved(to: currentTime(), in: current.id)
  }

  private func endChapterWatch() {
    if let token = chapterWatch?.token { _ = observers.table.remove(token) }
    chapterWatch = nil
  }

  /// The item is at another time: tells its chapter when that is another one.
  func chapterMoved(to time: MediaTime, in itemID: PlayerItem.ID, isBackward: Bool = false) {
    guard let watch = chapterWatch, watch.itemID == itemID, !watch.chapters.isEmpty else { return }
    let index = watch.index(at: time, isBackward: isBackward)
    guard watch.told == nil || watch.told != .some(index) else { return }
    chapterWatch?.told = .some(index)
    send(.chapterChanged(itemID, time, index.map { place($0, in: watch) }))
  }

  private func place(_ index: Int, in watch: ChapterWatch) -> PlayerChapter {
    PlayerChapter(number: index + 1, count: watch.chapters.count, chapter: watch.chapters[index])
  }

  /// The chapter that is heard; nil where none is.
  var currentChapter: PlayerChapter? {
    guard let watch = chapterWatch, watch.itemID == currentItem?.id else { return nil }
    return watch.index(at: currentTime()).map { place($0, in: watch) }
  }

  // MARK: - Going

  /// See `PlayerControl.seekToNextChapter`.
  func seekToChapter(next: Bool, completion: @escaping @Sendable (SeekResult) -> Void) throws(MediaError) {
    let operation = next ? "next-chapter" : "previous-chapter"
    guard let current = currentItem else {
      throw MediaError(.noCurrentItem, "there is no current item", operation: operation)
    }
    if let error = current.error { throw error }
    guard let watch = chapterWatch, watch.itemID == current.id else {
      throw MediaError(.invalidState, "the item is not ready: its chapters are not known", operation: operation)
    }
    let time = machine.startUnderWay?.time ?? currentTime()
    guard let target = Self.chapterStart(from: time, in: watch, next: next) else {
      let place =
        watch.chapters.isEmpty ? "the item has no chapters" : next ? "it is the last one" : "it is the first one"
      throw MediaError(.noSuchChapter, "there is no such chapter: \(place)", operation: operation)
    }
    try seek(to: target, Seek(), completion: completion)
  }

  private static func chapterStart(from time: MediaTime, in watch: ChapterWatch, next: Bool) -> MediaTime? {
    let index = watch.indexBegun(at: time)
    if next {
      let following = index.map { $0 + 1 } ?? 0
      return following < watch.chapters.count ? watch.chapters[following].timeRange.start : nil
    }
    guard let index else { return nil }
    let start = watch.chapters[index].timeRange.start
    return index == 0 || time - start > chapterRestartTime ? start : watch.chapters[index - 1].timeRange.start
  }
}
