// Applies the sandbox to the daemon's process: `no_new_privs`, and Landlock with the rules of `SandboxPlan`. Both apply
// to the calling thread, and to the threads and processes that it creates later. The daemon therefore enters the
// sandbox before it creates a thread. The rights of a sandbox can never be extended.
import CPlayheadSandbox
import Glibc
import PlayheadControlServer
import PlayheadFileAccess
import PlayheadMediaCore

/// The sandbox of the process.
package struct Sandbox: Sendable {
  /// A path without a rule, because it could not be opened when the process entered the sandbox.
  package struct MissingPath: Sendable, Hashable {
    package var path: String
    /// The error description of the system.
    package var reason: String

    package init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }
  }

  /// The active restrictions.
  package let status: SandboxStatus
  /// The configured roots that could not be opened, and therefore are not accessible.
  package let missingPaths: [MissingPath]
  /// The active rules. Nil unless Landlock is active.
  package let plan: SandboxPlan?

  /// Restricts the calling thread, and all threads and programs that it starts later. Blocks briefly.
  ///
  /// - Parameter plan: The rules. Nil sets `no_new_privs` only.
  /// - Throws: `invalidState` if the kernel supports Landlock but rejects the rules, or rejects `no_new_privs`.
  package static func enter(_ plan: SandboxPlan?) throws(MediaError) -> Sandbox {
    guard sandbox_set_no_new_privileges() == 0 else { throw failure("set no_new_privs", "prctl") }
    guard let plan else {
      return Sandbox(status: SandboxStatus(hasNoNewPrivileges: true, landlock: .off), missingPaths: [], plan: nil)
    }
    let version = sandbox_landlock_version()
    guard version > 0 else {
      let status = SandboxStatus(hasNoNewPrivileges: true, landlock: .unavailable)
      return Sandbox(status: status, missingPaths: [], plan: nil)
    }
    let ruleset = sandbox_landlock_create(version)
    guard ruleset >= 0 else { throw failure("create the Landlock rules", "landlock_create_ruleset") }
    defer { close(ruleset) }
    let supportedRights = SandboxRights(rawValue: sandbox_landlock_rights(version))
    var (applied, missing): (SandboxPlan, [MissingPath]) = (plan, [])
    applied.rules = []
    for rule in plan.rules {
      if let reason = try add(rule, to: ruleset, supportedRights) {
        if rule.isConfigured { missing.append(MissingPath(path: rule.path, reason: reason)) }
      } else {
        applied.rules.append(rule)
      }
    }
    guard sandbox_landlock_restrict(ruleset) == 0 else { throw failure("enable Landlock", "landlock_restrict_self") }
    return Sandbox(
      status: SandboxStatus(hasNoNewPrivileges: true, landlock: .active, landlockVersion: Int(version)),
      missingPaths: missing, plan: applied)
  }

  /// Adds a rule. Returns nil if the kernel accepted it, else the reason why the path cannot be opened.
  ///
  /// - Throws: The errors of `enter`.
  private static func add(
    _ rule: SandboxRule, to ruleset: Int32, _ supportedRights: SandboxRights
  ) throws(MediaError) -> String? {
    // With O_PATH, opening a FIFO or a device has no effect on it.
    let file = open(rule.path, FileRoots.pathOnlyFlag | O_CLOEXEC)
    guard file >= 0 else { return String(cString: strerror(errno)) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { return String(cString: strerror(errno)) }
    let isFolder = status.st_mode & S_IFMT == S_IFDIR
    let rights = rule.rights.intersection(isFolder ? supportedRights : supportedRights.intersection(.ofFiles))
    // The kernel rejects a rule without rights.
    guard !rights.isEmpty else { return nil }
    // EBADFD: pipes and sockets, which /dev/stdout may be, have no path. Landlock does not restrict them.
    guard sandbox_landlock_allow(ruleset, file, rights.rawValue) == 0 || errno == EBADFD else {
      throw failure("allow \(rule.path)", "landlock_add_rule")
    }
    return nil
  }

  private static func failure(_ step: String, _ call: String) -> MediaError {
    let code = errno
    return MediaError(
      .invalidState, "cannot \(step): \(String(cString: strerror(code))); use --no-landlock to start without Landlock",
      operation: call, underlying: "errno \(code)")
  }
}

extension SandboxProcess {
  /// The facts about this process, without the folders of its state and sockets. Blocks briefly.
  ///
  /// - Throws: `invalidState` if the path of the program is unknown.
  package static func current(configurationFile: String?) throws(MediaError) -> SandboxProcess {
    var process = SandboxProcess(executableFolder: try executableFolder())
    var objects = LoadedObjects()
    withUnsafeMutablePointer(to: &objects) { pointer in
      sandbox_visit_loaded_objects(
        { path, isLoader, context in
          guard let path, let objects = context?.assumingMemoryBound(to: LoadedObjects.self) else { return }
          if isLoader != 0 {
            objects.pointee.loader = String(cString: path)
          } else {
            objects.pointee.paths.append(String(cString: path))
          }
        }, pointer)
    }
    (process.loader, process.loadedObjects) = (objects.loader, objects.paths)
    if let folder = getcwd(nil, 0) {
      process.currentFolder = String(cString: folder)
      free(folder)
    }
    process.configurationFile = configurationFile
    process.environment = { name in getenv(name).map { String(cString: $0) } }
    process.resolve = { path in
      guard let resolved = realpath(path, nil) else { return nil }
      defer { free(resolved) }
      return String(cString: resolved)
    }
    return process
  }

  /// The folder of the running program.
  private static func executableFolder() throws(MediaError) -> String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    let code = errno
    let bytes = path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
    guard let end = bytes.lastIndex(of: UInt8(ascii: "/")) else {
      throw MediaError(
        .invalidState, "cannot find the program of the daemon: \(String(cString: strerror(code)))",
        operation: "sandbox")
    }
    return String(decoding: bytes[..<end], as: UTF8.self)
  }

  /// The shared objects of the process.
  private struct LoadedObjects {
    var loader: String?
    var paths: [String] = []
  }
}
