import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlaylists

@Suite struct CueSheetTests {
  @Test func tracksOfOneFileBecomeEntriesWithRanges() throws {
    let list = try parse(Sample.cue, at: "album.cue")
    #expect(list.title == "Live in Berlin, \"the\" one")
    #expect(
      list.metadata == [
        .genre: "Electronica", .date: "1998", .discID: "9D0B1F0C", .annotation: "ExactAudioCopy v0.95b4",
        .replayGainAlbumGain: "-7.50 dB", .catalog: "0724384566524", .creator: "Faithless",
      ])
    #expect(Set(list.locationTexts) == ["/music/lists/Faithless - Live in Berlin.flac"])
    #expect(
      list.entries.map(\.range) == [
        TimeRange(start: .zero, end: cueTime(6, 42, 0)), TimeRange(start: cueTime(6, 42, 0), end: cueTime(10, 54, 74)),
        TimeRange(start: cueTime(10, 54, 74), duration: .positiveInfinity),
      ])
    #expect(list.entries[2].range?.start == MediaTime(value: 654 * 75 + 74, timescale: 75))
    #expect(list.entries.map(\.duration) == [cueTime(6, 42, 0), cueTime(4, 12, 74), nil])
    #expect(
      list.entries[0].metadata == [
        .trackNumber: "1", .flags: "DCP PRE", .isrc: "GBAAA9800001", .creator: "Faithless & friend",
        .songwriter: "Someone", .pregap: "00:02:00", .replayGainTrackGain: "-6.20 dB",
      ])
    #expect(list.entries[2].metadata == [.trackNumber: "3", .postgap: "00:01:00"])
    let inherited = list.entriesWithInheritedMetadata[1]
    #expect(inherited.metadata[.creator] == "Faithless" && inherited.metadata[.album] == list.title)
    #expect(list.entriesWithInheritedMetadata[0].metadata[.creator] == "Faithless & friend")
  }

  /// As written by Exact Audio Copy, with each gap at the end of the previous file.
  @Test func tracksOfSeveralFilesReferToTheirFiles() throws {
    let list = try parse(
      """
      FILE "01.wav" WAVE
        TRACK 01 AUDIO
          INDEX 01 00:00:00
        TRACK 02 AUDIO
          INDEX 00 03:10:00
      FILE "02.wav" WAVE
          INDEX 01 00:00:00
        TRACK 03 AUDIO
          INDEX 01 01:00:00
      FILE sub/03.mp3 MP3
        TRACK 04 AUDIO
          INDEX 01 00:00:00
      """, at: "x.cue")
    #expect(
      list.locationTexts == [
        "/music/lists/01.wav", "/music/lists/02.wav", "/music/lists/02.wav", "/music/lists/sub/03.mp3",
      ])
    #expect(
      list.entries.map(\.range) == [
        nil, TimeRange(start: .zero, end: cueTime(1, 0, 0)),
        TimeRange(start: cueTime(1, 0, 0), duration: .positiveInfinity), nil,
      ])
    #expect(list.entries[3].metadata[.fileType] == "MP3")
  }

  /// The file type is one plain word or missing. Written unchanged into a sheet, a quote would end another name.
  @Test(arguments: [
    (#"FILE "a.wav" WA"VE"#, nil as String?), (#"FILE "a.wav" "WAVE""#, nil), (#"FILE a.wav W\"AVE"#, nil),
    (#"FILE "a.wav" MP3"#, "MP3"), (#"FILE "a.wav" ma4"#, "MA4"), (#"FILE "a.wav""#, nil),
    ("FILE \"a.wav\" WÄV", nil),
  ])
  func fileTypeIsOneWordOrMissing(line: String, type: String?) throws {
    let list = try parse("\(line)\n  TRACK 01 AUDIO\n    TITLE \"T\"\n    INDEX 01 00:00:00\n", at: "x.cue")
    #expect(list.entries.count == 1)
    let entry = try #require(list.entries.first)
    #expect(entry.metadata[.fileType] == type || entry.metadata[.fileType]?.allSatisfy(\.isLetter) == true)
    #expect(entry.metadata[.fileType]?.contains("\"") != true)
    // The list reads back unchanged.
    let lines = try list.lines(as: .cue, base: Array("/music/lists".utf8))
    let reread = try parse(lines.joined(separator: "\n"), at: "x.cue")
    #expect(reread.locationTexts == list.locationTexts && reread.entries.map(\.title) == ["T"], "\(lines)")
  }

  /// A file type that does not come from a sheet.
  @Test func fileTypeWithAQuoteIsWrittenAsWAVE() throws {
    var list = Playlist()
    list.entries = [
      PlaylistEntry(location: .path("/music/lists/a.wav"), metadata: [.fileType: "WA\"VE", .trackNumber: "1"])
    ]
    let lines = try list.lines(as: .cue, base: Array("/music/lists".utf8))
    #expect(lines.first == #"FILE "a.wav" WAVE"#)
    #expect(try parse(lines.joined(separator: "\n"), at: "x.cue").locationTexts == ["/music/lists/a.wav"])
  }

  @Test func dataTracksOfDiscImagesAreSkipped() throws {
    let list = try parse(
      """
      FILE "GAME.BIN" BINARY
        TRACK 01 MODE1/2352
          INDEX 01 00:00:00
        TRACK 02 AUDIO
          PREGAP 00:02:00
          INDEX 01 39:26:03
        TRACK 03 MODE2/2352
          INDEX 00 41:00:00
          INDEX 01 41:02:00
      """, at: "game.cue")
    #expect(list.entries.map(\.range) == [TimeRange(start: cueTime(39, 26, 3), end: cueTime(41, 0, 0))])
    #expect(list.entries.first?.metadata == [.trackNumber: "2", .pregap: "00:02:00", .fileType: "BINARY"])
    #expect(list.skippedCount == 2)
  }

  @Test func windowsPathsAndNonUTF8NamesAreParsed() throws {
    let sheet =
      Array("\u{FEFF}FILE \"Disc 1\\Caf".utf8) + [0xE9] + Array(".wav\" WAVE\n TRACK 01 AUDIO\n TITLE \"Caf".utf8)
    let list = try parse(sheet + [0xE9] + Array("\"\n INDEX 01 100:00:00".utf8), at: "x.cue")
    #expect(list.entries.first?.location == .file(Array("/music/lists/Disc 1/Caf".utf8) + [0xE9] + Array(".wav".utf8)))
    #expect(list.entries.first?.title == "Café")
    #expect(list.entries.first?.range?.start == cueTime(100, 0, 0))
  }

  @Test func tracksWithoutLengthOrStartAreSkipped() throws {
    let list = try parse(
      "FILE a WAVE\nTRACK 1 AUDIO\nINDEX 01 0:0:0\nTRACK 2 AUDIO\nINDEX 01 0:0:0\nTRACK 3 AUDIO\nINDEX 00 0:9:0\nNOISE",
      at: "x.cue")
    #expect(list.entries.map(\.metadata[.trackNumber]) == ["2"])
    #expect(list.entries.first?.range == TimeRange(start: .zero, end: cueTime(0, 9, 0)))
    #expect(list.skippedCount == 2 && list.warnings.count == 3)
  }

  /// Audio before the beginning of the first track becomes a hidden track, unless it is a normal pause.
  @Test func longAudioBeforeTheFirstTrackBecomesTrackZero() throws {
    func list(_ start: String, _ gap: String = "00:00:00") throws -> Playlist {
      try parse(
        "FILE a.flac WAVE\nTRACK 01 AUDIO\nTITLE T\nINDEX 00 \(gap)\nINDEX 01 \(start)\nTRACK 02 AUDIO\nINDEX 00 09:00:00\n"
          + "INDEX 01 09:30:00", at: "x.cue")
    }
    let hidden = try list("03:20:10")
    #expect(
      hidden.entries.map(\.range) == [
        TimeRange(start: .zero, end: cueTime(3, 20, 10)), TimeRange(start: cueTime(3, 20, 10), end: cueTime(9, 30, 0)),
        TimeRange(start: cueTime(9, 30, 0), duration: .positiveInfinity),
      ])
    #expect(hidden.entries.map(\.title) == [nil, "T", nil])
    #expect(hidden.entries.map(\.metadata[.trackNumber]) == ["0", "1", "2"])
    #expect(hidden.entries[0].duration == cueTime(3, 20, 10))
    #expect(try list("00:04:00").entries.count == 3)
    #expect(try list("00:03:74").entries.count == 2)
    #expect(try list("00:06:00", "00:02:01").entries.count == 2)
  }

  @Test func indexPointsWithinATrackAreKeptAndWritten() throws {
    let sheet =
      "FILE a.flac WAVE\nTRACK 01 AUDIO\nINDEX 01 00:00:00\nINDEX 02 01:00:05\nINDEX 03 100:09:74\nFILE b.flac WAVE\nINDEX 04 00:01:00\n"
    let list = try parse(sheet, at: "x.cue")
    #expect(list.entries.map(\.metadata[.indexPoints]) == ["2 01:00:05, 3 100:09:74"])
    let writer = CueWriter(locationWriter: LocationWriter(base: nil))
    let lines = try writer.lines(of: list.entries[0], index: 0, after: nil).map { $0.drop { $0 == " " } }
    #expect(lines.suffix(3) == ["INDEX 01 00:00:00", "INDEX 02 01:00:05", "INDEX 03 100:09:74"])
  }

  @Test func pregapsAndPostgapsOutsideTheFileAreSkippedWithAWarning() throws {
    let list = try parse(
      "FILE a WAVE\nTRACK 1 AUDIO\nPREGAP 0:2:0\nINDEX 01 0:0:0\nTRACK 2 AUDIO\nINDEX 01 0:5:0\nPOSTGAP 0:1:0",
      at: "x.cue")
    #expect(list.entries.count == 2 && list.skippedCount == 0)
    #expect(list.warnings.map(\.error.code) == [.silenceLeftOut, .silenceLeftOut])
    #expect(list.warnings.map(\.line) == [2, 5])
    #expect(
      list.warnings.first?.error.message == "track 1: the pregap is silence outside the file and is not played")
  }

  @Test(arguments: [
    "FILE a WAVE\nTRACK 1 AUDIO\nINDEX 01 00:60:00", "FILE a WAVE\nTRACK 1 AUDIO\nINDEX 01 00:00:75",
    "FILE a WAVE\nTRACK 1 AUDIO\nINDEX 01 00:00", "FILE a WAVE\nTRACK 1 AUDIO\nINDEX 01 -1:00:00",
    "FILE a WAVE\nTRACK 1 AUDIO\nINDEX 01 9999999999:00:00", "FILE a WAVE\nTRACK x AUDIO", "TRACK 1 AUDIO",
    "FILE a WAVE\nINDEX 01 00:00:00", "FILE a WAVE\n", "PERFORMER x", "FILE a WAVE\nTRACK 1 AUDIO\nPREGAP x",
    "FILE a WAVE\nTRACK 1 AUDIO\nINDEX 01 01:00:00\nTRACK 2 AUDIO\nINDEX 01 00:59:74",
  ])
  func invalidSheetsAreReportedAsDamaged(text: String) {
    expectError(.damagedPlaylist) { () throws(MediaError) in try parse(text, at: "x.cue") }
  }
}
