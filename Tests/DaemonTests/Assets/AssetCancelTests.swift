import DaemonTesting
import Glibc
import RigSupport
import Testing

/// `asset.cancel`: hanging loads are cancelled, and start again on the next request.
@Suite(.timeLimit(.minutes(3))) struct AssetCancelTests {
  /// The next `count` lines that are not rows.
  private func replies(_ count: Int, _ client: WireClient) throws -> Set<String> {
    var lines: [String] = []
    while lines.count < count, let line = try client.line() { if !line.contains("| ") { lines.append(line) } }
    return Set(lines.map { line in line.range(of: " message=").map { String(line[..<$0.lowerBound]) } ?? line })
  }

  private func statuses(_ client: WireClient, _ id: Int = 1) throws -> [String: String] {
    let rows = try client.ask("asset.status \(id)").filter { $0.hasPrefix("| ") }
    return Dictionary(
      rows.map { (field("key", $0) ?? "", field("status", $0) ?? "") }, uniquingKeysWith: { one, _ in one })
  }

  @Test func cancelEndsAllLoadsFromAHangingServerAndANewLoadSucceeds() throws {
    let server = try HTTPServer()
    try TimeCode.writeWAV(path: server.files.file("1.wav"), file: 1, frameCount: 48_000)
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    #expect(try client.reply("asset.open \(server.address)/1.wav?hold=never") == "ok asset=1")
    try client.send("@a asset.load 1 duration", "@b asset.load 1 tracks playable")
    try server.wait("gate never")
    #expect(try statuses(client)["duration"] == "loading")
    try client.send("asset.cancel 1")
    #expect(
      try replies(3, client) == [
        "ok asset=1", "@a error code=6015 name=cancelled", "@b error code=6015 name=cancelled",
      ])
    let after = try statuses(client)
    #expect(after["duration"] == "cancelled" && after["tracks"] == "cancelled" && after["metadata"] == "unknown")
    // There is nothing left to cancel, and no further reply is sent.
    #expect(try client.ask("asset.cancel 1") == ["ok asset=1"])
    try client.send("@c asset.load 1 duration")
    try server.wait("gate never")
    server.open(gate: "never")
    #expect(try client.line() == "@c | key=duration status=loaded value=1")
    #expect(try client.line() == "@c ok asset=1 status=loaded")
    #expect(try statuses(client)["duration"] == "loaded")
    #expect(try client.ask("asset.cancel 1") == ["ok asset=1"])
    #expect(try statuses(client)["duration"] == "loaded", "a loaded value stays loaded")
    #expect(try client.reply("asset.cancel 2").hasPrefix("error code=1014"))
    #expect(try client.reply("asset.cancel 1 colour").hasPrefix("error code=6002"))
  }

  @Test func cancelOfAKeyEndsItsGroupAndOtherLoadsContinue() throws {
    let server = try HTTPServer()
    try TimeCode.writeWAV(path: server.files.file("1.wav"), file: 1, frameCount: 48_000)
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("asset.open \(server.address)/1.wav?hold=never")
    try client.send(
      "@a asset.load 1 duration", "@b asset.load 1 metadata", "@c asset.metadata 1", "@d asset.load 1 tracks metadata")
    for _ in 1...2 { try server.wait("gate never") }
    try client.send("asset.cancel 1 commonMetadata")
    #expect(
      try replies(3, client) == [
        "ok asset=1", "@b error code=6015 name=cancelled", "@c error code=6015 name=cancelled",
      ])
    let after = try statuses(client)
    #expect(after["duration"] == "loading" && after["tracks"] == "loading")
    #expect(after["metadata"] == "cancelled" && after["availableMetadataFormats"] == "cancelled")
    server.open(gate: "never")
    #expect(try replies(2, client) == ["@a ok asset=1 status=loaded", "@d error code=6015 name=cancelled"])
    #expect(try client.reply("asset.load 1 metadata tracks") == "ok asset=1 status=loaded")
  }

  @Test func cancelledLoadOfAPipeCanBeRepeated() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let path = try daemon.passDescriptor(ends[0])
    close(ends[0])
    try client.reply("asset.open \(path)")
    for name in ["a", "b"] {
      try client.send("@\(name) asset.load 1 tracks")
      #expect(try statuses(client)["tracks"] == "loading")
      try client.send("asset.cancel 1 tracks")
      #expect(try replies(2, client) == ["ok asset=1", "@\(name) error code=6015 name=cancelled"])
      #expect(try statuses(client)["tracks"] == "cancelled")
    }
    try client.send("@c asset.load 1 tracks")
    let bytes = try Files.read(try daemon.wave(1, frameCount: 12_000))
    #expect(bytes.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) } == bytes.count)
    close(ends[1])
    #expect(try client.line() == "@c | key=tracks status=loaded value=1")
    #expect(try client.line() == "@c ok asset=1 status=loaded")
  }

  @Test func closingAnAssetCancelsHangingLoads() throws {
    let server = try HTTPServer()
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("asset.open \(server.address)/none?hold=never")
    try client.send("@a asset.load 1 duration metadata", "asset.close 1")
    #expect(try replies(2, client) == ["ok", "@a error code=6015 name=cancelled"])
    #expect(try client.reply("asset.cancel 1").hasPrefix("error code=1014"))
    #expect(try client.reply("ping").hasPrefix("ok now="))
  }
}
