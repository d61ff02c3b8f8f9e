// Access control for the files that clients name. The kernel resolves each path once, while it opens the file. Links in
// the path and concurrent changes therefore cannot replace the file after the check.
import CPlayheadMediaShims
import Glibc
import PlayheadMediaCore

/// The folders below which files may be opened.
package struct FileRoots: Sendable, Hashable {
  /// The folders, as bytes: absolute, without `.` or `..`. Nil for no restriction.
  package let folders: [[UInt8]]?

  /// Permits every file of the system.
  package static let everywhere = FileRoots(checked: nil)
  /// Permits no file.
  package static let nowhere = FileRoots(checked: [])

  private init(checked folders: [[UInt8]]?) { self.folders = folders }

  /// Permits files below some folders, which need not exist.
  ///
  /// - Throws: `invalidArgument` for a path that is not absolute, or contains `..` or a NUL.
  package init(folders: [String]) throws(MediaError) {
    var checked: [[UInt8]] = []
    for folder in folders {
      let bytes = Array(folder.utf8)
      let components = Self.components(of: bytes)
      guard bytes.first == Self.slash, !bytes.contains(0), !components.contains(where: { $0.elementsEqual("..".utf8) })
      else {
        throw MediaError(
          .invalidArgument, "a root must be an absolute path without '..': \(folder)", operation: "roots")
      }
      checked.append([Self.slash] + components.joined(separator: [Self.slash]))
    }
    self.folders = checked
  }

  /// Opens a file. Blocks as open(2) does.
  ///
  /// Fails with `EXDEV` for a path outside the roots, and for a link or `..` that leads outside. The error does not
  /// reveal whether the file exists. With openat2(2), links to open descriptors of a process (`/proc/self/fd/3`) fail
  /// with `ELOOP`, even without roots. Clients therefore cannot access the daemon's open files.
  ///
  /// - Returns: a descriptor, or the negative `errno`.
  package func open(_ path: [UInt8], _ flags: Int32, mode: mode_t = 0) -> Int32 {
    guard !path.isEmpty, !path.contains(0) else { return -ENOENT }
    guard let folders else { return Self.open(AT_FDCWD, path, flags, mode, staysBeneath: false) }
    var failure = EXDEV
    for folder in folders {
      guard let relativePath = Self.relativePath(of: path, below: folder) else { continue }
      let root = Self.withCString(folder) { Glibc.open($0, Self.pathOnlyFlag | O_DIRECTORY | O_CLOEXEC) }
      guard root >= 0 else {
        failure = errno
        continue
      }
      defer { close(root) }
      let descriptor = Self.open(root, relativePath, flags, mode, staysBeneath: true)
      if descriptor >= 0 { return descriptor }
      // An error other than `EXDEV` from any root is more informative.
      if failure == EXDEV { failure = -descriptor }
    }
    return -failure
  }

  /// `O_PATH`, which is not in the Glibc module, because glibc declares it for `_GNU_SOURCE` only.
  package static let pathOnlyFlag: Int32 = 0o10_000_000

  // MARK: - Paths

  private static let slash = UInt8(ascii: "/")

  /// The components of a path, without empty ones and `.`.
  private static func components(of path: [UInt8]) -> [[UInt8]] {
    path.split(separator: slash).map(Array.init).filter { !$0.elementsEqual(".".utf8) }
  }

  /// The path relative to a folder; nil when the path is not below the folder. The kernel resolves `..` in the result.
  private static func relativePath(of path: [UInt8], below folder: [UInt8]) -> [UInt8]? {
    let (pathComponents, folderComponents) = (components(of: path), components(of: folder))
    guard path.first == slash, pathComponents.starts(with: folderComponents) else { return nil }
    let relativePath = Array(pathComponents.dropFirst(folderComponents.count).joined(separator: [slash]))
    if relativePath.isEmpty { return [UInt8(ascii: ".")] }
    return path.last == slash ? relativePath + [slash] : relativePath
  }

  // MARK: - Opening

  /// Opens a path relative to an open folder. Returns a descriptor, or the negative `errno`.
  private static func open(
    _ folder: Int32, _ path: [UInt8], _ flags: Int32, _ mode: mode_t, staysBeneath: Bool
  ) -> Int32 {
    if isOpenat2Available {
      let descriptor = withCString(path) {
        media_shims_open_resolving(folder, $0, flags, UInt32(mode), staysBeneath ? 1 : 0)
      }
      return descriptor >= 0 ? descriptor : -errno
    }
    if staysBeneath { return openFolderByFolder(folder, path, flags, mode) }
    let descriptor = withCString(path) { openat(folder, $0, flags, mode) }
    return descriptor >= 0 ? descriptor : -errno
  }

  /// Whether openat2(2) is available: Linux 5.6 or later, and not blocked by a seccomp filter.
  private static let isOpenat2Available: Bool = {
    let descriptor = withCString([slash]) { media_shims_open_resolving(AT_FDCWD, $0, pathOnlyFlag | O_CLOEXEC, 0, 0) }
    if descriptor >= 0 { close(descriptor) }
    // Other errors, such as a temporary lack of descriptors, do not mean that the call is missing.
    return descriptor >= 0 || errno != ENOSYS && errno != EPERM
  }()

  /// Opens a file without openat2, folder by folder. Fails with `EXDEV` for links and `..`.
  static func openFolderByFolder(_ folder: Int32, _ path: [UInt8], _ flags: Int32, _ mode: mode_t) -> Int32 {
    let components = components(of: path)
    var current = dup(folder)
    guard current >= 0 else { return -errno }
    defer { close(current) }
    for (index, name) in components.enumerated() {
      if name.elementsEqual("..".utf8) { return -EXDEV }
      let isLast = index == components.count - 1 && path.last != slash
      let descriptor = withCString(name) {
        isLast
          ? openat(current, $0, flags | O_NOFOLLOW, mode)
          : openat(current, $0, pathOnlyFlag | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      }
      // For a link, openat fails with ELOOP as the last component, and with ENOTDIR as a folder.
      guard descriptor >= 0 else { return errno == ELOOP ? -EXDEV : -errno }
      if isLast { return descriptor }
      close(current)
      current = descriptor
    }
    let descriptor = withCString([UInt8(ascii: ".")]) { openat(current, $0, flags, mode) }
    return descriptor >= 0 ? descriptor : -errno
  }

  private static func withCString<Value>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Value) -> Value {
    (path.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { preconditionFailure("a path is null-terminated") }
      return body(base)
    }
  }
}
