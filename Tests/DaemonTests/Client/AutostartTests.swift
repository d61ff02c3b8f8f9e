import DaemonTesting
import Glibc
import RigSupport
import Testing

/// The client without a daemon, and `--autostart`.
@Suite struct AutostartTests {
  /// A folder with the client and a `playheadd` that runs these commands of the shell.
  private func makePrograms(_ script: String) throws -> TemporaryDirectory {
    let folder = try TemporaryDirectory("autostart")
    try Files.write(Array(folder.file("playhead").utf8), try Files.read(Executables.playhead))
    try folder.write("playheadd", Array("#!/bin/sh\n\(script)\n".utf8))
    #expect(chmod(folder.file("playhead"), 0o755) == 0 && chmod(folder.file("playheadd"), 0o755) == 0)
    return folder
  }

  private func kill(_ folder: TemporaryDirectory) throws {
    let id = String(decoding: try Files.read(folder.file("pid")), as: UTF8.self)
    Glibc.kill(try #require(pid_t(id.prefix { !$0.isNewline })), SIGKILL)
  }

  @Test func messageWithoutADaemonStatesHowToStartOne() throws {
    let folder = try TemporaryDirectory("autostart")
    for (words, environment, command) in [
      (["--socket", "/nowhere/socket"], [:], "playheadd --socket /nowhere/socket &"),
      (["--socket", "/no where/it's"], [:], "playheadd --socket '/no where/it'\\''s' &"),
      ([], ["PLAYHEAD_SOCKET": "/nowhere/socket"], "playheadd &"),
      ([], ["PLAYHEAD_SOCKET": nil, "XDG_RUNTIME_DIR": folder.path], "playheadd &"),
    ] as [([String], [String: String?], String)] {
      for command in [(["status"], command), (["play"], command), (["list"], command)] {
        let outcome = try Program(Executables.playhead, words + command.0, environment: environment).waitForEnd()
        #expect(outcome.status == 3 && outcome.errors.hasPrefix("playhead: no daemon at "), "\(outcome)")
        #expect(outcome.errors.hasSuffix(": No such file or directory; start it with: \(command.1)\n"), "\(outcome)")
      }
    }
  }

  @Test func autostartStartsTheDaemonBesideTheClient() throws {
    let folder = try makePrograms(
      "echo $$ >${0%/*}/pid; exec \(Executables.playheadd) --no-state --output null \"$@\"")
    func run(_ words: String...) throws -> Program.Outcome {
      try Program(folder.file("playhead"), ["--socket", "control.sock"] + words, folder: folder.path).waitForEnd()
    }
    // Nothing is started for wrong use, nor for commands without a daemon.
    #expect(try run("--autostart", "seek", "abc").status == 2)
    #expect(try run("--autostart", "help").status == 0)
    #expect(try run("status").status == 3)
    let volume = try run("volume", "0.5", "--autostart", "--wait")
    defer { try? kill(folder) }
    #expect(volume == .init(status: 0, output: "volume=0.5\n", errors: ""))
    // The same daemon continues, and no other is started.
    #expect(try run("volume").output == "volume=0.5\n")
    #expect(try run("--autostart", "volume").output == "volume=0.5\n")
  }

  @Test func failedStartIsReported() throws {
    for (script, reason) in [("exit 2", "exit status 2"), ("kill -9 $$", "signal 9")] {
      let folder = try makePrograms(script)
      let outcome = try Program(
        folder.file("playhead"), ["--autostart", "--socket", folder.file("control.sock"), "status"]
      ).waitForEnd()
      #expect(
        outcome
          == .init(
            status: 3, output: "",
            errors:
              "playhead: playheadd ended before it was ready (\(reason)); for the reason, run it without --autostart\n")
      )
    }
    let folder = try makePrograms("")
    #expect(unlink(folder.file("playheadd")) == 0)
    let missing = try Program(
      folder.file("playhead"), ["--autostart", "--socket", folder.file("control.sock"), "status"],
      environment: ["PATH": folder.path]
    ).waitForEnd()
    #expect(missing.status == 3 && missing.errors.contains("playheadd cannot be started: No such file"), "\(missing)")
  }
}
