import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlaylists

@Suite struct HostilePlaylistTests {
  static let samples: [(String, String)] = [
    (Sample.winampM3U, "a.m3u"), (Sample.iptvM3U, "a.m3u8"), (Sample.winampPLS, "a.pls"), (Sample.xspf, "a.xspf"),
    (Sample.cue, "a.cue"),
  ]

  /// Every prefix of a list is a valid list, or gives an error code of playlists.
  @Test(arguments: samples)
  func playlistCutAtEveryByteIsParsedOrRejected(text: String, name: String) {
    let bytes = Array(text.utf8)
    for count in 0...bytes.count {
      check(Array(bytes[..<count]), name)
      check(Array(bytes[count...]), name)
    }
  }

  @Test(arguments: samples)
  func utf16PlaylistCutAtEveryByteIsParsedOrRejected(text: String, name: String) {
    let units = Array(text.utf16.prefix(400))
    let bytes: [UInt8] = [0xFF, 0xFE] + units.flatMap { unit -> [UInt8] in [UInt8(unit & 255), UInt8(unit >> 8)] }
    for count in 0...bytes.count { check(Array(bytes[..<count]), name) }
  }

  private func check(_ bytes: [UInt8], _ name: String) {
    do throws(MediaError) { _ = try parse(bytes, at: name) } catch {
      #expect([.notAPlaylist, .damagedPlaylist].contains(error.code), "\(error)")
    }
  }

  @Test(arguments: [
    "smb://nas/a", "javascript:alert(1)", "data:audio/wav;base64,AA", "file://host/a", "ftp://h/a", "http:///a",
    "concat:/etc/passwd|/b", "subfile,,start,0,end,9,,:/a", "rtsp://h/x", "file:a", "a\u{0}b", "\\x", "z:\\x", "D:/x",
    String(repeating: "x", count: 5_000), String(repeating: "x", count: 1 << 20), "file:///a%00b", "file:///%zz",
    "file:///C:/a",
  ])
  func unplayableLocationsAreSkippedWithAWarning(name: String) throws {
    let list = try parse("#EXTM3U\nfirst\n#EXTINF:3,title\n\(name)\nlast\n")
    if name.hasPrefix("subfile,") {
      // Not a URL scheme: the text is a file name.
      #expect(list.entries.count == 3)
    } else {
      #expect(list.locationTexts == ["/music/lists/first", "/music/lists/last"])
      #expect(list.skippedCount == 1 && list.warnings.first?.line == 4)
      #expect([2007, 1001, 3023].contains(list.warnings.first?.error.code.rawValue))
      // The title of the skipped entry is not applied to another entry.
      #expect(list.entries.last?.title == nil)
    }
  }

