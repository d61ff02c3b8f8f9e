// Writes files that are there whole, or not at all. Blocks.
import FileAccess
import Glibc
import MediaCore

/// A file that is written beside its place and then put there.
public struct WholeFile: Sendable {
  /// Its path: bytes, absolute, without a NUL.
  public let path: [UInt8]
  /// Whether it takes the place of what is there.
  public let replaces: Bool
  /// What an error says of how it would: "--force replaces it".
  private let hint: String

  /// Where it may lie; nil: wherever whoever calls may write.
  private let roots: FileRoots?

  /// What it is called in its folder until it is whole; nil: a name that nobody knows, and nothing of it is left when it does not become whole.
  public private(set) var unfinishedName: [UInt8]?

  /// A file at an absolute path. No I/O.
  ///
  /// - Parameter roots: the folders below which it may be written, whatever links lead there; nil: wherever whoever calls may write.
  public init(path: [UInt8], replaces: Bool, hint: String, roots: FileRoots? = nil) {
    self.path = path
    self.replaces = replaces
    self.hint = hint
    self.roots = roots
  }

  /// A file at a path in the file system. A relative path counts from the working directory. No other I/O.
  package init(path: String, replaces: Bool) {
    var bytes = Array(path.utf8)
    if bytes.first != UInt8(ascii: "/") {
      var folder = [CChar](repeating: 0, count: Int(PATH_MAX))
      if getcwd(&folder, folder.count) != nil {
        bytes = folder.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)) + [UInt8(ascii: "/")] + bytes
      }
    }
    self.init(path: bytes, replaces: replaces, hint: "it is not to be replaced")
  }

  /// The same file, of which there is something under a known name until it is whole, and after a failure or the end of the process, too:
  /// `adopt` takes that up. One at a time has it: it is locked (`flock`) for as long as it is written.
  public func kept(as unfinishedName: [UInt8]) -> WholeFile {
    var file = self
    file.unfinishedName = unfinishedName
    return file
  }

  /// The folder that it lies in, without a `/` at its end unless it is `/`; and its name.
  private var split: (folder: ArraySlice<UInt8>, name: ArraySlice<UInt8>) {
    guard let end = path.lastIndex(of: UInt8(ascii: "/")) else { return ([UInt8(ascii: ".")], path[...]) }
    return (path[...max(0, end - 1)], path[(end + 1)...])
  }

  /// The folder that it lies in.
  public var folder: [UInt8] { Array(split.folder) }

  /// Its name in that folder.
  public var name: [UInt8] { Array(split.name) }

  /// Whether nothing has its name, as far as can be seen.
  public var isFree: Bool {
    guard let folder = try? openParent() else { return true }
    defer { close(folder) }
    return !exists(in: folder)
  }

  /// Errors: those of `write` that show before anything is written.
  public func check() throws(MediaError) { close(try openFolder()) }

  /// Writes it. Never through a link that lies in its place. On an error there is nothing of it.
  ///
  /// Errors: `fileExists` when there is one and it is not to be replaced; `outsideRoots`; `writeFailed`.
  public func write(_ bytes: [UInt8]) throws(MediaError) {
    try writePieces { append throws(MediaError) in try append(bytes) }
  }

  /// The same of what comes in pieces, each of which is written when it is given.
  ///
  /// Errors: those of `write`; those that `produce` throws. Then there is nothing of the file.
  public func writePieces(
    _ produce: (_ append: ([UInt8]) throws(MediaError) -> Void) throws(MediaError) -> Void
  ) throws(MediaError) {
    let file = try begin()
    try produce { (bytes) throws(MediaError) in try file.append(bytes) }
    try file.commit()
  }

  /// The folder, open, in which there is nothing in the file's way.
  func openFolder() throws(MediaError) -> Int32 {
    let opened = try openParent()
    guard replaces || !exists(in: opened) else {
      close(opened)
      throw taken
    }
    return opened
  }

  /// The folder, open.
  func openParent() throws(MediaError) -> Int32 {
    guard !split.name.isEmpty else { throw MediaError(.writeFailed, "\(text) is no name of a file", operation: "open") }
    let flags = FileRoots.forPath | O_DIRECTORY | O_CLOEXEC
    let opened: Int32
    if let roots {
      opened = roots.open(folder, flags)
    } else {
      let plain = Self.withCString(folder) { open($0, flags) }
      opened = plain >= 0 ? plain : -errno
    }
    if opened == -EXDEV {
      throw MediaError(
        .outsideRoots, "\(text) lies in no folder that files may be written to (roots.write)", operation: "open")
    }
    guard opened >= 0 else { throw failure("open", number: -opened) }
    return opened
  }

  func writeAll(_ bytes: [UInt8], _ descriptor: Int32) throws(MediaError) {
    // Bytes are only ever appended here.
    var status = stat()
    let present = fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    guard WritableSpace.allows(growing: descriptor, to: present + Int64(bytes.count)) else {
      throw MediaError(
        .writeFailed, "\(text) cannot be written: less space than is reserved would stay free", operation: "write")
    }
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.write(descriptor, buffer.baseAddress.map { $0 + done }, bytes.count - done)
      }
      if count > 0 { done += count } else if errno != EINTR { throw failure("write") }
    }
  }

  /// Gives a file of the folder its name.
  func put(_ temporary: [UInt8], in folder: Int32) throws(MediaError) {
    let name = Array(split.name)
    if !replaces {
      // A link never takes the place of what came there meanwhile.
      if Self.withCStrings(temporary, name, { linkat(folder, $0, folder, $1, 0) }) == 0 {
        _ = Self.withCString(temporary) { unlinkat(folder, $0, 0) }
        return
      }
      if errno == EEXIST { throw taken }
      // A file system without links.
      guard errno == EPERM || errno == EOPNOTSUPP else { throw failure("link") }
      guard !exists(in: folder) else { throw taken }
    }
    guard Self.withCStrings(temporary, name, { renameat(folder, $0, folder, $1) }) == 0 else {
      throw failure("rename")
    }
  }

  /// A name beside its own: no longer than a name may be, and no one's else.
  var temporaryName: [UInt8] {
    var generator = SystemRandomNumberGenerator()
    let suffix = Array(".playhead-\(generator.next() as UInt64)".utf8)
    return [UInt8(ascii: ".")] + split.name.prefix(200) + suffix
  }

  /// Removes what has its name. Errors: `outsideRoots`; `fileNotFound`; `writeFailed`.
  public func remove() throws(MediaError) {
    let folder = try openParent()
    defer { close(folder) }
    guard Self.withCString(name, { unlinkat(folder, $0, 0) }) == 0 else {
      if errno == ENOENT { throw MediaError(.fileNotFound, "\(text) is not there", operation: "unlink") }
      throw failure("unlink")
    }
  }

  private func exists(in folder: Int32) -> Bool {
    var status = stat()
    return Self.withCString(Array(split.name)) { fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0
  }

  // MARK: - Errors

  /// As paths stand on the wire.
  var text: String { String(validating: path, as: UTF8.self) ?? "file://\(FileURL.percentEncoded(path))" }

  private var taken: MediaError {
    MediaError(.fileExists, "\(text) is there already; \(hint)", operation: "open")
  }

  /// What is being written under its name, or has been left there.
  var isBegun: MediaError {
    MediaError(.fileExists, "\(text) is being written already", operation: "open")
  }

  /// What the system said to an operation.
  func failure(_ operation: String, number: Int32 = errno) -> MediaError {
    let reason = String(cString: strerror(number))
    return MediaError(.writeFailed, "\(text) cannot be written: \(reason)", operation: operation, underlying: reason)
  }

  // MARK: - Paths

  /// A path with a zero behind it.
  static func withCString<Value>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Value) -> Value {
    (path.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { preconditionFailure("a path has a zero behind it") }
      return body(base)
    }
  }

  private static func withCStrings<Value>(
    _ one: [UInt8], _ other: [UInt8], _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Value
  ) -> Value {
    withCString(one) { one in withCString(other) { body(one, $0) } }
  }
}
