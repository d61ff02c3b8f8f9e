// Writes files that are there whole, or not at all. Blocks.
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

  /// A file at an absolute path. No I/O.
  public init(path: [UInt8], replaces: Bool, hint: String) {
    self.path = path
    self.replaces = replaces
    self.hint = hint
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

  /// Errors: those of `write` that show before anything is written.
  public func check() throws(MediaError) {
    guard !split.name.isEmpty else { throw MediaError(.writeFailed, "\(text) is no name of a file", operation: "open") }
    if !replaces, exists { throw taken }
  }

  /// Writes it. Never through a link that lies in its place. On an error there is nothing of it.
  ///
  /// Errors: `fileExists` when there is one and it is not to be replaced; `writeFailed`.
  public func write(_ bytes: [UInt8]) throws(MediaError) {
    try check()
    // No longer than a name may be, and no one's else.
    var generator = SystemRandomNumberGenerator()
    let suffix = Array(".playhead-\(generator.next() as UInt64)".utf8)
    let temporary = folder + Array("/.".utf8) + split.name.prefix(200) + suffix
    let descriptor = Self.withCString(temporary) { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
    guard descriptor >= 0 else { throw failure("open") }
    do throws(MediaError) {
      try writeAll(bytes, descriptor)
      try put(temporary)
    } catch {
      _ = Self.withCString(temporary) { unlink($0) }
      throw error
    }
  }

  private func writeAll(_ bytes: [UInt8], _ descriptor: Int32) throws(MediaError) {
    var error: MediaError?
    var done = 0
    while done < bytes.count, error == nil {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.write(descriptor, buffer.baseAddress.map { $0 + done }, bytes.count - done)
      }
      if count > 0 { done += count } else if errno != EINTR { error = failure("write") }
    }
    // Else a file of no bytes may have its name after the power went.
    if error == nil, fsync(descriptor) != 0 { error = failure("fsync") }
    if close(descriptor) != 0, error == nil { error = failure("close") }
    if let error { throw error }
  }

  private func put(_ temporary: [UInt8]) throws(MediaError) {
    if !replaces {
      // A link never takes the place of what came there meanwhile.
      if Self.withCStrings(temporary, path, { link($0, $1) }) == 0 {
        _ = Self.withCString(temporary) { unlink($0) }
        return
      }
      if errno == EEXIST { throw taken }
      // A file system without links.
      guard errno == EPERM || errno == EOPNOTSUPP else { throw failure("link") }
      guard !exists else { throw taken }
    }
    guard Self.withCStrings(temporary, path, { rename($0, $1) }) == 0 else { throw failure("rename") }
  }

  private var exists: Bool {
    var status = stat()
    return Self.withCString(path) { lstat($0, &status) } == 0
  }

  // MARK: - Errors

  /// As paths stand on the wire.
  private var text: String { String(validating: path, as: UTF8.self) ?? "file://\(FileURL.percentEncoded(path))" }

  private var taken: MediaError {
    MediaError(.fileExists, "\(text) is there already; \(hint)", operation: "open")
  }

  private func failure(_ operation: String) -> MediaError {
    let reason = String(cString: strerror(errno))
    return MediaError(.writeFailed, "\(text) cannot be written: \(reason)", operation: operation, underlying: reason)
  }

  // MARK: - Paths

  private static func withCString<Value>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Value) -> Value {
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
