import DaemonTesting
import Glibc
import Testing

/// The client's help texts.
@Suite struct ClientHelpTests {
  /// All listed commands, including those of the client.
  private func commands() throws -> [String] {
    let help = try Program(Executables.playhead, ["help"]).waitForEnd().output
    return help.split(separator: "\n").filter { $0.hasPrefix("  ") }.compactMap {
      $0.split(separator: " ").first.map(String.init)
    }
  }

  /// A rejected example would be misleading. Each example must get as far as connecting to a daemon.
  @Test func everyExampleInTheHelpIsAValidCommandLine() throws {
    let commands = try commands()
    #expect(commands.count > 90)
    let environment: [String: String?] = [
      "PATH": "\(Executables.folder):/usr/bin:/bin", "PLAYHEAD_SOCKET": "/nowhere/socket",
    ]
    var count = 0
    for command in commands {
      let help = try Program(Executables.playhead, ["help", command]).waitForEnd().output
      let examples = help.split(separator: "\n").filter { $0.hasPrefix("  $ ") }.map { $0.dropFirst(4) }
      #expect(!examples.isEmpty, "\(command)")
      #expect(help.contains("\n\nExamples:\n"), "\(command)")
      // Excludes examples that need other programs, and one that waits for a daemon indefinitely.
      for example in examples
      where example.hasPrefix("playhead ") && !example.contains("| ") && !example.contains("--reconnect") {
        let outcome = try Program(
          "sh", ["-c", String(example)], environment: environment, folder: "/"
        ).waitForEnd()
        let needsDaemon = !["help", "completions", "manual", "complete"].contains(command)
        print("\(outcome.status): \(example)")
        // These commands check their files first.
        let checksFiles = ["add", "append", "insert", "load"].contains(command)
        let expected: Int32 = needsDaemon ? (checksFiles ? 1 : 3) : 0
        #expect(outcome.status == expected, "\(example): \(outcome.errors)")
        count += 1
      }
    }
    #expect(count > 90)
  }

  @Test func helpIsPrintedAsJSON() throws {
    let all = try Program(Executables.playhead, ["--json", "help"]).waitForEnd()
    #expect(
      all.status == 0 && all.output.hasPrefix(#"{"rows":[{"command":"append","summary":""#), "\(all.output.prefix(200))"
    )
    for command in try commands() {
      #expect(all.output.contains(#"{"command":"\#(command)","summary":""#), "\(command)")
    }
    let seek = try Program(Executables.playhead, ["help", "seek", "--json"]).waitForEnd()
    #expect(
      seek.status == 0 && seek.output.hasPrefix(#"{"rows":[{"command":"seek","synopsis":"seek [TIME]"#), "\(seek)")
    let watch = try Program(Executables.playhead, ["help", "--json", "watch"]).waitForEnd()
    #expect(watch.output.contains(#"{"parameter":"--reconnect","takes":"","summary":""#), "\(watch)")
  }

  @Test func helpOfConnectionBoundCommandsNamesTheAlternative() throws {
    for (command, text) in [
      ("tick", "use `playhead watch`"), ("queue.begin", "use `playhead shell`"),
      ("asset.load", "`playhead info` FILE"),
    ] {
      #expect(try Program(Executables.playhead, ["help", command]).waitForEnd().output.contains(text), "\(command)")
    }
  }
}
