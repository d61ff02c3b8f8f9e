import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlaylists

@Suite struct PlaylistFormatTests {
  @Test func extendedM3UOfWinampIsParsed() throws {
    let list = try parse(Sample.winampM3U)
    #expect(
      list.locationTexts == [
        "/music/lists/Sample.mp3", "/music/lists/Greatest Hits/Example.ogg", "http://radio.example/stream?x=1&y=2",
      ])
    #expect(
      list.entries.map(\.title) == [
        "Sample Artist - Sample title", "Example Artist - Example title", "Radio, \"the\" station",
      ])
    #expect(
      list.entries.map(\.duration) == [MediaTime(value: 123, timescale: 1), MediaTime(value: 321, timescale: 1), nil])
    // Windows drives and shares are not supported.
    #expect(list.skippedCount == 2)
    #expect(list.warnings.map(\.line) == [8, 9])
    #expect(list.warnings.allSatisfy { $0.error.code == .unsupportedLocation })
  }

  @Test func m3u8WithTagsOfOtherPlayersIsParsed() throws {
    let list = try parse(Sample.iptvM3U, at: "list.m3u8")
    #expect(list.title == "Évening")
    #expect(
      list.locationTexts == [
        "/music/lists/../one.flac", "/music/lists/two#2.flac", "/abs/three 100%.flac", "/abs/café four.flac",
      ])
    let first = try #require(list.entries.first)
    #expect(first.title == "Channel, one" && first.duration == nil)
    #expect(first.metadata == [.album: "Album", .creator: "Artist", .genre: "Jazz"])
    #expect(list.entries[1].title == nil && list.entries[1].duration == MediaTime(value: 1025, timescale: 100))
    #expect(list.warnings.isEmpty)
  }

  @Test func zeroBytesInTitlesAreReplacedOrRemoved() throws {
    let list = try parse("#EXTM3U\n#EXTINF:10,\0One\0Tw\u{F6}\0\na.mp3\n#EXTINF:1,\0\nb.mp3\n")
    #expect(list.entries.map(\.title) == ["One\u{FFFD}Tw\u{F6}", nil])
  }

  @Test func plainM3UIsRecognizedOnlyByItsExtension() throws {
    #expect(try parse("one.mp3\n\n  two.mp3  \r# three\rfour.mp3").locationTexts.count == 3)
    expectError(.notAPlaylist) { try parse("one.mp3\ntwo.mp3", at: "list.txt") }
    let assumed = try Playlist(parsing: Array("one.mp3".utf8), at: .path("/m/list.txt"), assumed: .m3u)
    #expect(assumed.locationTexts == ["/m/one.mp3"])
  }

  @Test(arguments: [
    (
      "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:9.9,\na.ts\n#EXT-X-ENDLIST", PlaylistFormat.hlsMedia
    ),
    ("#EXTM3U\r\n#EXT-X-STREAM-INF:BANDWIDTH=1\r\nlow.m3u8\r\n", .hlsMaster),
    ("#EXTM3U\n#EXTINF:9,a\nb.mp3\n", .m3u),
    ("\u{FEFF}\n #extm3u\na.mp3", .m3u),
    ("#EXTINF:1,x\na.mp3", .m3u),
    ("\n[Playlist]\nFile1=x", .pls),
    ("<?xml version='1.0'?><playlist/>", .xspf),
    (Sample.cue, .cue),
  ])
  func contentDeterminesTheFormat(text: String, format: PlaylistFormat) {
    // The content overrides the extension.
    for name in [nil, "pls", "cue", "m3u8", "mp3"] as [String?] {
      #expect(PlaylistFormat(of: Array(text.utf8), extension: name) == format)
    }
  }

  @Test func hlsStreamIsNotAPlaylist() {
    let media = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:9.9,\na.ts\n"
    expectError(.notAPlaylist) { () throws(MediaError) in try parse(media, at: "a.m3u8") }
  }

  @Test(arguments: ["list.txt", "song.mp3", "none"])
  func otherTextIsNotAPlaylist(name: String) {
    expectError(.notAPlaylist) { () throws(MediaError) in try parse("just\nwords\n", at: name) }
    expectError(.notAPlaylist) { () throws(MediaError) in try parse("<html></html>", at: name) }
    expectError(.notAPlaylist) { () throws(MediaError) in try parse("REM x\nFILE me away\nplease", at: name) }
  }

  @Test func plsEntriesInAnyOrderAndWithGapsAreParsed() throws {
    let list = try parse(Sample.winampPLS, at: "list.pls")
    #expect(list.locationTexts == ["http://stream.example:8000/", "/abs/three.flac", "/music/lists/sub/twelve.ogg"])
    #expect(list.entries.map(\.title) == ["(#1 - 2/200) Radio = good", "Three", nil])
    #expect(list.entries.map { $0.duration?.seconds } == [nil, 30, 12])
    #expect(try parse("[playlist]\nFile1=a.mp3\n", at: "v1").locationTexts == ["/music/lists/a.mp3"])
    #expect(try parse("File2=a.mp3\n", at: "headless.pls").locationTexts == ["/music/lists/a.mp3"])
    expectError(.notAPlaylist) { () throws(MediaError) in try parse("a=b\n", at: "x.pls") }
  }

  @Test func xspfIsParsed() throws {
    let list = try parse(Sample.xspf, at: "list.xspf")
    #expect(list.title == "80s & <more>")
    #expect(list.metadata == [.creator: "Jane Doe", .annotation: "My favorite songs"])
    #expect(
      list.locationTexts == ["/mp3s/song_1 é.mp3", "/music/lists/song_2.mp3", "/music/lists/sub%20dir/100%.mp3"])
    let first = try #require(list.entries.first)
    #expect(first.title?.hasPrefix("Against") == true && first.title?.hasSuffix("All") == true)
    #expect(first.duration == MediaTime(value: 271_066, timescale: 1_000))
    #expect(first.metadata == [.creator: "Phil Collins", .album: "Hits", .trackNumber: "3"])
    #expect(list.skippedCount == 1 && list.warnings.first?.error.code == .invalidArgument)
  }

  @Test func xspfInLatin1AndWithNonUTF8NamesIsParsed() throws {
    let head = Array("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><playlist><title>caf".utf8)
    let tail = Array("</title><trackList><track><location>caf%E9.mp3</location></track></trackList></playlist>".utf8)
    let list = try parse(head + [0xE9] + tail, at: "x.xspf")
    #expect(list.title == "café")
    #expect(list.entries.map(\.location) == [.file(Array("/music/lists/caf".utf8) + [0xE9] + Array(".mp3".utf8))])
  }

  // MARK: - Encodings

  @Test func unicodeEncodingsAreDetectedByTheirByteOrderMark() throws {
    let text = "#EXTM3U\n#EXTINF:1,Motörhead “live” – 日本\nMotörhead.mp3\n"
    let expected = try parse(text)
    #expect(expected.entries.first?.title == "Motörhead “live” – 日本")
    #expect(try parse([0xEF, 0xBB, 0xBF] + Array(text.utf8)) == expected)
    let little = text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
    #expect(try parse([0xFF, 0xFE] + little) == expected)
    #expect(try parse([0xFE, 0xFF] + big + [0]) == expected)
  }

  @Test func nonUTF8IsWindows1252InTextAndBytesInPaths() throws {
    var bytes = Array("#EXTM3U\n#EXTINF:1,Mot".utf8) + [0xF6] + Array("rhead ".utf8) + [0x93, 0x80, 0x94]
    bytes += Array("\nMot".utf8) + [0xF6] + Array("rhead.mp3\n".utf8)
    let entry = try #require(try parse(bytes).entries.first)
    #expect(entry.title == "Motörhead “€”")
    #expect(entry.location == .file(Array("/music/lists/Mot".utf8) + [0xF6] + Array("rhead.mp3".utf8)))
    let url = try parse("#EXTM3U\nfile://localhost/m/caf%E9.mp3")
    #expect(url.entries.map(\.location) == [.file(Array("/m/caf".utf8) + [0xE9] + Array(".mp3".utf8))])
  }

  @Test func declaredEncodingIsUsed() throws {
    // Valid UTF-8, but declared as Latin-1.
    let list = try parse("#EXTM3U\n#EXTENC:ISO-8859-1\n#EXTINF:1,Ã©\na.mp3")
    #expect(list.entries.first?.title == "ÃƒÂ©")
    #expect(try parse("#EXTM3U\n#EXTENC:KOI8-R\na.mp3").warnings.count == 1)
  }

  // MARK: - Locations

  @Test(arguments: [
    ("b.mp3", "http://h/x/b.mp3"), ("../b c.mp3", "http://h/b%20c.mp3"), ("/b.mp3?x=1", "http://h/b.mp3?x=1"),
    ("//other/b", "http://other/b"), ("https://o/b", "https://o/b"), ("HTTP://o/é", "http://o/%C3%A9"),
    ("./", "http://h/x/"), ("?q", "http://h/x/list.m3u?q"), ("../../../b", "http://h/b"),
  ])
  func namesInARemotePlaylistAreResolvedAgainstItsURL(name: String, url: String) throws {
    let list = try Playlist(parsing: Array("#EXTM3U\n\(name)".utf8), at: .url("http://h/x/list.m3u?session=1"))
    #expect(list.entries.map(\.location) == [.url(url)])
  }

  @Test func nonASCIIPlaylistURLIsResolvedByItsBytes() throws {
    // The combining mark after the slash does not hide the slash.
    let list = try Playlist(parsing: Array("#EXTM3U\nb.mp3\n../c.mp3".utf8), at: .url("http://h/\u{301}x/y/list.m3u"))
    #expect(list.locationTexts == ["http://h/%CC%81x/y/b.mp3", "http://h/%CC%81x/c.mp3"])
  }

  @Test func remotePlaylistCannotNameLocalFiles() throws {
    let list = try Playlist(parsing: Array("#EXTM3U\nfile:///etc/passwd".utf8), at: .url("http://h/x.m3u"))
    #expect(list.entries.isEmpty && list.warnings.first?.error.code == .notAllowed)
  }

  @Test func namesWithAColonAreFileNames() throws {
    let list = try parse("#EXTM3U\nAct II: The Return.mp3\nMozart:Requiem.mp3\n")
    #expect(list.locationTexts == ["/music/lists/Act II: The Return.mp3", "/music/lists/Mozart:Requiem.mp3"])
  }
}
