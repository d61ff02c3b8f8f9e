import LibAV
import MediaCore

/// One chapter of an asset.
public struct AssetChapter: Sendable, Hashable {
  /// As the file has it; nil when it has none.
  public let title: String?
  /// Where it lies on the asset's timeline. Chapters begin one after another and do not overlap; there may be room
  /// between them. The end is indefinite where neither the file nor the asset's duration tells it.
  public let timeRange: TimeRange
  /// Of the title, as the file has it, mostly ISO 639-2; nil when FFmpeg does not tell it (Matroska, Ogg, ID3).
  public let languageCode: String?

  public init(title: String?, timeRange: TimeRange, languageCode: String? = nil) {
    self.title = title
    self.timeRange = timeRange
    self.languageCode = languageCode
  }
}

/// A file's chapters put in order: sorted by where they begin, cut where the next one or the sound's end comes, and rid of
/// what nothing is left of.
///
/// A pure value.
struct ChapterList: Sendable, Hashable {
  /// One of the file's, as it stands there.
  struct Entry: Sendable, Hashable {
    var title: String?
    var start: MediaTime?
    var end: MediaTime?
  }

  private(set) var chapters: [AssetChapter] = []
  /// How many came before one that begins earlier.
  private(set) var unsortedCount = 0
  /// How many were cut by more than `roundingTime`.
  private(set) var clippedCount = 0
  /// How many are not in the list.
  private(set) var droppedCount = 0

  /// Writers round; nobody wants to be told.
  private static let roundingTime = MediaTime(value: 1, timescale: 10)

  /// - Parameters:
  ///   - end: where the asset ends; nil when that is an estimate or not known: then chapters may lie behind it.
  init(_ entries: [Entry], end: MediaTime?, languageCode: String?) {
    let timed = entries.filter { $0.start?.isNumeric ?? false }
    unsortedCount = zip(timed, timed.dropFirst()).count { ($0.start ?? .zero) > ($1.start ?? .zero) }
    let sorted = timed.enumerated()
      .sorted { one, other in
        let (start, otherStart) = (one.element.start ?? .zero, other.element.start ?? .zero)
        return start == otherStart ? one.offset < other.offset : start < otherStart
      }
      .map(\.element)
    for (index, entry) in sorted.enumerated() {
      let start = max(.zero, entry.start ?? .zero)
      let next = index + 1 < sorted.count ? sorted[index + 1].start : nil
      let limit = [next, end].compactMap { $0 }.min()
      let declared = entry.end.flatMap { $0.isNumeric && $0 > start ? $0 : nil }
      let stop = [declared ?? limit, limit].compactMap { $0 }.min() ?? .indefinite
      if stop.isNumeric, stop <= start { continue }
      if let declared, declared > stop + Self.roundingTime || start > (entry.start ?? start) { clippedCount += 1 }
      let duration = stop.isNumeric ? stop - start : .indefinite
      chapters.append(
        AssetChapter(
          title: entry.title, timeRange: TimeRange(start: start, duration: duration), languageCode: languageCode))
    }
    droppedCount = entries.count - chapters.count
  }

  /// The same, said to be of a file with more chapters than were looked at.
  mutating func noteUnread(count: Int) { droppedCount += count }

  /// What was wrong with the list; nil when nothing was.
  func fault(displayPath: String) -> MediaError? {
    let parts = [(unsortedCount, "sorted"), (clippedCount, "shortened"), (droppedCount, "left out")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    guard !parts.isEmpty else { return nil }
    return MediaError(
      .irregularChapters,
      "the chapters make no sense as they stand in \(displayPath): \(parts.joined(separator: ", "))",
      operation: "chapters")
  }
}

extension ChapterList {
  /// Those of a file that is being opened. Matroska counts chapters as it counts packets, others from the beginning of the
  /// asset.
  init(demuxer: Demuxer, format: ContainerFormat, origin: MediaTime, end: MediaTime?) {
    let offset = format == .matroska && origin > .zero ? origin : .zero
    // In MP4 and its kin they are the texts of a track.
    let text = demuxer.streams.first { $0.mediaType == .other && $0.codecTag == "text" }
    self.init(
      demuxer.chapters.map { chapter in
        Entry(
          title: chapter.title, start: chapter.startTicks.map { chapter.timeBase.time(ofTicks: $0) - offset },
          end: chapter.endTicks.map { chapter.timeBase.time(ofTicks: $0) - offset })
      }, end: end, languageCode: text?.languageCode)
    noteUnread(count: demuxer.chapterCount - demuxer.chapters.count)
  }
}
