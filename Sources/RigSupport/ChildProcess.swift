import Glibc

/// A program that a test started. It ends with the test, even if the test crashes.
///
/// A shell reads from a pipe. When the test's process dies, even by SIGKILL, the pipe closes and the shell kills the
/// child.
///
/// Threading: any thread; `wait` and `kill` one at a time.
package final class ChildProcess: @unchecked Sendable {
  // `@unchecked Sendable`: `status` is used only by the owning test.
  package let processID: pid_t
  private let guardianPipe: Pipe
  private var status: Int32?

  /// Starts `arguments[0]`, which is searched in PATH. `environment` is added to the test's environment.
  package init(_ arguments: [String], environment: [String: String] = [:], silent: Bool = true)
    throws
  {
    guard let program = arguments.first, let path = Self.find(program) else {
      throw RigError.missingTool(arguments.first ?? "")
    }
    let guardianPipe = try Pipe()
    // `exec` keeps the shell's process ID for the program.
    let guardianScript = #"(exec >/dev/null 2>&1; cat <&3; kill -9 $$) & exec 3<&-; exec "$@""#
    let shellArguments = ["/bin/sh", "-c", guardianScript, "sh", path] + arguments.dropFirst()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, guardianPipe.readEnd, 3)
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    if silent {
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    }
    var child = pid_t()
    let result = Self.withCStrings(shellArguments) { argv in
      Self.withCStrings(Self.merged(environment)) {
        posix_spawn(&child, "/bin/sh", &actions, nil, argv, $0)
      }
    }
    guard result == 0 else { throw RigError.system(call: "posix_spawn", errno: result) }
    processID = child
    self.guardianPipe = guardianPipe
  }

  deinit { kill() }

  /// Blocks until the program has ended. Returns its exit status, or 128 plus the number of the signal that ended it.
  @discardableResult
  package func wait() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while waitpid(processID, &raw, 0) < 0, errno == EINTR {}
    let signal = raw & 0x7f
    let result = signal == 0 ? (raw >> 8) & 0xff : 128 + signal
    status = result
    guardianPipe.closeWriteEnd()
    return result
  }

  /// Kills the program with SIGKILL and waits for its end.
  package func kill() {
    if status != nil { return }
    send(SIGKILL)
    wait()
  }

  /// Sends a signal, unless the program has been reaped.
  package func send(_ signal: Int32) {
    if status == nil { _ = Glibc.kill(processID, signal) }
  }

  /// Stops the program (SIGSTOP).
  package func suspend() { send(SIGSTOP) }

  /// Continues the program (SIGCONT).
  package func resume() { send(SIGCONT) }

  /// Runs a program to its end. Throws if its exit status is not 0.
  package static func run(_ arguments: [String], environment: [String: String] = [:]) throws {
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
