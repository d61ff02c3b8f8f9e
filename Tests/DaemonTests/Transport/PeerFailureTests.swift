import DaemonTesting
import Glibc
import RigSupport
import Testing

/// Known defects of other players, by name.
@Suite struct PeerFailureTests {
  /// mpv replaces the socket of a running daemon, and deletes any file at that path.
  @Test func secondDaemonReplacesNeitherASocketNorAFile() throws {
    let daemon = try TestDaemon("--output", "null")
    let client = try daemon.connect()
    let second = try Program(Executables.playheadd, ["--socket", daemon.socket, "--output", "null"]).waitForEnd()
    #expect(second.status == 1)
    #expect(second.errors.contains("another playheadd listens at \(daemon.socket)"), "\(second.errors)")
    #expect(try client.reply("ping").hasPrefix("ok now="))
    #expect(try daemon.connect().reply("ping").hasPrefix("ok now="))
    let file = try daemon.folder.write("precious", Array("data".utf8))
    let third = try Program(Executables.playheadd, ["--socket", file, "--output", "null"]).waitForEnd()
    #expect(third.status == 1 && third.errors.contains("is not a socket"), "\(third.errors)")
    #expect(try Files.read(file) == Array("data".utf8))
  }

  /// mpv busy-loops for a client that does not read its replies.
  @Test func clientThatNeverReadsUsesNoProcessorTimeOrMemory() throws {
    let daemon = try TestDaemon("--output", "null")
    let (silent, client) = (try daemon.connect(), try daemon.connect())
    let requests = Array(String(repeating: "help\n", count: 2_000).utf8)
    var sent = 0
    while true {
      let count = silent.sendWithoutBlocking(Array(requests.dropFirst(sent % requests.count)))
      #expect(try client.reply("ping").hasPrefix("ok now="))
      if count == 0 { break }
      sent += count
    }
    try client.reply("wait ready timeout=0.2")
    let before = (try daemon.processorNanoseconds(), try daemon.memoryKilobytes())
    #expect(try client.reply("wait ready timeout=1").hasPrefix("error code=6011 name=timed-out"))
    let used = try daemon.processorNanoseconds() - before.0
    let grown = try daemon.memoryKilobytes() - before.1
    print("peer failures | never reads | \(used / 1_000) µs of processor time in a second, memory +\(grown) kB")
    #expect(used < 200_000_000)
    #expect(grown < 4_096)
  }

  /// mpv uses 16 s of processor time for a line of 3 MB, because it scans the whole line again for each chunk.
  @Test func endlessLineIsRejectedAtLinearCost() throws {
    let daemon = try TestDaemon("--output", "null")
    /// The processor time for a line of `byteCount` bytes.
    func cost(_ byteCount: Int) throws -> Int64 {
      let before = try daemon.processorNanoseconds()
      let client = try daemon.connect()
      try client.send(bytes: Array(repeating: UInt8(ascii: "a"), count: byteCount))
      try client.send(bytes: Array("\nping\n".utf8))
      #expect(try client.line()?.hasPrefix("error code=6003 name=line-too-long") == true)
      #expect(try client.line()?.hasPrefix("ok now=") == true)
      return try daemon.processorNanoseconds() - before
    }
    _ = try cost(1_000_000)
    let one = try (0..<8).reduce(Int64(0)) { sum, _ in try sum + cost(250_000) }
    let four = try (0..<8).reduce(Int64(0)) { sum, _ in try sum + cost(1_000_000) }
    let client = try daemon.connect()
    let before = try daemon.processorNanoseconds()
    var sent = 0
    while sent < 3_000_000, (try? client.send(bytes: Array(repeating: UInt8(ascii: "a"), count: 65_536))) != nil {
      sent += 65_536
    }
    let end = try client.remainingLines()
    let whole = try daemon.processorNanoseconds() - before
    print(
      "peer failures | a line without end | 250 kB: \(one / 8_000) µs, 1 MB: \(four / 8_000) µs, 3 MB: \(whole / 1_000) µs"
    )
    #expect(end.last?.hasPrefix("* closing code=6003 name=line-too-long") == true, "\(end)")
    // Linear cost grows four times, quadratic cost sixteen times.
    #expect(four < 8 * one + 10_000_000)
    #expect(whole < 500_000_000)
    #expect(try daemon.connect().reply("ping").hasPrefix("ok now="))
  }

  /// VLC seeks to 0.
  @Test func seekToAnInvalidTimeChangesNothing() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    try client.reply("load \(try daemon.wave(1, frameCount: 480_000)) wait=ready")
    #expect(try client.reply("seek 5").hasPrefix("ok finished=true"))
    let before = try client.reply("status")
    for request in [
      "seek abc", "seek 5sec", "seek 1:2:3:4", "seek", "seek \"\"", "seek --1", "seek 5,5", "seek 0x10",
      #"{"jsonrpc":"2.0","id":1,"method":"seek","params":{"time":"abc"}}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"seek","params":{"time":null}}"#,
    ] {
      try client.send(request, "@end ping")
      let reply = try client.line() ?? ""
      print("peer failures | \(request) | \(reply)")
      #expect(
        reply.contains("name=invalid-time") || reply.contains("name=bad-arguments") || reply.contains("\"error\":"),
        "\(request): \(reply)")
      #expect(try client.line()?.hasPrefix("@end ok now=") == true)
      #expect(try client.reply("status") == before, "\(request)")
    }
  }

  /// MPD writes file names unescaped, so a newline in a name can forge a reply.
  @Test func newlineInAFileNameCannotForgeAReply() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let name = "a\nok items=99\n* closing code=1\n| x=\"1\r\n\u{2028}.wav"
    try Files.write(Array(daemon.folder.file(name).utf8), try Files.read(try daemon.wave(1, frameCount: 4_800)))
    let path = daemon.folder.file(name)
    // By scalars, because CR LF is one character.
    let quoted = path.unicodeScalars.map { scalar in
      switch scalar {
      case "\n": "\\n"
      case "\r": "\\r"
      case "\"": "\\\""
      default: String(scalar)
      }
    }.joined()
    #expect(try client.ask("load \"\(quoted)\" wait=ready") == ["ok items=1 version=1"])
    for (request, rowCount) in [("list", 1), ("item.status 1", 0), ("item.metadata 1", nil), ("status", 0)]
      as [(String, Int?)]
    {
      let lines = try client.ask(request)
      #expect(lines.dropLast().allSatisfy { $0.hasPrefix("| ") }, "\(lines)")
      #expect(lines.last?.hasPrefix("ok ") == true)
      if let rowCount { #expect(lines.count == rowCount + 1, "\(lines)") }
      #expect(lines.allSatisfy { !$0.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x2028 } }, "\(lines)")
    }
    for request in ["list", "item.status"] {
      let parameters = request == "list" ? "{}" : #"{"id":1}"#
      try client.send(#"{"jsonrpc":"2.0","id":1,"method":"\#(request)","params":\#(parameters)}"#, "ping")
      #expect(try client.line()?.hasPrefix(#"{"jsonrpc":"2.0","id":1,"result":"#) == true)
      #expect(try client.line()?.hasPrefix("ok now=") == true)
    }
    try client.reply("append \"/no/such\\nok items=99\"")
    #expect(try client.reply("append \"/no/such\\nok items=98\" wait=ready").hasPrefix("error code=2001 "))
    #expect(try client.ask("list").count == 4)
  }
}
