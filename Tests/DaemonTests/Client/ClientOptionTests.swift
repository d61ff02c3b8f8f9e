import DaemonTesting
import Glibc
import RigSupport
import Testing

/// Options of files: the same wherever the client or the wire accepts files.
@Suite(.timeLimit(.minutes(3))) struct ClientOptionTests {
  private func serve() throws -> (HTTPServer, TestServer, String) {
    let server = try HTTPServer()
    try TimeCode.writeWAV(path: server.files.file("1.wav"), file: 1, frameCount: 48_000)
    return (server, try InProcessServer.recording(), "\(server.address)/1.wav")
  }

  @Test func networkOptionsApplyToScans() throws {
    let (server, daemon, url) = try serve()
    let client = try daemon.connect()
    let options = #"header="X-Test: a b\nAuthorization: Bearer x" user-agent="Me/1" timeout=5"#
    #expect(try client.reply("scan \(url) \(options)").hasPrefix("ok scan=1 count=1 failed=0"))
    let headers = try server.drain().filter { $0.hasPrefix("header") }
    #expect(headers.contains("header X-Test: a b") && headers.contains("header Authorization: Bearer x"), "\(headers)")
    #expect(headers.contains("header User-Agent: Me/1"), "\(headers)")
    let rejected = [
      ("network=false", "network-not-allowed"), ("interface=playhead-none0", "network-unavailable"),
    ]
    for (option, error) in rejected {
      let rows = try client.ask("scan \(url)?unasked \(option)").filter { $0.hasPrefix("| ") }
      #expect(rows.map { field("error", $0) } == [error], "\(rows)")
    }
    #expect(try server.drain().allSatisfy { !$0.contains("unasked") })
    #expect(try client.reply("scan \(url) header=nonsense").hasPrefix("error code=6002"))
    #expect(try client.reply("scan \(url) timeout=0").hasPrefix("error code=1002"))
    // The client sends the same.
    #expect(try daemon.playhead("scan", "--user-agent", "Me/2", "--header=X-Test: c", url).status == 0)
    let clientHeaders = try server.drain()
    #expect(
      clientHeaders.contains("header User-Agent: Me/2") && clientHeaders.contains("header X-Test: c"),
      "\(clientHeaders)")
    #expect(try daemon.playhead("scan", url, "--network", "false").status == 1)
  }

  @Test(arguments: ["info", "tags"]) func networkOptionsApplyToInfoAndTags(_ command: String) throws {
    let (server, daemon, url) = try serve()
    let outcome = try daemon.playhead(
      command, "--user-agent=Me/3", url, "--header", "X-Test: d\nAuthorization: e", "timeout=5")
    #expect(outcome.status == 0 && outcome.output.hasPrefix("\(url)\n"), "\(outcome)")
    let headers = try server.drain()
    for header in ["User-Agent: Me/3", "X-Test: d", "Authorization: e"] {
      #expect(headers.contains("header \(header)"), "\(headers)")
    }
    let rejected = try daemon.playhead(command, "--network=false", "\(url)?unasked", "/none")
    #expect(rejected.status == 1 && rejected.errors.contains("(network-not-allowed)"), "\(rejected)")
    #expect(rejected.errors.contains("(file-not-found)"), "\(rejected)")
    #expect(try server.drain().allSatisfy { !$0.contains("unasked") })
    #expect(try daemon.playhead(command, url, "--timeout", "0").status == 2)
    #expect(try daemon.playhead(command, url, "--colour").status == 2)
    #expect(try daemon.playhead(command, url, "--header").errors.contains("--header needs a value"))
    // A flag without dashes is a file name, and so is a word with `=` that is none of these options.
    #expect(try daemon.playhead(command, "precise").errors.contains("/precise (file-not-found)"))
    #expect(try daemon.playhead(command, "a=b.wav").errors.contains("a=b.wav"))
    let help = try daemon.playhead(command, "--help").output
    for option in [
      "--header FIELDS", "--user-agent TEXT", "--network true|false", "--interface NAMES", "--timeout TIME",
    ] {
      #expect(help.contains("  \(option): "), "\(help)")
    }
    #expect(help.contains("  --precise: ") == (command == "info"))
    #expect(try daemon.playhead(command, "--precise", url).status == (command == "info" ? 0 : 2))
  }

  @Test func standardInputIsNamedInTheOutput() throws {
    let daemon = try InProcessServer.recording()
    let path = try daemon.wave(1, frameCount: 48_000)
    for command in ["scan", "info", "tags"] {
      let file = open(path, O_RDONLY | O_CLOEXEC)
      try #require(file >= 0)
      defer { close(file) }
      let outcome = try Program(
        Executables.playhead, ["--socket", daemon.socket, command, "-"], input: file
      ).waitForEnd()
      #expect(outcome.status == 0 && outcome.output.contains("standard input\n"), "\(outcome)")
      #expect(!outcome.output.contains("fd:"), "\(outcome)")
    }
  }
}
