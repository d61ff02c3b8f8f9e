import LibAV
import MediaCore
import Tags

/// One chapter of an asset.
public struct AssetChapter: Sendable, Hashable, Codable {
  /// What it is called in some languages.
  public struct Title: Sendable, Hashable, Codable {
    public let text: String
    /// As the file has them, BCP 47 or ISO 639-2; none when it does not say.
    public let languageCodes: [String]

    public init(text: String, languageCodes: [String]) {
      self.text = text
      self.languageCodes = languageCodes
    }
  }

  /// As the file has it, the first where it has several; nil when it has none.
  public let title: String?
  /// Where it lies on the asset's timeline. Chapters begin one after another and do not overlap; there may be room
  /// between them. The end is indefinite where neither the file nor the asset's duration tells it.
  public let timeRange: TimeRange
  /// Of the title, as the file has it, mostly ISO 639-2; nil when the file does not tell it (Ogg and ID3 cannot).
  public let languageCode: String?
  /// All that it is called; only Matroska has more than one title.
  public let titles: [Title]

  public init(title: String?, timeRange: TimeRange, languageCode: String? = nil) {
    self.init(
      titles: title.map { [Title(text: $0, languageCodes: languageCode.map { [$0] } ?? [])] } ?? [],
      timeRange: timeRange, languageCode: languageCode)
  }

  /// - Parameter languageCode: of a title that does not say it.
  public init(titles: [Title], timeRange: TimeRange, languageCode: String? = nil) {
    self.titles = titles
    self.timeRange = timeRange
    title = titles.first?.text
    self.languageCode = titles.first?.languageCodes.first ?? languageCode
  }

  /// The languages that it has titles in, each once.
  public var languageCodes: [String] {
    titles.flatMap(\.languageCodes).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// The same, called as in the first of these languages (BCP 47) that it has a title in; as the file has it where there is none. As
  /// `chapterMetadataGroups(bestMatchingPreferredLanguages:)`.
  public func bestMatching(preferredLanguages: [String]) -> AssetChapter {
    for language in preferredLanguages {
      // What says more than the language, such as `pt-BR`, is looked for first.
      let index =
        titles.firstIndex { $0.languageCodes.contains { LanguageTag.isSame($0, language) } }
        ?? titles.firstIndex { $0.languageCodes.contains { LanguageCode.matches($0, wanted: language) } }
      guard let index else { continue }
      var sorted = titles
      let title = sorted.remove(at: index)
      let code =
        title.languageCodes.first { LanguageTag.isSame($0, language) }
        ?? title.languageCodes.first { LanguageCode.matches($0, wanted: language) }
      let others = title.languageCodes.filter { $0 != code }
      sorted.insert(Title(text: title.text, languageCodes: (code.map { [$0] } ?? []) + others), at: 0)
      return AssetChapter(titles: sorted, timeRange: timeRange, languageCode: languageCode)
    }
    return self
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
    /// All that it is called, where the file says it in languages.
    var titles: [AssetChapter.Title] = []
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
      let range = TimeRange(start: start, duration: duration)
      chapters.append(
        entry.titles.isEmpty
          ? AssetChapter(title: entry.title, timeRange: range, languageCode: languageCode)
          : AssetChapter(titles: entry.titles, timeRange: range))
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

  /// What the chapters of a Matroska file are called, by where they begin; nothing of one that cannot be read again. Blocks.
  private static func matroskaTitles(of demuxer: Demuxer) -> [Int64: [AssetChapter.Title]] {
    let source = demuxer.source
    guard source.isSeekable, let byteCount = source.byteCount else { return [:] }
    var limits = TagLimits()
    limits.byteCount = 16 << 20
    // Its chapters are FFmpeg's; what cannot be read is only not known by more names.
    let chapters = try? TagReader.matroskaChapters(byteCount: byteCount, limits: limits) {
      (buffer, offset) throws(AVFailure) -> Int in try source.read(into: buffer, at: offset)
    }
    // Of several that begin together FFmpeg takes the first.
    return Dictionary(
      (chapters ?? []).map { chapter in
        let titles = chapter.titles.map { AssetChapter.Title(text: $0.text, languageCodes: $0.languages) }
        return (chapter.startNanoseconds, titles)
      }, uniquingKeysWith: { one, _ in one })
  }
}
