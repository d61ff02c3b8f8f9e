import PlayheadMediaCore
import PlayheadWireProtocol

/// Sends requests in JSON one at a time over one connection.
final class JSONClient {
  /// Encodes the words of a request as a line of JSON.
  private let encode: ([[UInt8]]) throws -> [UInt8]
  private var connection: DaemonConnection

  init(_ connection: consuming DaemonConnection, encode: @escaping ([[UInt8]]) throws -> [UInt8]) {
    self.encode = encode
    self.connection = connection
  }

  /// Sends a request and returns its result.
  ///
  /// - Throws: `ErrorReply`, `Unreachable`, or the errors of `encode`.
  func request(_ words: [[UInt8]]) throws -> JSONValue {
    try connection.sendIgnoringDisconnection(encode(words))
    return try connection.waitForLine { line in
      guard let value = try? JSONValue(parsing: line.span), value["id"] != nil else { return nil }
      guard let result = value["result"] else { throw ErrorReply(error: ReplyPrinter.error(ofJSON: value)) }
      return result
    }
  }

  func request(_ words: [String]) throws -> JSONValue { try request(words.map { Array($0.utf8) }) }

  /// The rows of a result.
  static func rows(_ result: JSONValue) -> [JSONValue] {
    guard case .array(let rows)? = result["rows"] else { return [] }
    return rows
  }

  /// The rows of all pages of a list.
  func allRows(_ words: [String]) throws -> [JSONValue] {
    var all: [JSONValue] = []
    var offset = 0
    while true {
      let page = try request(words + ["offset=\(offset)"])
      all += Self.rows(page)
      guard case .number(let token)? = page["next"], let nextOffset = Int(token), nextOffset > offset else {
        return all
      }
      offset = nextOffset
    }
  }
}
