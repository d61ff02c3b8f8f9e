import PlayheadMediaCore
import PlayheadWireProtocol

/// The replies in an interactive shell, converted to text for people.
///
/// The replies to requests without an id come in the order of the requests. Only the requests for the context of a
/// reply have ids. Pure: no I/O.
struct ShellReplies {
  /// A request without its final reply.
  private struct Pending {
    var words: [[UInt8]]
    /// The rows so far, and the fields of the final line.
    var reply = DaemonReply()
  }

  /// The conversion of a line.
  enum Conversion {
    /// The line is printed unchanged.
    case unchanged
    /// The text to print; empty while the reply is incomplete.
    case text(String)
    /// The words and the id of a request whose reply completes the text.
    case request([[UInt8]], id: String)
  }

  /// The requests of the user, in their order.
  private var pending: [Pending] = []
  /// The replies that wait for their context, by the id of the request for it.
  private var incomplete: [String: (request: Pending, context: DaemonReply)] = [:]
  private var contextCount = 0
  private let isVerbose: Bool

  init(isVerbose: Bool) { self.isVerbose = isVerbose }

  /// Records a line to the daemon, with its LF. Requests in JSON and those with an id keep their form.
  mutating func recordSent(_ line: [UInt8]) {
    var reader = RequestReader()
    var offset = 0
    let address: ReplyAddress? =
      switch reader.next(in: line.span, at: &offset) {
      case .request(let request)?: request.address
      case .rejected(let rejection)?: rejection.address
      case .batch?, .close?, nil: nil
      }
    guard address == .words else { return }
    // A line with invalid quotes is an error for any command.
    pending.append(Pending(words: (try? CommandLineWords.split(Array(line.dropLast()))) ?? []))
  }

  /// Converts a line from the daemon.
  mutating func convert(_ line: [UInt8], _ style: Style) -> Conversion {
    switch try? ServerLine(parsing: line) {
    case .row(nil, let fields)? where !pending.isEmpty:
      pending[0].reply.rows.append(fields)
      return .text("")
    case .ok(nil, let fields)? where !pending.isEmpty:
      var request = pending.removeFirst()
      request.reply.fields = fields
      return finish(request, style)
    case .error(nil, let error, _)? where !pending.isEmpty:
      pending.removeFirst()
      return .text(Self.text(of: error, style))
    case .row(let id?, let fields)? where incomplete[id] != nil:
      incomplete[id]?.context.rows.append(fields)
      return .text("")
    case .ok(let id?, let fields)?:
      guard let (request, rows) = incomplete.removeValue(forKey: id) else { return .unchanged }
      var context = rows
      context.fields = fields
      return .text(text(of: request, context: context, style))
    case .error(let id?, _, _)?:
      // The request itself has succeeded, so its reply is printed even without the context.
      guard let (request, _) = incomplete.removeValue(forKey: id) else { return .unchanged }
      return .text(text(of: request, context: nil, style))
    case .hello?, .row?, .ok?, .error?, .event?, nil: return .unchanged
    }
  }

  private mutating func finish(_ request: Pending, _ style: Style) -> Conversion {
    guard !isVerbose, let words = ReplyContext.request(after: request.words, request.reply) else {
      return .text(text(of: request, context: nil, style))
    }
    contextCount += 1
    let id = "shell-\(contextCount)"
    incomplete[id] = (request, DaemonReply())
    return .request(words, id: id)
  }

  private func text(of request: Pending, context: DaemonReply?, _ style: Style) -> String {
    let command = String(decoding: request.words.first ?? [], as: UTF8.self)
    return HumanText(ofCommand: command, request.reply, context: context, style, isVerbose: isVerbose).text
  }

  private static func text(of error: MediaError, _ style: Style) -> String {
    "\(style.red("error:")) \(Terminal.printable(ReplyPrinter.describe(error)))\n"
  }
}
