// Starts the daemon for `--autostart`.
import Glibc

enum DaemonStart {
  /// The command line that starts a daemon with this socket; nil for the default socket.
  static func commandLine(socket: String?) -> String {
    guard let socket else { return "playheadd &" }
    let isPlain = socket.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "/._-".utf8.contains(byte)
    }
    let word =
      isPlain
      ? socket : "'\(socket.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    return "playheadd --socket \(word) &"
  }

  /// Starts `playheadd` in a new session, and waits until it is ready.
  ///
  /// The daemon's log is discarded, because the terminal and the pipes of the client must not stay open.
  ///
  /// - Parameters:
  ///   - socket: The absolute path of the socket; nil for the default.
  ///   - isReachable: Whether a daemon accepts connections, also one that another client has started meanwhile.
  /// - Throws: `Unreachable` if the daemon cannot be started.
  static func start(socket: String?, isReachable: () -> Bool) throws(Unreachable) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw failure(errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let id: pid_t
    defer { close(ends[0]) }
    do throws(DetachedProcess.Failure) {
      defer { close(ends[1]) }
      let program = program
      id = try DetachedProcess.start(
        program, [program] + (socket.map { ["--socket", $0] } ?? []), inheritsInput: false, output: ends[1])
    } catch {
      throw failure(error.number)
    }
    if reportsReady(ends[0]) { return }
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    // Another client may have started a daemon, which listens a little later.
    for _ in 0..<Self.attemptCount {
      if isReachable() { return }
      poll(nil, 0, Self.intervalMilliseconds)
    }
    let reason = status & 0x7F == 0 ? "exit status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
    throw Unreachable(
      message: "playheadd ended before it was ready (\(reason)); for the reason, run it without --autostart")
  }

  /// The attempts to reach a daemon of another client, and the delay between them, in milliseconds: 2 s in total.
  private static let attemptCount = 40
  private static let intervalMilliseconds: Int32 = 50

  // MARK: - Process

  /// Whether the daemon prints its first line, which means that it accepts connections.
  private static func reportsReady(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    while byte != UInt8(ascii: "\n") {
      let count = read(descriptor, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1 else { return false }
    }
    return true
  }

  /// `playheadd` in the folder of the client, else the name, which is searched for in `PATH`.
  private static var program: String {
    let name = "playheadd"
    guard let client = realpath("/proc/self/exe", nil) else { return name }
    defer { free(client) }
    let path = String(cString: client)
    guard let slash = path.lastIndex(of: "/") else { return name }
    let sibling = path[...slash] + name
    return access(String(sibling), X_OK) == 0 ? String(sibling) : name
  }

  private static func failure(_ error: Int32) -> Unreachable {
    Unreachable(message: "playheadd cannot be started: \(String(cString: strerror(error)))")
  }
}
