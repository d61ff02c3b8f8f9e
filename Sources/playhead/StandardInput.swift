// Standard input as something to play: the daemon is handed the descriptor itself, so that what comes through a pipe goes
// nowhere else, and the client need not stay.
import CMediaShims
import Glibc
import MediaCore
import WireProtocol

/// `-` where a file stands.
enum StandardInput {
  /// What stands for it on the wire until it has been handed over; and something else that would.
  private static let placeholder = "fd:" + String(repeating: "0", count: FilePath.descriptorTokenLength)
  private static let otherPlaceholder = "fd:" + String(repeating: "1", count: FilePath.descriptorTokenLength)

  /// What it is called where files have their names.
  static let name = "standard input"

  /// All of it. What cannot be read is its end.
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

  /// What of several files among a request's words it is, told by the daemon's name for that; nil: another one.
  static func name(of path: String, among words: [[UInt8]]) -> String? {
    guard path.hasPrefix("fd:"), words.contains(where: isMeant), !words.contains(Array(path.utf8)) else { return nil }
    return name
  }

  /// Whether a word of the command line is it, if it stands for a file.
  static func isMeant(_ word: [UInt8]) -> Bool { word.elementsEqual("-".utf8) }

  /// There is one of it, and it is a file or a pipe. Errors: `Misuse` when one of these words is it, and that cannot be.
  static func check(_ words: [[UInt8]]) throws(Invocation.Misuse) {
    switch words.count(where: isMeant) {
    case 0: return
    case 1 where isatty(STDIN_FILENO) == 1:
      throw Invocation.Misuse(message: "- is standard input, which is a terminal here: redirect a file or a pipe to it")
    case 1: return
    default: throw Invocation.Misuse(message: "- is standard input, and there is one of it")
    }
  }

  /// A request's line, as `encode` writes it with what stands for standard input; that is handed over where the line shows that a
  /// `-` among the words stands for a file. Errors: `Misuse` for a second one, and for a terminal; `MediaError` for what no
  /// daemon would take; `Unreachable`; `Refusal`.
  static func line(
    for words: [[UInt8]], socketPath: () throws -> String, encode: (_ input: String) throws -> [UInt8]
  ) throws -> [UInt8] {
    let line = try encode(placeholder)
    try RequestCheck.check(line)
    guard try encode(otherPlaceholder) != line else { return line }
    try check(words)
    return try encode(handOver(socketPath: socketPath()))
  }

  /// Hands it over, and answers what stands for it on the wire. Errors: `Unreachable`; `Refusal`.
  private static func handOver(socketPath: String) throws -> String {
    var connection = try DaemonConnection(path: SocketLocation.path(of: .handoff, beside: socketPath), inPackets: true)
    try connection.requireTrustedPeer()
    guard media_shims_send_descriptor(connection.descriptor, STDIN_FILENO) == 0 else {
      throw Unreachable(message: "standard input cannot be handed over: \(String(cString: strerror(errno)))")
    }
    guard let path = try connection.waitForAnswer().fields["path"] else {
      throw Unreachable(message: "the daemon at \(connection.path) did not say where standard input is")
    }
    return path
  }
}
