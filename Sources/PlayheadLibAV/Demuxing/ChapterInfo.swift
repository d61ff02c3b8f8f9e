import CPlayheadFFmpeg

/// The container's description of one chapter.
package struct ChapterInfo: Sendable, Hashable {
  /// The maximum number of chapters that are read from a file.
  package static let maximumCount = 10_000

  /// The time base of the two times.
  package let timeBase: TimeBase
  /// The start of the chapter, in ticks; nil if not specified.
  package let startTicks: Int64?
  package let endTicks: Int64?
  /// The title, at most 1,024 bytes.
  package let title: String?

  init(_ chapter: UnsafePointer<AVChapter>) {
    timeBase = TimeBase(chapter.pointee.time_base) ?? .microseconds
    startTicks = optionalTimestamp(chapter.pointee.start)
    endTicks = optionalTimestamp(chapter.pointee.end)
    title = TagText.value("title", in: chapter.pointee.metadata)
  }
}
