import PlayheadMediaCore

/// A chapter of an item, with its number.
public struct PlayerChapter: Sendable, Hashable {
  /// The number of the chapter, from 1.
  public var number: Int
  /// The number of chapters of the item.
  public var count: Int
  /// The title and the range of the chapter.
  public var chapter: AssetChapter

  /// Creates a chapter.
  public init(number: Int, count: Int, chapter: AssetChapter) {
    self.number = number
    self.count = count
    self.chapter = chapter
  }
}

/// The start times of an item's chapters.
package struct ChapterStarts {
  /// Ascending, without duplicates.
  package let times: [MediaTime]
  /// The chapter that begins at each of `times`.
  package let chapters: [PlayerChapter]

  /// Creates the start times of `all`, which is in order. Of several chapters with the same start, only the last
  /// counts.
  package init(_ all: [AssetChapter]) {
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
