import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadTags
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Values, filters, dates, artwork and gains, and values from FFmpeg.
@Suite struct MetadataItemTests {
  private func text(_ key: String, _ value: String, _ language: String? = nil) -> MetadataItem {
    MetadataItem(
      keySpace: .id3, key: key, commonKey: CommonKeyTable.commonKey(of: key, in: .id3), value: .string(value),
      extendedLanguageTag: language)
  }

  // MARK: - Filters

  @Test func itemsAreFoundByIdentifierKeyAndCommonKey() throws {
    let items = [text("TIT2", "a"), text("TXXX", "b"), text("TIT2", "c")]
    let identifier = MetadataIdentifier(key: "TIT2", keySpace: .id3)
    #expect(identifier.rawValue == "id3/TIT2" && identifier.keySpace == .id3 && identifier.key == "TIT2")
    #expect(MetadataItem.items(from: items, filteredByIdentifier: identifier).map(\.stringValue) == ["a", "c"])
    #expect(MetadataItem.items(from: items, withKey: "TXXX", keySpace: .id3).map(\.stringValue) == ["b"])
    #expect(MetadataItem.items(from: items, withKey: nil, keySpace: .id3).count == 3)
    #expect(MetadataItem.items(from: items, withKey: "title", keySpace: .common).count == 2)
    #expect(MetadataItem.items(from: items, withKey: nil, keySpace: .vorbis).isEmpty)
    #expect(MetadataItem.items(from: items, filteredByCommonKey: .title).map(\.stringValue) == ["a", "c"])
    let common = MetadataIdentifier(rawValue: "comn/title")
    #expect(MetadataItem.items(from: items, filteredByIdentifier: common).map(\.stringValue) == ["a", "c"])
    let none = MetadataIdentifier(rawValue: "TIT2")
    #expect(none.keySpace == nil && MetadataItem.items(from: items, filteredByIdentifier: none).isEmpty)
  }

  @Test func itemsAreSortedByPreferredLanguages() {
    let items = [text("COMM", "en", "en"), text("COMM", "none"), text("COMM", "de", "de"), text("COMM", "gb", "en-GB")]
    func found(_ languages: [String]) -> [String?] {
      MetadataItem.items(from: items, filteredAndSortedAccordingToPreferredLanguages: languages).map(\.stringValue)
    }
    #expect(found(["de", "en"]) == ["de", "en", "gb"])
    #expect(found(["en-US"]) == ["en"])
    #expect(found(["fr"]) == [])
    func inLocale(_ locale: String) -> [String?] {
      MetadataItem.items(from: items, withLocale: locale).map(\.stringValue)
    }
    #expect(inLocale("en") == ["en"] && inLocale("EN_gb") == ["gb"] && inLocale("en-US") == [] && inLocale("") == [])
    #expect(LanguageTag.bcp47("ger") == "de" && LanguageTag.bcp47("XXX") == nil && LanguageTag.bcp47("gsw") == "gsw")
    #expect(LanguageTag.bcp47("e\u{301}n") == nil && LanguageTag.bcp47("") == nil)
  }

  // MARK: - Values

  @Test func valuesAreCoercedOrNil() {
    #expect(text("TBPM", "128").numberValue == 128)
    #expect(text("TBPM", "nan").numberValue == nil && text("TBPM", "fast").numberValue == nil)
    #expect(text("TIT2", "x").dataValue == nil)
    let data = MetadataItem(keySpace: .id3, key: "PRIV", value: .data([1]))
    #expect(data.dataValue == [1] && data.stringValue == nil && data.numberValue == nil && data.dateValue == nil)
    #expect(MetadataItem(keySpace: .iTunes, key: "tmpo", value: .number(90)).stringValue == "90")
  }

  @Test(
    arguments: [
      ("2003", "2003"), ("2003-05", "2003-05"), ("2003-05-17", "2003-05-17"), ("2003-05-17T20:15", "2003-05-17T20:15"),
      ("2003-05-17 20:15:01", "2003-05-17T20:15:01"), ("2003-05-17T20:15:01Z", "2003-05-17T20:15:01Z"),
      ("2003-05-17T20:15:01.5+01:30", "2003-05-17T20:15:01+01:30"),
      ("2003-05-17T20:15:01-0800", "2003-05-17T20:15:01-08:00"),
      ("0999", "0999"), ("2003-13", nil), ("2003-05-32", nil), ("May 2003", nil), ("03", nil), ("20031", nil),
      ("", nil),
    ] as [(String, String?)])
  func datesKeepTheirPrecisionOrAreRejected(_ text: String, _ expected: String?) {
    #expect(MetadataDate(text)?.description == expected)
  }

