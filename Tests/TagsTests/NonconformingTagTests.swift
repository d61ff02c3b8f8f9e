import RigSupport
import Testing

@testable import PlayheadTags

/// Tags that other programs write against the rules of their formats. Their values are those that mutagen reads.
@Suite struct NonconformingTagTests {
  struct Row: Sendable, CustomStringConvertible {
    var description: String
    var container: TagContainer
    var bytes: [UInt8]
    /// The items with text or numbers: `KEY=value` or `KEY:description=value`.
    var items: [String]
    var warningCount = 0
  }

  @Test(arguments: id3v2Rows + positionRows + orderRows + otherRows) func valuesOfNonconformingTagsAreRead(_ row: Row) {
    let reading = TagReader.read(row.container, data: row.bytes)
    let items = reading.items.map(Self.text)
    print("\(row): \(items)")
    #expect(items == row.items)
    #expect(reading.warnings.count == row.warningCount, "\(reading.warnings)")
  }

  fileprivate static func text(_ item: TagItem) -> String {
    let value: String
    switch item.value {
    case .text(let text): value = text
    case .number(let number): value = "\(number)" + (item.secondNumber.map { "/\($0)" } ?? "")
    case .data(let data), .image(let data): value = "\(data.count) bytes"
    }
    return item.key + (item.description.map { ":\($0)" } ?? "") + "=" + value
  }

  // MARK: - Positions and precedence

  private static let audio = [UInt8](repeating: 0x55, count: 1_000)
  private static let simpleAPE = TagBytes.ape([("Title", 0, Array("B".utf8))])
  private static let simpleID3 = TagBytes.id3v2(3, TagBytes.text(3, "TIT2", "A"))

  static let positionRows: [Row] = [
    Row(
      description: "ID3v2 after other bytes", container: .edges, bytes: audio + simpleID3 + audio, items: ["TIT2=A"]),
    Row(
      description: "bytes that only resemble ID3v2", container: .edges,
      bytes: audio + Array("ID3".utf8) + [3, 0, 0, 0xFF, 0, 0, 9] + Array("ID3 tag".utf8) + audio, items: []),
    Row(description: "ID3v2 at the end", container: .edges, bytes: audio + simpleID3, items: ["TIT2=A"]),
    Row(
      description: "ID3v2 with a footer in front of ID3v1", container: .edges,
      bytes: audio + TagBytes.id3v2(4, TagBytes.text(4, "TIT2", "A"), flags: 0x10)
        + Array("3DI".utf8) + [4, 0, 0x10] + TagBytes.syncSafe(TagBytes.text(4, "TIT2", "A").count)
        + TagBytes.id3v1(title: Array("C".utf8)), items: ["TIT2=A", "title=C", "genre=Ambient"]),
    Row(
      description: "APEv2 in front of the audio", container: .apeEdges,
      bytes: TagBytes.apeAtBeginning([("Title", 0, Array("B".utf8))]) + audio, items: ["Title=B"]),
    Row(
      description: "APEv2 in front of Lyrics3v2 and ID3v1", container: .edges,
      bytes: audio + simpleAPE + Array("LYRICSBEGININD0000210".utf8) + Array("000021LYRICS200".utf8)
        + TagBytes.id3v1(title: Array("C".utf8)), items: ["Title=B", "title=C", "genre=Ambient"]),
    Row(
      description: "DSDIFF", container: .dsd,
      bytes: TagBytes.dsdiff([("DSD ", [1, 2, 3]), ("ID3 ", simpleID3)]), items: ["TIT2=A"]),
    Row(description: "DSF", container: .dsd, bytes: TagBytes.dsf(simpleID3), items: ["TIT2=A"]),
  ]

