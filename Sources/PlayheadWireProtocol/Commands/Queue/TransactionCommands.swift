import PlayheadMediaCore

/// The reply of `queue.begin` and `queue.abort`.
public struct QueueVersionReply: ReplyFields {
  public var version: UInt64

  public init(version: UInt64) { self.version = version }

  public static let fields: [Field<Self>] = [Field(.version) { $0.version }]
}

/// `queue.begin`: begins a transaction.
public enum QueueBeginCommand: ImmediateCommand {
  public struct Parameters: ParameterList {
    /// Nil: any.
    public let ifVersion: Parameter<Int?>
    public let player: Parameter<String>

    public init(_ list: inout ParameterListBuilder) {
      ifVersion = list.option(
        .ifVersion, .integer(0...Int.max), "VERSION", "only if the queue has this version, now and at `queue.commit`")
      player = list.player()
    }
  }

  public typealias Reply = QueueVersionReply

  public static let name: CommandName = "queue.begin"

  public static let definition = CommandDefinition<Self>(
    .queue, "Begin a transaction: collect edits until `queue.commit`.",
    details: """
      The following edits by this connection for this player are collected, and `queue.commit` applies all of them \
      or none. The edits are the commands of `queue.edit`. Each reply has only `pending`, the number of collected \
      edits.

      - New entries get their ids when they are collected.
      - Other commands take effect at once.
      - If the connection ends or the player is closed before `queue.commit`, nothing changes.
      - A connection has one transaction at a time, with at most \(WireLimits.standard.editCount) changes and \
      \(WireLimits.standard.editByteCount) bytes of paths.
      - All connections together have at most \(WireLimits.standard.collectedChangeCount) changes and \
      \(WireLimits.standard.collectedByteCount) bytes.
      """,
    errors: [.invalidState, .versionMismatch, .noSuchPlayer],
    example: ["> queue.begin if-version=7", "< ok version=7"])
}

/// `queue.commit`: applies the collected edits, or none.
public enum QueueCommitCommand: SometimesWaitingCommand {
  public struct Parameters: ParameterList {
    public let wait: Parameter<EditCondition?>
    public let player: Parameter<String>

    public init(_ list: inout ParameterListBuilder) {
      wait = list.editCondition()
      player = list.player()
    }
  }

  public typealias Reply = CommittedReply

  public static let name: CommandName = "queue.commit"

  public static let definition = CommandDefinition<Self>(
    .queue, "Apply all collected edits, or none.",
    details: """
      The transaction ends in both cases. The reply is that of `queue.edit`. With `wait=ready`, the reply comes when \
      all new entries are ready, or has the error of the first that fails. After such an error, the edits stay applied.
      """,
    errors: [
      .invalidState, .invalidArgument, .noSuchItem, .versionMismatch, .queueTooLong, .noSuchPlayer, .waitEnded,
      .noSuchDescriptor, .onlyInOrder,
    ] + CommandTable.mediaErrors,
    example: ["> queue.commit", "< ok items=10,11 version=8"])

  public static let waiting = CommandSpec.Waiting.untilReady

  public static func waits(_ arguments: Arguments<Self>) -> Bool { arguments.wait != nil }
}

/// `queue.abort`: discards the transaction.
public enum QueueAbortCommand: ImmediateCommand {
  public struct Parameters: ParameterList {
    public let player: Parameter<String>

    public init(_ list: inout ParameterListBuilder) { player = list.player() }
  }

  public typealias Reply = QueueVersionReply

  public static let name: CommandName = "queue.abort"

  public static let definition = CommandDefinition<Self>(
    .queue, "Discard the transaction.", errors: [.invalidState, .noSuchPlayer],
    example: ["> queue.abort", "< ok version=7"])
}
