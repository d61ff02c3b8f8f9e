import Glibc
import MediaCore
import RigSupport
import Testing

@testable import DaemonConfiguration

/// The parser process. The caller continues, whatever the program in its location does.
@Suite struct ParserProcessTests {
  private let folder: TemporaryDirectory

  init() throws {
    // The daemon also ignores SIGPIPE.
    signal(SIGPIPE, SIG_IGN)
    folder = try TemporaryDirectory("parser")
  }

  /// Runs a shell instead of the parser. Its input is the script, followed by `input`.
  private func run(_ script: String, _ input: [UInt8] = [], patience: Int32) throws -> ParserProcess {
    try ParserProcess(Array("\(script)\n".utf8) + input, program: "/bin/sh", timeoutMilliseconds: patience)
  }

  /// More bytes than the pipes can buffer pass in both directions.
  @Test func outputDuringInputDoesNotDeadlock() throws {
    let input = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    let process = try ParserProcess(input, program: "/bin/cat", timeoutMilliseconds: 60_000)
    #expect(process.output == input && process.status == 0)
    #expect(try run("exit 3", input, patience: 60_000).status == 3)
    #expect(try run("kill -9 $$", patience: 60_000).status == 128 + SIGKILL)
  }

  /// A process that exceeds its time or output limit is killed, and does not remain.
  @Test(arguments: [
    ("exec /bin/sleep 1000", Int32(100)), ("/bin/cat >/dev/null; exec /bin/sleep 1000", 100),
    ("exec >&-; exec /bin/sleep 1000", 100), ("exec /bin/cat /dev/zero", 60_000),
  ]) func hangingOrFloodingParserIsKilled(_ script: String, _ patience: Int32) throws {
    let input = [UInt8](repeating: 1, count: 1_000_000)
    let error = #expect(throws: MediaError.self) {
      _ = try run("echo $$ >'\(folder.path)/id'; \(script)", input, patience: patience)
    }
    #expect(error?.code == .invalidState && error?.message.contains("does not end") == true)
    // The process has been reaped: no child process has its id.
    guard access(folder.file("id"), R_OK) == 0 else { return }
    let file = open(folder.file("id"), O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = read(file, &bytes, bytes.count)
    let id = pid_t(String(decoding: bytes.prefix(max(0, count - 1)), as: UTF8.self)) ?? 0
    #expect(id == 0 || waitpid(id, nil, WNOHANG) == -1)
  }
}
