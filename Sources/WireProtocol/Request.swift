import MediaCore

/// One request, read and checked: a handler looks at `command` and answers to `address`.
public struct Request: Sendable, Hashable {
  /// Where the one final reply goes; also the form that events of a subscription made by it take.
  public var address: ReplyAddress
  public var name: CommandName
  public var command: Command
  /// Whether the command has no value, and only reads (`CommandSpec.asks`).
  public var isQuestion: Bool

  public init(address: ReplyAddress, name: CommandName, command: Command, isQuestion: Bool) {
    self.address = address
    self.name = name
    self.command = command
    self.isQuestion = isQuestion
  }

  /// Whether the reply comes only when something has happened; see `Command.isWaiting`.
  public var isWaiting: Bool { command.isWaiting }
}

/// A line that is no good, or a member of a batch that is not: answer `error` to `address` in its turn.
public struct Rejection: Sendable, Hashable {
  public var address: ReplyAddress
  public var error: WireError

  public init(address: ReplyAddress, error: WireError) {
    self.address = address
    self.error = error
  }

  /// The reply to be sent.
  public var reply: Reply { Reply(outcome: .error(error)) }
}

/// What one line was.
public enum ParsedLine: Sendable, Hashable {
  /// Nothing but spaces: no reply.
  case blank
  case request(Request)
  case rejected(Rejection)
  /// A JSON-RPC batch; never empty. Its members run in order and are answered together (`BatchReply`).
  case batch(RequestBatch)

  /// One member of a batch.
  public enum BatchMember: Sendable, Hashable {
    case request(Request)
    case rejected(Rejection)
  }
}
