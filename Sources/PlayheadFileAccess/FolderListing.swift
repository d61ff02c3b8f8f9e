import Glibc
import PlayheadMediaCore

/// The files and folders in a folder, or a part of them.
///
/// Names that begin with a dot are omitted, as are links to files that may not be opened, and everything that is
/// neither a file nor a folder: sockets, pipes and devices.
package struct FolderListing: Sendable, Hashable {
  /// A file or folder.
  package struct Entry: Sendable, Hashable {
    /// The name, as bytes without NUL and `/`.
    package var name: [UInt8]
    package var isFolder: Bool
  }

  /// The entries, sorted by the bytes of their names.
  package let entries: [Entry]
  /// The name after which the next part begins. Nil after the last part.
  package let next: [UInt8]?

  /// Lists a part of a folder. Blocks.
  ///
  /// Reads all names of the folder, but keeps at most about twice `limit` of them in memory.
  ///
  /// - Parameters:
  ///   - path: An absolute path, as bytes.
  ///   - previous: Only names after this one are listed. Nil: all names.
  ///   - limit: The maximum number of entries, at least 1.
  ///   - roots: The folders below which files may be listed.
  /// - Throws: `outsideRoots`, `fileNotFound` if there is no such folder, `permissionDenied` or `readFailed`.
  package init(of path: [UInt8], after previous: [UInt8]?, limit: Int, in roots: FileRoots) throws(MediaError) {
    // A slash at the end, so that only a folder can be opened.
    let folder = path.last == UInt8(ascii: "/") ? path : path + [UInt8(ascii: "/")]
    let descriptor = roots.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure(path, -descriptor, "open") }
    guard let stream = fdopendir(descriptor) else {
      let number = errno
      close(descriptor)
      throw Self.failure(path, number, "fdopendir")
    }
    defer { closedir(stream) }
    var first = FirstEntries(count: limit + 1)
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw Self.failure(path, errno, "readdir") }
        break
      }
      let name = Self.name(entry)
      guard name.first != UInt8(ascii: "."), previous?.lexicographicallyPrecedes(name) != false, first.accepts(name),
        let isFolder = Self.isFolder(folder + name, type: Int(entry.pointee.d_type), roots)
      else { continue }
      first.append(Entry(name: name, isFolder: isFolder))
    }
    let sorted = first.sorted()
    entries = Array(sorted.prefix(limit))
    next = sorted.count > limit ? entries.last?.name : nil
  }

  /// Entries of which the first ones by name are kept.
  private struct FirstEntries {
    let count: Int
    private var entries: [Entry] = []
    /// The last name that is kept, if there are enough.
    private var last: [UInt8]?

    init(count: Int) { self.count = count }

    /// Whether a name can be one of the first.
    func accepts(_ name: [UInt8]) -> Bool { last.map(name.lexicographicallyPrecedes) ?? true }

    mutating func append(_ entry: Entry) {
      entries.append(entry)
      guard entries.count >= 2 * count else { return }
      entries = sorted()
      last = entries.last?.name
    }

    /// The first entries, sorted.
    func sorted() -> [Entry] { Array(entries.sorted { $0.name.lexicographicallyPrecedes($1.name) }.prefix(count)) }
  }

  private static func name(_ entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
    withUnsafeBytes(of: &entry.pointee.d_name) { bytes in Array(bytes.prefix { $0 != 0 }) }
  }

  /// Whether an entry is a folder; nil if it is not listed. Follows links within the roots.
  ///
  /// - Parameter type: `DT_DIR` or another type of readdir(3).
  private static func isFolder(_ path: [UInt8], type: Int, _ roots: FileRoots) -> Bool? {
    switch type {
    case DT_DIR: return true
    case DT_REG: return false
    case DT_LNK, DT_UNKNOWN: break
    default: return nil
    }
    let descriptor = roots.open(path, FileRoots.pathOnlyFlag | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: return true
    case S_IFREG: return false
    default: return nil
    }
  }

  private static func failure(_ path: [UInt8], _ number: Int32, _ call: String) -> MediaError {
    let path = String(decoding: path, as: UTF8.self)
    let reason = String(cString: strerror(number))
    let (code, message): (MediaError.Code, String) =
      switch number {
      case EXDEV: (.outsideRoots, "the folder is outside the folders that may be read: \(path)")
      case ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG: (.fileNotFound, "there is no such folder: \(path)")
      case EACCES, EPERM: (.permissionDenied, "the folder may not be read: \(path)")
      default: (.readFailed, "the folder cannot be read: \(path)")
      }
    return MediaError(code, message, operation: call, underlying: "\(reason) (errno \(number))")
  }
}