  @Test func commonMetadataUsesTheTagWithTheHighestPrecedence() {
    var metadata = AssetMetadata()
    metadata.items = [
      text("TRCK", "3/12"), text("TDRC", "2003-05"), text("TIT2", "a"), text("TIT2", "b"),
      MetadataItem(keySpace: .ape, key: "Title", commonKey: .title, value: .string("c")),
    ]
    #expect(metadata.strings(.title) == ["a", "b"])
    let common = metadata.commonMetadata
    #expect(common.first?.value == .number(3) && common.first?.extraAttributes[.total] == "12")
    #expect(common.first?.identifier.rawValue == "comn/trackNumber")
    #expect(common[1].value == MetadataDate("2003-05").map { .date($0) })
    #expect(metadata.availableMetadataFormats == [.id3, .ape])
    #expect(metadata.metadata(forFormat: .ape).count == 1)
  }

  @Test func separateTotalsAreAddedToTheirNumbers() {
    func item(_ keySpace: MetadataKeySpace, _ key: String, _ value: String) -> MetadataItem {
      MetadataItem(
        keySpace: keySpace, key: key, commonKey: CommonKeyTable.commonKey(of: key, in: keySpace), value: .string(value))
    }
    func totals(_ items: [MetadataItem]) -> [String?] {
      var metadata = AssetMetadata()
      metadata.items = items
      return metadata.commonMetadata.map { $0.extraAttributes[.total] }
    }
    let track = item(.vorbis, "TRACKNUMBER", "3")
    let disc = item(.vorbis, "DISCNUMBER", "1")
    #expect(
      totals([track, disc, item(.vorbis, "TotalTracks", " 12"), item(.vorbis, "DISCTOTAL", "2")]) == ["12", "2"])
    #expect(totals([item(.vorbis, "TOTALDISCS", "2"), disc, item(.vorbis, "TRACKTOTAL", "x"), track]) == ["2", nil])
    #expect(totals([item(.vorbis, "TRACKNUMBER", "3/9"), item(.vorbis, "TRACKTOTAL", "12")]) == ["9"])
    #expect(totals([track, item(.ape, "TRACKTOTAL", "12")]) == [nil])
  }

  @Test func id3v1AddsOnlyTheFieldsMissingInID3v2() {
    var reading = TagReading()
    reading.items = [
      TagItem(space: .id3v2, key: "TIT2", value: .text("A title that is longer than thirty letters")),
      TagItem(space: .id3v1, key: "title", value: .text("A title that is longer than th")),
      TagItem(space: .id3v1, key: "album", value: .text("Album")),
    ]
    var metadata = AssetMetadata()
    metadata.add(reading)
    #expect(metadata.strings(.title) == ["A title that is longer than thirty letters"])
    #expect(metadata.strings(.albumName) == ["Album"] && metadata.items.map(\.key) == ["TIT2", "TALB"])
  }

  @Test func quickTimeMetadataIsAddedToITunesMetadata() {
    var metadata = AssetMetadata()
    metadata.items = [MetadataItem(keySpace: .iTunes, key: "©nam", commonKey: .title, value: .string("a"))]
    func item(_ keySpace: MetadataKeySpace, _ key: String, _ commonKey: MetadataCommonKey?) -> MetadataItem {
      MetadataItem(keySpace: keySpace, key: key, commonKey: commonKey, value: .string("b"))
    }
    metadata.complete(
      [
        item(.quickTimeMetadata, "com.apple.quicktime.title", .title), item(.quickTimeMetadata, "com.apple.own", nil),
        item(.quickTimeUserData, "title", .title), item(.quickTimeUserData, "artist", .artist),
      ], artwork: [])
    #expect(metadata.items.map(\.key) == ["©nam", "com.apple.quicktime.title", "com.apple.own", "artist"])
    #expect(metadata.strings(.title) == ["a"])
  }

  // MARK: - Artwork and gains

  @Test func artworkTypeIsDetectedFromItsBytes() {
    func kind(_ bytes: [UInt8], claim: String? = nil) -> String {
      Artwork(type: .frontCover, claimedMediaType: claim, description: nil, data: bytes).mediaType
    }
    #expect(kind([0xFF, 0xD8, 0xFF, 0xE0], claim: "image/png") == "image/jpeg")
    #expect(kind([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) == "image/png")
    #expect(kind(Array("RIFF....WEBP".utf8)) == "image/webp")
    #expect(kind(Array("GIF89a".utf8)) == "image/gif")
    #expect(kind([1], claim: "JPG") == "image/jpeg" && kind([1], claim: "image/") == "" && kind([]) == "")
    #expect(ArtworkType(apeKey: "Cover Art (Back)") == .backCover && ArtworkType(apeKey: "Cover Art") == .other)
    #expect(
      ArtworkType(rawValue: 3).description == "frontCover" && ArtworkType(rawValue: 99).description == "other(99)")
    #expect(ArtworkType(ffmpegName: "Cover (back)") == .backCover && ArtworkType(ffmpegName: "x") == nil)
  }

  @Test func gainsAreParsedFromEveryKeySpace() {
    func item(_ keySpace: MetadataKeySpace, _ key: String, _ value: String, info: String? = nil) -> MetadataItem {
      MetadataItem(
        keySpace: keySpace, key: key, value: .string(value), extraAttributes: info.map { [.info: $0] } ?? [:])
    }
    let gain = ReplayGain(items: [
      item(.id3, "TXXX", "-6.54 dB", info: "replaygain_track_gain"),
      item(.iTunesLong, "com.apple.iTunes.replaygain_track_peak", "0.98"),
      item(.vorbis, "REPLAYGAIN_ALBUM_GAIN", "+1,25"), item(.ape, "Replaygain_Album_Peak", " 1.1"),
      item(.vorbis, "R128_TRACK_GAIN", "-1280"), item(.vorbis, "R128_ALBUM_GAIN", "64"),
      item(.ape, "REPLAYGAIN_TRACK_GAIN", "9"),
    ])
    #expect(gain.trackGainDecibels == -6.54 && gain.trackPeak == 0.98)
    #expect(gain.albumGainDecibels == 1.25 && gain.albumPeak == 1.1)
    #expect(gain.r128TrackGainDecibels == -5 && gain.r128AlbumGainDecibels == 0.25)
    let none = ReplayGain(items: [
      item(.vorbis, "REPLAYGAIN_TRACK_GAIN", "nan dB"), item(.vorbis, "REPLAYGAIN_TRACK_PEAK", "-1"),
      item(.vorbis, "REPLAYGAIN_ALBUM_GAIN", "1e9"), item(.vorbis, "R128_TRACK_GAIN", "40000"),
      item(.vorbis, "R128_ALBUM_GAIN", "1.5"),
    ])
    #expect(none.isEmpty)
    let frame = ReplayGain(items: [item(.id3, "RVA2", "-1.50 dB", info: "album")])
    #expect(frame.albumGainDecibels == -1.5 && frame.trackGainDecibels == nil)
  }

  // MARK: - FFmpeg

  @Test func textThatTagLibDropsComesFromFFmpeg() throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "sine=duration=1", "-c:a", "libmp3lame", "-id3v2_version", "0", folder.file("a.mp3"))
    // A title declared as UTF-8 that is not valid.
    let frame: [UInt8] = Array("TIT2".utf8) + [0, 0, 0, 4, 0, 0, 3, 0x61, 0xFF, 0x62]
    let tag: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame
    let path = try folder.write(tag + readFile(folder.file("a.mp3")), as: "b.mp3")
    let metadata = try MetadataMatrixTests.read(path)
    #expect(metadata.strings(.title) == ["a\u{FFFD}b"])
    #expect(metadata.warnings.map(\.error.code) == [.damagedFile] && metadata.warnings.map(\.subject) == ["TIT2"])
  }

  @Test func wavTextInAWindowsCodePageIsRead() throws {
    let folder = try TemporaryFolder()
    var bytes = IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: 100)
    bytes += Array("LIST".utf8) + [16, 0, 0, 0] + Array("INFOINAM".utf8) + [4, 0, 0, 0, 0x47, 0x72, 0xFC, 0]
    let metadata = try MetadataMatrixTests.read(folder.write(bytes, as: "a.wav"))
    #expect(metadata.strings(.title) == ["Grü"])
  }

  @Test func fileInMemoryWithoutTagsHasEmptyMetadata() throws {
    let bytes = IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: 100)
    let demuxer = try openFile(Asset(data: bytes), interrupt: Interrupt())
    #expect(try MetadataReader.read(demuxer, displayPath: "memory") == AssetMetadata())
  }

  @Test func cancelledReadThrows() throws {
    let interrupt = Interrupt()
    let bytes = IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: 100)
    let demuxer = try openFile(Asset(data: bytes), interrupt: interrupt)
    interrupt.cancel()
    expectError(.cancelled) { try MetadataReader.read(demuxer, displayPath: "memory") }
  }
}
