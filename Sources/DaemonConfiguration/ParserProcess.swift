import Glibc
import MediaCore

/// The TOML parser, run once as a separate process.
struct ParserProcess {
  /// The name of the parser program.
  static let name = "playheadd-toml"

  /// The exit status. For a process that was killed by a signal, 128 plus the signal number.
  let status: Int32
  let output: [UInt8]

  /// The maximum size of the output, which is many times the size of the largest file.
  static let maximumOutputByteCount = 16 * 1_048_576

  /// Runs the parser, or another program, with this input. Blocks for at most `timeoutMilliseconds`.
  ///
  /// - Throws: `invalid-state` if it cannot be run, does not end in time, or exceeds the output limit.
  init(_ input: [UInt8], program named: String? = nil, timeoutMilliseconds: Int32) throws(MediaError) {
    let deadline = HostTime.now.advanced(byNanoseconds: Int64(timeoutMilliseconds) * 1_000_000)
    let program: String
    if let named { program = named } else { program = try Self.program() }
    var (inputEnds, outputEnds): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
    guard pipe(&inputEnds) == 0, pipe(&outputEnds) == 0 else {
      let number = errno
      for end in inputEnds where end >= 0 { close(end) }
      throw Self.failure("create a pipe for", number)
    }
    for end in inputEnds + outputEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // This side is non-blocking, so that a blocked write does not stop reading, and a blocked read does not stop
    // writing.
    for end in [inputEnds[1], outputEnds[0]] { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) }
    let started = Result { () throws(MediaError) in try Self.start(program, inputEnds[0], outputEnds[1]) }
    close(inputEnds[0])
    close(outputEnds[1])
    defer { close(outputEnds[0]) }
    let process: pid_t
    do throws(MediaError) { process = try started.get() } catch {
      close(inputEnds[1])
      throw error
    }
    let received = Self.exchange(input, to: inputEnds[1], from: outputEnds[0], by: deadline)
    let waitStatus = Self.wait(for: process, by: received == nil ? HostTime.now : deadline)
    guard let received, let waitStatus else {
      throw MediaError(.invalidState, "\(program) does not end, or its output is too long", operation: "config")
    }
    output = received
    status = waitStatus & 0x7F == 0 ? waitStatus >> 8 & 0xFF : 128 + waitStatus & 0x7F
  }

  /// Writes the whole input, closes that end, and reads the whole output. Nil after the deadline or beyond the output
  /// limit.
  private static func exchange(
    _ input: [UInt8], to inputEnd: Int32, from outputEnd: Int32, by deadline: HostTime
  ) -> [UInt8]? {
    var written = 0
    var isOpen = true
    defer { if isOpen { close(inputEnd) } }
    var received: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      if isOpen, written == input.count {
        close(inputEnd)
        isOpen = false
      }
      var entries = [
        pollfd(fd: outputEnd, events: Int16(POLLIN), revents: 0),
        // poll(2) ignores negative descriptors.
        pollfd(fd: isOpen ? inputEnd : -1, events: Int16(POLLOUT), revents: 0),
      ]
      let remaining = deadline.nanoseconds(since: .now)
      guard remaining > 0 else { return nil }
      let ready = poll(&entries, 2, Int32(clamping: remaining / 1_000_000 + 1))
      if ready < 0, errno != EINTR { return nil }
      guard ready > 0 else { continue }
      if entries[1].revents != 0 {
        let count = input[written...].withUnsafeBytes { write(inputEnd, $0.baseAddress, $0.count) }
        if count > 0 {
          written += count
        } else if errno != EINTR, errno != EAGAIN {
          // The process has ended or closed its input (SIGPIPE is ignored). Its output shows the reason.
          written = input.count
        }
      }
      guard entries[0].revents != 0 else { continue }
      let count = chunk.withUnsafeMutableBytes { read(outputEnd, $0.baseAddress, $0.count) }
      if count == 0 { return received }
      if count < 0, errno != EINTR, errno != EAGAIN { return nil }
      received += chunk[..<max(0, count)]
      if received.count > maximumOutputByteCount { return nil }
    }
  }

  /// Waits for the end of the process and returns its wait status. At the deadline, kills the process and returns nil.
  /// Polls, because the process ends shortly after it closes its output.
  private static func wait(for process: pid_t, by deadline: HostTime) -> Int32? {
    var waitStatus: Int32 = 0
    while true {
      let processID = waitpid(process, &waitStatus, WNOHANG)
      if processID == process { return waitStatus }
      if processID < 0, errno != EINTR { return nil }
      guard deadline.nanoseconds(since: .now) > 0 else { break }
      poll(nil, 0, 1)
    }
    kill(process, SIGKILL)
    while waitpid(process, &waitStatus, 0) < 0, errno == EINTR {}
    return nil
  }

  private static func start(_ program: String, _ input: Int32, _ output: Int32) throws(MediaError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    // The error output of the parser would not help a user.
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The daemon blocks signals, because one of its threads waits for them. The parser must not inherit the signal
    // mask.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var process = pid_t()
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), nil]
    var environment: [UnsafeMutablePointer<CChar>?] = [strdup("LC_ALL=C"), strdup("SWIFT_BACKTRACE=enable=no"), nil]
    defer { for pointer in arguments + environment { free(pointer) } }
    let status = posix_spawn(&process, program, &actions, &attributes, &arguments, &environment)
    guard status == 0 else { throw failure("run \(program) for", status) }
    return process
  }

  private static func failure(_ step: String, _ number: Int32) -> MediaError {
    MediaError(
      .invalidState, "cannot \(step) the configuration: \(String(cString: strerror(number)))", operation: "config")
  }

  /// The path of the parser: next to the daemon in a build, or in `lib/playhead` when installed.
  private static func program() throws(MediaError) -> String {
    let folder = try folder()
    let candidates = [folder, folder + "/../lib/playhead"].map { "\($0)/\(name)" }
    return candidates.first { access($0, X_OK) == 0 } ?? candidates[0]
  }

  /// The folder of the running program.
  static func folder() throws(MediaError) -> String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    let bytes = path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
    guard let end = bytes.lastIndex(of: UInt8(ascii: "/")) else { throw failure("find the program for", errno) }
    return String(decoding: bytes[..<end], as: UTF8.self)
  }
}