  /// Durations beyond the limit, or beyond the range of numbers, are ignored and are not written.
  @Test(arguments: [
    "1000000001", "9223372036854775807", "9223372036854775808", "99999999999999999999999999", "1e18", "1e300",
    "1e999999999", "9223372036.854775807", "000000000000000000000000000000000000001", "-9223372036854775808", "inf",
    "nan",
  ])
  func durationsBeyondTheLimitAreUnknownAndNotWritten(text: String) throws {
    let lists = try [
      parse("#EXTM3U\n#EXTINF:\(text),T\na\n"), parse("[playlist]\nFile1=a\nTitle1=T\nLength1=\(text)\n", at: "x.pls"),
      parse(
        "<playlist><trackList><track><location>a</location><title>T</title><duration>\(text)</duration></track>"
          + "</trackList></playlist>", at: "x.xspf"),
    ]
    for (index, list) in lists.enumerated() {
      let duration = list.entries.first?.duration
      #expect(list.locationTexts == ["/music/lists/a"] && list.entries.first?.title == "T")
      // XSPF counts in milliseconds, so the value may be within the limit.
      if index < 2 || duration != nil { #expect(duration.map { $0 <= PlaylistLimits.duration } ?? true) }
      if index < 2 { #expect(duration == nil, "\(text)") }
      for format in [PlaylistFormat.m3u, .pls, .xspf] {
        var whole = list
        whole.entries[0].duration = duration ?? MediaTime(value: .max, timescale: 1)
        let lines = try whole.lines(as: format)
        #expect(!lines.contains { $0.contains("9223372036854775807") }, "\(lines)")
      }
    }
  }

  @Test func longTextIsTruncatedBetweenCharacters() throws {
    let list = try parse("#EXTM3U\n#EXTINF:1,\(String(repeating: "日", count: 400_000))\na\n")
    #expect(list.entries.first?.title == String(repeating: "日", count: PlaylistLimits.textByteCount / 3))
  }

  @Test func tooLongPlaylistsAreRejected() {
    expectError(.playlistLimitExceeded) { () throws(MediaError) in
      try parse([UInt8](repeating: 10, count: PlaylistLimits.byteCount + 1))
    }
    let line = Array("a\n".utf8)
    let lines = Array("#EXTM3U\n".utf8) + [UInt8](repeating: 0, count: 2 * 100_001).indices.map { line[$0 % 2] }
    expectError(.playlistLimitExceeded) { () throws(MediaError) in try parse(lines) }
    let numbers = "[playlist]\n" + (0...PlaylistLimits.entryCount).map { "Title\($0)=\n" }.joined()
    expectError(.playlistLimitExceeded) { () throws(MediaError) in try parse(numbers, at: "x.pls") }
  }

  @Test func storedWarningsAreLimitedButAllSkippedEntriesAreCounted() throws {
    let list = try parse("#EXTM3U\n" + String(repeating: "ftp://h/x\n", count: 5_000))
    #expect(list.skippedCount == 5_000 && list.warnings.count == PlaylistLimits.warningCount)
  }

  @Test(arguments: [
    """
    <?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
    <!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><playlist><title>&c;</title></playlist>
    """,
    "<!DOCTYPE p [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><playlist><title>&x;</title></playlist>",
    "<!DOCTYPE p SYSTEM \"http://example.invalid/x.dtd\"><playlist><trackList/></playlist>",
    "<playlist><title>&x;</title></playlist>",
    "<playlist><title>\u{1}</title></playlist>",
    String(repeating: "<playlist>", count: 100_000),
    "<playlist><title>" + String(repeating: "&amp;", count: 10) + "</titel></playlist>",
    "<?xml version=\"1.0\" encoding=\"nonsense\"?><playlist/>",
    "",
  ])
  func invalidOrHostileXMLIsRejected(text: String) {
    expectError(.damagedPlaylist) { () throws(MediaError) in try parse(text, at: "x.xspf") }
  }

  @Test func documentTypeInUTF16IsRejected() {
    // Only libxml2 detects UTF-16 without a byte order mark. Such files are not playlists.
    let text = "<?xml version=\"1.0\"?><!DOCTYPE p [<!ENTITY a \"b\">]><playlist><title>&a;</title></playlist>"
    let units = text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    expectError(.notAPlaylist) { () throws(MediaError) in try parse(units, at: "x.xspf") }
    expectError(.damagedPlaylist) { () throws(MediaError) in try parse([0xFF, 0xFE] + units, at: "x.xspf") }
  }

  @Test func largeTextInXMLIsTruncated() throws {
    let large = String(repeating: "x", count: 1 << 20)
    let list = try parse(
      "<playlist><title>\(large)</title><trackList><track><location>\(large)</location></track></trackList></playlist>",
      at: "x.xspf")
    #expect(list.title?.utf8.count == PlaylistLimits.textByteCount)
    #expect(list.entries.isEmpty && list.skippedCount == 1)
  }
}

@Suite struct PlaylistExpansionTests {
  /// Expands a playlist with `files`, the contents by path; all other paths do not exist.
  private static func expand(
    _ path: String, _ files: [String: String], reads: UnsafeMutablePointer<Int>? = nil
  ) throws(MediaError) -> Playlist {
    try Playlist(expanding: .path(path)) { (location, limit) throws(MediaError) -> PlaylistData in
      reads?.pointee += 1
      guard case .file(let file) = location else {
        throw MediaError(.unsupportedLocation, "not here: \(location.displayText)")
      }
      let name = String(decoding: file, as: UTF8.self)
      if name.hasPrefix("/dev/") { throw MediaError(.notAFile, "a device: \(name)") }
      guard let text = files[name] else { throw MediaError(.fileNotFound, "there is no file \(name)") }
      // A link has the identity of its target.
      if text.hasPrefix("->"), let target = files[String(text.dropFirst(2))] {
        return PlaylistData(bytes: Array(target.utf8), identity: [1, 2])
      }
      return PlaylistData(bytes: Array(text.utf8), identity: name == "/m/real.m3u" ? [1, 2] : nil)
    }
  }

  @Test func nestedPlaylistsAreExpandedAtTheirPositions() throws {
    let list = try Self.expand(
      "/m/a.m3u",
      [
        "/m/a.m3u": "#EXTM3U\n#PLAYLIST:Top\n1.mp3\nsub/b.pls\nc.cue\n4.mp3\nlive.m3u8\nsub/b.pls",
        "/m/sub/b.pls": "[playlist]\nFile1=2.mp3",
        "/m/c.cue": "TITLE Disc\nPERFORMER P\nFILE x.flac WAVE\nTRACK 1 AUDIO\nTITLE T\nINDEX 01 1:0:0",
        "/m/live.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8",
      ])
    #expect(list.title == "Top")
    #expect(
      list.locationTexts == ["/m/1.mp3", "/m/sub/2.mp3", "/m/x.flac", "/m/4.mp3", "/m/live.m3u8", "/m/sub/2.mp3"])
    #expect(list.entries[2].metadata == [.album: "Disc", .creator: "P", .trackNumber: "1"])
    #expect(list.entries[2].range?.start == cueTime(1, 0, 0))
  }

  @Test func missingOrUnreadableNestedPlaylistsAreSkipped() throws {
    let list = try Self.expand(
      "/m/a.m3u",
      [
        "/m/a.m3u": "#EXTM3U\nb.m3u\n/dev/zero.m3u\nhttp://h/c.pls\nd.xspf\ne.mp3\n/dev/zero",
        "/m/d.xspf": "\u{0}\u{1}",
      ])
    // Entries that are not playlists are left to the player.
    #expect(list.locationTexts == ["/m/e.mp3", "/dev/zero"])
    #expect(
      list.warnings.map(\.error.code) == [.fileNotFound, .notAFile, .unsupportedLocation, .notAPlaylist]
        && list.skippedCount == 4)
    expectError(.notAFile) { () throws(MediaError) in try Self.expand("/dev/zero", [:]) }
    expectError(.fileNotFound) { () throws(MediaError) in try Self.expand("/m/a.m3u", [:]) }
  }

