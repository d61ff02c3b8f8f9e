// Requests to the daemon and their replies, one at a time.
import MediaCore
import WireProtocol

/// An error reply. Exit status 1, or 3 when the daemon is shutting down.
struct Refusal: Error {
  var error: MediaError

  /// The exit status of the client.
  var status: Int32 { PlayheadClient.Status.of(error.code) }
}

/// The complete reply to one request: its rows, and the fields of its final line.
struct Answer {
  var rows: [ServerLine.TextFields] = []
  var fields = ServerLine.TextFields()
}

extension DaemonConnection {
  /// Reads lines until `take` returns a value, and returns that value.
  ///
  /// - Throws: `Unreachable`, also when the stream ends before; the errors of `take`.
  mutating func waitForLine<Value>(_ take: ([UInt8]) throws -> Value?) throws -> Value {
    while let line = try waitForLine() {
      if let value = try take(line) { return value }
    }
    throw Unreachable(message: "the daemon at \(path) closed the connection before its reply")
  }

  /// Waits for the reply to a request in text form. Calls `onEvent` for events that arrive before it.
  ///
  /// - Throws: `Refusal` for an error reply; `Unreachable`.
  mutating func waitForAnswer(onEvent: (String, ServerLine.TextFields) -> Void = { _, _ in }) throws -> Answer {
    var answer = Answer()
    let path = path
    return try waitForLine { line in
      let meaning: ServerLine
      do throws(MediaError) { meaning = try ServerLine(parsing: line) } catch {
        throw Unreachable(message: "the peer at \(path) is not a Playhead daemon: \(error.message)")
      }
      switch meaning {
      case .row(_, let fields): answer.rows.append(fields)
      case .ok(_, let fields):
        answer.fields = fields
        return answer
      case .error(_, let error, _): throw Refusal(error: error)
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
final class Asker {
  private let line: ([[UInt8]]) throws -> [UInt8]
  private var connection: DaemonConnection

  /// Creates an asker. `line` encodes the words of a request, or throws for a request that no daemon accepts.
  init(_ connection: consuming DaemonConnection, line: @escaping ([[UInt8]]) throws -> [UInt8]) {
    self.connection = connection
    self.line = line
  }

  /// Sends a request and waits for its reply.
  ///
  /// - Throws: `Refusal`, `Unreachable`; the errors of `line`.
  func ask(_ words: [[UInt8]]) throws -> Answer {
    let line = try line(words)
    // A daemon that rejects the connection may have closed it already, after sending the reason.
    try connection.sendFirst(line)
    return try connection.waitForAnswer()
  }

  /// Sends a request of text words and waits for its reply.
  func ask(_ words: [String]) throws -> Answer { try ask(words.map { Array($0.utf8) }) }
}
