import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Bookmarks over the wire: automatic ones for long items, and manual ones.
@Suite(.timeLimit(.minutes(5))) struct BookmarkTests {
  /// Half a minute: long enough for an automatic bookmark.
  private static let frameCount = 1_440_000

  /// A daemon on the virtual clock that writes the played audio to `out.wav`.
  private static func start(_ directory: StateTests.StateDirectory, _ arguments: String...) throws -> TestDaemon {
    let output = "wav:\(directory.folder.file("out.wav"))"
    return try TestDaemon(
      ["--clock", "virtual", "--output", output, "--state", directory.path, "--bookmarks-from", "20"] + arguments,
      folder: directory.folder)
  }

  private static func expectOK(_ client: WireClient, _ requests: String...) throws {
    for request in requests { #expect(try client.ask(request).last?.hasPrefix("ok") == true, "\(request)") }
  }

  /// `PATH TIME` and the name of each bookmark.
  private static func bookmarks(_ client: WireClient, _ directory: StateTests.StateDirectory) throws -> [String] {
    try client.ask("bookmark.list").dropLast().map { row in
      let path = (field("path", row) ?? "?").split(separator: "/").last ?? "?"
      return ([String(path), field("time", row) ?? "?"] + [field("name", row)].compactMap(\.self)).joined(
        separator: " ")
    }
  }

  @Test func resumeContinuesAtTheExactSampleOfTheBookmark() throws {
    let directory = try StateTests.StateDirectory()
    let files = try (1...2).map { try directory.wave($0, frameCount: Self.frameCount) }
    let daemon = try Self.start(directory)
    let client = try daemon.connect()
    try Self.expectOK(
      client, "load \(files[0]) \(files[1]) wait=ready", "play", "clock.advance 7.25", "next", "clock.advance 6.5",
      "pause", "clear")
    #expect(try Self.bookmarks(client, directory) == ["1.wav 7.25", "2.wav 6.5"])
    // Without a request to resume, playback starts at the beginning, and the bookmarks stay.
    try Self.expectOK(client, "load \(files[0]) wait=ready", "play", "clock.advance 0.5", "pause", "clear")
    #expect(try Self.bookmarks(client, directory) == ["1.wav 7.25", "2.wav 6.5"])
    // The second item follows without a gap, from its bookmark.
    try Self.expectOK(
      client, "load \(files[0]) \(files[1]) resume=true wait=ready", "play", "clock.advance 1", "seek 29.5",
      "clock.advance 1")
    let status = try client.reply("status")
    #expect(field("item", status) == "5" && field("time", status) == "7", "\(status)")
    // An item that was played to its end has no bookmark any more.
    try Self.expectOK(client, "pause", "state.save")
    #expect(try Self.bookmarks(client, directory) == ["2.wav 7"])
    // The resume position applies only once.
    try Self.expectOK(client, "previous", "play", "clock.advance 0.25")
    #expect(field("time", try client.reply("status")) == "0.25")
    try daemon.finish()
    let runs = TimeCode.runs(in: try Recording.frames(in: directory.folder.file("out.wav"))).filter { $0.count > 240 }
    #expect(runs.contains { $0.file == 1 && $0.firstIndex == 348_000 && $0.count >= 48_000 - 240 }, "\(runs)")
    let ending = runs.firstIndex { $0.file == 1 && $0.endIndex == Self.frameCount }
    let end = try #require(ending, "\(runs)")
    let next = try #require(runs.dropFirst(end + 1).first)
    #expect(next.file == 2 && next.firstIndex == 312_000 && next.position == runs[end].endPosition, "\(runs)")
  }

  @Test func itemPlayedToItsEndTimeHasNoBookmark() throws {
    let directory = try StateTests.StateDirectory()
    let file = try directory.wave(1, frameCount: Self.frameCount)
    let daemon = try Self.start(directory)
    let client = try daemon.connect()
    for action in ["pause", "none"] {
      let loaded = try client.reply("load \(file) wait=ready")
      let item = field("items", loaded) ?? "?"
      try Self.expectOK(
        client, "end-action \(action)", "item.end-time \(item) forward=15", "play", "clock.advance 6", "state.save")
      #expect(try Self.bookmarks(client, directory) == ["1.wav 6"])
      try Self.expectOK(client, "clock.advance 10", "state.save")
      #expect(try Self.bookmarks(client, directory).isEmpty, "\(action)")
      try Self.expectOK(client, "clear", "state.save")
      #expect(try Self.bookmarks(client, directory).isEmpty, "\(action)")
    }
  }

  @Test func replacedEntryStartsAtTheBeginning() throws {
    let directory = try StateTests.StateDirectory()
    let files = try (1...2).map { try directory.wave($0, frameCount: Self.frameCount) }
    let daemon = try Self.start(directory, "--resume")
    let client = try daemon.connect()
    try Self.expectOK(client, "load \(files[0]) wait=ready", "play", "clock.advance 7", "pause", "clear")
    let loaded = try client.reply("load \(files[1]) wait=ready")
    try Self.expectOK(client, "replace \(field("items", loaded) ?? "?") \(files[0])", "wait ready timeout=30")
    #expect(field("time", try client.reply("status")) == "0")
    try Self.expectOK(client, "load \(files[0]) wait=ready")
    #expect(field("time", try client.reply("status")) == "7")
  }

  @Test(arguments: [SIGKILL, SIGTERM])
  func bookmarksSurviveARestartOfTheDaemon(_ signal: Int32) throws {
    let directory = try StateTests.StateDirectory()
    let files = try (1...2).map { try directory.wave($0, frameCount: Self.frameCount) }
    let first = try Self.start(directory)
    let client = try first.connect()
    try Self.expectOK(
      client, "load \(files[0]) wait=ready", "bookmark.add 3 name=intro", "play", "clock.advance 12.5", "pause")
    if signal == SIGKILL {
      try Self.expectOK(client, "state.save")
      try directory.waitUntilNothingIsOpened(by: first)
    }
    first.process.signal(signal)
    _ = try first.process.waitForEnd()
    // With the daemon's option, items resume unless a command specifies otherwise.
    let second = try Self.start(directory, "--resume")
    let other = try second.connect()
    #expect(try Self.bookmarks(other, directory) == ["1.wav 3 intro", "1.wav 12.5"])
    try Self.expectOK(other, "load \(files[0]) wait=ready", "play", "clock.advance 0.5")
    #expect(field("time", try other.reply("status")) == "13")
    try Self.expectOK(other, "pause", "load \(files[0]) resume=false wait=ready", "play", "clock.advance 0.5")
    #expect(field("time", try other.reply("status")) == "0.5")
    #expect(try Self.bookmarks(other, directory) == ["1.wav 3 intro", "1.wav 13"])
    // An entry that should resume and was not started still resumes after a restart.
    try Self.expectOK(other, "pause", "load \(files[1]) \(files[0]) resume=true wait=ready", "state.save")
    try directory.waitUntilNothingIsOpened(by: second)
    try StateTests.kill(second)
    let third = try Self.start(directory).connect()
    try Self.expectOK(third, "next", "wait ready timeout=20", "play", "clock.advance 0.5")
    #expect(field("time", try third.reply("status")) == "13.5")
  }

  @Test func bookmarkPastTheEndOfAShortenedFileIsIgnored() throws {
    let directory = try StateTests.StateDirectory()
    let file = try directory.wave(1, frameCount: Self.frameCount)
    let client = try Self.start(directory).connect()
    try Self.expectOK(client, "load \(file) wait=ready", "seek 15", "play", "clock.advance 1", "pause", "clear")
    #expect(try Self.bookmarks(client, directory) == ["1.wav 16"])
    _ = try directory.wave(1, frameCount: 480_000)
    try Self.expectOK(client, "load \(file) resume=true wait=ready", "play", "clock.advance 0.5")
    #expect(field("time", try client.reply("status")) == "0.5")
  }

  @Test func closedPlayerLeavesABookmarkInLongItemsOnly() throws {
    let directory = try StateTests.StateDirectory()
    let (long, short) = (try directory.wave(1, frameCount: Self.frameCount), try directory.wave(2, frameCount: 900_000))
    let client = try Self.start(directory).connect()
    try Self.expectOK(
      client, "player.create b", "load \(long) player=b wait=ready", "load \(short) wait=ready", "seek 8",
      "seek 9 player=b", "player.close b", "clear")
    #expect(try Self.bookmarks(client, directory) == ["1.wav 9"])
    // With such a short remainder, the item counts as played.
    try Self.expectOK(client, "load \(long) wait=ready", "seek 20.5", "clear")
    #expect(try Self.bookmarks(client, directory) == [])
  }

  @Test func bookmarkCommandsAddListSeekAndRemove() throws {
    let directory = try StateTests.StateDirectory()
    let files = try (1...2).map { try directory.wave($0, frameCount: Self.frameCount) }
    let daemon = try Self.start(directory)
    let client = try daemon.connect()
    #expect(try client.reply("bookmark.add 1").hasPrefix("error code=1004"))
    #expect(try client.reply("bookmark.go").hasPrefix("error code=1004"))
    try Self.expectOK(client, "load \(files[0]) \(files[1]) wait=ready", "seek 4.5")
    #expect(try client.reply("bookmark.add") == "ok bookmark=1 item=1 time=4.5 pts=216000/48000")
    let outcome = try daemon.playhead("bookmark.add", "0:12.25", "name=whale")
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
    #expect(try Self.bookmarks(client, directory) == ["1.wav 4.5", "1.wav 12.25 whale"])
    let reached = try client.reply("bookmark.go name=whale")
    #expect(reached.hasPrefix("ok finished=true item=1 time=12.25 ") && reached.contains("exact=true"), "\(reached)")
    #expect(try client.reply("bookmark.go 1").hasPrefix("ok finished=true item=1 time=4.5 "))
    for (request, error) in [
      ("bookmark.go", "2120 name=no-such-bookmark"), ("bookmark.go 9", "2120 name=no-such-bookmark"),
      ("bookmark.go name=none", "2120 name=no-such-bookmark"), ("bookmark.remove 9", "2120 name=no-such-bookmark"),
      ("bookmark.add 31", "1002 name=invalid-time"), ("bookmark.list item=77", "2004 name=no-such-item"),
      ("bookmark.add 1 player=none", "1006 name=no-such-player"), ("bookmark.go 1 name=x", "6002 name=bad-arguments"),
      ("bookmark.add 1 name=\(String(repeating: "n", count: 256))", "6002 name=bad-arguments"),
      ("bookmark.add 1 name=\"\"", "6002 name=bad-arguments"),
    ] {
      let reply = try client.reply(request)
      #expect(reply.hasPrefix("error code=\(error)"), "\(request): \(reply)")
    }
    try Self.expectOK(client, "next")
    #expect(try client.reply("bookmark.go 1").hasPrefix("error code=1001 name=invalid-argument"))
    #expect(try client.ask("bookmark.list item=2") == ["ok count=0 next=none"])
    #expect(try client.ask("bookmark.list offset=1 limit=1").last == "ok count=2 next=none")
    #expect(try client.ask("bookmark.list limit=1").last == "ok count=2 next=1")
    try Self.expectOK(client, "bookmark.remove 1", "clear")
    #expect(try Self.bookmarks(client, directory) == ["1.wav 12.25 whale"])
  }

  @Test func bookmarksNeedSavedState() throws {
    let client = try TestDaemon("--clock", "virtual", "--output", "null").connect()
    for request in ["bookmark.list", "bookmark.add 1", "bookmark.go", "bookmark.remove 1"] {
      #expect(try client.reply(request).hasPrefix("error code=2116 name=state-not-saved"), "\(request)")
    }
  }
}
