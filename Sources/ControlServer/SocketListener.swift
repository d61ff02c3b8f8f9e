// Makes the Unix socket that the daemon listens on, and removes it again. It removes nothing but a socket on which
// nobody listens, and only while it holds the lock file beside it.
import Glibc
import MediaCore

/// A bound, listening Unix socket, with its lock.
///
/// Only a folder that is Playhead's own is made when it is missing, with mode 0700: a path that somebody chose and that leads
/// nowhere is a slip, not a wish for folders. The socket has mode 0600 from its first moment on, whatever the umask is. The lock file (the path with `.lock` behind it) is held with flock(2) for the listener's life, so that of
/// two daemons that start at once only one looks at the socket.
///
/// Threading: one thread at a time. Blocks for a few system calls.
final class SocketListener {
  /// Connections that the system accepts before we do.
  static let backlog: Int32 = 1_024

  let path: String
  private let lock: FileLock
  private var descriptor: Int32

  /// Errors: `invalid-argument` for a path that cannot be a socket's, `file-not-found` when its folder is missing and not to
  /// be made, `invalid-state` when another daemon listens there, `not-a-file` when something else is there, `permission-denied` and `write-failed` for the rest.
  init(path: String, makesFolder: Bool = false, needsOwnedFolder: Bool = false) throws(MediaError) {
    self.path = path
    guard path.hasPrefix("/") else {
      throw MediaError(.invalidArgument, "the socket's path is not absolute: \(path)", operation: "--socket")
    }
    guard path.utf8.count < Self.maximumPathByteCount else {
      throw MediaError(
        .invalidArgument,
        "a socket's path has at most \(Self.maximumPathByteCount - 1) bytes, this one \(path.utf8.count): \(path)",
        operation: "--socket")
    }
    let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    try Self.prepareFolder(folder.isEmpty ? "/" : folder, isMade: makesFolder, mustBeOwn: needsOwnedFolder)
    lock = try FileLock(path: path + ".lock", busyMessage: "another playheadd listens at \(path)")
    do throws(MediaError) {
      try Self.clear(path)
      descriptor = try Self.listen(path)
    } catch {
      lock.remove()
      throw error
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Hands over the listening descriptor to who closes it from now on.
  func takeDescriptor() -> Int32 {
    defer { descriptor = -1 }
    return descriptor
  }

  /// Removes the socket and the lock.
  func remove() {
    unlink(path)
    lock.remove()
  }

  // MARK: - Steps

  /// Bytes of `sun_path`, the NUL included (unix(7)).
  private static let maximumPathByteCount = 108

  /// Sees to it that the socket's folder is there; `isMade`: makes it with mode 0700.
  private static func prepareFolder(_ folder: String, isMade: Bool, mustBeOwn: Bool) throws(MediaError) {
    if isMade, mkdir(folder, 0o700) != 0, errno != EEXIST {
      throw SystemFailure.error("make the folder \(folder)", call: "mkdir")
    }
    var target = stat()
    let isThere = stat(folder, &target) == 0
    guard isThere || errno == ENOENT || errno == ENOTDIR else {
      throw SystemFailure.error("look at \(folder)", call: "stat")
    }
    guard isThere, target.st_mode & S_IFMT == S_IFDIR else {
      throw MediaError(
        .fileNotFound, "there is no folder \(folder) for the socket; make it first, with mode 0700",
        operation: "--socket")
    }
    guard mustBeOwn else { return }
    var status = stat()
    guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
      status.st_mode & 0o077 == 0
    else {
      throw MediaError(
        .permissionDenied, "the folder \(folder) is not this user's alone (a folder of mode 0700); use --socket",
        operation: "lstat")
    }
  }

  /// Removes a socket that nobody listens on.
  private static func clear(_ path: String) throws(MediaError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return }
      throw SystemFailure.error("look at \(path)", call: "lstat")
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw MediaError(.notAFile, "\(path) exists and is not a socket; it is left alone", operation: "--socket")
    }
    let probe = socket(AF_UNIX, streamType, 0)
    guard probe >= 0 else { throw SystemFailure.error("make a socket", call: "socket") }
    defer { close(probe) }
    if withAddress(path, { connect(probe, $0, $1) }) == 0 || errno == EAGAIN {
      throw MediaError(.invalidState, "another playheadd listens at \(path)", operation: "--socket")
    }
    guard errno == ECONNREFUSED else { throw SystemFailure.error("probe \(path)", call: "connect") }
    guard unlink(path) == 0 else { throw SystemFailure.error("remove the dead socket \(path)", call: "unlink") }
  }

  private static func listen(_ path: String) throws(MediaError) -> Int32 {
    let descriptor = socket(AF_UNIX, streamType, 0)
    guard descriptor >= 0 else { throw SystemFailure.error("make a socket", call: "socket") }
    // On Linux the file that bind makes has the mode of the socket, less the umask: there is no moment at which it is open
    // to others, and no need to change the umask of the whole process.
    guard fchmod(descriptor, 0o600) == 0, withAddress(path, { bind(descriptor, $0, $1) }) == 0,
      chmod(path, 0o600) == 0, Glibc.listen(descriptor, backlog) == 0
    else {
      let failure = SystemFailure.error("listen at \(path)", call: "bind")
      close(descriptor)
      throw failure
    }
    return descriptor
  }

  private static let streamType =
    Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)

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

/// A file that one process at a time holds.
private final class FileLock {
  private let path: String
  private var descriptor: Int32

  /// Errors: `invalid-state` with `busyMessage` when another process holds it; else what the system said.
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
      // Who held it before may have removed the file between our open and our lock: then it guards nothing.
      var held = stat()
      var present = stat()
      if fstat(opened, &held) == 0, lstat(path, &present) == 0, held.st_ino == present.st_ino,
        held.st_dev == present.st_dev
      {
        descriptor = opened
        return
      }
      close(opened)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func remove() {
    guard descriptor >= 0 else { return }
    unlink(path)
    close(descriptor)
    descriptor = -1
  }
}

/// What the system said, as our error.
enum SystemFailure {
  /// `errno` at the moment, for a step that is described as in "cannot ...".
  static func error(_ step: String, call: String) -> MediaError {
    let code = errno
    return MediaError(
      code == EACCES || code == EPERM ? .permissionDenied : .writeFailed,
      "cannot \(step): \(String(cString: strerror(code)))", operation: call, underlying: "errno \(code)")
  }
}
