import PlayheadMediaCore

/// One parsed and checked request. The handler of its command replies to `address`.
public struct Request: Sendable, Hashable {
  /// The destination of the final reply. Subscriptions created by the request send their events in the same form.
  public var address: ReplyAddress
  /// The index of the command in ``CommandTable/all``.
  public var commandIndex: Int
  /// The arguments, which the handler reads as ``Arguments``.
  public var arguments: ParsedArguments

  public init(address: ReplyAddress, commandIndex: Int, arguments: ParsedArguments) {
    self.address = address
    self.commandIndex = commandIndex
    self.arguments = arguments
  }

  /// Whether the request has no value and therefore only reads (``CommandSpec/readsWithoutValue``).
  public var isReadWithoutValue: Bool { arguments.isReadWithoutValue }

  /// The definition of the command.
  public var spec: CommandSpec { arguments.spec }

  /// The name of the command.
  public var name: CommandName { spec.name }

  /// Whether the reply is sent only after an event or a background operation. With an id, such a request does not delay
  /// other requests. Without an id it delays all later requests on its connection.
  public var isWaiting: Bool { spec.waiting != .never && spec.waits(arguments) }
}

/// An invalid line or batch member. The server replies with `error` to `address`, in the order of the requests.
public struct Rejection: Sendable, Hashable {
  public var address: ReplyAddress
  public var error: WireError

  public init(address: ReplyAddress, error: WireError) {
    self.address = address
    self.error = error
  }

  /// The reply to send.
  public var reply: Reply { Reply(outcome: .error(error)) }
}

/// The result of parsing one line.
public enum ParsedLine: Sendable, Hashable {
  /// Only white space. Gets no reply.
  case blank
  case request(Request)
  case rejected(Rejection)
  /// A JSON-RPC batch. Never empty. Its members run in order and get a common reply (``BatchReply``).
  indirect case batch(RequestBatch)

  /// One member of a batch.
  public enum BatchMember: Sendable, Hashable {
    case request(Request)
    case rejected(Rejection)
  }
}
