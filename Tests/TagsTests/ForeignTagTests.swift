import RigSupport
import Testing

@testable import Tags

/// Tags that other programs write outside the rules of their formats: their values are those that mutagen reads.
@Suite struct ForeignTagTests {
  struct Row: Sendable, CustomStringConvertible {
    var description: String
    var container: TagContainer
    var bytes: [UInt8]
    /// The items that hold text or numbers: `KEY=value` or `KEY:description=value`.
    var items: [String]
    var warningCount = 0
  }

  @Test(arguments: id3v2Rows) func valuesAreRead(_ row: Row) {
    let reading = TagReader.read(row.container, data: row.bytes)
    let items = reading.items.map(Self.text)
    print("\(row): \(items)")
    #expect(items == row.items)
    #expect(reading.warnings.count == row.warningCount, "\(reading.warnings)")
  }

  private static func text(_ item: TagItem) -> String {
    let value: String
    switch item.value {
    case .text(let text): value = text
    case .number(let number): value = "\(number)" + (item.secondNumber.map { "/\($0)" } ?? "")
    case .data(let data), .picture(let data): value = "\(data.count) bytes"
    }
    return item.key + (item.description.map { ":\($0)" } ?? "") + "=" + value
  }

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
