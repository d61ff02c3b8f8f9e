import Glibc

/// The history of `playhead shell`: a file with one line for each command, the oldest first. Several shells can use it.
struct HistoryFile {
  /// The maximum number of lines.
  static let maximumLineCount = 1_000
  /// The maximum length of a stored line, in bytes. Longer lines are not stored.
  static let maximumLineByteCount = 4_096

  /// The reason why the history cannot be stored.
  struct Failure: Error {
    var message: String
  }

  let path: String

  /// `playhead/history` in `$XDG_STATE_HOME`, or in `~/.local/state`; nil when neither is known.
  static var standard: HistoryFile? {
    func folder(_ variable: String) -> String? {
      getenv(variable).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    let state = folder("XDG_STATE_HOME") ?? folder("HOME").map { "\($0)/.local/state" }
    return state.map { HistoryFile(path: "\($0)/playhead/history") }
  }

  /// Whether a line is stored: not those that are empty, begin with a space, are too long, or contain secrets.
  static func stores(_ line: [UInt8]) -> Bool {
    guard let first = line.first, first != UInt8(ascii: " "), line.count <= maximumLineByteCount else { return false }
    return !DaemonConnection.containsSecrets(line)
  }

  /// The stored lines; none if the file cannot be read.
  func lines() -> [[UInt8]] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    guard Self.isRegular(descriptor), Self.lock(descriptor, LOCK_SH) else { return [] }
    return Self.lines(of: Self.contents(of: descriptor)).suffix(Self.maximumLineCount)
  }

  /// Adds a line, and removes the oldest lines above the maximum. The lock serializes several shells.
  ///
  /// - Throws: `Failure` if the file cannot be written.
  func append(_ line: [UInt8]) throws(Failure) {
    makeFolders()
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { close(descriptor) }
    guard Self.isRegular(descriptor) else { throw failure(EINVAL) }
    guard fchmod(descriptor, 0o600) == 0, Self.lock(descriptor, LOCK_EX) else { throw failure(errno) }
    var contents = Self.contents(of: descriptor)
    if let last = contents.last, last != UInt8(ascii: "\n") { contents.append(UInt8(ascii: "\n")) }
    contents += line + [UInt8(ascii: "\n")]
    let kept = Self.lines(of: contents).suffix(Self.maximumLineCount)
    let bytes = Array(kept.map { $0 + [UInt8(ascii: "\n")] }.joined())
    guard lseek(descriptor, 0, SEEK_SET) == 0, Terminal.write(bytes, to: descriptor),
      ftruncate(descriptor, off_t(bytes.count)) == 0
    else { throw failure(errno) }
  }

  private func failure(_ number: Int32) -> Failure {
    Failure(message: "the history \(path) cannot be written: \(String(cString: strerror(number)))")
  }

  /// Creates the folders of the file, as far as they are missing. Errors are those of `open`.
  private func makeFolders() {
    let folders = path.split(separator: "/").dropLast()
    for count in folders.indices { _ = mkdir("/" + folders[...count].joined(separator: "/"), 0o700) }
  }

  /// Locks the file until it is closed. Returns false after an error. A change of the terminal's size can interrupt it.
  private static func lock(_ descriptor: Int32, _ operation: Int32) -> Bool {
    while flock(descriptor, operation) != 0 { guard errno == EINTR else { return false } }
    return true
  }

  private static func isRegular(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// The maximum number of bytes that are read of a file that another program has written.
  private static let maximumByteCount = maximumLineCount * (maximumLineByteCount + 1)

  private static func contents(of descriptor: Int32) -> [UInt8] {
    var contents: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while contents.count < maximumByteCount {
      let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count <= 0 { break }
      contents += chunk[..<count]
    }
    return contents
  }

  private static func lines(of contents: [UInt8]) -> [[UInt8]] {
    contents.split(separator: UInt8(ascii: "\n")).filter { $0.count <= maximumLineByteCount }.map(Array.init)
  }
}
