import Foundation
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Chapters of files, and the handling of inconsistent chapter lists.
@Suite struct AssetChapterTests {
  private static let metadata = """
    ;FFMETADATA1
    [CHAPTER]
    TIMEBASE=1/1000
    START=0
    END=1000
    title=One
    [CHAPTER]
    TIMEBASE=1/1000
    START=1000
    END=2250
    title=Zwei ü
    [CHAPTER]
    TIMEBASE=1/1000
    START=2250
    END=4000
    title=Three
    """

  @Test(arguments: ["a.m4a", "a.m4b", "a.mov", "a.mka", "a.ogg", "a.opus", "a.mp3", "a.flac"])
  func chaptersAreRead(_ name: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.metadata.utf8), as: "chapters.txt")
    // FFmpeg writes no or wrong chapters into these, and reads those of other programs.
    let hasComments = ["a.ogg", "a.opus", "a.flac"].contains(name)
    let comments = [("00:00:00.000", "One"), ("00:00:01.000", "Zwei ü"), ("00:00:02.250", "Three")].enumerated()
      .flatMap { ["-metadata", "CHAPTER00\($0)=\($1.0)", "-metadata", "CHAPTER00\($0)NAME=\($1.1)"] }
    let codec = name.hasSuffix("mka") ? ["-c:a", "flac"] : name.hasSuffix("m4b") ? ["-f", "ipod"] : []
    try Tool.ffmpeg(
      arguments: [
        "-f", "lavfi", "-i", "sine=duration=4:sample_rate=48000", "-i", folder.file("chapters.txt"),
      ] + (hasComments ? ["-map_chapters", "-1"] + comments : ["-map_metadata", "1"]) + codec + [folder.file(name)])
    let properties = try Asset(path: folder.file(name)).load()
    #expect(properties.chapters.map(\.title) == ["One", "Zwei ü", "Three"])
    let starts = properties.chapters.map { $0.timeRange.start }
    #expect(starts == [.zero, MediaTime(value: 1, timescale: 1), MediaTime(value: 9, timescale: 4)])
    for (chapter, next) in zip(properties.chapters, starts.dropFirst()) { #expect(chapter.timeRange.end == next) }
    #expect(properties.chapterFault == nil, "\(name): \(String(describing: properties.chapterFault))")
    let ends = properties.chapters.map { $0.timeRange.end.decimalDescription }
    print(name, properties.duration.decimalDescription, ends, properties.chapters.first?.languageCode ?? "-")
  }

  @Test func matroskaChaptersHaveTitlesInSeveralLanguages() throws {
    func atom(_ start: String, _ titles: [(String, String, String?)]) -> String {
      let displays = titles.map { text, language, tag in
        "<ChapterDisplay><ChapterString>\(text)</ChapterString><ChapterLanguage>\(language)</ChapterLanguage>"
          + (tag.map { "<ChapLanguageIETF>\($0)</ChapLanguageIETF>" } ?? "") + "</ChapterDisplay>"
      }
      return "<ChapterAtom><ChapterTimeStart>\(start)</ChapterTimeStart>\(displays.joined())</ChapterAtom>"
    }
    let atoms = [
      atom("00:00:00.000", [("One", "eng", nil), ("Eins", "ger", "de"), ("Um", "por", "pt-BR")]),
      atom("00:00:01.500", [("Two", "und", nil)]),
    ]
    let folder = try TemporaryFolder()
    let path = folder.file("a.mka")
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", "sine=duration=3:sample_rate=48000", "-c:a", "flac", path])
    let chapters = try folder.write(
      Array("<?xml version=\"1.0\"?><Chapters><EditionEntry>\(atoms.joined())</EditionEntry></Chapters>".utf8),
      as: "chapters.xml")
    try Tool.run("mkvpropedit", ["--quiet", path, "--chapters", chapters])
    let properties = try Asset(path: path).load()
    #expect(properties.chapterFault == nil && properties.chapters.map(\.title) == ["One", "Two"])
    #expect(properties.chapters.map { $0.titles.map(\.text) } == [["One", "Eins", "Um"], ["Two"]])
    #expect(properties.chapters.last?.languageCodes == [])
    let rows: [([String], [String?], String?)] = [
      (["de"], ["Eins", "Two"], "de"), (["deu"], ["Eins", "Two"], "de"), (["fr", "pt"], ["Um", "Two"], "pt-BR"),
      (["pt-BR", "en"], ["Um", "Two"], "pt-BR"), (["fr"], ["One", "Two"], "en"),
      (["en-GB", "de"], ["One", "Two"], "en"), ([], ["One", "Two"], "en"),
    ]
    for (languages, titles, code) in rows {
      let found = properties.chapters.map { $0.bestMatching(preferredLanguages: languages) }
      #expect(found.map(\.title) == titles, "\(languages)")
      #expect(found.first?.languageCode.map { LanguageCode.primary($0) } == code.map { LanguageCode.primary($0) })
      #expect(found.map(\.timeRange) == properties.chapters.map(\.timeRange))
      #expect(found.first?.titles.count == 3 && Set(found.first?.titles.map(\.text) ?? []) == ["One", "Eins", "Um"])
    }
  }

  /// A chapter list in a file.
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    /// Starts and ends in seconds; nil if the file has none.
    var entries: [(Int64?, Int64?)]
    var end: Int64?
    var chapters: [ClosedRange<Int64>]
    /// The number of sorted, shortened and dropped chapters.
    var faults: [Int]

    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(name: "consistent", entries: [(0, 5), (5, 10)], end: 10, chapters: [0...5, 5...10], faults: [0, 0, 0]),
    Row(name: "no ends", entries: [(0, nil), (5, nil)], end: 10, chapters: [0...5, 5...10], faults: [0, 0, 0]),
    Row(name: "with gaps", entries: [(1, 2), (5, 6)], end: 10, chapters: [1...2, 5...6], faults: [0, 0, 0]),
    Row(name: "out of order", entries: [(5, 10), (0, 5)], end: 10, chapters: [0...5, 5...10], faults: [1, 0, 0]),
    Row(name: "overlapping", entries: [(0, 8), (5, 10)], end: 10, chapters: [0...5, 5...10], faults: [0, 1, 0]),
    Row(
      name: "within another", entries: [(0, 10), (0, 4), (4, 10)], end: 10, chapters: [0...4, 4...10],
      faults: [0, 0, 1]),
    Row(name: "duplicates", entries: [(2, 3), (2, 3), (2, 3)], end: 10, chapters: [2...3], faults: [0, 0, 2]),
    Row(name: "cyclic", entries: [(0, 5), (5, 0), (0, 5)], end: 10, chapters: [0...5, 5...10], faults: [1, 0, 1]),
    Row(
      name: "after the end", entries: [(0, 5), (5, 20), (15, 20)], end: 10, chapters: [0...5, 5...10],
      faults: [0, 1, 1]),
    Row(
      name: "unknown end", entries: [(0, 5), (15, 20)], end: nil, chapters: [0...5, 15...20], faults: [0, 0, 0]),
    Row(name: "before the start", entries: [(-5, 5), (-9, -8)], end: 10, chapters: [0...5], faults: [1, 1, 1]),
    Row(name: "ends before it begins", entries: [(4, 2)], end: 10, chapters: [4...10], faults: [0, 0, 0]),
    Row(name: "no start", entries: [(nil, 2)], end: 10, chapters: [], faults: [0, 0, 1]),
    Row(name: "largest times", entries: [(.max, .max), (0, .max)], end: 10, chapters: [0...10], faults: [1, 1, 1]),
  ]

  @Test(arguments: rows)
  func inconsistentChapterListIsSortedClippedAndReported(_ row: Row) {
    func time(_ seconds: Int64) -> MediaTime { MediaTime(value: seconds, timescale: 1) }
    let list = ChapterList(
      row.entries.map { ChapterList.Entry(start: $0.0.map(time), end: $0.1.map(time)) }, end: row.end.map(time),
      languageCode: nil)
    let ranges = list.chapters.map(\.timeRange)
    #expect(ranges.map(\.start) == row.chapters.map { time($0.lowerBound) })
    #expect(ranges.map(\.end) == row.chapters.map { time($0.upperBound) })
    let faults = [list.unsortedCount, list.clippedCount, list.droppedCount]
    #expect(faults == row.faults)
    let fault = list.fault(displayPath: "x")
    #expect((fault == nil) == (faults == [0, 0, 0]))
    #expect(fault == nil || fault?.code.rawValue == 3009)
    print(
      "\(row.name): \(ranges.map { "\($0.start.decimalDescription)-\($0.end.decimalDescription)" }) \(fault?.message ?? "")"
    )
  }

  /// More chapters and longer titles than in real files.
  @Test func hugeChapterListIsTruncated() throws {
    let folder = try TemporaryFolder()
    let title = String(repeating: "ü", count: 5_000)
    let text =
      ";FFMETADATA1\n"
      + (0..<12_000).map { "[CHAPTER]\nTIMEBASE=1/10000\nSTART=\($0)\nEND=\($0 + 1)\ntitle=\($0 == 7 ? title : "x")\n" }
      .joined()
    try folder.write(Array(text.utf8), as: "chapters.txt")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "sine=duration=4", "-i", folder.file("chapters.txt"), "-map_metadata", "1", "-c:a", "flac",
      folder.file("a.mka"))
    let properties = try Asset(path: folder.file("a.mka")).load()
    #expect(properties.chapters.count == 10_000)
    #expect(properties.chapters[7].title == String(repeating: "ü", count: 512))
    #expect(properties.chapterFault?.message.contains("2000 left out") == true)
    print(properties.chapterFault?.message ?? "")
  }

  @Test func irregularChapterListOfAFileIsReported() throws {
    let folder = try TemporaryFolder()
    let text =
      ";FFMETADATA1\n"
      + [(0, 3), (2, 9)].map { "[CHAPTER]\nTIMEBASE=1/1\nSTART=\($0.0)\nEND=\($0.1)\ntitle=x\n" }.joined()
    try folder.write(Array(text.utf8), as: "chapters.txt")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "sine=duration=4", "-i", folder.file("chapters.txt"), "-map_metadata", "1",
      folder.file("a.mp3"))
    let properties = try Asset(path: folder.file("a.mp3")).load()
    #expect(properties.chapterFault?.code.rawValue == 3009 && properties.chapters.count == 2)
    #expect(properties.chapters.last?.timeRange.end == properties.duration)
    print(properties.chapterFault?.message ?? "")
  }
}
