import Glibc
// Creates and removes a Unix socket of the daemon. An existing socket is removed only if it has no listener, and only
// after its lock file was locked.
import PlayheadFileAccess
import PlayheadMediaCore

/// A listening Unix socket with its lock file, or an inherited socket, whose file is never removed.
///
/// - Only the folder that belongs to Playhead is created if it is missing, with mode 0700. Other missing folders are
///   errors, because the path is probably wrong.
/// - If the socket has a group, the group can search that folder (mode 0710).
/// - The socket is created with mode 0600, regardless of the umask. Then it gets the configured mode.
/// - The lock file (the path with `.lock` appended) is locked with flock(2) for the lifetime of the listener. Of two
///   daemons that start at the same time, only one inspects the socket.
///
/// Threading: one thread at a time. Blocks for a few system calls.
final class SocketListener {
  /// The number of pending connections in the kernel.
  static let backlog: Int32 = 1_024

  /// The socket type.
  enum Kind {
    /// A byte stream.
    case stream
    /// Packets with preserved boundaries (`SOCK_SEQPACKET`).
    case packets

    fileprivate var type: Int32 { Int32(self == .stream ? SOCK_STREAM.rawValue : SOCK_SEQPACKET.rawValue) }
  }

  /// The permissions of the socket's file.
  struct Permissions {
    var mode: mode_t = 0o600
    /// The group of the file. Nil: the group of the process.
    var groupID: gid_t?
  }

  let path: String
  /// Nil for an inherited socket.
  private let lock: FileLock?
  private var descriptor: Int32
  /// The socket's file, opened with `O_PATH`; -1 for an inherited socket. While it is open, no other file can get its
  /// inode number.
  private let file: Int32

  /// Creates a socket and listens on it.
  ///
  /// - Throws: One of:
  ///   - `invalid-argument` for a path that is not absolute or is too long,
  ///   - `file-not-found` if its folder is missing and must not be created,
  ///   - `invalid-state` if another daemon listens on it,
  ///   - `not-a-file` if another kind of file exists at the path,
  ///   - `permission-denied` if another user can write to its folder or owns the lock file,
  ///   - `permission-denied` or `write-failed` for other errors.
  init(
    path: String, kind: Kind = .stream, permissions: Permissions = Permissions(), createsFolder: Bool = false,
    requiresFolderOwnership: Bool = false
  ) throws(MediaError) {
    self.path = path
    guard path.hasPrefix("/") else {
      throw MediaError(.invalidArgument, "the socket path must be absolute (got \(path))", operation: "--socket")
    }
    guard path.utf8.count < Self.maximumPathByteCount else {
      throw MediaError(
        .invalidArgument,
        "a socket path has at most \(Self.maximumPathByteCount - 1) bytes (got \(path.utf8.count)): \(path)",
        operation: "--socket")
    }
    let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    try Self.prepareFolder(
      folder.isEmpty ? "/" : folder, createsFolder: createsFolder, requiresFolderOwnership: requiresFolderOwnership,
      group: permissions.groupID)
    let lock = try FileLock(path: path + ".lock", busyMessage: "another playheadd listens at \(path)")
    do throws(MediaError) {
      try Self.removeUnusedSocket(path, kind)
      (descriptor, file) = try Self.listen(path, kind, permissions)
    } catch {
      lock.remove()
      throw error
    }
    self.lock = lock
  }

  /// Takes ownership of an inherited socket that already listens (sd_listen_fds(3)). `remove` keeps its file.
  ///
  /// - Throws: `invalid-argument` if it is not a listening Unix socket of this kind.
  init(inherited descriptor: Int32, kind: Kind) throws(MediaError) {
    guard let path = Self.path(of: descriptor, listeningFor: kind) else {
      throw MediaError(
        .invalidArgument, "descriptor \(descriptor) is not a Unix socket that listens for \(kind)",
        operation: "LISTEN_FDS")
    }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    self.path = path
    lock = nil
    file = -1
    self.descriptor = descriptor
  }

  deinit { for open in [descriptor, file] where open >= 0 { close(open) } }

  /// Passes the ownership of the listening descriptor to the caller.
  func releaseDescriptor() -> Int32 {
    defer { descriptor = -1 }
    return descriptor
  }

  /// Removes the socket's file and the lock file of this process. Keeps another file that has replaced the socket's
  /// file. Has no effect for an inherited socket.
  func remove() {
    guard let lock else { return }
    var (bound, current) = (stat(), stat())
    if fstat(file, &bound) == 0, lstat(path, &current) == 0, bound.st_dev == current.st_dev,
      bound.st_ino == current.st_ino
    {
      unlink(path)
    }
    lock.remove()
  }

