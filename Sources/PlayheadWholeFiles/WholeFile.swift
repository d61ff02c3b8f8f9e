import Glibc
// Writes files atomically: completely or not at all. Blocks.
import PlayheadFileAccess
import PlayheadMediaCore

/// A file that is written under a temporary name and then renamed, or a file that another process has opened.
package struct WholeFile: Sendable {
  /// The path: bytes, absolute, without a NUL. For an opened file, its name in messages.
  package let path: [UInt8]
  /// Whether an existing file is replaced.
  package let replaces: Bool
  /// The hint in the error about an existing file: "--force replaces it".
  private let hint: String

  /// The folders below which the file may be written; nil for no restriction by this type.
  private let roots: FileRoots?

  /// The opened file. Nil: the file has a path.
  let opened: OpenedFile?

  /// The name in the folder until the file is complete. Nil: a random name, and nothing remains after a failure.
  package private(set) var unfinishedName: [UInt8]?

  /// Whether the file has no name until it is complete, so that nothing remains if the process is killed. Has no effect
  /// on a file system without unnamed files. Needs /proc.
  package private(set) var isUnnamedUntilComplete = false

  /// Creates a description of a file at an absolute path. No I/O.
  ///
  /// - Parameter roots: the folders below which the file may be written, after links are resolved. Nil: no
  ///   restriction.
  package init(path: [UInt8], replaces: Bool, hint: String, roots: FileRoots? = nil) {
    self.path = path
    self.replaces = replaces
    self.hint = hint
    self.roots = roots
    opened = nil
  }

  /// Creates a description of an opened file. It is written in place, and not synchronized with the disk. After an
  /// error it is empty.
  package init(_ opened: OpenedFile) {
    (path, replaces, hint, roots) = (Array(opened.name.utf8), false, "", nil)
    self.opened = opened
  }

  /// Creates a description of a file. A relative path is resolved against the working directory. No other I/O.
  package init(path: String, replaces: Bool) {
    var bytes = Array(path.utf8)
    if bytes.first != UInt8(ascii: "/") {
      var folder = [CChar](repeating: 0, count: Int(PATH_MAX))
      if getcwd(&folder, folder.count) != nil {
        bytes = folder.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)) + [UInt8(ascii: "/")] + bytes
      }
    }
    self.init(path: bytes, replaces: replaces, hint: "replacing is not allowed")
  }

  /// The same file with a known name until it is complete. The incomplete file remains after a failure or the end of
  /// the process, and `reopenUnfinished` opens it. It is locked (`flock`) while it is written, so only one writer has
  /// it. An opened file has no such name and no lock, and keeps its contents after a failure.
  package func keepingUnfinished(as unfinishedName: [UInt8]) -> WholeFile {
    var file = self
    file.unfinishedName = unfinishedName
    return file
  }

  /// The same file without a name until it is complete.
  package func unnamedUntilComplete() -> WholeFile {
    var file = self
    file.isUnnamedUntilComplete = true
    return file
  }

  /// The folder, without a trailing `/` unless it is `/`, and the name.
  private var split: (folder: ArraySlice<UInt8>, name: ArraySlice<UInt8>) {
    guard let end = path.lastIndex(of: UInt8(ascii: "/")) else { return ([UInt8(ascii: ".")], path[...]) }
    return (path[...max(0, end - 1)], path[(end + 1)...])
  }

  /// The folder of the file.
  package var folder: [UInt8] { Array(split.folder) }

  /// The name of the file in its folder.
  package var name: [UInt8] { Array(split.name) }

  /// Whether no file with the name exists. Also true when the folder cannot be opened.
  package var isNameFree: Bool {
    guard let folder = try? openFolder() else { return true }
    defer { close(folder) }
    return !exists(in: folder)
  }

  /// Checks the conditions of `write` that can be checked before writing.
  ///
  /// - Throws: the errors of `write`.
  package func check() throws(MediaError) {
    if let opened { try opened.check() } else { close(try openFolderForWriting()) }
  }

  /// Writes the file. Never follows a link at its path. On an error nothing remains.
  ///
  /// - Throws: `fileExists` when the file exists and must not be replaced; `outsideRoots`; `writeFailed`.
  package func write(_ bytes: [UInt8]) throws(MediaError) {
    try writeChunks { append throws(MediaError) in try append(bytes) }
  }

  /// Writes the file in parts. Each part is written when `produce` passes it to `append`. On an error nothing remains.
  ///
  /// - Throws: the errors of `write` and of `produce`.
  package func writeChunks(
    _ produce: (_ append: ([UInt8]) throws(MediaError) -> Void) throws(MediaError) -> Void
  ) throws(MediaError) {
    let file = try create()
    try produce { (bytes) throws(MediaError) in try file.append(bytes) }
    try file.commit()
  }

  /// Opens the folder. Throws when the file exists and must not be replaced.
  func openFolderForWriting() throws(MediaError) -> Int32 {
    let opened = try openFolder()
    guard replaces || !exists(in: opened) else {
      close(opened)
      throw alreadyExists
    }
    return opened
  }

  /// Opens the folder.
  func openFolder() throws(MediaError) -> Int32 {
    guard !split.name.isEmpty else { throw MediaError(.writeFailed, "\(text) is not a file name", operation: "open") }
    let flags = FileRoots.pathOnlyFlag | O_DIRECTORY | O_CLOEXEC
    let opened: Int32
    if let roots {
      opened = roots.open(folder, flags)
    } else {
      let plain = Self.withCString(folder) { open($0, flags) }
      opened = plain >= 0 ? plain : -errno
    }
    if opened == -EXDEV {
      throw MediaError(
        .outsideRoots,
        "\(text) is outside the folders that the daemon may write (--write-root, or roots.write in its configuration)",
        operation: "open")
    }
    guard opened >= 0 else { throw failure("open", number: -opened) }
    return opened
  }

  func writeAll(_ bytes: [UInt8], _ descriptor: Int32) throws(MediaError) {
    // All writes append, so the size of the file is the offset. The offset of an opened file belongs to its owner.
    var status = stat()
    let byteCount = fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    guard WritableSpace.allows(growing: descriptor, to: byteCount + Int64(bytes.count)) else {
      throw MediaError(
        .writeFailed, "\(text) cannot be written: less free disk space than reserved would remain", operation: "write")
    }
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        pwrite(descriptor, buffer.baseAddress.map { $0 + done }, bytes.count - done, off_t(byteCount) + off_t(done))
      }
      if count > 0 { done += count } else if errno != EINTR { throw failure("write") }
    }
  }

  /// Renames a temporary file in the folder to its final name.
  func renameToFinalName(_ temporary: [UInt8], in folder: Int32) throws(MediaError) {
    let name = Array(split.name)
    if !replaces {
      // link(2) never replaces a file that was created meanwhile.
      if Self.withCStrings(temporary, name, { linkat(folder, $0, folder, $1, 0) }) == 0 {
        _ = Self.withCString(temporary) { unlinkat(folder, $0, 0) }
        return
      }
      if errno == EEXIST { throw alreadyExists }
      // The file system has no hard links: check and rename.
      guard errno == EPERM || errno == EOPNOTSUPP else { throw failure("link") }
      guard !exists(in: folder) else { throw alreadyExists }
    }
    guard Self.withCStrings(temporary, name, { renameat(folder, $0, folder, $1) }) == 0 else {
      throw failure("rename")
    }
  }

  /// A random name in the same folder, within the maximum length of names.
  var temporaryName: [UInt8] {
    var generator = SystemRandomNumberGenerator()
    let suffix = Array(".playhead-\(generator.next() as UInt64)".utf8)
    return [UInt8(ascii: ".")] + split.name.prefix(200) + suffix
  }

  /// Removes the file with the name.
  ///
  /// - Throws: `outsideRoots`; `fileNotFound`; `writeFailed`.
  package func remove() throws(MediaError) {
    let folder = try openFolder()
    defer { close(folder) }
    guard Self.withCString(name, { unlinkat(folder, $0, 0) }) == 0 else {
      if errno == ENOENT { throw MediaError(.fileNotFound, "\(text) does not exist", operation: "unlink") }
      throw failure("unlink")
    }
  }

  private func exists(in folder: Int32) -> Bool {
    var status = stat()
    return Self.withCString(Array(split.name)) { fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0
  }

  // MARK: - Errors

  /// The path in the form of the wire protocol.
  var text: String { String(validating: path, as: UTF8.self) ?? "file://\(FileURL.percentEncoded(path))" }

  private var alreadyExists: MediaError {
    MediaError(.fileExists, "\(text) already exists; \(hint)", operation: "open")
  }

  /// The error when an unfinished file with the name exists.
  var alreadyBeingWritten: MediaError {
    MediaError(.fileExists, "\(text) is already being written", operation: "open")
  }

  /// The error for a failed system call.
  func failure(_ operation: String, number: Int32 = errno) -> MediaError {
    let reason = String(cString: strerror(number))
    return MediaError(.writeFailed, "\(text) cannot be written: \(reason)", operation: operation, underlying: reason)
  }

  // MARK: - Paths

  /// Calls `body` with a null-terminated path.
  static func withCString<Value>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Value) -> Value {
    (path.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { preconditionFailure("a path is null-terminated") }
      return body(base)
    }
  }

  static func withCStrings<Value>(
    _ one: [UInt8], _ other: [UInt8], _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Value
  ) -> Value {
    withCString(one) { one in withCString(other) { body(one, $0) } }
  }
}
