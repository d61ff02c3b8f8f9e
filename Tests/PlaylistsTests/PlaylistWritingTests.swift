import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlaylists

@Suite struct PlaylistWritingTests {
  static let location = PlaylistLocation.path("/music/lists/new")
  static let base = Array("/music/lists".utf8)

  private func reread(_ list: Playlist, _ format: PlaylistFormat) throws -> Playlist {
    let lines = try list.lines(as: format, base: Self.base)
    #expect(lines.allSatisfy { !$0.contains("\n") && !$0.contains("\r") })
    let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    #expect(PlaylistFormat(of: bytes, extension: nil) == format)
    return try Playlist(parsing: bytes, at: Self.location)
  }

  /// Names that could be mistaken for other syntax.
  static let names = [
    "a.mp3", "sub/b c.mp3", "#c.mp3", "[d].mp3", "e\\f.mp3", "C:\\g.mp3", "C:/h.mp3", "http:i.mp3", "file:j",
    "k%20l?m#n.mp3",
    "\"o\".mp3", "it's \"p\" q", "é 日本.mp3", "http://r/s", "t=u,v.mp3", "<w>&.mp3", "TRACK 01 AUDIO", "../x.mp3", "..",
    "~y",
    " lead", "trail ", "tab\tname", "line\nbreak", "#EXT-X-ENDLIST", "javascript:z", "./dot", "mp3 WAVE", "\\\\nas\\x",
  ]

  static let difficultLocations: [PlaylistLocation] =
    names.map { .path("/music/lists/" + $0) }
    + [
      .path("/elsewhere/a.mp3"), .path("/music/listsb/c.mp3"), .path("/C:/d.mp3"), .path("/music/lists//e"),
      .file(Array("/music/lists/caf".utf8) + [0xE9]), .file(Array("/x/".utf8) + [0xFF, 0x0A, 0x7F, 0x25]),
      .url("http://h:80/a%20b?c=d&e='f'#g"), .url("https://h"),
      .url("http://user:secret@h/a"), .url("http://h@@@:8000/"),
    ]

  @Test(arguments: [PlaylistFormat.m3u, .pls, .xspf, .cue])
  func writtenPlaylistReadsBackEqual(format: PlaylistFormat) throws {
    var list = Playlist(title: "A & <B> \"é\"")
    for (index, location) in Self.difficultLocations.enumerated() {
      list.entries.append(PlaylistEntry(location: location))
      if format == .cue { list.entries[index].metadata[.trackNumber] = String(index + 1) }
      if index % 2 == 0 {
        list.entries[index].title = ["Title, \(index)", "#\(index)", "=\(index) \"", "a]]>&lt;"][index / 2 % 4]
      }
      if index % 3 == 0, format != .cue {
        list.entries[index].duration = MediaTime(value: Int64(index + 1), timescale: 1)
      }
    }
    #expect(try reread(list, format) == list)
  }

  @Test func eachFormatKeepsTheFieldsThatItSupports() throws {
    var list = Playlist(title: "T")
    list.entries = [
      PlaylistEntry(
        location: .path("/a"), title: "t", duration: MediaTime(value: 1_234_567_891, timescale: 1_000_000_000),
        metadata: [.creator: "c", .album: "b", .genre: "g"])
    ]
    #expect(try reread(list, .m3u) == list)
    list.entries[0].duration = MediaTime(value: 1_234, timescale: 1_000)
    list.entries[0].metadata = [
      .creator: "c", .album: "b", .annotation: "a", .trackNumber: "7", .info: "i", .image: "j",
    ]
    list.metadata = [.creator: "d", .date: "2026-11-22", .annotation: "x"]
    #expect(try reread(list, .xspf) == list)
    // The values are rounded, and without fields that the format lacks.
    let pls = try reread(list, .pls)
    #expect(
      pls.title == "T" && pls.entries[0].duration == MediaTime(value: 1, timescale: 1)
        && pls.entries[0].metadata.isEmpty)
  }

  @Test func cueSheetReadsBackEqual() throws {
    // Ignore the lines and messages of warnings about pauses, which differ in the new text.
    func withoutWarningDetails(_ list: Playlist) -> Playlist {
      var list = list
      list.warnings = list.warnings.map { PlaylistWarning(line: 0, error: MediaError($0.error.code, "")) }
      return list
    }
    let list = withoutWarningDetails(try parse(Sample.cue, at: "album.cue"))
    #expect(list.warnings.map(\.error.code) == [.silenceLeftOut, .silenceLeftOut])
    #expect(withoutWarningDetails(try reread(list, .cue)) == list)
    var files = list
    files.entries.insert(PlaylistEntry(location: .path("/music/lists/whole.wav"), metadata: [.trackNumber: "1"]), at: 0)
    files.entries += [files.entries[0], files.entries[0]]
    for index in files.entries.indices { files.entries[index].metadata[.trackNumber] = String(index + 1) }
    #expect(withoutWarningDetails(try reread(files, .cue)) == files)
  }

  @Test func linesHaveTheSyntaxOfTheFormat() throws {
    let list = Playlist(
      title: "Two\nlines",
      entries: [
        PlaylistEntry(location: .path("/music/lists/é.mp3"), title: "One", duration: MediaTime(value: 5, timescale: 2)),
        PlaylistEntry(location: .path("/b.mp3")),
      ])
    #expect(
      try list.lines(as: .m3u, base: Self.base) == [
        "#EXTM3U", "#PLAYLIST:Two lines", "#EXTINF:2.5,One", "é.mp3", "/b.mp3",
      ])
    #expect(try list.lines(as: .m3u).contains("/music/lists/é.mp3"))
    #expect(
      try list.lines(as: .pls, base: Self.base + Array("/".utf8)) == [
        "[playlist]", "X-GNOME-Title=Two lines", "File1=é.mp3", "Title1=One", "Length1=3", "File2=/b.mp3", "Length2=-1",
        "NumberOfEntries=2", "Version=2",
      ])
    #expect(try list.lines(as: .xspf, base: Self.base).contains("      <location>%C3%A9.mp3</location>"))
    #expect(try list.lines(as: .xspf).contains("      <location>file:///b.mp3</location>"))
  }

  @Test func playlistsThatAFormatCannotExpressAreRejected() throws {
    let sheet = try parse(Sample.cue, at: "album.cue")
    for format in [PlaylistFormat.m3u, .pls, .xspf, .hlsMedia] {
      expectError(.invalidArgument) { () throws(MediaError) in try sheet.lines(as: format) }
    }
    func expectRejected(_ entries: [PlaylistEntry]) {
      expectError(.invalidArgument) { () throws(MediaError) in try Playlist(entries: entries).lines(as: .cue) }
    }
    let location = PlaylistLocation.path("/a")
    expectRejected([])
    expectRejected([PlaylistEntry(location: location, range: TimeRange(start: .zero, end: cueTime(1, 0, 0)))])
    expectRejected([
      PlaylistEntry(
        location: location, range: TimeRange(start: MediaTime(value: 1, timescale: 10), duration: .positiveInfinity))
    ])
    expectRejected([
      PlaylistEntry(location: location, range: TimeRange(start: .zero, end: cueTime(1, 0, 0))),
      PlaylistEntry(location: location, range: TimeRange(start: cueTime(2, 0, 0), duration: .positiveInfinity)),
    ])
    expectError(.invalidArgument) { () throws(MediaError) in
      try Playlist(entries: [PlaylistEntry(location: .file([0xFF]))]).lines(as: .m3u)
    }
  }
}
