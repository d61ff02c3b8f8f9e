import PlayheadMediaCore
import PlayheadWireProtocol

/// Checks requests without a daemon.
enum RequestCheck {
  /// Checks the line of a request.
  ///
  /// - Throws: The error that the daemon would return for the line.
  static func check(_ line: [UInt8]) throws(MediaError) {
    var reader = RequestReader()
    var offset = 0
    if case .rejected(let rejection)? = reader.next(in: line.span, at: &offset) { throw rejection.error.error }
  }

  /// The arguments of a line.
  ///
  /// - Throws: The error that the daemon would return for the line.
  static func arguments(_ line: [UInt8]) throws(MediaError) -> ParsedArguments {
    var reader = RequestReader()
    var offset = 0
    switch reader.next(in: line.span, at: &offset) {
    case .request(let request): return request.arguments
    case .rejected(let rejection): throw rejection.error.error
    case .batch, .close, nil: throw MediaError(.badArguments, "the request is incomplete")
    }
  }
}
