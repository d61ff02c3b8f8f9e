import MediaCore
import WireProtocol

/// Shows what the daemon answers to one request.
enum ReplyPrinter {
  /// Shows one line; answers the exit status when it was the final one.
  ///
  /// Rows and fields go to standard output as they stand on the wire, without the `|` and the `ok`; in JSON the result alone
  /// does. An error's message goes to standard error.
  static func printed(_ line: [UInt8], isJSON: Bool) -> Int32? {
    if isJSON, line.first == UInt8(ascii: "{") { return printedJSON(line) }
    if line.starts(with: "| ".utf8) {
      Terminal.print(line[2...] + [UInt8(ascii: "\n")])
      return nil
    }
    if line.elementsEqual("ok".utf8) { return PlayheadClient.Status.done }
    if line.starts(with: "ok ".utf8) {
      Terminal.print(line[3...] + [UInt8(ascii: "\n")])
      return PlayheadClient.Status.done
    }
    return printedOther(line)
  }

  /// Greetings, errors, and what nobody expects.
  private static func printedOther(_ line: [UInt8]) -> Int32? {
    do throws(MediaError) {
      switch try ServerLine(parsing: line) {
      case .error(_, let error, _):
        Terminal.complain(describe(error))
        return PlayheadClient.Status.of(error.code)
      case .event(EventName.closing.rawValue, let fields):
        Terminal.complain(fields["message"] ?? "the daemon closed the connection")
        return PlayheadClient.Status.unreachable
      case .hello, .row, .ok, .event: return nil
      }
    } catch {
      return nil
    }
  }

  private static func printedJSON(_ line: [UInt8]) -> Int32? {
    guard let value = try? JSONValue(parsing: line.span), value["id"] != nil else { return nil }
    if let result = value["result"] {
      var text: [UInt8] = []
      result.append(to: &text)
      Terminal.print(text + [UInt8(ascii: "\n")])
      return PlayheadClient.Status.done
    }
    if case .string(let message)? = value["error"]?["message"] {
      var name = ""
      if case .string(let text)? = value["error"]?["data"]?["name"] { name = " (\(text))" }
      Terminal.complain(message + name)
    }
    return PlayheadClient.Status.of(code(ofJSONError: value))
  }

  /// Our number in a JSON-RPC error reply; nil when there is none.
  static func code(ofJSONError value: JSONValue) -> MediaError.Code? {
    guard case .number(let token)? = value["error"]?["data"]?["number"] else { return nil }
    return Int(token).map(MediaError.Code.init(rawValue:))
  }

  /// An error for people: what is wrong, and its name to look up.
  static func describe(_ error: MediaError) -> String { "\(error.message) (\(error.code.name))" }
}
