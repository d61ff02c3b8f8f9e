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

  /// 0 s, and the retries after 1, 3, 7, 15, 31, 63, 123 and 183 s.
  @Test func queueOfFailedEntriesIsTriedAtBoundedIntervals() throws {
    let (_, client) = try started()
    let server = try HTTPServer()
    for request in ["repeat all", "load \(server.address)/none1.wav \(server.address)/none2.wav", "play"] {
      #expect(try client.reply(request).hasPrefix("ok"), "\(request)")
    }
    try client.ask("clock.advance 200")
    let status = try client.reply("status")
    #expect(field("reasonForWaitingToPlay", status) == "currentItemFailed" && field("rate", status) == "1", "\(status)")
    let lines = try server.drain()
    for name in ["none1", "none2"] {
      // An entry may be opened for its status and for decoding.
      let count = lines.count { $0.contains("/\(name).wav") }
      #expect((9...18).contains(count), "\(name): \(lines)")
    }
    #expect(try items(client).count == 2)
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
