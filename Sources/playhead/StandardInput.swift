// Standard input as something to play: the daemon is handed the descriptor itself, so that what comes through a pipe goes
// nowhere else, and the client need not stay.
import CMediaShims
import Glibc
import MediaCore
import WireProtocol

/// `-` where a file stands.
enum StandardInput {
  /// What stands for it on the wire until it has been handed over; and something else that would.
  static let placeholder = "fd:1"
  static let otherPlaceholder = "fd:2"

  /// Whether a word of the command line is it, if it stands for a file.
  static func isMeant(_ word: [UInt8]) -> Bool { word.elementsEqual("-".utf8) }

  /// Hands it over, and answers what stands for it on the wire. Errors: `Misuse` for a terminal; `Unreachable`; `Refused`.
  static func handOver(socketPath: String) throws -> String {
    if isatty(STDIN_FILENO) == 1 {
      throw Invocation.Misuse(message: "- is standard input, which is a terminal here: redirect a file or a pipe to it")
    }
    var connection = try DaemonConnection(path: socketPath + ".fd")
    guard media_shims_send_descriptor(connection.descriptor, STDIN_FILENO) == 0 else {
      throw Unreachable(message: "standard input cannot be handed over: \(String(cString: strerror(errno)))")
    }
    while let line = try connection.waitForLine() {
      switch try ServerLine(parsing: line) {
      case .ok(_, let fields):
        if let path = fields["path"] { return path }
      case .error(_, let error, _): throw Refused(error: error)
      case .hello, .row, .event: continue
      }
    }
    throw Unreachable(message: "the daemon at \(connection.path) closed the connection before it answered")
  }

  /// The daemon did not take it.
  struct Refused: Error {
    var error: MediaError
  }
}
