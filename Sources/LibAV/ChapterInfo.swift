import CFFmpeg

/// What the container says about one of its chapters, as values.
public struct ChapterInfo: Sendable, Hashable {
  /// More chapters of a file are not looked at.
  public static let maximumCount = 10_000

  /// Of the two times.
  public let timeBase: TimeBase
  /// Nil when it does not say.
  public let startTicks: Int64?
  public let endTicks: Int64?
  /// At most 1,024 bytes of it.
  public let title: String?

  init(_ chapter: UnsafePointer<AVChapter>) {
    timeBase = TimeBase(chapter.pointee.time_base) ?? .microseconds
    startTicks = optionalTimestamp(chapter.pointee.start)
    endTicks = optionalTimestamp(chapter.pointee.end)
    title = TagText.value("title", in: chapter.pointee.metadata)
  }
}
