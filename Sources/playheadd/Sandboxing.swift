// Enters the sandbox. A rule needs a file or folder that exists, so what the daemon makes itself outside its roots is made here, before.
import ControlServer
import DaemonConfiguration
import Glibc
import Logging
import MediaCore
import SavedState

/// The sandbox of this process, entered by the main thread before it makes others.
struct Sandboxing {
  let sandbox: Sandbox
  /// Files and folders that could not be made, and so are not allowed.
  private let unmade: [Sandbox.MissingPath]

  /// Makes the folders of the state and the sockets and the output file where they are missing, and enters the sandbox.
  ///
  /// - Parameters:
  ///   - configurationFile: The path of the configuration file, whether or not it exists.
  ///   - place: The location of the sockets; nil when systemd passes them.
  /// - Throws: `writeFailed` when the output file cannot be made, and the errors of `Sandbox.enter` and `DaemonOptions.outputSpec`.
  init(_ options: DaemonOptions, configurationFile: String?, place: SocketPlace?) throws(MediaError) {
    guard options.usesLandlock else {
      (sandbox, unmade) = (try Sandbox.enter(nil), [])
      return
    }
    var process = try SandboxProcess.current(configurationFile: configurationFile)
    process.stateFolder = StateOptions.folder(options)
    process.socketPlace = place
    try Self.prepare(try options.outputSpec())
    var unmade: [Sandbox.MissingPath] = []
    if let folder = process.stateFolder {
      do throws(MediaError) { try StateFolder.make(folder) } catch {
        unmade.append(Sandbox.MissingPath(path: folder, reason: error.message))
      }
      // SQLite puts its temporary files into /var/tmp otherwise, which the rules do not allow.
      setenv("SQLITE_TMPDIR", folder, 0)
    }
    if let place { unmade += Self.prepare(place) }
    self.unmade = unmade
    sandbox = try Sandbox.enter(SandboxPlan(options, in: process))
  }

  /// Reports the state of the sandbox.
  func log(to logger: Logger) {
    let status = sandbox.status
    switch status.landlock {
    case .active: logger.info("Landlock is active", metadata: ["version": "\(status.landlockVersion)"])
    case .off: logger.info("Landlock is off")
    case .unavailable:
      logger.warning("Landlock is unavailable, because the kernel lacks it or a system call filter forbids it")
    }
    for missing in unmade + sandbox.missingPaths {
      logger.warning(
        "the sandbox cannot allow a path before the next start",
        metadata: ["path": "\(missing.path)", "error": "\(missing.reason)"])
    }
  }

  /// Makes the output's file or FIFO unless it exists.
  private static func prepare(_ output: OutputSpec) throws(MediaError) {
    guard let path = output.path else { return }
    let isFIFO = output.kind == .pipe(path: path)
    guard isFIFO ? mkfifo(path, 0o600) == 0 || errno == EEXIST : make(path, mode: 0o644) else {
      let code = errno
      throw MediaError(
        .writeFailed, "cannot write \(path): \(String(cString: strerror(code)))",
        operation: isFIFO ? "mkfifo" : "open",
        underlying: "errno \(code)")
    }
  }

  /// Makes the sockets' folder where it is the daemon's own, and the lock files where it is not. What cannot be made is returned.
  private static func prepare(_ place: SocketPlace) -> [Sandbox.MissingPath] {
    if place.isOwnFolder {
      let folder = SandboxPlan.folder(of: place.path)
      return mkdir(folder, 0o700) == 0 || errno == EEXIST ? [] : [unmade(folder)]
    }
    // The listener reports a missing folder itself.
    return SandboxPlan.lockFiles(of: place).compactMap {
      make($0, mode: 0o600) || errno == ENOENT || errno == ENOTDIR ? nil : unmade($0)
    }
  }

  /// Makes an empty file unless the path exists. False, with `errno`, when it cannot be made.
  private static func make(_ path: String, mode: mode_t) -> Bool {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    if file >= 0 { close(file) }
    return file >= 0 || errno == EEXIST
  }

  /// A path that could not be made, for the reason in `errno`.
  private static func unmade(_ path: String) -> Sandbox.MissingPath {
    Sandbox.MissingPath(path: path, reason: String(cString: strerror(errno)))
  }
}
