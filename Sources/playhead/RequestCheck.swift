import MediaCore
import WireProtocol

/// What can be known of a request without a daemon.
enum RequestCheck {
  /// Refuses a line that no daemon would take, with the error that one would answer. A command that this client does not know
  /// passes: the daemon may be newer.
  static func check(_ line: [UInt8]) throws(MediaError) {
    var reader = RequestReader()
    var offset = 0
    guard case .rejected(let rejection)? = reader.next(in: line.span, at: &offset),
      rejection.error.error.code != .unknownCommand
    else { return }
    throw rejection.error.error
  }
}
