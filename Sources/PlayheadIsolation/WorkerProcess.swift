import CPlayheadSandbox
import Glibc
import PlayheadMediaCore
import Synchronization

/// A worker: a process without access to files or networks that parses the bytes that it receives.
///
/// Threading: `kill` on any thread; the rest on the thread that has reserved the worker.
final class WorkerProcess: Sendable {
  /// The end of a worker: a signal or an exit status.
  struct End: Sendable, Hashable {
    /// The signal that ended the worker; nil if it exited.
    var signal: Int32?
    var status: Int32

    var description: String {
      guard let signal else { return "exit status \(status)" }
      return Self.names[signal] ?? "signal \(signal)"
    }

    private static let names: [Int32: String] = [
      SIGSEGV: "SIGSEGV", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGILL: "SIGILL", SIGSYS: "SIGSYS",
      SIGKILL: "SIGKILL", SIGXCPU: "SIGXCPU", SIGTRAP: "SIGTRAP",
    ]
  }

  private struct State {
    /// Nil until the process has been reaped.
    var end: End?
    var wasKilled = false
  }

  let socket: WorkerSocket
  let processID: pid_t
  /// Serializes reaping and killing: the ID of a reaped process may belong to another process.
  private let state = Mutex(State())

  /// The descriptor of the socket in the worker.
  static let socketDescriptor: Int32 = 3

  /// Starts a worker. Blocks until the kernel has loaded the program. The program then initializes itself and waits for
  /// tasks.
  ///
  /// - Throws: `workerUnavailable` if the program cannot be started.
  init(program: String, limits: WorkerLimits = WorkerLimits()) throws(MediaError) {
    guard let (localEnd, workerEnd) = WorkerSocket.pair() else { throw Self.failure(program, errno) }
    defer { close(workerEnd) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for standardStream in 0...2 as ClosedRange<Int32> {
      posix_spawn_file_actions_addopen(&actions, standardStream, "/dev/null", O_RDWR, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, workerEnd, Self.socketDescriptor)
    sandbox_spawn_closing_from(&actions, Self.socketDescriptor + 1)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The daemon blocks signals for the thread that waits for them. The worker must not inherit that.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var arguments: [UnsafeMutablePointer<CChar>?] = ([program] + limits.arguments).map { strdup($0) } + [nil]
    // One arena: otherwise each of a decoder's many threads reserves 64 MiB of address space.
    var environment: [UnsafeMutablePointer<CChar>?] = [
      strdup("LC_ALL=C"), strdup("SWIFT_BACKTRACE=enable=no"), strdup("MALLOC_ARENA_MAX=1"), nil,
    ]
    defer { for pointer in arguments + environment { free(pointer) } }
    var process = pid_t()
    let status = posix_spawn(&process, program, &actions, &attributes, &arguments, &environment)
    guard status == 0 else {
      close(localEnd)
      throw Self.failure(program, status)
    }
    (socket, processID) = (WorkerSocket(descriptor: localEnd), process)
  }

  deinit {
    socket.close()
    if state.withLock({ $0.end == nil }) {
      kill()
      _ = wait()
    }
  }

  /// Kills the process, which ends a `wait` on another thread. Does not block.
  func kill() {
    state.withLock { state in
      guard state.end == nil else { return }
      state.wasKilled = true
      Glibc.kill(processID, SIGKILL)
    }
  }

  /// Whether `kill` ended the process.
  var wasKilled: Bool { state.withLock { $0.wasKilled } }

  /// Whether the process has ended, or sent a message, which an idle worker never does.
  var hasEndedWhileIdle: Bool { socket.waitUntilReadable(timeoutMilliseconds: 0) }

  /// Waits for the end of the process, after its socket was closed or `kill` was called. Blocks briefly.
  func wait() -> End {
    if let end = state.withLock({ $0.end }) { return end }
    // WNOWAIT does not reap the process, so `kill` stays safe until `waitpid` below releases the ID.
    var information = siginfo_t()
    while waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    return state.withLock { state in
      if let end = state.end { return end }
      var status: Int32 = 0
      while waitpid(processID, &status, 0) < 0, errno == EINTR {}
      let signal = status & 0x7F
      let end = End(signal: signal == 0 ? nil : signal, status: status >> 8 & 0xFF)
      state.end = end
      return end
    }
  }

  private static func failure(_ program: String, _ errorNumber: Int32) -> MediaError {
    let reason = String(cString: strerror(errorNumber))
    return MediaError(
      .workerUnavailable, "the worker program \(program) cannot be started: \(reason)", operation: "worker",
      underlying: reason)
  }
}