  static let orderRows: [Row] = [
    Row(
      description: "ID3v2 before APEv2 in MP3", container: .edges, bytes: simpleID3 + audio + simpleAPE,
      items: ["TIT2=A", "Title=B"]),
    Row(
      description: "APEv2 before ID3v2 in Monkey's Audio", container: .apeEdges, bytes: simpleID3 + audio + simpleAPE,
      items: ["Title=B", "TIT2=A"]),
    Row(
      description: "Vorbis comments before ID3v2 in FLAC", container: .flac,
      bytes: simpleID3 + TagBytes.flac([(4, TagBytes.vorbisComment([Array("TITLE=B".utf8)]), nil)]),
      items: ["TITLE=B", "TIT2=A"]),
    Row(
      description: "ID3v2 before INFO in WAV", container: .wav,
      bytes: TagBytes.riff(
        "WAVE",
        [
          ("LIST", Array("INFOINAM".utf8) + TagBytes.littleEndian(2) + Array("B\0".utf8), nil),
          ("id3 ", simpleID3, nil),
        ]), items: ["TIT2=A", "INAM=B"]),
    Row(
      description: "ID3v2 before NAME and ANNO in AIFF, zeros in these", container: .aiff,
      bytes: TagBytes.riff(
        "AIFF",
        [
          ("NAME", Array("B\0\0\0".utf8), nil), ("ANNO", [0, 0, 0, 0], nil),
          ("ANNO", Array("C\0rest".utf8) + [0], nil), ("ID3 ", simpleID3, nil),
        ]), items: ["TIT2=A", "NAME=B", "ANNO=C"]),
  ]

  // MARK: - FLAC, MP4, Matroska

  private static func userData(_ name: String, _ content: [UInt8]) -> [UInt8] {
    // Version and flags, then a language of three times five bits: `deu`.
    TagBytes.atom(name, [0, 0, 0, 0, 0x10, 0xB5] + content)
  }

  private static var movieOf3GPP: [UInt8] {
    let title: [UInt8] = Array("Grü".utf8) + [0]
    let album: [UInt8] = Array("C".utf8) + [0, 7]
    var boxes = userData("titl", title)
    boxes += userData("auth", [0xFE, 0xFF, 0, 0x42, 0, 0])
    boxes += userData("albm", album)
    boxes += TagBytes.atom("yrrc", [0, 0, 0, 0, 0x07, 0xD3])
    boxes += userData("kywd", [2, 2, 0x61, 0, 1, 0x62])
    boxes += TagBytes.atom("perf", Array("not 3GPP".utf8))
    let type: [UInt8] = Array("3gp6".utf8) + [0, 0, 0, 0]
    return TagBytes.atom("ftyp", type) + TagBytes.atom("moov", TagBytes.atom("udta", boxes))
  }

  static let otherRows: [Row] = [
    Row(
      description: "a FLAC comment that is larger than its declared block", container: .flac,
      bytes: TagBytes.flac([
        (4, TagBytes.vorbisComment([Array("TITLE=A".utf8), Array("ARTIST=B".utf8)]), 12), (1, [0, 0], nil),
      ]), items: ["TITLE=A", "ARTIST=B"]),
    Row(
      description: "the boxes of 3GPP", container: .mp4,
      bytes: movieOf3GPP,
      items: [
        "titl=Grü", "auth=B", "albm=C", "yrrc=2003", "kywd=a", "kywd=b",
      ]),
    Row(
      description: "Matroska: a tag of a track and the title of the segment", container: .matroska,
      bytes: TagBytes.matroska(
        TagBytes.element(
          0x7373,
          TagBytes.element(0x63C0, TagBytes.element(0x63C5, [7])) + TagBytes.simpleTag("TITLE", "Noise")),
        info: TagBytes.element(0x7BA9, Array("Film".utf8))), items: ["title=Film", "TITLE=Noise"]),
  ]

  // MARK: - ID3v2

  /// UTF-16 without a byte order mark.
  private static func little(_ text: String) -> [UInt8] {
    text.utf16.flatMap { TagBytes.littleEndian(Int($0), bytes: 2) }
  }

  private static func tag(_ version: UInt8, _ frames: [[UInt8]], flags: UInt8 = 0, before: [UInt8] = []) -> [UInt8] {
    TagBytes.id3v2(version, before + frames.flatMap { $0 }, flags: flags)
  }