  // MARK: - Steps

  /// The size of `sun_path` in bytes, including the NUL (unix(7)).
  private static let maximumPathByteCount = 108

  /// Ensures that the socket's folder exists and has safe permissions. With `createsFolder`, creates it with mode 0700,
  /// and lets only `group` search it, if any.
  private static func prepareFolder(
    _ folder: String, createsFolder: Bool, requiresFolderOwnership: Bool, group: gid_t?
  ) throws(MediaError) {
    if createsFolder, mkdir(folder, 0o700) != 0, errno != EEXIST {
      throw SystemFailure.error("create the folder \(folder)", call: "mkdir")
    }
    var target = stat()
    let exists = stat(folder, &target) == 0
    guard exists || errno == ENOENT || errno == ENOTDIR else {
      throw SystemFailure.error("inspect \(folder)", call: "stat")
    }
    guard exists, target.st_mode & S_IFMT == S_IFDIR else {
      throw MediaError(
        .fileNotFound, "the folder \(folder) for the socket does not exist; create it with mode 0700",
        operation: "--socket")
    }
    // In a folder that others can write to, they could replace the socket and its lock file, unless it is sticky.
    guard target.st_mode & 0o022 == 0 || target.st_mode & S_ISVTX != 0 else {
      throw MediaError(
        .permissionDenied,
        "other users can write to the folder \(folder) of the socket; use `chmod go-w` to forbid that",
        operation: "--socket")
    }
    guard createsFolder || requiresFolderOwnership else { return }
    // The opened folder is checked and changed, so that a symbolic link or a later replacement has no effect.
    let opened = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    defer { if opened >= 0 { close(opened) } }
    var status = stat()
    let isOwn = opened >= 0 && fstat(opened, &status) == 0 && status.st_uid == geteuid()
    // The mask does not include 0o010, because an earlier start may have let a group search the folder.
    if requiresFolderOwnership, !isOwn || status.st_mode & 0o067 != 0 {
      throw MediaError(
        .permissionDenied, "the folder \(folder) must belong to this user and have mode 0700; otherwise use --socket",
        operation: "open")
    }
    guard createsFolder, isOwn else { return }
    if let group {
      // A group that may use the socket must be able to search its folder.
      guard fchown(opened, uid_t.max, group) == 0, fchmod(opened, status.st_mode & 0o777 | 0o010) == 0 else {
        throw SystemFailure.error("give the folder \(folder) to group \(group)", call: "fchown")
      }
    } else if status.st_mode & 0o777 == 0o710 {
      guard fchmod(opened, 0o700) == 0 else {
        throw SystemFailure.error("remove the group's access to the folder \(folder)", call: "fchmod")
      }
    }
  }

