import MediaCore
import WireProtocol

/// Shows what the daemon answers to one request.
enum ReplyPrinter {
  /// Shows one line; answers the exit status when it was the final one.
  ///
  /// Rows and fields go to standard output as they stand on the wire, without the `|` and the `ok`; in JSON the result alone
  /// does. Errors: `Refusal` for an error reply; `Unreachable` when the daemon says that it closes the connection.
  static func printed(_ line: [UInt8], isJSON: Bool) throws -> Int32? {
    if isJSON, line.first == UInt8(ascii: "{") { return try printedJSON(line) }
    if line.starts(with: "| ".utf8) {
      Terminal.print(line[2...] + [UInt8(ascii: "\n")])
      return nil
    }
    if line.elementsEqual("ok".utf8) { return PlayheadClient.Status.done }
    if line.starts(with: "ok ".utf8) {
      Terminal.print(line[3...] + [UInt8(ascii: "\n")])
      return PlayheadClient.Status.done
    }
    // Greetings, errors, and what nobody expects.
    switch try? ServerLine(parsing: line) {
    case .error(_, let error, _)?: throw Refusal(error: error)
    case .event(EventName.closing.rawValue, let fields)?:
      throw Unreachable(message: fields["message"] ?? "the daemon closed the connection")
    case .hello?, .row?, .ok?, .event?, nil: return nil
    }
  }

  private static func printedJSON(_ line: [UInt8]) throws -> Int32? {
    guard let value = try? JSONValue(parsing: line.span), value["id"] != nil else { return nil }
    if let result = value["result"] {
      var text: [UInt8] = []
      result.append(to: &text)
      Terminal.print(text + [UInt8(ascii: "\n")])
      return PlayheadClient.Status.done
    }
    throw Refusal(error: error(ofJSON: value))
  }

  /// The error in a JSON-RPC error reply: ours, or JSON-RPC's own.
  static func error(ofJSON value: JSONValue) -> MediaError {
    var message = "the daemon answered an error without a message"
    if case .string(let text)? = value["error"]?["message"] { message = text }
    for token in [value["error"]?["data"]?["number"], value["error"]?["code"]] {
      if case .number(let token)? = token, let number = Int(token) {
        return MediaError(MediaError.Code(rawValue: number), message)
      }
    }
    return MediaError(.badArguments, message)
  }

  /// An error for people: what is wrong, and its name to look up.
  static func describe(_ error: MediaError) -> String { "\(error.message) (\(error.code.name))" }
}
