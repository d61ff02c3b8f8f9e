// Writes files that are there whole, or not at all. Blocks: not for the control loop.
import Glibc
import MediaCore
import WireProtocol

/// A file that is written beside its place and then put there.
enum WholeFile {
  /// Writes a file. Never through a link that lies in its place.
  ///
  /// Errors: `fileExists` when there is one and it is not to be replaced; `writeFailed`.
  static func write(_ bytes: [UInt8], to file: FilePath, replaces: Bool) throws(MediaError) {
    let path = file.bytes
    let end = path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    let name = path[(end + 1)...]
    guard !name.isEmpty else { throw MediaError(.writeFailed, "\(file) is no name of a file", operation: "open") }
    if !replaces, exists(path) { throw taken(file) }
    // No longer than a name may be, and no one's else.
    var generator = SystemRandomNumberGenerator()
    let suffix = ".playhead-\(generator.next() as UInt64)"
    let temporary = Array(path[...end]) + Array(".".utf8) + name.prefix(200) + Array(suffix.utf8)
    let descriptor = withCString(temporary) { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
    guard descriptor >= 0 else { throw failure(file, "open") }
    do throws(MediaError) {
      try writeAll(bytes, descriptor, file)
      try put(temporary, at: file, replaces: replaces)
    } catch {
      _ = withCString(temporary) { unlink($0) }
      throw error
    }
  }

  private static func writeAll(_ bytes: [UInt8], _ descriptor: Int32, _ file: FilePath) throws(MediaError) {
    var error: MediaError?
    var done = 0
    while done < bytes.count, error == nil {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.write(descriptor, buffer.baseAddress.map { $0 + done }, bytes.count - done)
      }
      if count > 0 { done += count } else if errno != EINTR { error = failure(file, "write") }
    }
    // Else a file of no bytes may have its name after the power went.
    if error == nil, fsync(descriptor) != 0 { error = failure(file, "fsync") }
    if close(descriptor) != 0, error == nil { error = failure(file, "close") }
    if let error { throw error }
  }

  private static func put(_ temporary: [UInt8], at file: FilePath, replaces: Bool) throws(MediaError) {
    if !replaces {
      // A link never takes the place of what came there meanwhile.
      let status = withCString(temporary) { from in withCString(file.bytes) { link(from, $0) } }
      if status == 0 {
        _ = withCString(temporary) { unlink($0) }
        return
      }
      if errno == EEXIST { throw taken(file) }
      // A file system without links.
      guard errno == EPERM || errno == EOPNOTSUPP else { throw failure(file, "link") }
      guard !exists(file.bytes) else { throw taken(file) }
    }
    let status = withCString(temporary) { from in withCString(file.bytes) { rename(from, $0) } }
    guard status == 0 else { throw failure(file, "rename") }
  }

  private static func exists(_ path: [UInt8]) -> Bool {
    var status = stat()
    return withCString(path) { lstat($0, &status) } == 0
  }

  private static func taken(_ file: FilePath) -> MediaError {
    MediaError(.fileExists, "\(file) is there already; `replace` replaces it", operation: "open")
  }

  private static func failure(_ file: FilePath, _ operation: String) -> MediaError {
    let reason = String(cString: strerror(errno))
    return MediaError(.writeFailed, "\(file) cannot be written: \(reason)", operation: operation, underlying: reason)
  }

  private static func withCString<Value>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Value) -> Value {
    (path.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { preconditionFailure("a path has a zero behind it") }
      return body(base)
    }
  }
}
