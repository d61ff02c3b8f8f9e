import DaemonTesting
import RigSupport
import Testing

/// A client that sends the most expensive requests without a pause, beside other clients.
@Suite(.timeLimit(.minutes(4))) struct ExpensiveRequestTests {
  /// Sends the lines of a file repeatedly and drops the replies, until it is killed.
  private static let script = """
    import socket, sys, threading
    lines = open(sys.argv[2], "rb").read()
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[1])
    def drain():
        while client.recv(1 << 20):
            pass
    threading.Thread(target=drain, daemon=True).start()
    while True:
        client.sendall(lines)
    """

  /// The requests of "Processing time" in `concepts.md`, on the player `main`.
  private static func requests(_ path: String) -> String {
    let paths = Array(repeating: path, count: 1_000).joined(separator: " ")
    let times = (1...2_000).map { "\($0)" }.joined(separator: " ")
    var lines = ["load \(paths)"] + Array(repeating: "append \(paths)", count: 9)
    lines += [
      "shuffle on seed=1", "shuffle off", "list", "playlist.export", "queue.changes 0", "at \(times)", "untick 1",
    ]
    lines += ["queue.begin", "append \(paths)", "append \(paths)", "queue.commit", "queue.begin", "append \(paths)"]
    lines += ["queue.abort", "queue.edit 'append \(path)' clear", "append \(path) wait=ready", "clear", "help"]
    return lines.map { $0 + "\n" }.joined()
  }

  /// On the system's clock, because the virtual clock does not advance while entries are opened. On a busy machine an
  /// underrun inserts silence, which the comparison ignores.
  @Test func otherClientsAndPlayersAreServed() throws {
    let folder = try TemporaryDirectory("daemon")
    let daemon = try TestDaemon("--output", "wav:\(folder.file("out.wav"))", folder: folder)
    let client = try daemon.connect()
    let files = try [1, 2].map { try daemon.wave($0, frameCount: 48_000) }
    let watcher = try daemon.connect()
    for request in ["player.create b", "observe item.events player=b", "at 0.25 0.5 0.75 1 player=b"] {
      #expect(try watcher.reply(request).hasPrefix("ok"), "\(request)")
    }
    #expect(try client.reply("load \(files.joined(separator: " ")) player=b wait=ready").hasPrefix("ok"))
    let lines = try daemon.folder.write("lines", Array(Self.requests(files[0]).utf8))
    let flood = try ChildProcess(["/usr/bin/python3", "-c", Self.script, daemon.socket, lines])
    defer { flood.kill() }
    func version() throws -> Int { Int(field("version", try client.reply("status player=main")) ?? "") ?? 0 }
    // The first requests of the other client have run.
    while try version() < 5 {}
    let first = try version()
    #expect(try client.reply("play player=b").hasPrefix("ok"))
    var (status, roundTripCount) = ("", 0)
    while field("count", status) != "0" {
      #expect(try client.reply("ping").hasPrefix("ok now="))
      // A new connection.
      status = try daemon.connect().reply("status player=b")
      #expect(status.hasPrefix("ok player=b ") && field("error", status) == nil, "\(status)")
      roundTripCount += 1
    }
    // The flood never ends, so this ends only if other clients are served beside it.
    while try version() <= first {}
    let last = try version()
    flood.kill()
    var events: [String] = []
    while events.count(where: { $0.hasPrefix("* played-to-end ") }) < 2 {
      events.append(try #require(try watcher.line(), "\(events)"))
    }
    let cues = events.filter { $0.hasPrefix("* at ") }
    print(
      "expensive requests | versions of the other queue: \(first) to \(last) | round trips: \(roundTripCount) |",
      "cues: \(cues.count)")
    let expected = ["0.25", "0.5", "0.75", "1", "0.25", "0.5", "0.75", "1"]
    #expect(cues.compactMap { field("time", $0) } == expected, "\(events)")
    #expect(try client.reply("ping").hasPrefix("ok now="))
    #expect(try daemon.recorded(withSilences: false) == "1[0..<48000] 2[0..<48000]")
  }
}
