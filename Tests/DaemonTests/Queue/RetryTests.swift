import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Failed entries that stay in the queue and are opened again (`on-failure retry`).
@Suite(.timeLimit(.minutes(3))) struct RetryTests {
  private func started() throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    #expect(try client.reply("on-failure retry") == "ok onFailure=retry")
    return (daemon, client)
  }

  private func items(_ client: WireClient) throws -> [String] {
    try client.ask("list").compactMap { field("index", $0) == nil ? nil : field("item", $0) }
  }

  @Test func failedEntryOfARepeatedQueuePlaysWhenItsFileReturns() throws {
    let (daemon, client) = try started()
    let paths = try (1...3).map { try daemon.wave($0, frameCount: 48_000) }
    let away = paths[1] + ".away"
    try FileManager.default.moveItem(atPath: paths[1], toPath: away)
    for request in ["repeat all", "load \(paths.joined(separator: " "))", "observe item.events", "play"] {
      #expect(try client.reply(request).hasPrefix("ok"), "\(request)")
    }
    let events = try client.ask("clock.advance 3.5").filter { $0.hasPrefix("* item-skipped") }
    #expect(!events.isEmpty && events.allSatisfy { $0.contains("item=2 code=2001 name=file-not-found") }, "\(events)")
    #expect(try items(client).sorted() == ["1", "2", "3"])
    try FileManager.default.moveItem(atPath: away, toPath: paths[1])
    try client.ask("clock.advance 12")
    #expect(try items(client).sorted() == ["1", "2", "3"])
    let heard = try daemon.recorded(withSilences: false)
    #expect(heard.hasPrefix("1[0..<48000] 3[0..<48000] 1[0..<48000] 3[0..<48000]"), "\(heard)")
    #expect(heard.contains("1[0..<48000] 2[0..<48000] 3[0..<48000] 1[0..<48000] 2[0..<48000]"), "\(heard)")
  }

  /// Loads entries that fail, and makes the first of them current. The player is paused, so that each entry is opened
  /// only once.
  private func loadFailing(
    _ count: Int, _ daemon: TestServer, _ client: WireClient, _ server: HTTPServer
  ) throws {
    let failing = (1...count).map { "\(server.address)/none\($0).wav" }
    // The decode thread reads ahead within the first entry.
    let first = try daemon.wave(1, frameCount: 48_000 * 30)
    try client.reply("load \(first) \(failing.joined(separator: " "))")
    while try client.ask("list").count(where: { $0.contains("status=failed") }) < count {}
    #expect(try client.reply("remove 1").hasPrefix("ok"))
  }

  /// The number of requests for each failing entry since the last call.
  private func openings(_ count: Int, _ server: HTTPServer) throws -> [Int] {
    let lines = try server.drain()
    return (1...count).map { number in lines.count { $0.hasPrefix("request ") && $0.contains("/none\(number).wav") } }
  }

  /// Retries after 1, 3, 7, 15, 31, 63, 123 and 183 s.
  @Test func queueOfFailedEntriesIsTriedAtBoundedIntervals() throws {
    let (daemon, client) = try started()
    let server = try HTTPServer()
    try client.reply("repeat all")
    try loadFailing(1, daemon, client, server)
    #expect(try openings(1, server) == [1])
    try client.reply("play")
    for (seconds, count) in [("0.9", 0), ("0.2", 1), ("1.8", 0), ("0.2", 1), ("119.8", 4), ("0.2", 1), ("59", 0)] {
      try client.ask("clock.advance \(seconds)")
      #expect(try openings(1, server) == [count], "\(seconds)")
    }
    try client.ask("clock.advance 2")
    #expect(try openings(1, server) == [1])
    let status = try client.reply("status")
    #expect(field("reasonForWaitingToPlay", status) == "currentItemFailed" && field("rate", status) == "1", "\(status)")
    #expect(try items(client).count == 1)
  }

  /// An entry that fails later has its first retry after 1 s, whatever the delay of the others is.
  @Test func eachEntryHasItsOwnDelay() throws {
    let (daemon, client) = try started()
    let server = try HTTPServer()
    try loadFailing(1, daemon, client, server)
    try client.reply("play")
    // Retries after 1, 3 and 7 s; the next one is after 15 s.
    try client.ask("clock.advance 10")
    #expect(try openings(1, server) == [4])
    try client.reply("append \(server.address)/none2.wav")
    // The appended entry becomes the current one, and fails at 10 s.
    try client.ask("clock.advance 0.5")
    #expect(try openings(2, server)[0] == 0)
    for (seconds, count) in [("1", 1), ("1", 0), ("1", 1), ("1.4", 0)] {
      try client.ask("clock.advance \(seconds)")
      #expect(try openings(2, server) == [0, count], "\(seconds)")
    }
    // Virtual time does not wait for the retry of an entry that is not current.
    try client.ask("clock.advance 0.2")
    try server.wait("request GET /none1.wav")
    #expect(try openings(2, server) == [0, 0])
  }

  @Test(arguments: ["advance", "stop"]) func waitingPlayerContinuesWhenAFileReturns(_ action: String) throws {
    let (daemon, client) = try started()
    try client.reply("end-action \(action)")
    let path = try daemon.wave(1, frameCount: 48_000)
    try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
    for request in ["load \(path)", "play"] { #expect(try client.reply(request).hasPrefix("ok"), "\(request)") }
    try client.ask("clock.advance 100")
    try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
    try client.ask("clock.advance 62")
    #expect(try items(client).isEmpty)
    #expect(try daemon.recorded(withSilences: false) == "1[0..<48000]")
  }

  /// The entry is opened, and fails when its first samples are decoded.
  @Test func entryWithoutDecodableAudioPlaysWhenItsFileIsReplaced() throws {
    let (daemon, client) = try started()
    let (wave, path) = (try daemon.wave(1, frameCount: 48_000), daemon.folder.file("a.m4a"))
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=d=4", "-c:a", "aac", path])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let audio = try #require(bytes.range(of: Data("mdat".utf8))).upperBound
    let size = bytes[audio - 8..<audio - 4].reduce(0) { $0 << 8 | Int($1) }
    bytes.replaceSubrange(audio..<audio + size - 8, with: Data(repeating: 0xFF, count: size - 8))
    try bytes.write(to: URL(fileURLWithPath: path))
    for request in ["load \(path)", "play", "clock.advance 4"] {
      #expect(try client.ask(request).last?.hasPrefix("ok") == true, "\(request)")
    }
    let status = try client.reply("status")
    #expect(status.contains("error=decode-failed"), "\(status)")
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: wave, toPath: path)
    try client.ask("clock.advance 6")
    #expect(try items(client).isEmpty)
    #expect(try daemon.recorded(withSilences: false) == "1[0..<48000]")
  }

  @Test func failedEntryMovesToTheEndOfAQueueThatIsNotRepeated() throws {
    let (daemon, client) = try started()
    let paths = try (1...2).map { try daemon.wave($0, frameCount: 48_000) }
    for request in ["load \(daemon.folder.path)/none.wav \(paths[0]) \(paths[1])", "play"] {
      #expect(try client.reply(request).hasPrefix("ok"), "\(request)")
    }
    try client.ask("clock.advance 0.5")
    #expect(try items(client) == ["2", "3", "1"])
    try client.ask("clock.advance 3")
    #expect(try items(client) == ["1"])
    // A request for the next entry removes it.
    #expect(try client.reply("next").hasPrefix("ok"))
    #expect(try items(client).isEmpty)
    #expect(try daemon.recorded(withSilences: false) == "1[0..<48000] 2[0..<48000]")
  }

  @Test func pausedPlayerOpensNothingAgain() throws {
    let (_, client) = try started()
    let server = try HTTPServer()
    #expect(try client.reply("load \(server.address)/none.wav wait=ready").hasPrefix("error"))
    for request in ["play", "clock.advance 0.5", "pause"] {
      #expect(try client.ask(request).last?.hasPrefix("ok") == true, "\(request)")
    }
    _ = try server.drain()
    try client.ask("clock.advance 300")
    #expect(try server.drain().isEmpty)
    // The first delay applies again.
    for request in ["play", "clock.advance 1.5"] {
      #expect(try client.ask(request).last?.hasPrefix("ok") == true, "\(request)")
    }
    #expect(try !server.drain().isEmpty)
  }

  @Test func shuffledQueueKeepsItsFailedEntries() throws {
    let (daemon, client) = try started()
    let paths = try (1...3).map { try daemon.wave($0, frameCount: 4_800) }
    let none = "\(daemon.folder.path)/none"
    for request in [
      "repeat all", "shuffle on seed=5", "load \(none)1.wav \(paths.joined(separator: " ")) \(none)2.wav", "play",
    ] { #expect(try client.reply(request).hasPrefix("ok"), "\(request)") }
    try client.ask("clock.advance 3")
    #expect(try items(client).sorted() == ["1", "2", "3", "4", "5"])
    let heard = try daemon.recorded(withSilences: false).split(separator: " ").map { $0.prefix(1) }
    // Each round has each file once.
    for round in 0..<9 { #expect(Set(heard[round * 3..<round * 3 + 3]).count == 3, "\(heard)") }
  }
}
