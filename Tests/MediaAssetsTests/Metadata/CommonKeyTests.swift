import PlayheadLibAV
import PlayheadMediaCore
import PlayheadTags
import Testing

@testable import PlayheadMediaAssets

/// The common keys of other programs' keys.
@Suite struct CommonKeyTests {
  struct Row: Sendable, CustomStringConvertible {
    var space: MetadataKeySpace
    var key: String
    var text: String? = nil
    var common: MetadataCommonKey?

    var description: String { "\(space)/\(key)\(text.map { ":\($0)" } ?? "") is \(common?.rawValue ?? "nothing")" }
  }

  static let rows: [Row] = [
    Row(space: .ape, key: "DiscNumber", common: .discNumber), Row(space: .ape, key: "DATE", common: .creationDate),
    Row(space: .ape, key: "Year", common: .creationDate), Row(space: .ape, key: "MixArtist", common: .contributor),
    Row(space: .ape, key: "Media", common: .format), Row(space: .ape, key: "Weblink", common: nil),
    Row(space: .vorbis, key: "comments", common: .description), Row(space: .vorbis, key: "WRITER", common: .author),
    Row(space: .vorbis, key: "CONDUCTOR", common: .contributor), Row(space: .vorbis, key: "MOOD", common: nil),
    Row(space: .vorbis, key: "TRACKTOTAL", common: nil), Row(space: .vorbis, key: "software", common: .software),
    Row(space: .id3, key: "TXXX", text: "Writer", common: .author),
    Row(space: .id3, key: "TXXX", text: "ALBUM ARTIST", common: .albumArtist),
    Row(space: .id3, key: "TXXX", text: "MusicBrainz Album Id", common: nil),
    Row(space: .id3, key: "TPE4", common: .contributor), Row(space: .id3, key: "TDRL", common: .creationDate),
    Row(space: .id3, key: "COMM", common: .description),
    Row(space: .id3, key: "COMM", text: "eng", common: .description),
    Row(space: .id3, key: "COMM", text: "Kommentar", common: .description),
    Row(space: .id3, key: "COMM", text: "iTunNORM", common: nil),
    Row(space: .id3, key: "COMM", text: "MusicMatch_Mood", common: nil),
    Row(space: .iTunesLong, key: "com.apple.iTunes.LABEL", common: .publisher),
    Row(space: .iTunesLong, key: "com.apple.iTunes.iTunSMPB", common: nil),
    Row(space: .iTunes, key: "©con", common: .contributor), Row(space: .iTunes, key: "©st3", common: .subject),
    Row(space: .riff, key: "IPUB", common: .publisher), Row(space: .riff, key: "IMED", common: .format),
    Row(space: .asf, key: "WM/Conductor", common: .contributor), Row(space: .asf, key: "DATE", common: .creationDate),
    Row(space: .matroska, key: "WRITTEN_BY", common: .author),
    Row(space: .matroska, key: "DIRECTOR", common: .contributor),
    Row(space: .quickTimeUserData, key: "titl", common: .title),
    Row(space: .quickTimeMetadata, key: "com.apple.quicktime.director", common: .contributor),
  ]

  @Test(arguments: rows) func keysMapToTheirCommonKeys(_ row: Row) {
    #expect(CommonKeyTable.commonKey(of: row.key, in: row.space, description: row.text) == row.common)
  }

  private func metadata(_ items: [(space: TagItem.Space, key: String, description: String?, text: String)])
    -> AssetMetadata
  {
    var reading = TagReading()
    reading.items = items.map { entry in
      var item = TagItem(space: entry.space, key: entry.key, value: .text(entry.text))
      item.description = entry.description
      return item
    }
    var metadata = AssetMetadata()
    metadata.add(reading)
    return metadata
  }

  @Test func substituteKeysAreUsedOnlyIfTheKeyIsMissing() {
    let both = metadata([
      (.id3v2, "COMM", "note", "a"), (.id3v2, "COMM", nil, "b"), (.id3v2, "TDRL", nil, "2004"),
      (.id3v2, "TDRC", nil, "2003"), (.id3v2, "TXXX", "LYRICIST", "c"),
    ])
    #expect(both.strings(.description) == ["b"] && both.strings(.creationDate) == ["2003"])
    #expect(both.strings(.author) == ["c"] && both.items.count == 5)
    let alone = metadata([(.id3v2, "COMM", "note", "a"), (.id3v2, "TDRL", nil, "2004")])
    #expect(alone.strings(.description) == ["a"] && alone.strings(.creationDate) == ["2004"])
  }

  @Test func totalsOfAnyFormatAreAttachedToTheirNumbers() {
    func total(_ metadata: AssetMetadata) -> [String?] { metadata.commonMetadata.map { $0.extraAttributes[.total] } }
    #expect(
      total(
        metadata([
          (.ape, "Track", nil, "3"), (.ape, "TRACKTOTAL", nil, "12"), (.ape, "DISCNUMBER", nil, "1"),
          (.ape, "DISCTOTAL", nil, "2"),
        ])) == ["12", "2"])
    #expect(total(metadata([(.id3v2, "TRCK", nil, "3"), (.id3v2, "TXXX", "TOTALTRACKS", "9")])) == ["9"])
    #expect(total(metadata([(.riff, "ITRK", nil, "3"), (.riff, "IFRM", nil, "8")])) == ["8"])
  }

  @Test(
    arguments: [
      ("genre", "TCON"), ("Album_Artist", "TPE2"), ("TSRC", "TSRC"), ("lyrics-deu", "USLT"), ("my own", "TXXX"),
    ])
  func ffmpegNamesMapToID3Frames(_ name: String, _ frame: String) {
    let item = DictionaryMetadata.item(MetadataEntry(key: name, value: Array("x".utf8)), formatName: "mp3")
    #expect(item.key == frame && item.extraAttributes[.info] == (frame == "TXXX" ? name : nil))
  }
}
