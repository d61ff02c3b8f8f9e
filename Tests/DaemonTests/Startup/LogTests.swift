import DaemonTesting
import Glibc
import RigSupport
import Testing

/// The destination of the log, and a daemon whose log is not read.
@Suite(.timeLimit(.minutes(2))) struct LogTests {
  /// A path from a client or a playlist could otherwise add lines to the log, or control the terminal that displays it.
  @Test func valueInTheLogCannotForgeALineOrControlATerminal() throws {
    let daemon = try TestDaemon("--output", "null", "--log-level", "trace")
    let client = try daemon.connect()
    let path = "/nowhere/a\\n2026-11-24T00:00:00+0000 critical playhead: forged\\x1b[31m\\x07\\xc2\\x9b\\xe2\\x80\\xae"
    #expect(try client.reply("load \"\(path)\"").hasPrefix("ok "))
    let failure = try client.reply("wait ready timeout=20")
    #expect(failure.hasPrefix("error ") && !failure.contains(" name=timed-out"), "\(failure)")
    daemon.process.signal(SIGTERM)
    let log = try daemon.process.waitForEnd().errors
    #expect(
      log.contains("/nowhere/a\\n2026-11-24T00:00:00+0000 critical playhead: forged\\u{1B}[31m\\u{7}\\u{9B}\\u{202E}"))
    #expect(!log.split(separator: "\n").contains { $0.hasPrefix("2026-11-24T00:00:00+0000 critical") })
    #expect(
      !log.unicodeScalars.contains { ($0 != "\n" && $0.properties.generalCategory == .control) || $0 == "\u{202E}" })
  }

  /// Otherwise the log would be written into a database or to a client.
  @Test func closedStandardDescriptorsAreNotReused() throws {
    let folder = try TemporaryDirectory("log")
    let socket = folder.file("control.sock")
    let daemon = try Program(
      "sh",
      [
        "-c", "exec \"$@\" <&- 2>&-", "sh", Executables.playheadd, "--socket", socket, "--clock", "virtual", "--state",
        folder.file("state"),
      ])
    #expect(try daemon.waitForLine() == "playheadd ready socket=\(socket)")
    var (null, found) = (stat(), stat())
    #expect(stat("/dev/null", &null) == 0)
    for descriptor in [STDIN_FILENO, STDERR_FILENO] {
      #expect(stat("/proc/\(daemon.id)/fd/\(descriptor)", &found) == 0 && found.st_rdev == null.st_rdev)
    }
    let shell = try Program("sh", ["-c", "exec \"$@\" <&-", "sh", Executables.playhead, "--socket", socket, "shell"])
    let outcome = try shell.waitForEnd()
    #expect(outcome.status == 0 && outcome.output.hasPrefix("* hello ") && outcome.errors.isEmpty, "\(outcome)")
    let silent = try Program("sh", ["-c", "exec \"$@\" >&-", "sh", Executables.playhead, "--socket", socket, "ping"])
    #expect(try silent.waitForEnd().errors == "playhead: standard output cannot be written: Bad file descriptor\n")
  }

  @Test func unreadLogDoesNotBlockTheDaemon() throws {
    let folder = try TemporaryDirectory("log")
    let log = folder.file("log")
    try #require(mkfifo(log, 0o600) == 0)
    // Opened at both ends, so that neither side waits for the other, and not read yet.
    let pipe = open(log, O_RDWR | O_CLOEXEC)
    try #require(pipe >= 0)
    defer { close(pipe) }
    // One log line for each of these: more than the pipe and the daemon can buffer.
    let faults = "[log]\n" + (0..<300).map { "nonsense\($0) = 1\n" }.joined()
    let path = try folder.write("a.toml", [])
    let socket = folder.file("control.sock")
    let daemon = try Program(
      "sh",
      [
        "-c", "log=$1; shift; exec \"$@\" 2>\"$log\"", "sh", log, Executables.playheadd, "--config", path, "--socket",
        socket, "--clock", "virtual", "--no-state",
      ])
    #expect(try daemon.waitForLine() == "playheadd ready socket=\(socket)")
    let client = try WireClient(socket)
    _ = try client.line()
    try folder.write("a.toml", Array(faults.utf8))
    // Each reply comes after the daemon has logged all lines.
    for _ in 0..<10 { #expect(try client.reply("config.reload").hasPrefix("error code=1015")) }
    #expect(try client.reply("ping").hasPrefix("ok now="))
    // When the log is read, it states how many lines are missing.
    var (text, chunk) = ("", [UInt8](repeating: 0, count: 65_536))
    while !text.contains(" log lines were dropped here, because standard error was not read\n") {
      let count = read(pipe, &chunk, chunk.count)
      guard count > 0 else { break }
      text += String(decoding: chunk[..<count], as: UTF8.self)
    }
    #expect(text.contains("\(path):2:1: unknown option log.nonsense0"))
    let lost = text.split(separator: "\n").compactMap { line in
      line.hasSuffix(" log lines were dropped here, because standard error was not read")
        ? line.split(separator: " ").dropFirst().first.flatMap { Int($0) } : nil
    }
    let lineCount = text.split(separator: "\n").count { $0.contains("unknown option log.nonsense") }
    print("log: \(lineCount) lines, and lost \(lost)")
    #expect(lineCount > 0 && lost.first ?? 0 > 0 && lineCount + lost.reduce(0, +) <= 3_000)
    // A full log does not delay the daemon's end.
    for _ in 0..<10 { #expect(try client.reply("config.reload").hasPrefix("error code=1015")) }
    daemon.signal(SIGTERM)
    #expect(try daemon.waitForEnd().status == 0)
  }
}