  /// Removes an existing socket that has no listener.
  ///
  /// - Throws: `invalid-state` if it has a listener, `not-a-file` for another kind of file, or the error of the system
  ///   call.
  private static func removeUnusedSocket(_ path: String, _ kind: Kind) throws(MediaError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return }
      throw SystemFailure.error("inspect \(path)", call: "lstat")
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw MediaError(.notAFile, "\(path) exists and is not a socket; it stays unchanged", operation: "--socket")
    }
    let probe = socket(AF_UNIX, kind.type | socketFlags, 0)
    guard probe >= 0 else { throw SystemFailure.error("create a socket", call: "socket") }
    defer { close(probe) }
    // EAGAIN: the listener's queue is full. EPROTOTYPE: a socket of another kind, which also has a listener.
    if withAddress(path, { connect(probe, $0, $1) }) == 0 || errno == EAGAIN || errno == EPROTOTYPE {
      throw MediaError(.invalidState, "another playheadd listens at \(path)", operation: "--socket")
    }
    guard errno == ECONNREFUSED else { throw SystemFailure.error("probe \(path)", call: "connect") }
    guard unlink(path) == 0 else { throw SystemFailure.error("remove the unused socket \(path)", call: "unlink") }
  }

  /// Creates the listening socket, and opens the file that it is bound to.
  private static func listen(
    _ path: String, _ kind: Kind, _ permissions: Permissions
  ) throws(MediaError) -> (socket: Int32, file: Int32) {
    let descriptor = socket(AF_UNIX, kind.type | socketFlags, 0)
    guard descriptor >= 0 else { throw SystemFailure.error("create a socket", call: "socket") }
    // On Linux the file that bind(2) creates has the mode of the socket, reduced by the umask. Thus other users
    // cannot access the file before it gets its configured mode, and the umask of the process is unchanged.
    guard fchmod(descriptor, 0o600) == 0, withAddress(path, { bind(descriptor, $0, $1) }) == 0 else {
      let failure = SystemFailure.error("listen at \(path)", call: "bind")
      close(descriptor)
      throw failure
    }
    // The next calls use the opened file, even if another file replaces it. Links are not followed.
    let file = open(path, FileRoots.pathOnlyFlag | O_NOFOLLOW | O_CLOEXEC)
    var status = stat()
    guard file >= 0, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid(),
      permissions.groupID.map({ fchownat(file, "", uid_t.max, $0, Self.emptyPathFlag) }) ?? 0 == 0,
      // fchmod(2) does not accept an `O_PATH` descriptor.
      chmod("/proc/self/fd/\(file)", permissions.mode) == 0, Glibc.listen(descriptor, backlog) == 0
    else {
      let failure = SystemFailure.error("listen at \(path)", call: "listen")
      close(descriptor)
      if file >= 0 { close(file) }
      throw failure
    }
    return (descriptor, file)
  }

  /// `AT_EMPTY_PATH`, which is not in POSIX and not in the Glibc module.
  private static let emptyPathFlag: Int32 = 0x1000

  /// The flags of new sockets.
  private static let socketFlags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)

  /// The path of an inherited socket. Nil if it is not a listening Unix socket of this kind.
  static func path(of descriptor: Int32, listeningFor kind: Kind) -> String? {
    func option(_ option: Int32) -> Int32? {
      var value: Int32 = 0
      var byteCount = socklen_t(MemoryLayout<Int32>.size)
      return getsockopt(descriptor, SOL_SOCKET, option, &value, &byteCount) == 0 ? value : nil
    }
    guard option(SO_DOMAIN) == AF_UNIX, option(SO_TYPE) == kind.type, option(SO_ACCEPTCONN) == 1 else { return nil }
    return path(of: descriptor)
  }

  /// The path that a socket is bound to. An abstract name begins with `@`, as in systemd.
  private static func path(of descriptor: Int32) -> String {
    var address = sockaddr_un()
    var byteCount = socklen_t(MemoryLayout<sockaddr_un>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &byteCount) }
    }
    guard status == 0 else { return "" }
    let bytes = withUnsafeBytes(of: &address.sun_path) {
      Array($0.prefix(max(0, Int(byteCount) - MemoryLayout<sa_family_t>.size)))
    }
    if bytes.first == 0 { return "@" + String(decoding: bytes.dropFirst(), as: UTF8.self) }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      for (index, byte) in path.utf8.prefix(bytes.count - 1).enumerated() { bytes[index] = byte }
    }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}

/// A lock file, which one process at a time can lock.
private final class FileLock {
  private let path: String
  private var descriptor: Int32

  /// Creates and locks the file.
  ///
  /// - Throws: `invalid-state` with `busyMessage` if another process holds the lock, `permission-denied` if the file
  ///   belongs to another user, or the error of the system call.
  init(path: String, busyMessage: String) throws(MediaError) {
    self.path = path
    while true {
      let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
      guard opened >= 0 else { throw SystemFailure.error("open the lock file \(path)", call: "open") }
      guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
        let isBusy = errno == EWOULDBLOCK
        let failure = SystemFailure.error("lock \(path)", call: "flock")
        close(opened)
        throw isBusy ? MediaError(.invalidState, busyMessage, operation: "--socket") : failure
      }
      // In a sticky folder another user may have created the file, and could keep it locked indefinitely.
      var owner = stat()
      guard fstat(opened, &owner) == 0, owner.st_uid == geteuid(), owner.st_mode & S_IFMT == S_IFREG else {
        close(opened)
        throw MediaError(
          .permissionDenied,
          "the lock file \(path) must be a file of user \(geteuid()) (its owner is user \(owner.st_uid));"
            + " remove it first",
          operation: "--socket")
      }
      // The previous owner may have removed the file between `open` and `flock`. Then the lock protects nothing, and
      // the loop tries again.
      var locked = stat()
      var current = stat()
      if fstat(opened, &locked) == 0, lstat(path, &current) == 0, locked.st_ino == current.st_ino,
        locked.st_dev == current.st_dev
      {
        descriptor = opened
        return
      }
      close(opened)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Removes the file and releases the lock.
  func remove() {
    guard descriptor >= 0 else { return }
    unlink(path)
    close(descriptor)
    descriptor = -1
  }
}

/// Creates errors for failed system calls.
enum SystemFailure {
  /// The error for the current `errno`. `step` completes the message "cannot ...".
  static func error(_ step: String, call: String) -> MediaError {
    let code = errno
    return MediaError(
      code == EACCES || code == EPERM ? .permissionDenied : .writeFailed,
      "cannot \(step): \(String(cString: strerror(code)))", operation: call, underlying: "errno \(code)")
  }
}
