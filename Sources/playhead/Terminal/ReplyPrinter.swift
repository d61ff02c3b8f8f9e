import PlayheadMediaCore
import PlayheadWireProtocol

/// Prints the reply to one request.
enum ReplyPrinter {
  /// Prints one line. Returns the exit status for the final line, and nil for any other line.
  ///
  /// Rows and fields are printed on standard output in their wire form, without the `|` and the `ok`. In JSON, only
  /// the result is printed.
  ///
  /// - Throws: `ErrorReply` for an error reply, or `Unreachable` when the daemon announces the end of the connection.
  static func print(_ line: [UInt8], isJSON: Bool) throws -> Int32? {
    if isJSON, line.first == UInt8(ascii: "{") { return try printJSON(line) }
    if line.starts(with: "| ".utf8) {
      Terminal.print(line[2...] + [UInt8(ascii: "\n")])
      return nil
    }
    if line.elementsEqual("ok".utf8) { return PlayheadClient.Status.done }
    if line.starts(with: "ok ".utf8) {
      Terminal.print(line[3...] + [UInt8(ascii: "\n")])
      return PlayheadClient.Status.done
    }
    // Greetings, errors, and unexpected lines.
    switch try? ServerLine(parsing: line) {
    case .error(_, let error, _)?: throw ErrorReply(error: error)
    case .event(EventName.closing.rawValue, let fields)?:
      throw Unreachable(message: fields["message"] ?? "the daemon closed the connection")
    case .hello?, .row?, .ok?, .event?, nil: return nil
    }
  }

  private static func printJSON(_ line: [UInt8]) throws -> Int32? {
    guard let value = try? JSONValue(parsing: line.span), value["id"] != nil else { return nil }
    if let result = value["result"] {
      var text: [UInt8] = []
      result.append(to: &text)
      Terminal.print(text + [UInt8(ascii: "\n")])
      return PlayheadClient.Status.done
    }
    throw ErrorReply(error: error(ofJSON: value))
  }

  /// The error in a JSON-RPC error reply: the daemon's number, or else JSON-RPC's code, or else `bad-arguments`.
  static func error(ofJSON value: JSONValue) -> MediaError {
    var message = "the daemon replied with an error without a message"
    if case .string(let text)? = value["error"]?["message"] { message = text }
    for token in [value["error"]?["data"]?["number"], value["error"]?["code"]] {
      if case .number(let token)? = token, let number = Int(token) {
        return MediaError(MediaError.Code(rawValue: number), message)
      }
    }
    return MediaError(.badArguments, message)
  }

  /// An error for users: the message and the name of the error.
  static func describe(_ error: MediaError) -> String { "\(error.message) (\(error.code.name))" }
}
