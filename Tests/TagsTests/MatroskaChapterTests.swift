import Foundation
import RigSupport
import Testing

@testable import PlayheadTags

/// The titles of Matroska chapters, for all kinds of content.
@Suite struct MatroskaChapterTests {
  private static func old(_ code: String) -> [UInt8] { TagBytes.element(0x437C, Array(code.utf8)) }
  private static func new(_ code: String) -> [UInt8] { TagBytes.element(0x437D, Array(code.utf8)) }

  private static let file = TagBytes.matroska(editions: [
    TagBytes.chapter(
      0,
      [
        ("One", [old("eng"), old("fre")]), ("Eins", [old("ger"), new("de-AT")]), ("?", [old("und")]), ("Plain", []),
      ])
      + TagBytes.chapter(5_000_000_000, uid: 2, [("Two", [old("eng")])])
      + TagBytes.chapter(6, uid: 0, [("no number", [])])
  ])

  @Test func everyTitleIsReadWithItsLanguages() {
    let chapters = TagReader.matroskaChapters(data: Self.file)
    #expect(chapters.map(\.startNanoseconds) == [0, 5_000_000_000])
    #expect(chapters.first?.titles.map(\.text) == ["One", "Eins", "?", "Plain"])
    // BCP 47 overrides the older element. Without either, the language is English, as in the standard.
    #expect(chapters.first?.titles.map(\.languages) == [["eng", "fre"], ["de-AT"], [], ["eng"]])
  }

  /// `make fuzz` uses it as a seed, too. PLAYHEAD_UPDATE_GOLDENS=1 rewrites it.
  @Test func fuzzSeedEqualsTheChapterFile() throws {
    let seedFile = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../Fuzz/seeds/tags/matroska-chapters")
    let kind = try #require(TagContainer.allCases.firstIndex(of: .matroska))
    let seed = Data([UInt8(kind)] + Self.file)
    if ProcessInfo.processInfo.environment["PLAYHEAD_UPDATE_GOLDENS"] != nil { try seed.write(to: seedFile) }
    #expect(try Data(contentsOf: seedFile) == seed)
  }

  @Test func fileCutOrChangedAtAnyByteIsReadSafely() {
    for count in Self.file.indices {
      #expect(TagReader.matroskaChapters(data: Array(Self.file.prefix(count))).count <= 2)
      for value: UInt8 in [0, 0x7F, 0xFF] {
        var bytes = Self.file
        bytes[count] = value
        #expect(TagReader.matroskaChapters(data: bytes).count <= 3)
      }
    }
  }

  @Test func chaptersTitlesAndLanguagesAreLimited() {
    let many = [UInt8]((0..<20_000).flatMap { TagBytes.chapter($0, [("a", [])]) })
    #expect(TagReader.matroskaChapters(data: TagBytes.matroska(editions: [many])).count == 10_000)
    let titles = TagBytes.chapter(0, (0..<500).map { ("\($0)", (0..<50).map { Self.old("a\($0)") }) })
    let chapter = TagReader.matroskaChapters(data: TagBytes.matroska(editions: [titles])).first
    #expect(chapter?.titles.count == 64 && chapter?.titles.first?.languages.count == 8)
    let long = String(repeating: "x", count: 1_000)
    let large = [UInt8]((0..<3_000).flatMap { TagBytes.chapter($0, [(long, [])]) })
    let found = TagReader.matroskaChapters(data: TagBytes.matroska(editions: [large]))
    #expect(found.reduce(0) { $0 + $1.titles.reduce(0) { $0 + $1.text.utf8.count } } <= TagLimits().textByteCount)
    let tooLong = TagBytes.chapter(0, [(String(repeating: "x", count: 2_000), []), ("a", [])])
    #expect(
      TagReader.matroskaChapters(data: TagBytes.matroska(editions: [tooLong])).first?.titles.map(\.text) == ["a"])
    // A list beyond the limit is not read.
    let huge = [UInt8](repeating: 0xEC, count: 5 << 20)
    #expect(TagReader.matroskaChapters(data: TagBytes.matroska(editions: [huge])) == [])
  }
}
