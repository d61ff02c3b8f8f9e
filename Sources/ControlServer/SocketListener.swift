// Makes the Unix socket that the daemon listens on, and removes it again. It removes nothing but a socket on which
// nobody listens, and only while it holds the lock file beside it.
import Glibc
import MediaCore

/// A bound, listening Unix socket, with its lock; or one that somebody else bound, who keeps its file.
///
/// Only a folder that is Playhead's own is made when it is missing, with mode 0700: a path that somebody chose and that leads
/// nowhere is a slip, not a wish for folders. A group that the socket is given to can come to it through that folder (0710), as long as it is
/// given. The socket has mode 0600 from its first moment on, whatever the umask is; then what is asked for. The lock file (the path with `.lock` behind it) is held with flock(2) for the listener's life, so that of
/// two daemons that start at once only one looks at the socket.
///
/// Threading: one thread at a time. Blocks for a few system calls.
final class SocketListener {
  /// Connections that the system accepts before we do.
  static let backlog: Int32 = 1_024

  /// How bytes come.
  enum Kind {
    /// In a stream.
    case stream
    /// In packets, each whole (`SOCK_SEQPACKET`).
    case packets

    fileprivate var type: Int32 { Int32(self == .stream ? SOCK_STREAM.rawValue : SOCK_SEQPACKET.rawValue) }
  }

  /// Whom the socket's file lets in.
  struct Permissions {
    var mode: mode_t = 0o600
    /// The group that it is given to; nil: that of the process.
    var groupID: gid_t?
  }

  let path: String
  /// Nil for a socket that is somebody else's.
  private let lock: FileLock?
  private var descriptor: Int32
  /// The file that was bound (`O_PATH`), -1 for a socket that is somebody else's. As long as it is open nothing else has its number.
  private let file: Int32

  /// Errors: `invalid-argument` for a path that cannot be a socket's, `file-not-found` when its folder is missing and not to
  /// be made, `invalid-state` when another daemon listens there, `not-a-file` when something else is there, `permission-denied` and `write-failed` for the rest.
  init(
    path: String, kind: Kind = .stream, permissions: Permissions = Permissions(), makesFolder: Bool = false,
    needsOwnedFolder: Bool = false
  ) throws(MediaError) {
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
    try Self.prepareFolder(
      folder.isEmpty ? "/" : folder, isMade: makesFolder, mustBeOwn: needsOwnedFolder, group: permissions.groupID)
    let lock = try FileLock(path: path + ".lock", busyMessage: "another playheadd listens at \(path)")
    do throws(MediaError) {
      try Self.clear(path, kind)
      (descriptor, file) = try Self.listen(path, kind, permissions)
    } catch {
      lock.remove()
      throw error
    }
    self.lock = lock
  }

