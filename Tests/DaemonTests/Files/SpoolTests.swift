import DaemonTesting
import RigSupport
import Testing

/// Pipes on standard input of the client, whose data is stored until the daemon reads it.
@Suite(.timeLimit(.minutes(3))) struct SpoolTests {
  /// A writer that waits for the player would block the terminal, so that the user could not enter `playhead play`.
  @Test(arguments: ["load -", "append -", "insert -", "append - --raw", "load - --json", "queue.edit 'append -'"])
  func writerOfAPipeEndsWhileThePlayerIsPaused(command: String) throws {
    let daemon = try InProcessServer.recording()
    // More than a pipe and the daemon store.
    let path = try daemon.wave(1, frameCount: 1_440_000)
    let shell = try Program(
      "/bin/sh",
      ["-c", #"cat "$1" | "$2" --socket "$3" "# + command, "sh", path, Executables.playhead, daemon.socket])
    let outcome = try shell.waitForEnd()
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
    let client = try daemon.connect()
    #expect(try client.reply("wait ready").hasPrefix("ok"))
    try client.reply("play")
    try client.reply("clock.advance 31")
    #expect(try daemon.recorded(withSilences: false) == "1[0..<1440000]")
  }

  /// The data does not fit in the file, and the end of the file is within a chunk.
  @Test func dataPassesThroughASmallFileUnchanged() throws {
    let command = #"seq 1 200000 | "$0" spool 100003 | cksum; seq 1 200000 | cksum"#
    let outcome = try Program("/bin/sh", ["-c", command, Executables.playhead]).waitForEnd()
    let sums = outcome.output.split(separator: "\n")
    #expect(outcome.status == 0 && sums.count == 2 && sums.first == sums.last, "\(outcome)")
  }

  /// The limit of the file size has the effect of a full disk.
  @Test func fullDiskDelaysTheWriterAndLosesNoData() throws {
    let command = #"ulimit -f 64; seq 1 200000 | "$0" spool 1000000 | cksum; seq 1 200000 | cksum"#
    let outcome = try Program("/bin/sh", ["-c", command, Executables.playhead]).waitForEnd()
    let sums = outcome.output.split(separator: "\n")
    #expect(outcome.status == 0 && sums.count == 2 && sums.first == sums.last, "\(outcome)")
  }

  @Test func writerEndsWhenTheReaderClosesThePipe() throws {
    let command = #"yes | "$0" spool 100000 | head -n 100000 | tail -n 1"#
    let outcome = try Program("/bin/sh", ["-c", command, Executables.playhead]).waitForEnd()
    #expect(outcome == .init(status: 0, output: "y\n", errors: ""))
  }

  @Test(arguments: [[], ["0"], ["-1"], ["many"], ["1", "2"]])
  func invalidSizesAreRejected(sizes: [String]) throws {
    #expect(try Program(Executables.playhead, ["spool"] + sizes).waitForEnd().status == 2)
  }
}
