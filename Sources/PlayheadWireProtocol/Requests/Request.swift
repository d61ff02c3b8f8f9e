import PlayheadMediaCore

/// One parsed and checked request. The handler of its command replies to `address`.
package struct Request: Sendable, Hashable {
  /// The destination of the final reply. Subscriptions created by the request send their events in the same form.
  package var address: ReplyAddress
  /// The index of the command in ``CommandTable/all``.
  package var commandIndex: Int
  /// The arguments, which the handler reads as ``Arguments``.
  package var arguments: ParsedArguments

  package init(address: ReplyAddress, commandIndex: Int, arguments: ParsedArguments) {
    self.address = address
    self.commandIndex = commandIndex
    self.arguments = arguments
  }

  /// Whether the request has no value and therefore only reads (``CommandSpec/readsWithoutValue``).
  package var isReadWithoutValue: Bool { arguments.isReadWithoutValue }

  /// The definition of the command.
  package var spec: CommandSpec { arguments.spec }

  /// The name of the command.
  package var name: CommandName { spec.name }

  /// Whether the reply is sent only after an event or a background operation. With an id, such a request does not delay
  /// other requests. Without an id it delays all later requests on its connection.
  package var isWaiting: Bool { spec.waiting != .never && spec.waits(arguments) }
}

/// An invalid line or batch member. The server replies with `error` to `address`, in the order of the requests.
package struct Rejection: Sendable, Hashable {
  package var address: ReplyAddress
  package var error: WireError

  package init(address: ReplyAddress, error: WireError) {
    self.address = address
    self.error = error
  }

  /// The reply to send.
  package var reply: Reply { Reply(outcome: .error(error)) }
}

/// The result of parsing one line.
package enum ParsedLine: Sendable, Hashable {
  /// Only white space. Gets no reply.
  case blank
  case request(Request)
  case rejected(Rejection)
  /// A JSON-RPC batch. Never empty. Its members run in order and get a common reply (``BatchReply``).
  indirect case batch(RequestBatch)

  /// One member of a batch.
  package enum BatchMember: Sendable, Hashable {
    case request(Request)
    case rejected(Rejection)
  }
}
