import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Tags and artwork over the socket and in the client.
@Suite struct MetadataTests {
  /// A FLAC file with tags and artwork; returns the artwork's bytes, too.
  private func file(_ daemon: TestServer, _ name: String = "a.flac") throws -> (path: String, artwork: Data) {
    let folder = daemon.folder
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "color=red:s=300x300", "-frames:v", "1",
      folder.file("cover.png"),
    ])
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=duration=1", "-i", folder.file("cover.png"),
      "-map", "0", "-map", "1", "-c:v", "copy", "-disposition:v", "attached_pic", "-metadata:s:v",
      "comment=Cover (front)", "-metadata",
      "title=One More",
      "-metadata", "artist=A", "-metadata", "TRACKNUMBER=3/12", "-metadata", "REPLAYGAIN_TRACK_GAIN=-6.54 dB",
      "-metadata", "LYRICS=la\nla", folder.file(name),
    ])
    return (folder.file(name), try Data(contentsOf: URL(fileURLWithPath: folder.file("cover.png"))))
  }

  @Test func tagsAreListedWithTheirTypes() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let (path, artwork) = try file(daemon)
    try client.reply("asset.open \(path)")
    let lines = try client.ask("asset.metadata 1")
    print(lines.joined(separator: "\n"))
    #expect(lines.contains("| identifier=vorbis/TITLE key=TITLE commonKey=title type=string value=\"One More\""))
    let artworkLine = try #require(lines.first { $0.contains("commonKey=artwork") })
    #expect(artworkLine.contains(" type=data bytes=\(artwork.count) mediaType=image/png"))
    #expect(field("artwork", artworkLine) == "0")
    let last = try #require(lines.last)
    #expect(
      last.hasPrefix("ok asset=1 count=\(lines.count - 1) next=none formats=vorbis artworkCount=1 trackGain=-6.54"))
    // The filters.
    #expect(
      try client.ask("asset.metadata 1 common identifier=comn/trackNumber").first
        == "| identifier=comn/trackNumber key=trackNumber commonKey=trackNumber type=number value=3 total=12")
    #expect(try client.ask("asset.metadata 1 identifier=comn/title").count == 2)
    #expect(try client.ask("asset.metadata 1 identifier=vorbis/ARTIST").first?.hasSuffix(" value=A") == true)
    #expect(field("count", try client.reply("asset.metadata 1 space=id3")) == "0")
    #expect(field("count", try client.reply("asset.metadata 1 space=vorbis")) == "\(lines.count - 1)")
    #expect(field("count", try client.reply("asset.metadata 1 language=de,en")) == "0")
    #expect(try client.ask("asset.metadata 1 offset=2") == Array(lines[2...]))
    #expect(try client.ask("asset.metadata 1 offset=99").count == 1)
    #expect(try client.reply("asset.metadata 7").hasPrefix("error code=1014"))
    try client.reply("asset.open /none")
    #expect(try client.reply("asset.metadata 2").hasPrefix("error code=2001"))
    try client.send(
      #"{"jsonrpc":"2.0","id":1,"method":"asset.metadata","params":{"id":1,"identifier":"vorbis/LYRICS"}}"#)
    #expect(try client.line()?.contains(#""value":"la\nla""#) == true)
  }

  /// Languages, and more of them than fit in a reply.
  @Test func longTagListsArePaged() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    var frames = (0..<1_500).flatMap { frame("TXXX", [3] + Array("k\($0)\0v\($0)".utf8)) }
    for (language, text) in [("eng", "hello"), ("deu", "Wort")] {
      frames += frame("COMM", [3] + Array("\(language)\0\(text)".utf8))
    }
    let long = [UInt8](repeating: 0x61, count: 40_000)
    frames += frame("USLT", [3] + Array("eng\0".utf8) + long)
    try client.reply("asset.open \(try tagged(daemon, frames))")
    var rows: [String] = []
    var offset = 0
    var pages = 0
    repeat {
      let page = try client.ask("asset.metadata 1 offset=\(offset)")
      #expect(page.count <= 1_001)
      rows += page.dropLast()
      pages += 1
      offset = Int(field("next", page.last ?? "") ?? "") ?? 0
    } while offset > 0
    #expect(pages > 1 && rows.count >= 1_503 && Set(rows).count == rows.count)
    let wanted = try client.ask("asset.metadata 1 identifier=id3/COMM language=de,en")
    #expect(wanted.count == 3 && wanted[0].contains("value=Wort language=de") && wanted[1].contains("language=en"))
    let lyrics = try client.ask("asset.metadata 1 identifier=id3/USLT")
    #expect(lyrics[0].contains(" truncated=true bytes=40000 ") && lyrics[0].utf8.count < 17_000)
  }

  /// Many images with long names, so that fewer fit in a reply. FFmpeg does not recognize their format as an image, and
  /// would make tracks of others.
  @Test func longArtworkListsArePaged() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let count = 700
    let frames = (0..<count).flatMap { number in
      let name = "\(number) " + String(repeating: "x", count: 1_020)
      return frame("APIC", Array("\0image/none\0\u{3}\(name)\0".utf8) + Array("artwork \(number)".utf8))
    }
    try client.reply("append \(try tagged(daemon, frames)) wait=ready")
    try client.reply("asset.open \(daemon.folder.file("many.mp3"))")
    for (request, head) in [("asset.artwork 1", "ok asset=1"), ("item.artwork 1", "ok item=1")] {
      var numbers: [String] = []
      var descriptions: Set<String> = []
      var pageCount = 0
      var next = "0"
      while next != "none" {
        let page = try client.ask("\(request) from=\(next)")
        #expect(page.count > 1 && page.last?.hasPrefix("\(head) count=\(count) next=") == true, "\(page.last ?? "")")
        numbers += page.dropLast().compactMap { field("artwork", $0) }
        for row in page.dropLast() { descriptions.insert(field("description", row) ?? "") }
        pageCount += 1
        next = page.count > 1 ? field("next", page.last ?? "") ?? "none" : "none"
      }
      #expect(pageCount > 1 && numbers == (0..<count).map(String.init) && descriptions.count == count)
      #expect(try client.ask("\(request) from=\(count)") == ["\(head) count=\(count) next=none"])
      #expect(try client.ask(request).first == client.ask("\(request) from=0").first)
    }
    #expect(try client.reply("asset.artwork 1 index=\(count - 1) offset=0").contains(" artwork=\(count - 1) "))
  }

  /// A frame of ID3v2.3.
  private func frame(_ name: String, _ data: [UInt8]) -> [UInt8] {
    Array(name.utf8) + [0, 0, UInt8(data.count >> 8), UInt8(data.count & 255), 0, 0] + data
  }

  /// An MP3 file with these frames before it.
  private func tagged(_ daemon: TestServer, _ frames: [UInt8]) throws -> String {
    let size = (0..<4).map { UInt8(frames.count >> (7 * (3 - $0)) & 0x7F) }
    let audio = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try mp3(daemon))))
    let path = daemon.folder.file("many.mp3")
    try Data(Array("ID3".utf8) + [3, 0, 0] + size + frames + audio).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func mp3(_ daemon: TestServer) throws -> String {
    let path = daemon.folder.file("plain.mp3")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=duration=1", "-c:a", "libmp3lame",
      "-id3v2_version", "0", path,
    ])
    return path
  }

  @Test func artworkIsReturnedInChunksAndWrittenToFiles() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let (path, artwork) = try file(daemon)
    try client.reply("asset.open \(path)")
    let size = artwork.count
    #expect(
      try client.ask("asset.artwork 1") == [
        "| artwork=0 type=frontCover mediaType=image/png bytes=\(size)", "ok asset=1 count=1 next=none",
      ])
    var bytes = Data()
    var next = "0"
    while next != "none" {
      let reply = try client.reply("asset.artwork 1 offset=\(next) limit=100")
      #expect(field("offset", reply) == next)
      bytes += try #require(Data(base64Encoded: field("data", reply) ?? "?"))
      next = field("next", reply) ?? "none"
    }
    #expect(bytes == artwork)
    #expect(field("data", try client.reply("asset.artwork 1 offset=999999999")) == "\"\"")
    let out = daemon.folder.file("out.png")
    let written = "ok asset=1 artwork=0 type=frontCover mediaType=image/png bytes=\(size) file=\(out)"
    #expect(try client.reply("asset.artwork 1 file=\(out)") == written)
    #expect(try Data(contentsOf: URL(fileURLWithPath: out)) == artwork)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: out))
    #expect(try client.reply("asset.artwork 1 file=\(out)").hasPrefix("error code=2090 name=file-exists"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: out)) == Data("mine".utf8))
    #expect(try client.reply("asset.artwork 1 index=0 file=\(out) replace") == written)
    #expect(try Data(contentsOf: URL(fileURLWithPath: out)) == artwork)
    let bad: [(String, Int)] = [
      ("index=1 offset=0", 2091), ("file=/nowhere/at/all.png", 2008),
      ("file=\(daemon.folder.path)/no/all.png", 2006), ("file=\(daemon.folder.path) replace", 2008),
      ("file=a.png", 6002), ("file=/a offset=0", 6002), ("replace", 6002), ("index=0", 6002),
      ("file=http://h/a", 6002), ("offset=0 limit=0", 6002), ("offset=0 limit=70000", 6002),
    ]
    for (query, code) in bad {
      let reply = try client.reply("asset.artwork 1 \(query)")
      print("asset.artwork 1 \(query): \(reply)")
      #expect(reply.hasPrefix("error code=\(code) "))
    }
    // No temporary files remain.
    let left = try FileManager.default.contentsOfDirectory(atPath: daemon.folder.path).filter {
      $0.contains(".playhead-")
    }
    #expect(left == [])
    try client.reply("asset.open \(try mp3(daemon))")
    #expect(try client.reply("asset.artwork 2") == "ok asset=2 count=0 next=none")
    #expect(try client.reply("asset.artwork 2 offset=0").hasPrefix("error code=2091 name=no-such-artwork"))
  }

  @Test func entriesHaveTagsAndListsShowTheirTitles() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let (path, artwork) = try file(daemon)
    try client.reply("append \(path) wait=ready")
    #expect(try client.ask("list")[0].contains(" title=\"One More\" artist=A"), "opening reads the titles")
    #expect(try client.ask("item.metadata 1 identifier=comn/artist")[0].hasSuffix("value=A"))
    #expect(try client.ask("list")[0].contains(" title=\"One More\" artist=A"))
    #expect(try client.reply("status").hasSuffix(" title=\"One More\" artist=A"))
    #expect(try client.reply("item.status 1").contains(" title=\"One More\" artist=A"))
    #expect(field("bytes", try client.reply("item.artwork 1 offset=0 limit=1")) == "\(artwork.count)")
    #expect(try client.reply("item.metadata 9").hasPrefix("error code=2004"))
    #expect(try client.reply("item.artwork 1 player=x").hasPrefix("error code=1006"))
  }

  @Test func clientPrintsInfoAndTagsOfFiles() throws {
    let daemon = try InProcessServer.recording()
    let (path, _) = try file(daemon)
    let info = try daemon.playhead("info", path)
    print(info.output)
    #expect(info.status == 0 && info.output.hasPrefix("\(path)\n  Duration        0:01.000 (exact)\n"))
    #expect(info.output.contains("  Track 0         audio flac, 44100 Hz, mono"))
    #expect(info.output.contains("  Tags\n") && info.output.contains("    title           One More\n"))
    let tags = try daemon.playhead("tags", path, "/none", path)
    #expect(tags.status == 1 && tags.errors.contains("(file-not-found)"))
    #expect(tags.output.components(separatedBy: "  title           One More\n").count == 3)
    #expect(tags.output.contains("  lyrics          la\n                  la\n"))
    #expect(tags.output.contains("  trackGain       -6.54 dB\n"))
    #expect(!tags.output.contains("Duration"))
    #expect(try daemon.playhead("tags").status == 2 && daemon.playhead("info", "--what", path).status == 2)
    #expect(try daemon.playhead("tags", "--help").output.hasPrefix("tags FILE..."))
    // The name of a file in the folder becomes absolute, like the destination of artwork.
    let client = try daemon.connect()
    try client.reply("append \(path)")
    let done = try daemon.playhead("item.artwork", "1", "file=here.png", folder: daemon.folder.path)
    #expect(done.status == 0 && FileManager.default.fileExists(atPath: daemon.folder.file("here.png")))
  }

  @Test func networkOptionsApplyToAssets() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("asset.open http://127.0.0.1:9/a.flac network=false")
    #expect(try client.reply("asset.load 1 duration").hasPrefix("error code=2030 name=network-not-allowed"))
    #expect(try client.reply("asset.open http://h/a header=nonsense").hasPrefix("error code=6002"))
    try client.reply("asset.open http://127.0.0.1:9/a.flac interface=nosuch0 timeout=1 precise")
    #expect(try client.reply("asset.metadata 2").hasPrefix("error code=203"))
  }
}
