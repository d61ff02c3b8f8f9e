import Glibc
import Logging
// Enters the sandbox. A Landlock rule needs an existing file or folder. Files and folders that the daemon uses outside
// its roots are therefore created here first.
import PlayheadControlServer
import PlayheadDaemonConfiguration
import PlayheadMediaCore
import PlayheadSavedState

/// The sandbox of this process. The main thread enters it before it creates other threads.
struct SandboxSetup {
  let sandbox: Sandbox
  /// The files and folders that could not be created, and therefore are not accessible.
  private let notCreated: [Sandbox.MissingPath]

  /// Creates the missing folders of the state and of the sockets, and the output file. Then enters the sandbox.
  ///
  /// - Parameters:
  ///   - configurationFile: The path of the configuration file, which need not exist.
  ///   - socketFile: The location of the sockets. Nil if systemd passes them.
  /// - Throws: `writeFailed` if the output file cannot be created, or the errors of `Sandbox.enter` and
  ///   `DaemonOptions.outputSpec`.
  init(_ options: DaemonOptions, configurationFile: String?, socketFile: SocketFile?) throws(MediaError) {
    guard options.usesLandlock else {
      (sandbox, notCreated) = (try Sandbox.enter(nil), [])
      return
    }
    var process = try SandboxProcess.current(configurationFile: configurationFile)
    process.stateFolder = StateOptions.folder(options)
    process.socketFile = socketFile
    try Self.prepare(try options.outputSpec())
    var notCreated: [Sandbox.MissingPath] = []
    if let folder = process.stateFolder {
      do throws(MediaError) { try StateFolder.make(folder) } catch {
        notCreated.append(Sandbox.MissingPath(path: folder, reason: error.message))
      }
      // By default SQLite creates temporary files in /var/tmp, which the rules do not allow.
      setenv("SQLITE_TMPDIR", folder, 0)
    }
    if let socketFile { notCreated += Self.prepare(socketFile) }
    self.notCreated = notCreated
    sandbox = try Sandbox.enter(SandboxPlan(options, in: process))
  }

  /// Logs the state of the sandbox.
  func log(to logger: Logger) {
    let status = sandbox.status
    switch status.landlock {
    case .active: logger.info("Landlock is active", metadata: ["version": "\(status.landlockVersion)"])
    case .off: logger.info("Landlock is off")
    case .unavailable:
      logger.warning("Landlock is unavailable, because the kernel lacks it or a system call filter forbids it")
    }
    for missing in notCreated + sandbox.missingPaths {
      logger.warning(
        "the sandbox cannot allow a path before the next start",
        metadata: ["path": "\(missing.path)", "error": "\(missing.reason)"])
    }
  }

  /// Creates the file or FIFO of the output unless it exists.
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

  /// Creates the folder of the sockets if it belongs to Playhead, or else their lock files. Returns the paths that
  /// could not be created.
  private static func prepare(_ socketFile: SocketFile) -> [Sandbox.MissingPath] {
    if socketFile.createsFolder {
      let folder = SandboxPlan.folder(of: socketFile.path)
      return mkdir(folder, 0o700) == 0 || errno == EEXIST ? [] : [missingPath(folder)]
    }
    // The listener reports a missing folder itself.
    return SandboxPlan.lockFiles(of: socketFile).compactMap {
      make($0, mode: 0o600) || errno == ENOENT || errno == ENOTDIR ? nil : missingPath($0)
    }
  }

  /// Creates an empty file unless the path exists. Returns false, with `errno` set, if it cannot be created.
  private static func make(_ path: String, mode: mode_t) -> Bool {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    if file >= 0 { close(file) }
    return file >= 0 || errno == EEXIST
  }

  /// A path that could not be created, with the reason from `errno`.
  private static func missingPath(_ path: String) -> Sandbox.MissingPath {
    Sandbox.MissingPath(path: path, reason: String(cString: strerror(errno)))
  }
}
