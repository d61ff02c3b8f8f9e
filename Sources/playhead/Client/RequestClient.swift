// Requests to the daemon and their replies, one at a time.
import PlayheadMediaCore
import PlayheadWireProtocol

/// An error reply. The client exits with status 1, or with 3 if the daemon is shutting down.
struct ErrorReply: Error {
  var error: MediaError

  /// The exit status of the client.
  var status: Int32 { PlayheadClient.Status.of(error.code) }
}

/// The complete reply to one request: its rows, and the fields of its final line.
struct DaemonReply {
  var rows: [ServerLine.TextFields] = []
  var fields = ServerLine.TextFields()
}

extension DaemonConnection {
  /// Reads lines until `body` returns a value, and returns that value.
  ///
  /// - Throws: `Unreachable`, also if the connection closes first, or the errors of `body`.
  mutating func waitForLine<Value>(_ body: ([UInt8]) throws -> Value?) throws -> Value {
    while let line = try waitForLine() {
      if let value = try body(line) { return value }
    }
    throw Unreachable(message: "the daemon at \(path) closed the connection before its reply")
  }

  /// Waits for the reply to a request in text form. Calls `onRow` with the line of each row, and `onEvent` for events
  /// that arrive before the reply.
  ///
  /// - Throws: `ErrorReply` for an error reply, or `Unreachable`.
  mutating func waitForReply(
    onEvent: (String, ServerLine.TextFields) -> Void = { _, _ in }, onRow: ([UInt8]) -> Void = { _ in }
  ) throws -> DaemonReply {
    var reply = DaemonReply()
    let path = path
    return try waitForLine { line in
      let parsedLine: ServerLine
      do throws(MediaError) { parsedLine = try ServerLine(parsing: line) } catch {
        throw Unreachable(message: "the peer at \(path) is not a Playhead daemon: \(error.message)")
      }
      switch parsedLine {
      case .row(_, let fields):
        reply.rows.append(fields)
        onRow(line)
      case .ok(_, let fields):
        reply.fields = fields
        return reply
      case .error(_, let error, _): throw ErrorReply(error: error)
      case .event(EventName.closing.rawValue, let fields):
        throw Unreachable(message: fields["message"] ?? "the daemon closed the connection")
      case .event(let name, let fields): onEvent(name, fields)
      case .hello: break
      }
      return nil
    }
  }
}

/// Sends requests one at a time over one connection.
final class RequestClient {
  private let encode: ([[UInt8]]) throws -> [UInt8]
  private var connection: DaemonConnection

  /// Creates a client. `encode` encodes the words of a request, or throws for a request that no daemon accepts.
  init(_ connection: consuming DaemonConnection, encode: @escaping ([[UInt8]]) throws -> [UInt8]) {
    self.connection = connection
    self.encode = encode
  }

  /// Sends a request and waits for its reply.
  ///
  /// - Throws: `ErrorReply`, `Unreachable`, or the errors of `encode`.
  func send(_ words: [[UInt8]]) throws -> DaemonReply {
    try connection.sendIgnoringDisconnection(encode(words))
    return try connection.waitForReply()
  }

  /// Sends a request of text words and waits for its reply.
  func send(_ words: [String]) throws -> DaemonReply { try send(words.map { Array($0.utf8) }) }
}
