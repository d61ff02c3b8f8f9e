import Glibc

/// A program that a test started in a new pseudo-terminal (pty(7)), as in interactive use. Deinitializing the object
/// kills the program.
package final class TerminalProgram: @unchecked Sendable {
  // `@unchecked Sendable`: one test uses it, on one thread at a time.
  package let id: pid_t
  private let master: Int32
  private var rowCount: Int
  private var output: [UInt8] = []
  /// The end of the output that `wait(for:)` has matched.
  private var matchedCount = 0
  private var isReaped = false

  // TIOCSPTLCK, TIOCGPTN and TIOCSWINSZ of asm-generic/ioctls.h, and POSIX_SPAWN_SETSID of spawn.h, which Swift does
  // not import.
  private static let setLock: UInt = 0x4004_5431
  private static let getNumber: UInt = 0x8004_5430
  private static let setSize: UInt = 0x5414
  private static let newSession: Int16 = 0x80

  /// Starts a program. `environment` changes the test's environment; nil removes a variable.
  package init(
    _ path: String, _ arguments: [String], environment: [String: String?] = [:], columnCount: Int = 80,
    rowCount: Int = 24, folder: String? = nil
  ) throws {
    let opened = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var isLocked: Int32 = 0
    var number: Int32 = 0
    guard opened >= 0, ioctl(opened, Self.setLock, &isLocked) == 0, ioctl(opened, Self.getNumber, &number) == 0 else {
      throw Program.Failure(description: "no terminal")
    }
    master = opened
    self.rowCount = rowCount
    let name = "/dev/pts/\(number)"
    id = try Program.spawning.withLock { _ in
      try Self.start(path, arguments, environment: environment, terminal: name, folder: folder) {
        var size = winsize(ws_row: UInt16(rowCount), ws_col: UInt16(columnCount), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(opened, Self.setSize, &size)
      }
    }
  }

  private static func start(
    _ path: String, _ arguments: [String], environment: [String: String?], terminal: String, folder: String?,
    before prepare: () -> Void
  ) throws -> pid_t {
    prepare()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The first terminal that a session leader opens becomes its controlling terminal.
    posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, 0, 1)
    posix_spawn_file_actions_adddup2(&actions, 0, 2)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGWINCH] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | newSession)
    let program = folder.map { ["env", "-C", $0, path] } ?? [path]
    let words = (program + arguments).map { strdup($0) } + [nil]
    let variables = Program.variables(environment).map { strdup($0) } + [nil]
    defer { for pointer in words + variables { free(pointer) } }
    var id = pid_t()
    let status = posix_spawnp(&id, program[0], &actions, &attributes, words, variables)
    guard status == 0 else {
      throw Program.Failure(description: "cannot start \(path): \(String(cString: strerror(status)))")
    }
    return id
  }

  deinit {
    if !isReaped {
      kill(id, SIGKILL)
      var status: Int32 = 0
      waitpid(id, &status, 0)
    }
    close(master)
  }

  package func signal(_ number: Int32) { kill(id, number) }

  package func type(_ text: String) throws {
    let bytes = Array(text.utf8)
    guard write(master, bytes, bytes.count) == bytes.count else { throw Program.Failure(description: "cannot type") }
  }

  /// Changes the width of the terminal, and its height unless `rowCount` is nil. The program gets SIGWINCH.
  package func resize(columnCount: Int, rowCount newRowCount: Int? = nil) {
    rowCount = newRowCount ?? rowCount
    var size = winsize(ws_row: UInt16(rowCount), ws_col: UInt16(columnCount), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, Self.setSize, &size)
  }

  /// The terminal's flags (termios(3)).
  package var mode: [tcflag_t] {
    var mode = termios()
    return tcgetattr(master, &mode) == 0 ? [mode.c_iflag, mode.c_oflag, mode.c_cflag, mode.c_lflag] : []
  }

  /// All output so far.
  package var shown: String { String(decoding: output, as: UTF8.self) }

  /// Waits until `text` appears after the last match. Returns the output from there to the end of `text`.
  @discardableResult
  package func wait(for text: String) throws -> String {
    let target = Array(text.utf8)
    while true {
      if let range = output[matchedCount...].firstRange(of: target) {
        defer { matchedCount = range.upperBound }
        return String(decoding: output[matchedCount..<range.upperBound], as: UTF8.self)
      }
      guard try read() else { throw Program.Failure(description: "no \(text) in \(shown)") }
    }
  }

  /// Waits for the end of the program. Returns its exit status, or 128 plus the number of the signal that ended it.
  package func waitForEnd() throws -> Int32 {
    // The output ends when the last process closes the terminal.
    while try read() {}
    var status: Int32 = 0
    waitpid(id, &status, 0)
    isReaped = true
    let signal = status & 0x7f
    return signal == 0 ? status >> 8 & 0xff : 128 + signal
  }

  /// Reads available output. Returns false at the end.
  private func read() throws -> Bool {
    var polled = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    guard poll(&polled, 1, Program.timeoutMilliseconds) > 0 else {
      throw Program.Failure(description: "a program hangs; it showed: \(shown)")
    }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = chunk.withUnsafeMutableBytes { Glibc.read(master, $0.baseAddress, $0.count) }
    guard count > 0 else { return false }
    output += chunk[..<count]
    return true
  }
}
