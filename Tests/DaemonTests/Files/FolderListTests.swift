import DaemonTesting
import Foundation
import RigSupport
import Testing

/// The command `folder.list`.
@Suite(.timeLimit(.minutes(3))) struct FolderListTests {
  @Test func foldersBelowTheRootsAreListedInParts() throws {
    let folder = try TemporaryDirectory("folders")
    for name in ["music", "music/live", "out"] { try #require(mkdir(folder.file(name), 0o755) == 0) }
    for name in ["one.flac", "two words.flac", "three.flac"] { try folder.write("music/\(name)", []) }
    try #require(symlink("../out", folder.file("music/out")) == 0)
    let music = folder.file("music")
    let daemon = try TestDaemon("--clock", "virtual", "--read-root", music, folder: folder)
    let client = try daemon.connect()
    #expect(try client.ask("folder.list") == ["| kind=folder path=\(music)", "ok next=none"])
    #expect(
      try client.ask("folder.list \(music)") == [
        "| kind=folder path=\(music)/live", "| kind=file path=\(music)/one.flac",
        "| kind=file path=\(music)/three.flac", "| kind=file path=\"\(music)/two words.flac\"", "ok next=none",
      ])
    let first = try client.ask("folder.list \(music)/ limit=2")
    #expect(first.count == 3 && first.last == "ok next=\(music)/one.flac")
    #expect(
      try client.ask("folder.list \(music) after=\(music)/one.flac limit=1") == [
        "| kind=file path=\(music)/three.flac", "ok next=\(music)/three.flac",
      ])
    #expect(try client.ask("folder.list \(music)/live") == ["ok next=none"])
    for (request, error) in [
      ("folder.list \(music)/out", "error code=2008 name=outside-roots "),
      ("folder.list \(folder.path)", "error code=2008 name=outside-roots "),
      ("folder.list \(music)/..", "error code=2008 name=outside-roots "),
      ("folder.list \(music)/missing", "error code=2001 name=file-not-found "),
      ("folder.list \(music)/one.flac", "error code=2001 name=file-not-found "),
      ("folder.list music", "error code=6002 name=bad-arguments "),
      ("folder.list http://localhost/", "error code=6002 name=bad-arguments "),
      ("folder.list /\(String(repeating: "a/", count: 2_000))", "error code=6002 name=bad-arguments "),
      ("folder.list after=\(music)/one.flac", "error code=6002 name=bad-arguments "),
      ("folder.list \(music) after=\(music)/live/a", "error code=6002 name=bad-arguments "),
      ("folder.list \(music) after=\(music)/", "error code=6002 name=bad-arguments "),
      ("folder.list \(music) limit=0", "error code=6002 name=bad-arguments "),
    ] {
      let reply = try client.reply(request)
      print("folder.list | \(request) | \(reply)")
      #expect(reply.hasPrefix(error), "\(request): \(reply)")
    }
    #expect(try client.reply("hello rights=read").hasSuffix(" rights=read"))
    #expect(try client.reply("folder.list").hasPrefix("error code=6010 name=not-allowed "))
    try daemon.finish()
  }

  /// Without roots, everything may be listed. Names that are not UTF-8 are URLs.
  @Test func everyNameCanBeListedAndQueued() throws {
    let server = try InProcessServer()
    let client = try server.connect()
    #expect(try client.ask("folder.list") == ["| kind=folder path=/", "ok next=none"])
    let path = try server.wave(1, frameCount: 4_800)
    let folder = try TemporaryDirectory("names")
    let name = Array("\(folder.path)/".utf8) + [0xe9, UInt8(ascii: " "), UInt8(ascii: "\"")]
    try Files.write(name, try Files.read(path))
    let rows = try client.ask("folder.list \(folder.path)")
    let row = try #require(rows.first)
    #expect(row.hasPrefix("| kind=file path=file://") && rows.last == "ok next=none", "\(rows)")
    let location = row.dropFirst("| kind=file path=".count)
    #expect(try client.reply("load \(location) wait=ready").hasPrefix("ok items="))
    try server.finish()
  }

  /// The reply never exceeds the limit of a connection's unread output.
  @Test func partOfAFolderFitsTheOutputLimit() throws {
    let server = try InProcessServer()
    let client = try server.connect()
    let folder = try TemporaryDirectory("many")
    let names = (0..<3_000).map { "\($0)-\(String(repeating: "a", count: 240))" }
    for name in names { try folder.write(name, []) }
    var listed: [String] = []
    var options = ""
    var partCount = 0
    repeat {
      let lines = try client.ask("folder.list \(folder.path)\(options)")
      listed += lines.dropLast().map { String($0.dropFirst("| kind=file path=\(folder.path)/".count)) }
      let next = try #require(lines.last?.dropFirst("ok next=".count))
      options = next == "none" ? "" : " after=\(next)"
      partCount += 1
    } while options != "" && partCount < 100
    print("folder.list | \(names.count) long names in \(partCount) parts")
    #expect(listed == names.sorted() && partCount > 1)
    try server.finish()
  }
}