  /// A frame of ID3v2.2.
  private static func oldFrame(_ id: String, _ data: [UInt8]) -> [UInt8] {
    Array(id.utf8) + TagBytes.bigEndian(data.count, bytes: 3) + data
  }

  static let id3v2Rows: [Row] = [
    Row(
      description: "UTF-16 without byte order marks", container: .edges,
      bytes: tag(
        3,
        [
          TagBytes.frame(3, "TIT2", [1] + little("Tony")),
          TagBytes.frame(3, "TPE1", [1] + little("Grü") + [0, 0] + little("世界") + [0, 0]),
          TagBytes.frame(3, "COMM", [1] + Array("eng".utf8) + [0, 0] + little("Wort")),
          TagBytes.frame(3, "COMM", [1] + Array("eng".utf8) + little("d") + [0, 0] + little("Satz")),
          TagBytes.frame(3, "TXXX", [1] + little("k") + [0, 0] + little("v")),
          TagBytes.frame(3, "WXXX", [1] + little("d") + [0, 0] + Array("http://x".utf8)),
          TagBytes.frame(3, "TALB", [1, 0xFE, 0xFF, 0, 0x41]),
        ]),
      items: [
        "TIT2=Tony", "TPE1=Grü", "TPE1=世界", "COMM:=Wort", "COMM:d=Satz", "TXXX:k=v", "WXXX:d=http://x", "TALB=A",
      ]),
    Row(
      description: "the same in ID3v2.4 and 2.2", container: .edges,
      bytes: tag(4, [TagBytes.frame(4, "TIT2", [1] + little("Tony"))])
        + tag(2, [oldFrame("TT2", [1] + little("Tony")), oldFrame("COM", [1, 1, 1, 1, 0, 0] + little("Wort"))]),
      items: ["TIT2=Tony", "TIT2=Tony", "COMM:=Wort"]),
    Row(
      description: "an extended header of ID3v2.3", container: .edges,
      bytes: tag(
        3, [TagBytes.text(3, "TIT2", "A")], flags: 0x40, before: TagBytes.bigEndian(6) + [0, 0, 0, 0, 0, 0]),
      items: ["TIT2=A"]),
    Row(
      description: "an extended header of ID3v2.4", container: .edges,
      bytes: tag(4, [TagBytes.text(4, "TIT2", "A")], flags: 0x40, before: TagBytes.syncSafe(6) + [1, 0]),
      items: ["TIT2=A"]),
    Row(
      description: "the flag of an extended header that is missing", container: .edges,
      bytes: tag(3, [TagBytes.text(3, "TIT2", "A")], flags: 0x40), items: ["TIT2=A"]),
    Row(
      description: "an empty frame, and a name with a space", container: .edges,
      bytes: tag(
        3,
        [
          TagBytes.frame(3, "TPE1", []), TagBytes.frame(3, "TP1 ", [0] + Array("x".utf8)),
          TagBytes.text(3, "TIT2", "A"),
        ]), items: ["TIT2=A"]),
    Row(
      description: "a user text without a description", container: .edges,
      bytes: tag(3, [TagBytes.frame(3, "TXXX", [0, 0] + Array("v".utf8))]), items: ["TXXX:=v"]),
    Row(
      description: "a text that is longer than its tag", container: .edges,
      bytes: tag(3, [TagBytes.frame(3, "TIT2", [0] + Array("Ab".utf8), claiming: 9)]), items: ["TIT2=Ab"],
      warningCount: 1),
    Row(
      description: "day, month and time of ID3v2.3", container: .edges,
      bytes: tag(
        3,
        [
          TagBytes.text(3, "TDAT", "1705"), TagBytes.text(3, "TYER", "2003"),
          TagBytes.frame(3, "TIME", [1] + little("2015")),
        ]), items: ["TDRC=2003-05-17T20:15"]),
    Row(
      description: "day and month of ID3v2.2", container: .edges,
      bytes: tag(2, [oldFrame("TYE", [0] + Array("2003".utf8)), oldFrame("TDA", [0] + Array("1705".utf8))]),
      items: ["TDRC=2003-05-17"]),
  ]
}
