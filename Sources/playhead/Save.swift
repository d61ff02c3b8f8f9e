// `playhead save`: the daemon says the lines of a list, and the client writes them into a file, whole or not at all.
import Glibc
import MediaCore
import WireProtocol

enum Save {
  /// Why the list was not written: exit status 1.
  struct Failure: Error {
    var message: String
  }

  /// Asks for the queue as a list and writes it. Answers the exit status. Errors: `Failure`, `Refusal`, `Unreachable`,
  /// `MediaError`.
  static func run(
    _ options: Invocation.SaveOptions, _ encoder: RequestEncoder, absolute: ([UInt8]) -> [UInt8], _ socket: String
  ) throws -> Int32 {
    let path = absolute(options.file)
    let end = path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    let folder = end > path.startIndex ? Array(path[..<end]) : [UInt8(ascii: "/")]
    let name = Array(path[(end + 1)...])
    guard !name.isEmpty else { throw Failure(message: "\(text(path)) is no name of a file") }
    if !options.replaces, exists(path) { throw taken(path) }
    let form = options.form ?? self.form(of: name)
    let daemon = Asker(try DaemonConnection(path: socket)) { words in
      let line = try encoder.words(words)
      try RequestCheck.check(line)
      return line
    }
    var lines: [UInt8] = []
    var offset = 0
    var version: String?
    while true {
      var words = [
        "playlist.export", "format=\(form)", "offset=\(offset)",
      ].map { Array($0.utf8) }
      words.append(Array("base=".utf8) + folder)
      if let player = options.player { words.append(Array("player=".utf8) + player) }
      let part = try daemon.ask(words)
      for row in part.rows { lines += Array((row["text"] ?? "").utf8) + [UInt8(ascii: "\n")] }
      guard version == nil || part.fields["version"] == version else {
        throw Failure(message: "the queue changed while it was read; nothing was written")
      }
      version = part.fields["version"]
      guard let next = part.fields["next"].flatMap({ Int($0) }), next > offset else { break }
      offset = next
    }
    try write(lines, to: path, in: folder, name, replaces: options.replaces)
    return PlayheadClient.Status.done
  }

  /// The kind of list that a name says; M3U8 for others.
  private static func form(of name: [UInt8]) -> String {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return "m3u8" }
    let suffix = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
    return QueueCommand.PlaylistForm(rawValue: suffix)?.rawValue ?? "m3u8"
  }

  // MARK: - The file

  private static func text(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }

  private static func withCString<Value>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Value) -> Value {
    (path.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { preconditionFailure("a path has a zero behind it") }
      return body(base)
    }
  }

  private static func exists(_ path: [UInt8]) -> Bool {
    var status = stat()
    return withCString(path) { lstat($0, &status) } == 0
  }

  private static func taken(_ path: [UInt8]) -> Failure {
    Failure(message: "\(text(path)) is there already; --force replaces it")
  }

  private static func failure(_ path: [UInt8]) -> Failure {
    Failure(message: "\(text(path)) cannot be written: \(String(cString: strerror(errno)))")
  }

  /// Writes beside the file, and puts it in its place when all of it is on the disk.
  private static func write(
    _ bytes: [UInt8], to path: [UInt8], in folder: [UInt8], _ name: [UInt8], replaces: Bool
  ) throws(Failure) {
    let suffix = Array(".playhead-\(getpid())".utf8)
    // No longer than a name may be.
    let temporary = folder + Array("/.".utf8) + name.prefix(200) + suffix
    let descriptor = withCString(temporary) { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
    guard descriptor >= 0 else { throw failure(path) }
    do throws(Failure) {
      try writeAll(bytes, descriptor, path)
      try put(temporary, at: path, replaces: replaces)
    } catch {
      withCString(temporary) { _ = unlink($0) }
      throw error
    }
  }

  private static func writeAll(_ bytes: [UInt8], _ descriptor: Int32, _ path: [UInt8]) throws(Failure) {
    var error: Failure?
    var done = 0
    while done < bytes.count, error == nil {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.write(descriptor, buffer.baseAddress.map { $0 + done }, bytes.count - done)
      }
      if count > 0 { done += count } else if errno != EINTR { error = failure(path) }
    }
    if error == nil, fsync(descriptor) != 0 { error = failure(path) }
    if close(descriptor) != 0, error == nil { error = failure(path) }
    if let error { throw error }
  }

  private static func put(_ temporary: [UInt8], at path: [UInt8], replaces: Bool) throws(Failure) {
    if !replaces {
      // A link never takes the place of what came there meanwhile.
      if withCString(temporary, { from in withCString(path) { link(from, $0) } }) == 0 {
        withCString(temporary) { _ = unlink($0) }
        return
      }
      if errno == EEXIST { throw taken(path) }
      // A file system without links.
      guard errno == EPERM || errno == EOPNOTSUPP else { throw failure(path) }
      guard !exists(path) else { throw taken(path) }
    }
    guard withCString(temporary, { from in withCString(path) { rename(from, $0) } }) == 0 else { throw failure(path) }
  }
}
