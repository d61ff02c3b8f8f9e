import PlayheadLibAV
import PlayheadMediaCore
import PlayheadTags

extension AssetChapter {
  /// Returns the chapter with its best title first: the title in the first of these languages (BCP 47) that the chapter
  /// has. Returns the chapter unchanged if no title matches.
  ///
  /// Corresponds to `chapterMetadataGroups(bestMatchingPreferredLanguages:)`.
  public func bestMatching(preferredLanguages: [String]) -> AssetChapter {
    for language in preferredLanguages {
      // A full tag such as `pt-BR` has priority over the language alone.
      let index =
        titles.firstIndex { $0.languageCodes.contains { LanguageTag.isSame($0, language) } }
        ?? titles.firstIndex { $0.languageCodes.contains { LanguageCode.matches($0, language) } }
      guard let index else { continue }
      var sorted = titles
      let title = sorted.remove(at: index)
      let code =
        title.languageCodes.first { LanguageTag.isSame($0, language) }
        ?? title.languageCodes.first { LanguageCode.matches($0, language) }
      let others = title.languageCodes.filter { $0 != code }
      sorted.insert(Title(text: title.text, languageCodes: (code.map { [$0] } ?? []) + others), at: 0)
      return AssetChapter(titles: sorted, timeRange: timeRange, languageCode: languageCode)
    }
    return self
  }
}

/// The sorted chapters of a file. Each chapter ends at the next one's start or at the end of the asset;
/// empty chapters are removed.
///
/// A pure value.
struct ChapterList: Sendable, Hashable {
  /// One chapter as stored in the file.
  struct Entry: Sendable, Hashable {
    var title: String?
    var start: MediaTime?
    var end: MediaTime?
    /// All titles, if the file states their languages.
    var titles: [AssetChapter.Title] = []
  }

  private(set) var chapters: [AssetChapter] = []
  /// The number of chapters that precede one with an earlier start.
  private(set) var unsortedCount = 0
  /// The number of chapters shortened by more than `roundingTime`.
  private(set) var clippedCount = 0
  /// The number of chapters that were left out.
  private(set) var droppedCount = 0

  /// The maximum difference that is not reported, because writers round times: 0.1 s.
  private static let roundingTime = MediaTime(value: 1, timescale: 10)

  /// - Parameters:
  ///   - end: the end of the asset; nil if it is estimated or unknown. Then chapters may be after it.
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
      let chapterEnd = [declared ?? limit, limit].compactMap { $0 }.min() ?? .indefinite
      if chapterEnd.isNumeric, chapterEnd <= start { continue }
      if let declared, declared > chapterEnd + Self.roundingTime || start > (entry.start ?? start) { clippedCount += 1 }
      let duration = chapterEnd.isNumeric ? chapterEnd - start : .indefinite
      let range = TimeRange(start: start, duration: duration)
      chapters.append(
        entry.titles.isEmpty
          ? AssetChapter(title: entry.title, timeRange: range, languageCode: languageCode)
          : AssetChapter(titles: entry.titles, timeRange: range))
    }
    droppedCount = entries.count - chapters.count
  }

  /// Adds chapters of the file that were not read to `droppedCount`.
  mutating func noteUnread(count: Int) { droppedCount += count }

  /// The problem of the list as `irregularChapters`; nil if there is none.
  func fault(displayPath: String) -> MediaError? {
    let parts = [(unsortedCount, "sorted"), (clippedCount, "shortened"), (droppedCount, "left out")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    guard !parts.isEmpty else { return nil }
    return MediaError(
      .irregularChapters,
      "the chapters in \(displayPath) were corrected: \(parts.joined(separator: ", "))",
      operation: "chapters")
  }
}

extension ChapterList {
  /// Reads the chapters of an open container. Matroska uses packet times for chapters; other formats count from the
  /// asset's start.
  init(demuxer: Demuxer, format: ContainerFormat, origin: MediaTime, end: MediaTime?) {
    let offset = format == .matroska && origin > .zero ? origin : .zero
    // In formats of the MP4 family the chapter titles are the samples of a text track.
    let text = demuxer.streams.first { $0.mediaType == .other && $0.codecTag == "text" }
    let titles = format == .matroska && !demuxer.chapters.isEmpty ? Self.matroskaTitles(of: demuxer) : [:]
    self.init(
      demuxer.chapters.map { chapter in
        let start = chapter.startTicks.map { chapter.timeBase.time(ofTicks: $0) }
        let nanoseconds = start?.frameIndex(rate: 1_000_000_000, rounding: .halfAwayFromZero)
        return Entry(
          title: chapter.title, start: start.map { $0 - offset },
          end: chapter.endTicks.map { chapter.timeBase.time(ofTicks: $0) - offset },
          titles: nanoseconds.flatMap { titles[$0] } ?? [])
      }, end: end, languageCode: text?.languageCode)
    noteUnread(count: demuxer.chapterCount - demuxer.chapters.count)
  }

  /// Reads the chapter titles of a Matroska file, by start in ns. Returns nothing for a source
  /// that cannot seek. Blocks.
  private static func matroskaTitles(of demuxer: Demuxer) -> [Int64: [AssetChapter.Title]] {
    let source = demuxer.source
    guard source.isSeekable, let byteCount = source.byteCount else { return [:] }
    var limits = TagLimits()
    limits.byteCount = 16 << 20
    // FFmpeg supplies the chapters themselves. If this read fails, only the additional titles are missing.
    let chapters = try? TagReader.matroskaChapters(byteCount: byteCount, limits: limits) {
      (buffer, offset) throws(AVFailure) -> Int in try source.read(into: buffer, at: offset)
    }
    // Of several chapters with the same start FFmpeg uses the first.
    return Dictionary(
      (chapters ?? []).map { chapter in
        let titles = chapter.titles.map { AssetChapter.Title(text: $0.text, languageCodes: $0.languages) }
        return (chapter.startNanoseconds, titles)
      }, uniquingKeysWith: { one, _ in one })
  }
}
