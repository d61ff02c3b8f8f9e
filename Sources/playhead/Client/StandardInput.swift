// Standard input as a playable source. The client passes the descriptor to the daemon, or for a queue the end of a
// spool. The client can exit before the end of the data.
import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol

/// A `-` as a file name, which means standard input.
enum StandardInput {
  /// Two placeholder paths for standard input. A request is encoded with each of them. If the results differ, a `-` in
  /// the request is a file name.
  static let placeholder = "fd:" + String(repeating: "0", count: FilePath.descriptorTokenLength)
  private static let otherPlaceholder = "fd:" + String(repeating: "1", count: FilePath.descriptorTokenLength)

  /// The display name of standard input.
  static let name = "standard input"

  /// All bytes of standard input. A read error counts as the end.
  static func readAll() -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = chunk.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
    }
  }

  /// The display name for a path in the reply to the request `words`, if the path is the daemon's name of standard
  /// input; nil for another file.
  static func displayName(ofReplyPath path: String, words: [[UInt8]]) -> String? {
    guard path.hasPrefix("fd:"), words.contains(where: isStandardInput), !words.contains(Array(path.utf8)) else {
      return nil
    }
    return name
  }

  /// Whether a word of the command line is `-`, which means standard input where a file name is expected.
  static func isStandardInput(_ word: [UInt8]) -> Bool { word.elementsEqual("-".utf8) }

  /// Checks that at most one word is standard input, and that standard input is a file or a pipe.
  ///
  /// - Throws: `Misuse` otherwise.
  static func check(_ words: [[UInt8]]) throws(Invocation.Misuse) {
    let count = words.count(where: isStandardInput)
    guard count > 0 else { return }
    try checkIsReadable()
    guard count == 1 else { throw Invocation.Misuse(message: "standard input (-) can be used only once") }
  }

  private static func checkIsReadable() throws(Invocation.Misuse) {
    guard isatty(STDIN_FILENO) != 1 else {
      throw Invocation.Misuse(message: "standard input (-) must be a file or a pipe, not a terminal")
    }
  }

  /// The line of a request from `encode`, which is called with two placeholders for standard input. If the results
  /// differ, a `-` in the request is a file name. Standard input is then transferred to the daemon.
  ///
  /// - Throws: `Misuse` for a second `-` or for a terminal, `MediaError` for a request that no daemon accepts,
  ///   `Unreachable`, `ErrorReply`, or the errors of `encode`.
  static func line(
    for words: [[UInt8]], socketPath: () throws -> String, encode: (_ input: String) throws -> [UInt8]
  ) throws -> [UInt8] {
    let line = try encode(placeholder)
    try RequestCheck.check(line)
    guard try encode(otherPlaceholder) != line else { return line }
    try check(words)
    // The `-` can be in an edit of `queue.edit`, which is one word.
    try checkIsReadable()
    let command = words.first.flatMap { CommandName(rawValue: String(decoding: $0, as: UTF8.self)) }
    return try encode(pass(forQueue: command.map(queueCommands.contains) ?? false, socketPath: socketPath()))
  }

  /// The commands whose files are read while they play. All others read their files at once.
  private static let queueCommands: Set<CommandName> = [
    LoadCommand.name, AppendCommand.name, InsertCommand.name, ReplaceCommand.name, QueueEditCommand.name,
  ]

  /// Transfers standard input to the daemon, and returns its path on the wire.
  ///
  /// - Parameter forQueue: Whether the daemon reads the data while it plays. A pipe is then spooled (``Spool``).
  /// - Throws: `ErrorReply`, or `Unreachable`.
  static func pass(forQueue: Bool, socketPath: String) throws -> String {
    func pass(_ descriptor: Int32) throws -> String {
      try PassedDescriptor.pass(descriptor, named: name, socketPath: socketPath)
    }
    if forQueue, let path = try Spool.start(passing: pass) { return path }
    return try pass(STDIN_FILENO)
  }
}
