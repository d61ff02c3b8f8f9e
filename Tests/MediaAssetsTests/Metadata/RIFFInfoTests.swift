import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// The list `INFO` in formats that FFmpeg reads and TagLib does not.
@Suite struct RIFFInfoTests {
  @Test func aviInfoItemsHaveTheirRIFFKeysAndCommonKeys() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.avi")
    try Tool.ffmpeg(
      arguments: ["-f", "lavfi", "-i", "sine=duration=0.2"]
        + ["title=T", "artist=A", "album=B", "genre=G", "date=2001", "track=3", "comment=C", "copyright=R"].flatMap {
          ["-metadata", $0]
        } + [path])
    try check(try MetadataMatrixTests.read(path), hasTrack: true)
  }

  /// Wave64 by Sony: a list of summaries, which FFmpeg reads but does not write.
  @Test func wave64InfoItemsHaveTheirRIFFKeysAndCommonKeys() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.w64")
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=0.2", path)
    func little(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let texts = [
      ("INAM", "T"), ("IART", "A"), ("IPRD", "B"), ("IGNR", "G"), ("ICRD", "2001"), ("ICMT", "C"), ("ICOP", "R"),
    ]
    let entries = texts.flatMap { name, text -> [UInt8] in
      let wide: [UInt8] = text.utf8.flatMap { [$0, 0] as [UInt8] } + [0, 0]
      return Array(name.utf8) + little(wide.count, 4) + wide
    }
    let content = little(texts.count, 4) + entries
    let guid: [UInt8] = [
      0xBC, 0x94, 0x5F, 0x92, 0x5A, 0x52, 0xD2, 0x11, 0x86, 0xDC, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A,
    ]
    let padding = [UInt8](repeating: 0, count: (8 - content.count % 8) % 8)
    let bytes = try readFile(path)
    // Before the samples, after the RIFF header of 40 bytes.
    let list = guid + little(24 + content.count, 8) + content + padding
    let file = try folder.write(Array(bytes[..<40]) + list + Array(bytes[40...]), as: "b.w64")
    try check(try MetadataMatrixTests.read(file), hasTrack: false)
  }

  private func check(_ metadata: AssetMetadata, hasTrack: Bool) throws {
    let values: [(String, MetadataCommonKey, String)] = [
      ("INAM", .title, "T"), ("IART", .artist, "A"), ("IPRD", .albumName, "B"), ("IGNR", .type, "G"),
      ("ICRD", .creationDate, "2001"), ("ICMT", .description, "C"), ("ICOP", .copyrights, "R"),
    ]
    for (key, common, text) in values {
      let items = metadata.items.filter { $0.key == key }
      #expect(items.map(\.stringValue) == [text] && items.map(\.keySpace) == [.riff], "\(key) of \(metadata.items)")
      #expect(items.map(\.commonKey) == [common] && metadata.strings(common) == [text])
    }
    #expect(metadata.strings(.trackNumber) == (hasTrack ? ["3"] : []))
  }
}