  /// A socket that was handed to this process, listening already (sd_listen_fds(3)): its file stays when this one ends. Takes the
  /// descriptor over.
  ///
  /// Errors: `invalid-argument` for what is no listening Unix socket of that kind.
  init(inherited descriptor: Int32, kind: Kind) throws(MediaError) {
    guard let path = Self.path(of: descriptor, listeningFor: kind) else {
      throw MediaError(
        .invalidArgument, "descriptor \(descriptor) is no Unix socket that listens for \(kind)",
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

  /// Hands over the listening descriptor to who closes it from now on.
  func takeDescriptor() -> Int32 {
    defer { descriptor = -1 }
    return descriptor
  }

  /// Removes the socket and the lock, if they are ours: what somebody else has put in the socket's place meanwhile stays.
  func remove() {
    guard let lock else { return }
    var (bound, present) = (stat(), stat())
    if fstat(file, &bound) == 0, lstat(path, &present) == 0, bound.st_dev == present.st_dev,
      bound.st_ino == present.st_ino
    {
      unlink(path)
    }
    lock.remove()
  }

  // MARK: - Steps

  /// Bytes of `sun_path`, the NUL included (unix(7)).
  private static let maximumPathByteCount = 108

  /// Sees to it that the socket's folder is there; `isMade`: makes it with mode 0700.
  private static func prepareFolder(_ folder: String, isMade: Bool, mustBeOwn: Bool, group: gid_t?)
    throws(MediaError)
  {
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
    // Another user could replace the socket and its lock. In a sticky folder only their owners can.
    guard target.st_mode & 0o022 == 0 || target.st_mode & S_ISVTX != 0 else {
      throw MediaError(
        .permissionDenied,
        "others may write to the folder \(folder) of the socket; `chmod go-w` makes it its owner's alone",
        operation: "--socket")
    }
    guard isMade || mustBeOwn else { return }
    // What is looked at is what is changed: not what a link leads to, and not what comes to stand there meanwhile.
    let opened = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    defer { if opened >= 0 { close(opened) } }
    var status = stat()
    let isOwn = opened >= 0 && fstat(opened, &status) == 0 && status.st_uid == geteuid()
    // A group may have been let through by an earlier start.
    if mustBeOwn, !isOwn || status.st_mode & 0o067 != 0 {
      throw MediaError(
        .permissionDenied, "the folder \(folder) is not this user's alone (a folder of mode 0700); use --socket",
        operation: "open")
    }
    guard isMade, isOwn else { return }
    if let group {
      // Who may use a socket in it must come to it.
      guard fchown(opened, uid_t.max, group) == 0, fchmod(opened, status.st_mode & 0o777 | 0o010) == 0 else {
        throw SystemFailure.error("give the folder \(folder) to group \(group)", call: "fchown")
      }
    } else if status.st_mode & 0o777 == 0o710 {
      guard fchmod(opened, 0o700) == 0 else {
        throw SystemFailure.error("take the folder \(folder) from its group", call: "fchmod")
      }
    }
  }

  /// Removes a socket that nobody listens on.
  private static func clear(_ path: String, _ kind: Kind) throws(MediaError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return }
      throw SystemFailure.error("look at \(path)", call: "lstat")
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw MediaError(.notAFile, "\(path) exists and is not a socket; it is left alone", operation: "--socket")
    }
    let probe = socket(AF_UNIX, kind.type | flags, 0)
    guard probe >= 0 else { throw SystemFailure.error("make a socket", call: "socket") }
    defer { close(probe) }
    // One of another kind has somebody behind it, too.
    if withAddress(path, { connect(probe, $0, $1) }) == 0 || errno == EAGAIN || errno == EPROTOTYPE {
      throw MediaError(.invalidState, "another playheadd listens at \(path)", operation: "--socket")
    }
    guard errno == ECONNREFUSED else { throw SystemFailure.error("probe \(path)", call: "connect") }
    guard unlink(path) == 0 else { throw SystemFailure.error("remove the dead socket \(path)", call: "unlink") }
  }

  /// The listening socket, and the file that it is bound to.
  private static func listen(
    _ path: String, _ kind: Kind, _ permissions: Permissions
  ) throws(MediaError) -> (socket: Int32, file: Int32) {
    let descriptor = socket(AF_UNIX, kind.type | flags, 0)
    guard descriptor >= 0 else { throw SystemFailure.error("make a socket", call: "socket") }
    // On Linux the file that bind makes has the mode of the socket, less the umask: there is no moment at which it is open
    // to others, and no need to change the umask of the whole process.
    guard fchmod(descriptor, 0o600) == 0, withAddress(path, { bind(descriptor, $0, $1) }) == 0 else {
      let failure = SystemFailure.error("listen at \(path)", call: "bind")
      close(descriptor)
      throw failure
    }
    // From here on that file is meant, whatever stands at the path: no link is followed.
    let file = open(path, Self.pathOnly | O_NOFOLLOW | O_CLOEXEC)
    var status = stat()
    guard file >= 0, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid(),
      permissions.groupID.map({ fchownat(file, "", uid_t.max, $0, Self.emptyPath) }) ?? 0 == 0,
      // fchmod(2) takes no such descriptor.
      chmod("/proc/self/fd/\(file)", permissions.mode) == 0, Glibc.listen(descriptor, backlog) == 0
    else {
      let failure = SystemFailure.error("listen at \(path)", call: "listen")
      close(descriptor)
      if file >= 0 { close(file) }
      throw failure
    }
    return (descriptor, file)
  }

  /// `O_PATH` and `AT_EMPTY_PATH`, which are beyond POSIX and not in the module.
  private static let pathOnly: Int32 = 0o10_000_000
  private static let emptyPath: Int32 = 0x1000

  private static let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)

  /// Where a socket is bound that listens already; nil for what is no listening Unix socket of that kind.
  static func path(of descriptor: Int32, listeningFor kind: Kind) -> String? {
    func option(_ option: Int32) -> Int32? {
      var value: Int32 = 0
      var byteCount = socklen_t(MemoryLayout<Int32>.size)
      return getsockopt(descriptor, SOL_SOCKET, option, &value, &byteCount) == 0 ? value : nil
    }
    guard option(SO_DOMAIN) == AF_UNIX, option(SO_TYPE) == kind.type, option(SO_ACCEPTCONN) == 1 else { return nil }
    return path(of: descriptor)
  }

  /// Where a socket is bound; an abstract name has an `@` in front, as systemd writes it.
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
      // In a sticky folder another user may have made the file, and could hold the lock as long as they like.
      var owner = stat()
      guard fstat(opened, &owner) == 0, owner.st_uid == geteuid(), owner.st_mode & S_IFMT == S_IFREG else {
        close(opened)
        throw MediaError(
          .permissionDenied,
          "the lock file \(path) is no file of user \(geteuid()) (its owner is user \(owner.st_uid)); remove it first",
          operation: "--socket")
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
