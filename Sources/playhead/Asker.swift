// What is asked of the daemon and what it answers, one thing after another.
import MediaCore
import WireProtocol

/// An error reply: the daemon did not do it. Exit status 1, or 3 where it stops.
struct Refusal: Error {
  var error: MediaError

  /// What the client ends with.
  var status: Int32 { PlayheadClient.Status.of(error.code) }
}

/// A whole answer to one request: its rows, and the fields of its final line.
struct Answer {
  var rows: [ServerLine.TextFields] = []
  var fields = ServerLine.TextFields()
}

extension DaemonConnection {
  /// Reads lines until `take` makes something of one, and answers that. Errors: `Unreachable`, also when the stream ends before;
  /// what `take` throws.
  mutating func waitForLine<Value>(_ take: ([UInt8]) throws -> Value?) throws -> Value {
    while let line = try waitForLine() {
      if let value = try take(line) { return value }
    }
    throw Unreachable(message: "the daemon at \(path) closed the connection before it answered")
  }

  /// Waits for the answer to what was sent, in words; `onEvent` has what comes in between. Errors: `Refusal` for an error
  /// reply; `Unreachable`.
  mutating func waitForAnswer(onEvent: (String, ServerLine.TextFields) -> Void = { _, _ in }) throws -> Answer {
    var answer = Answer()
    let path = path
    return try waitForLine { line in
      let meaning: ServerLine
      do throws(MediaError) { meaning = try ServerLine(parsing: line) } catch {
        throw Unreachable(message: "what answers at \(path) is no daemon: \(error.message)")
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

/// Asks one thing after another over one connection.
final class Asker {
  private let line: ([[UInt8]]) throws -> [UInt8]
  private var connection: DaemonConnection

  /// `line` makes a line of a request's words, or refuses what no daemon would take.
  init(_ connection: consuming DaemonConnection, line: @escaping ([[UInt8]]) throws -> [UInt8]) {
    self.connection = connection
    self.line = line
  }

  /// Sends a request and waits for its answer. Errors: `Refusal`, `Unreachable`; what `line` throws.
  func ask(_ words: [[UInt8]]) throws -> Answer {
    let line = try line(words)
    // One that refuses the connection has closed it perhaps, and has said why.
    try connection.sendFirst(line)
    return try connection.waitForAnswer()
  }

  /// Likewise, of words that are text.
  func ask(_ words: [String]) throws -> Answer { try ask(words.map { Array($0.utf8) }) }
}
