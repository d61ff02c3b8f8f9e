// The rules of the daemon's Landlock sandbox, derived from its options and its environment. This file makes no system
// calls. `Sandbox` applies the rules.
import PlayheadControlServer
import PlayheadMediaCore
import PlayheadWireProtocol

/// The facts about the daemon's process that determine the rules.
package struct SandboxProcess: Sendable {
  /// The folder of the running program.
  package var executableFolder: String
  /// The dynamic loader, which the kernel executes for each program.
  package var loader: String?
  /// The shared objects that the process has loaded.
  package var loadedObjects: [String] = []
  /// The current directory, which is the base of relative paths.
  package var currentFolder = "/"
  /// The configuration file, whether or not it exists.
  package var configurationFile: String?
  /// The folder of the saved state. Nil: no state is saved.
  package var stateFolder: String?
  /// The location of the sockets that the daemon creates. Nil if systemd passes them.
  package var socketFile: SocketFile?
  /// Returns the value of an environment variable.
  package var environment: @Sendable (String) -> String? = { _ in nil }
  /// Resolves all symbolic links of a path. Returns nil if the path does not exist.
  package var resolve: @Sendable (String) -> String? = { $0 }

  package init(executableFolder: String) { self.executableFolder = executableFolder }
}

/// The rules of the sandbox.
package struct SandboxPlan: Sendable, Hashable {
  /// The rules. The rights of rules with the same path are combined.
  package internal(set) var rules: [SandboxRule]

  /// Creates the rules for these options in this process.
  ///
  /// - Throws: The errors of ``DaemonOptions/outputSpec()``.
  package init(_ options: DaemonOptions, in process: SandboxProcess) throws(MediaError) {
    rules = Self.roots(options)
    // Without configured roots the daemon may read everything. The rules below would only make its start slower.
    if !allows(.reading, below: "/") { rules += Self.system + Self.libraries(process) }
    rules += [SandboxRule("/dev/null", .overwriting)] + Self.programs(process) + Self.soundServer(process)
    for file in [process.configurationFile, options.certificateAuthorityFile] {
      guard let file else { continue }
      rules += Self.replaceableFile(file, in: process)
    }
    if let folder = process.stateFolder { rules.append(SandboxRule(folder, .savingState)) }
    if let socketFile = process.socketFile { rules += Self.sockets(socketFile) }
    if let path = try options.outputSpec().path {
      rules.append(SandboxRule(Self.absolute(path, in: process), .overwriting))
    }
  }

  /// Whether the rules allow these rights for a path and everything below it.
  package func allows(_ rights: SandboxRights, below path: String) -> Bool {
    let allowed = rules.reduce(into: SandboxRights()) { allowed, rule in
      if Self.names(path).starts(with: Self.names(rule.path)) { allowed.formUnion(rule.rights) }
    }
    return allowed.isSuperset(of: rights)
  }

  /// The names of options whose new values need access that these rules do not allow. They take effect at the next
  /// start, because the rights of a running process cannot be extended (landlock(7)).
  package func optionsForNextStart(_ options: DaemonOptions) -> [String] {
    let isAllowed: [(name: String, value: Bool)] = [
      ("roots.read", (options.readRoots ?? ["/"]).allSatisfy { allows(.reading, below: $0) }),
      ("roots.write", options.writeRoots.allSatisfy { allows(.writing, below: $0) }),
      ("network.ca-file", options.certificateAuthorityFile.map { allows(.readFile, below: $0) } ?? true),
    ]
    return isAllowed.filter { !$0.value }.map(\.name)
  }

  // MARK: - Rules

  private static func roots(_ options: DaemonOptions) -> [SandboxRule] {
    (options.readRoots ?? ["/"]).map { SandboxRule($0, .reading, isConfigured: true) }
      + options.writeRoots.map { SandboxRule($0, .writing, isConfigured: true) }
  }

  /// The rules for the folder of the sockets. In a folder that does not belong to Playhead, only the lock files may be
  /// written, because the folder may contain other files.
  private static func sockets(_ socketFile: SocketFile) -> [SandboxRule] {
    let folder = folder(of: socketFile.path)
    guard !socketFile.createsFolder else { return [SandboxRule(folder, [.listening, .overwriting])] }
    return [SandboxRule(folder, .listening)] + lockFiles(of: socketFile).map { SandboxRule($0, .overwriting) }
  }

  /// The lock files next to the sockets.
  package static func lockFiles(of socketFile: SocketFile) -> [String] {
    let siblings = SocketLocation.Sibling.allCases.map { SocketLocation.path(of: $0, nextTo: socketFile.path) }
    return ([socketFile.path] + siblings).map { $0 + ".lock" }
  }

  /// System files that libraries read: programs, libraries, certificates, name resolution, time zones, processor
  /// information.
  private static let system =
    [
      "/etc", "/usr", "/lib", "/lib64", "/nix/store", "/gnu/store", "/proc", "/sys/devices/system", "/dev/shm",
      "/run/systemd/resolve", "/run/systemd/userdb", "/run/resolvconf", "/run/NetworkManager", "/run/nscd",
      "/var/lib/sss", "/var/lib/ca-certificates",
    ].map { SandboxRule($0, .reading) }
    + ["/dev/zero", "/dev/random", "/dev/urandom"].map { SandboxRule($0, .readFile) }

  /// The rules for the folders of the libraries.
  private static func libraries(_ process: SandboxProcess) -> [SandboxRule] {
    let libraries = process.loadedObjects.flatMap { [$0, process.resolve($0) ?? $0] }
    return Set(libraries.map(folder(of:))).sorted().map { SandboxRule($0, .reading) }
  }

  /// The rules for the programs that the daemon executes.
  private static func programs(_ process: SandboxProcess) -> [SandboxRule] {
    var rules = [
      SandboxRule(process.executableFolder, .reading),
      SandboxRule(process.executableFolder + "/playhead-worker", [.readFile, .execute]),
      SandboxRule(process.executableFolder + "/../lib/playhead", .reading),
      SandboxRule(process.executableFolder + "/../lib/playhead/playhead-worker", [.readFile, .execute]),
    ]
    // The whole folder, because a system update replaces the loader.
    if let loader = process.loader.flatMap(process.resolve) {
      rules.append(SandboxRule(folder(of: loader), [.reading, .execute]))
    }
    return rules
  }

  /// The rules for libpulse, which reads its configuration, its cookie, and the folder of the server's socket. Landlock
  /// does not restrict connections to a socket.
  private static func soundServer(_ process: SandboxProcess) -> [SandboxRule] {
    func variable(_ name: String) -> String? { process.environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
    var rules: [SandboxRule] = []
    for name in ["PULSE_COOKIE", "PULSE_CLIENTCONFIG"] {
      if let file = variable(name) { rules.append(SandboxRule(file, .readFile)) }
    }
    if let folder = variable("PULSE_RUNTIME_PATH") { rules.append(SandboxRule(folder, .reading)) }
    if let folder = variable("XDG_CONFIG_HOME") { rules.append(SandboxRule("\(folder)/pulse", .reading)) }
    if let home = variable("HOME") {
      rules.append(SandboxRule("\(home)/.config/pulse", .reading))
      rules.append(SandboxRule("\(home)/.pulse", .reading))
      rules.append(SandboxRule("\(home)/.pulse-cookie", .readFile))
    }
    // libpulse creates and opens the folder of the socket, which may be missing until the server runs.
    if let folder = variable("XDG_RUNTIME_DIR") {
      rules.append(SandboxRule(folder, [.readDirectory, .makeDirectory]))
      rules.append(SandboxRule("\(folder)/pulse", .reading))
    } else {
      rules.append(SandboxRule("/tmp", .readDirectory))
    }
    return rules
  }

  /// The rules for a file that an editor may replace. They allow reading every file in its folder, and in the folder of
  /// the file that it links to.
  private static func replaceableFile(_ file: String, in process: SandboxProcess) -> [SandboxRule] {
    let path = absolute(file, in: process)
    return Set([path, process.resolve(path) ?? path].map(folder(of:))).sorted().map { SandboxRule($0, .readFile) }
  }

  // MARK: - Paths

  private static func absolute(_ path: String, in process: SandboxProcess) -> String {
    path.hasPrefix("/") ? path : "\(process.currentFolder)/\(path)"
  }

  /// The folder that contains a path.
  package static func folder(of path: String) -> String {
    let end = path.lastIndex(of: "/") ?? path.startIndex
    return end == path.startIndex ? "/" : String(path[..<end])
  }

  private static func names(_ path: String) -> [Substring] { path.split(separator: "/").filter { $0 != "." } }
}
