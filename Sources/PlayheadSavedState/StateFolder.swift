import Glibc
import PlayheadMediaCore

/// The folder of the saved state. It is created when missing, is accessible to its owner only, and is used by one
/// daemon at a time.
///
/// The folder contains the database and the lock file `state.lock`. The lock file also contains the number of the next
/// entry, and the marks of entries that are being opened (`OpeningMarks`). It is memory-mapped, so that a stored value
/// survives any end of the process.
///
/// Threading: one thread at a time uses `nextItemID`, which accesses memory only.
package final class StateFolder: @unchecked Sendable {
  // `@unchecked Sendable`: the descriptor is constant, and one thread at a time uses the mapped number.
  package let path: String
  private let descriptor: Int32
  private let page: UnsafeMutableRawPointer
  private static let pageByteCount = 4_096
  /// The number of 64-bit words of `state.lock`.
  static let wordCount = pageByteCount / MemoryLayout<UInt64>.size

  /// The path of the database.
  var database: String { "\(path)/state.sqlite" }

  /// `$XDG_STATE_HOME/playhead`, or `~/.local/state/playhead`; nil when neither is known.
  package static var standard: String? {
    if let home = getenv("XDG_STATE_HOME").map({ String(cString: $0) }), home.hasPrefix("/") {
      return "\(home)/playhead"
    }
    guard let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") else { return nil }
    return "\(home)/.local/state/playhead"
  }

  /// Creates the folder and locks it for this daemon.
  ///
  /// - Throws: `stateInUse` when another daemon uses the folder; `stateUnavailable` when it cannot be created or
  ///   written.
  init(path: String) throws(MediaError) {
    self.path = path
    try Self.make(path)
    let lock = "\(path)/state.lock"
    let descriptor = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.unavailable("open", lock) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let isLocked = errno == EWOULDBLOCK
      let error = Self.unavailable("flock", lock)
      close(descriptor)
      throw isLocked
        ? MediaError(.stateInUse, "another playheadd saves its state in \(path); this one saves nothing") : error
    }
    // Allocated now, because on a full disk a later write to the mapping would raise SIGBUS.
    var status = posix_fallocate(descriptor, 0, off_t(Self.pageByteCount))
    // The file system does not support preallocation. The file then consists of zeros.
    if status == EOPNOTSUPP || status == EINVAL {
      status = ftruncate(descriptor, off_t(Self.pageByteCount)) == 0 ? 0 : errno
    }
    guard status == 0 else {
      close(descriptor)
      throw MediaError(
        status == ENOSPC || status == EDQUOT ? .stateDiskFull : .stateUnavailable,
        "\(lock) cannot be written: \(String(cString: strerror(status)))", operation: "posix_fallocate")
    }
    let page = mmap(nil, Self.pageByteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let page, page != MAP_FAILED else {
      let error = Self.unavailable("mmap", lock)
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.page = page
  }

  /// Unlocks the folder for another daemon.
  func unlock() { flock(descriptor, LOCK_UN) }

  deinit {
    munmap(page, Self.pageByteCount)
    close(descriptor)
  }

  /// The first unused entry number; 0 when not recorded.
  package var nextItemID: UInt64 {
    get { word(0) }
    set { setWord(0, newValue) }
  }

  /// Reads a word of `state.lock`. `index` is less than `wordCount`. Each word is used by one thread at a time.
  func word(_ index: Int) -> UInt64 {
    precondition((0..<Self.wordCount).contains(index), "state.lock has \(Self.wordCount) words")
    return UInt64(littleEndian: page.load(fromByteOffset: index * MemoryLayout<UInt64>.size, as: UInt64.self))
  }

  /// Stores a word of `state.lock`. `index` is less than `wordCount`. Each word is used by one thread at a time.
  func setWord(_ index: Int, _ value: UInt64) {
    precondition((0..<Self.wordCount).contains(index), "state.lock has \(Self.wordCount) words")
    page.storeBytes(
      of: value.littleEndian, toByteOffset: index * MemoryLayout<UInt64>.size, as: UInt64.self)
  }

  /// Creates the folder and its missing parents with mode 0700.
  ///
  /// - Throws: `stateUnavailable` or `stateDiskFull` when it cannot be created, belongs to another user, or is
  ///   writable by others.
  package static func make(_ path: String) throws(MediaError) {
    guard path.hasPrefix("/") else {
      throw MediaError(.stateUnavailable, "the state folder must be an absolute path (got \(path))", operation: "mkdir")
    }
    var folder = ""
    for part in path.split(separator: "/") {
      folder += "/\(part)"
      guard mkdir(folder, 0o700) != 0, errno != EEXIST, errno != EISDIR else { continue }
      // Before `access` replaces it.
      let number = errno
      if access(folder, F_OK) != 0 { throw unavailable("mkdir", folder, number) }
    }
    var status = stat()
    guard stat(path, &status) == 0 else { throw unavailable("stat", path) }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw MediaError(.stateUnavailable, "\(path) is not a folder", operation: "mkdir")
    }
    // Another user with write access could replace the database.
    guard status.st_uid == geteuid() else {
      throw MediaError(
        .stateUnavailable, "\(path) belongs to the user \(status.st_uid), and playheadd runs as \(geteuid())",
        operation: "stat")
    }
    guard status.st_mode & 0o022 == 0 else {
      throw MediaError(
        .stateUnavailable, "other users can write to \(path); use `chmod go-w` to forbid that", operation: "stat")
    }
  }

  /// The error for a failed system call with a path.
  static func unavailable(_ operation: String, _ path: String, _ number: Int32 = errno) -> MediaError {
    MediaError(
      number == ENOSPC || number == EDQUOT ? .stateDiskFull : .stateUnavailable,
      "\(path) cannot be used: \(String(cString: strerror(number)))", operation: operation)
  }

  /// Whether the file system of a path, or of its nearest existing parent folder, has no space for a database, or no
  /// inode for its files.
  static func isDiskFull(_ path: String) -> Bool {
    var status = statvfs()
    var folder = path[...]
    while statvfs(String(folder.isEmpty ? "/" : folder), &status) != 0 {
      guard errno == ENOENT, let end = folder.lastIndex(of: "/") else { return false }
      folder = folder[..<end]
    }
    // File systems such as Btrfs have no fixed number of inodes, and file systems such as procfs have no blocks.
    if status.f_files > 0, status.f_favail == 0 { return true }
    return status.f_blocks > 0 && UInt64(status.f_bavail) * UInt64(status.f_frsize) < neededByteCount
  }

  /// The number of bytes that SQLite uses for an empty database with its log and the index of the log.
  private static let neededByteCount: UInt64 = 131_072

  /// Creates the database file before SQLite does, accessible to its owner only.
  func makeDatabaseFile() throws(MediaError) {
    let file = open(database, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard file >= 0 else { throw Self.unavailable("open", database) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw MediaError(.stateUnavailable, "\(database) is not a file", operation: "open")
    }
    if status.st_mode & 0o077 != 0 { fchmod(file, 0o600) }
  }

  /// Renames the database and its write-ahead log to `state.sqlite.damaged-N`. Returns the new path.
  func renameDatabase() throws(MediaError) -> String {
    var number = 1
    while access("\(database).damaged-\(number)", F_OK) == 0 { number += 1 }
    let newPath = "\(database).damaged-\(number)"
    for ending in ["-wal", "-shm"] where access(database + ending, F_OK) == 0 {
      guard rename(database + ending, newPath + ending) == 0 else {
        throw Self.unavailable("rename", database + ending)
      }
    }
    guard rename(database, newPath) == 0 else { throw Self.unavailable("rename", database) }
    return newPath
  }
}
