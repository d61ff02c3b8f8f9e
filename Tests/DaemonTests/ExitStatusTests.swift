import DaemonTesting
import Glibc
import Testing

/// The exit statuses of the client.
@Suite struct ExitStatusTests {
  @Test func exitStatusesMatchTheDocumentation() throws {
    let daemon = try InProcessServer()
    let path = try daemon.wave(1, frameCount: 48_000)
    let list = daemon.folder.file("list.m3u8")
    let rows: [(status: Int32, name: String?, arguments: [String])] = [
      (0, nil, ["append", path, "wait=ready"]), (0, nil, ["status"]), (0, nil, ["wait", "status=paused"]),
      (0, nil, ["--help"]), (0, nil, ["help", "seek"]), (0, nil, ["completions", "bash"]),
      (0, nil, ["manual", "playhead"]),
      (0, nil, ["info", path]), (0, nil, ["save", list]), (0, nil, ["add", path]), (0, nil, ["scan", path]),
      (0, nil, ["shell"]),
      (1, "no-such-item", ["remove", "99"]), (1, "timed-out", ["wait", "status=playing", "--timeout", "0"]),
      (1, "no-such-player", ["watch", "--lines", "--player", "unknown"]),
      (1, "not-written", ["save", list]), (1, "nothing-added", ["add", "/nowhere"]),
      (1, "nothing-added", ["load", path, "/nowhere"]), (1, "nothing-added", ["play", "/dev/null"]),
      (1, "file-not-found", ["info", "/nowhere"]),
      (1, nil, ["scan", "/nowhere"]),
      (2, "misuse", []), (2, "misuse", ["--bogus"]), (2, "misuse", ["help", "nothing"]),
      (2, "misuse", ["completions", "tcsh"]),
      (2, "misuse", ["add"]), (2, "misuse", ["--raw", "status", "--human"]), (2, "bad-arguments", ["seek"]),
      (2, "bad-arguments", ["volume", "2"]), (2, "misuse", ["watch", "--tick"]),
      (1, "no-such-player", ["watch", "--tick=0.5", "--player=unknown"]), (2, "misuse", ["watch", "extra"]),
      (2, "misuse", ["save", "--force=1", list]), (2, "misuse", ["add", "-r", path]),
      (2, "misuse", ["get", "--tick", "1"]),
      (2, "misuse", ["shell", "status"]), (2, "misuse", ["record", "-o", list, "--levels"]),
      (3, "unreachable", ["--socket", "/nowhere/socket", "status"]),
      (3, "unreachable", ["watch", "--socket", "/nowhere/socket"]),
      (2, "misuse", ["levitate"]), (2, "misuse", ["--socket", "/nowhere/socket", "levitate"]),
      (3, "unreachable", ["add", "--socket", "/nowhere/socket", path]),
    ]
    for row in rows {
      let plain = try Program(Executables.playhead, ["--socket", daemon.socket] + row.arguments).waitForEnd()
      print("\(row.status): playhead \(row.arguments.joined(separator: " "))")
      #expect(plain.status == row.status, "\(row.arguments): \(plain)")
      #expect(plain.errors.isEmpty == (row.status == 0 || row.name == nil), "\(row.arguments): \(plain)")
      // The same in JSON, with the name of the error.
      guard let name = row.name else { continue }
      let form = row.arguments.contains("--raw") ? [] : ["--json"]
      let json = try Program(Executables.playhead, ["--socket", daemon.socket] + form + row.arguments).waitForEnd()
      #expect(json.status == row.status, "\(row.arguments): \(json)")
      if !form.isEmpty {
        #expect(json.errors.hasPrefix(#"{"error":{"#) && json.errors.hasSuffix("\n"), "\(json)")
        #expect(json.errors.contains(#""name":"\#(name)","message":""#), "\(json)")
        #expect(json.errors.contains(#","status":\#(row.status)}"#), "\(json)")
      }
    }
    let signalled = try Program(Executables.playhead, ["--socket", daemon.socket, "wait", "status=playing"])
    signalled.signal(SIGINT)
    #expect(try signalled.waitForEnd().status == 130)
    // The usage, the manual and the guide have the table.
    let usage = try Program(Executables.playhead, ["--help"]).waitForEnd().output
    let manual = try Program(Executables.playhead, ["manual", "playhead"]).waitForEnd().output
      .replacing("\\-", with: "-")
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let guide = String(decoding: try Files.read("\(root)/docs/guide/playing.md"), as: UTF8.self)
    // The usage wraps lines, and the manual has bold text.
    let flat = usage.split { $0.isWhitespace }.joined(separator: " ")
    for status in ["0", "1", "2", "3", "128 + N"] {
      let row = guide.split(separator: "\n").first { $0.hasPrefix("| \(status) | ") }
      let text = try #require(row).dropFirst("| \(status) | ".count).dropLast(" |".count)
      #expect(text.count > 20 && flat.contains(" \(status) \(text) "), "\(status): \(text)")
      let bold = text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
        index % 2 == 1 ? "\\fB\(part)\\fP" : String(part)
      }
      #expect(manual.contains(".B \"\(status)\"\n\(bold.joined())\n"), "\(status): \(bold.joined())")
    }
  }

  /// A reader must not take a partial output for the whole.
  @Test func failedOutputGivesStatus1() throws {
    let daemon = try InProcessServer()
    let path = try daemon.wave(1, frameCount: 48_000)
    for arguments in [
      ["--help"], ["--version"], ["help"], ["help", "seek"], ["completions", "bash"], ["manual", "playhead"],
      ["status"], ["--human", "status"], ["--human", "list"], ["--json", "status"], ["info", path],
      ["tags", "--json", path],
      ["scan", path], ["add", "--dry-run", path], ["watch"], ["watch", "--json"],
    ] {
      let outcome = try Program(
        "/bin/sh", ["-c", #"exec "$0" "$@" >/dev/full"#, Executables.playhead, "--socket", daemon.socket] + arguments
      ).waitForEnd()
      print("\(outcome.status): playhead \(arguments.joined(separator: " ")) >/dev/full")
      let message = "standard output cannot be written: No space left on device"
      let line =
        arguments.contains("--json")
        ? #"{"error":{"name":"not-printed","message":"\#(message)"},"status":1}"# : "playhead: \(message)"
      #expect(outcome == .init(status: 1, output: "", errors: line + "\n"), "\(arguments)")
    }
  }
}