  @Test(arguments: [
    ["/m/a.m3u": "a.m3u"],
    ["/m/a.m3u": "x.mp3\n./a.m3u"],
    [
      "/m/a.m3u": "b.pls", "/m/b.pls": "[playlist]\nFile1=c.xspf",
      "/m/c.xspf": "<playlist><trackList><track><location>a.m3u</location></track></trackList></playlist>",
    ],
    ["/m/a.m3u": "real.m3u", "/m/real.m3u": "link.m3u", "/m/link.m3u": "->/m/real.m3u"],
  ])
  func playlistThatContainsItselfIsReportedAsACycle(files: [String: String]) {
    expectError(.playlistCycle) { () throws(MediaError) in try Self.expand("/m/a.m3u", files) }
  }

  @Test func nestingDepthIsLimited() throws {
    var files: [String: String] = [:]
    for depth in 0..<7 { files["/m/\(depth).m3u"] = "\(depth + 1).m3u" }
    files["/m/7.m3u"] = "song.mp3"
    #expect(try Self.expand("/m/0.m3u", files).locationTexts == ["/m/song.mp3"])
    files["/m/7.m3u"] = "8.m3u"
    files["/m/8.m3u"] = "song.mp3"
    expectError(.playlistLimitExceeded) { () throws(MediaError) in try Self.expand("/m/0.m3u", files) }
  }

  @Test func multiplyingPlaylistsAreLimitedByReadsEntriesAndBytes() {
    var files: [String: String] = ["/m/7.m3u": "#EXTM3U"]
    for depth in 0..<7 { files["/m/\(depth).m3u"] = String(repeating: "\(depth + 1).m3u\n", count: 100) }
    var reads = 0
    expectError(.playlistLimitExceeded) { () throws(MediaError) in try Self.expand("/m/0.m3u", files, reads: &reads) }
    #expect(reads == PlaylistLimits.playlistCount)
    files["/m/6.m3u"] = String(repeating: "7.m3u\n", count: 10)
    files["/m/7.m3u"] = "#EXTM3U\n" + String(repeating: "song.mp3\n", count: 20_000)
    expectError(.playlistLimitExceeded) { () throws(MediaError) in try Self.expand("/m/6.m3u", files) }
    files["/m/6.m3u"] = String(repeating: "7.m3u\n", count: 10)
    files["/m/7.m3u"] = "\u{0}" + String(repeating: "#", count: PlaylistLimits.byteCount - 1)
    expectError(.playlistLimitExceeded) { () throws(MediaError) in try Self.expand("/m/6.m3u", files) }
  }

  @Test func playlistsOfOneRequestShareOneLimit() throws {
    let bytes = Array("#EXTM3U\n\(String(repeating: "song.mp3\n", count: 60_000))".utf8)
    var usage = PlaylistUsage()
    func read(_ path: String) throws(MediaError) -> Playlist {
      try Playlist(expanding: .path(path), usage: &usage) { (_, _) throws(MediaError) in PlaylistData(bytes: bytes) }
    }
    #expect(try read("/m/a.m3u").entries.count == 60_000)
    expectError(.playlistLimitExceeded) { () throws(MediaError) in try read("/m/b.m3u") }
    usage = PlaylistUsage()
    #expect(try read("/m/b.m3u").entries.count == 60_000)
  }

  @Test func playlistLargerThanTheReadLimitIsRejected() {
    expectError(.playlistLimitExceeded) { () throws(MediaError) in
      try Playlist(expanding: .path("/m/a.m3u")) { (_, limit) throws(MediaError) in
        PlaylistData(bytes: [UInt8](repeating: 35, count: limit + 1))
      }
    }
  }
}
