import Glibc

/// A program that a test started: ended with the test, whatever happens to it.
///
/// The child is watched by a small shell that holds one end of a pipe; when the test's process dies, even by SIGKILL,
/// the pipe closes and the shell kills the child.
///
/// Threading: any thread; `wait` and `kill` one at a time.
public final class ChildProcess: @unchecked Sendable {
  // `@unchecked Sendable`: `status` is used by the owning test only.
  public let processID: pid_t
  private let lifeline: Pipe
  private var status: Int32?

  /// Starts `arguments[0]`, found in PATH, with `environment` added to the test's own.
  public init(_ arguments: [String], environment: [String: String] = [:], silent: Bool = true)
    throws
  {
    guard let program = arguments.first, let path = Self.find(program) else {
      throw RigError.missingTool(arguments.first ?? "")
    }
    let lifeline = try Pipe()
    // `exec` keeps the shell's process id, so that it is the program's.
    let guardian = #"(exec >/dev/null 2>&1; cat <&3; kill -9 $$) & exec 3<&-; exec "$@""#
    let words = ["/bin/sh", "-c", guardian, "sh", path] + arguments.dropFirst()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, lifeline.readEnd, 3)
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    if silent {
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    }
    var child = pid_t()
    let result = Self.withCStrings(words) { argv in
      Self.withCStrings(Self.merged(environment)) {
        posix_spawn(&child, "/bin/sh", &actions, nil, argv, $0)
      }
    }
    guard result == 0 else { throw RigError.system(call: "posix_spawn", errno: result) }
    processID = child
    self.lifeline = lifeline
  }

  deinit { kill() }

  /// Blocks until the program has ended; its exit status, or 128 plus the signal that killed it.
  @discardableResult
  public func wait() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while waitpid(processID, &raw, 0) < 0, errno == EINTR {}
    let signal = raw & 0x7f
    let result = signal == 0 ? (raw >> 8) & 0xff : 128 + signal
    status = result
    lifeline.closeWriteEnd()
    return result
  }

  /// Ends the program with SIGKILL and waits for it.
  public func kill() {
    if status != nil { return }
    send(SIGKILL)
    wait()
  }

  /// Sends a signal, unless the program has been waited for.
  public func send(_ signal: Int32) {
    if status == nil { _ = Glibc.kill(processID, signal) }
  }

  /// Stops the program where it is (SIGSTOP).
  public func suspend() { send(SIGSTOP) }

  /// Lets it go on (SIGCONT).
  public func resume() { send(SIGCONT) }

  /// Runs a program to its end; an exit status other than 0 is thrown.
  public static func run(_ arguments: [String], environment: [String: String] = [:]) throws {
    let status = try ChildProcess(arguments, environment: environment).wait()
    guard status == 0 else {
      throw RigError.programFailed(
        "'\(arguments.joined(separator: " "))' ended with status \(status)")
    }
  }

  // MARK: - Internals

  /// The path of a program; nil if it is not in PATH.
  static func find(_ program: String) -> String? {
    if program.contains("/") { return access(program, X_OK) == 0 ? program : nil }
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    return path.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
  }

  private static func merged(_ additions: [String: String]) -> [String] {
    var entries: [String] = []
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if additions[String(text.prefix { $0 != "=" })] == nil { entries.append(text) }
      next += 1
    }
    return entries + additions.map { "\($0.key)=\($0.value)" }
  }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    pointers.append(nil)
    return pointers.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else {
        preconditionFailure("the array has at least its terminator")
      }
      return body(base)
    }
  }
}
