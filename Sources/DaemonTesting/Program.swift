import Glibc
import Synchronization

/// A program that a test started, with pipes for its output. Deinitializing the object kills the program.
package final class Program: @unchecked Sendable {
  // `@unchecked Sendable`: one test uses it, on one thread at a time.

  /// The timeout of all functions that wait. Only a hanging program exceeds it.
  package static let timeoutMilliseconds: Int32 = 30_000

  package struct Failure: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
  }

  /// The result of a program.
  package struct Outcome: Equatable {
    /// The exit status, or 128 plus the number of the signal that ended the program.
    package var status: Int32
    package var output: String
    package var errors: String

    package init(status: Int32, output: String, errors: String) {
      (self.status, self.output, self.errors) = (status, output, errors)
    }
  }

  package let id: pid_t
  private let outputDescriptor: Int32
  private let errorDescriptor: Int32
  private var output: [UInt8] = []
  private var errors: [UInt8] = []
  private var matchedErrorCount = 0
  private var isReaped = false

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - arguments: The arguments as bytes, which need not be valid UTF-8.
  ///   - environment: Changes of the test's environment and of `isolatedEnvironment`. Nil removes a variable.
  ///   - input: The standard input. Nil: `/dev/null`.
  ///   - folder: The working directory. Nil: that of the test.
  package init(
    _ path: String, _ arguments: [[UInt8]], environment: [String: String?] = [:], input: Int32? = nil,
    folder: String? = nil
  ) throws {
    // Programs start one at a time. Otherwise another program could inherit a pipe before it is close-on-exec.
    let started = try Self.spawning.withLock { _ in
      try Self.start(path, arguments, environment: environment, input: input, folder: folder)
    }
    id = started.id
    outputDescriptor = started.output
    errorDescriptor = started.errors
  }

  /// Locked while a program starts.
  package static let spawning = Mutex<Void>(())

  private static func start(
    _ path: String, _ arguments: [[UInt8]], environment: [String: String?], input: Int32?, folder: String?
  ) throws -> (id: pid_t, output: Int32, errors: Int32) {
    let (outputRead, outputWrite) = try Self.pipe()
    let (errorRead, errorWrite) = try Self.pipe()
    defer {
      close(outputWrite)
      close(errorWrite)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, outputWrite, 1)
    posix_spawn_file_actions_adddup2(&actions, errorWrite, 2)
    // posix_spawn cannot change the working directory.
    let program = folder.map { ["env", "-C", $0, path] } ?? [path]
    let words =
      (program.map { Array($0.utf8) } + arguments).map { strdup($0.map { CChar(bitPattern: $0) } + [0]) } + [nil]
    let variables = Self.variables(environment).map { strdup($0) } + [nil]
    defer { for pointer in words + variables { free(pointer) } }
    // Signals have their default actions, regardless of the signals that the test runner blocks or ignores.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var id = pid_t()
    let status = posix_spawnp(&id, program[0], &actions, &attributes, words, variables)
    guard status == 0 else { throw Failure(description: "cannot start \(path): \(String(cString: strerror(status)))") }
    return (id, outputRead, errorRead)
  }

  package convenience init(
    _ path: String, _ arguments: [String], environment: [String: String?] = [:], input: Int32? = nil,
    folder: String? = nil
  ) throws {
    try self.init(
      path, arguments.map { Array($0.utf8) }, environment: environment, input: input, folder: folder)
  }

  deinit {
    if !isReaped {
      kill(id, SIGKILL)
      var status: Int32 = 0
      waitpid(id, &status, 0)
    }
    close(outputDescriptor)
    close(errorDescriptor)
  }

  package func signal(_ number: Int32) { kill(id, number) }

  /// Waits for a line of standard output. Returns nil if the output ends first.
  package func waitForLine() throws -> String? {
    while true {
      if let end = output.firstIndex(of: UInt8(ascii: "\n")) {
        defer { output.removeSubrange(...end) }
        return String(decoding: output[..<end], as: UTF8.self)
      }
      if try !read() { return nil }
    }
  }

  /// Waits for a line of standard error that contains `text`. Returns the standard error since the last call.
  package func waitForErrors(containing text: String) throws -> String {
    while true {
      let newErrors = String(decoding: errors[matchedErrorCount...], as: UTF8.self)
      if let found = newErrors.firstRange(of: text), newErrors[found.upperBound...].contains("\n") {
        matchedErrorCount = errors.count
        return newErrors
      }
      guard try read() else { throw Failure(description: "no \(text) in \(newErrors)") }
    }
  }

  /// Waits until the current, incomplete line of standard output ends with `text`.
  package func waitForText(_ text: String) throws {
    while !output.suffix(text.utf8.count).elementsEqual(text.utf8) {
      guard try read() else { throw Failure(description: "no \(text) in \(String(decoding: output, as: UTF8.self))") }
    }
  }

  /// Waits for the end of the program.
  package func waitForEnd() throws -> Outcome {
    while try read() {}
    var status: Int32 = 0
    waitpid(id, &status, 0)
    isReaped = true
    let signal = status & 0x7f
    return Outcome(
      status: signal == 0 ? status >> 8 & 0xff : 128 + signal, output: String(decoding: output, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self))
  }

  /// Reads available output of both streams. Returns false after both have ended.
  private func read() throws -> Bool {
    var polled = [outputDescriptor, errorDescriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    guard poll(&polled, 2, Self.timeoutMilliseconds) > 0 else {
      throw Failure(
        description: "a program hangs; its output: \(String(decoding: output + errors, as: UTF8.self))")
    }
    var isOpen = false
    for entry in polled where entry.revents != 0 {
      var chunk = [UInt8](repeating: 0, count: 65_536)
      let count = chunk.withUnsafeMutableBytes { Glibc.read(entry.fd, $0.baseAddress, $0.count) }
      guard count > 0 else { continue }
      isOpen = true
      if entry.fd == outputDescriptor { output += chunk[..<count] } else { errors += chunk[..<count] }
    }
    return isOpen || polled.contains { $0.revents == 0 }
  }

  private static func pipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { throw Failure(description: "no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// The changes that isolate programs from the developer's machine: no configuration file and no service manager.
  private static let isolatedEnvironment: [String: String?] = [
    "XDG_CONFIG_HOME": "/dev/null/none", "XDG_CONFIG_DIRS": "/dev/null/none", "NOTIFY_SOCKET": nil, "WATCHDOG_PID": nil,
    "WATCHDOG_USEC": nil,
    "LISTEN_PID": nil, "LISTEN_FDS": nil, "LISTEN_FDNAMES": nil,
  ]

  /// The environment of a program: the inherited variables with `isolatedEnvironment` and `changes`.
  package static func variables(_ changes: [String: String?], of inherited: [String] = Program.inherited) -> [String] {
    let changes = isolatedEnvironment.merging(changes) { $1 }
    var variables = inherited.filter { variable in changes[String(variable.prefix { $0 != "=" })] == nil }
    for case (let name, let value?) in changes { variables.append("\(name)=\(value)") }
    return variables
  }

  /// The environment of the test.
  package static var inherited: [String] {
    var variables: [String] = []
    var next = environ
    while let entry = next.pointee {
      variables.append(String(cString: entry))
      next += 1
    }
    return variables
  }
}

/// The programs under test, in the folder of the test bundle.
package enum Executables {
  package static let playheadd = folder + "/playheadd"
  package static let playhead = folder + "/playhead"

  package static let folder: String = {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    let bytes = path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
    let executable = String(decoding: bytes, as: UTF8.self)
    // The tests run in the bundle's executable, or in a helper of the toolchain that gets the bundle's path as an
    // argument.
    let candidates = [executable] + CommandLine.arguments
    for candidate in candidates {
      var folder = candidate
      while let slash = folder.lastIndex(of: "/") {
        folder = String(folder[..<slash])
        if access(folder + "/playheadd", X_OK) == 0, access(folder + "/playhead", X_OK) == 0 { return folder }
      }
    }
    return "."
  }()
}
