import PlayheadMediaCore

/// The reply of `queue.begin` and `queue.abort`.
package struct QueueVersionReply: ReplyFields {
  package var version: UInt64

  package init(version: UInt64) { self.version = version }

  package static let fields: [Field<Self>] = [Field(.version) { $0.version }]
}

/// `queue.begin`: begins a transaction.
package enum QueueBeginCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Nil: any.
    package let ifVersion: Parameter<Int?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      ifVersion = list.option(
        .ifVersion, .integer(0...Int.max), "VERSION", "only if the queue has this version, now and at `queue.commit`")
      player = list.player()
    }
  }

  package typealias Reply = QueueVersionReply

  package static let name: CommandName = "queue.begin"

  package static let definition = CommandDefinition<Self>(
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
package enum QueueCommitCommand: SometimesWaitingCommand {
  package struct Parameters: ParameterList {
    package let wait: Parameter<EditCondition?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      wait = list.editCondition()
      player = list.player()
    }
  }

  package typealias Reply = CommittedReply

  package static let name: CommandName = "queue.commit"

  package static let definition = CommandDefinition<Self>(
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

  package static let waiting = CommandSpec.Waiting.untilReady

  package static func waits(_ arguments: Arguments<Self>) -> Bool { arguments.wait != nil }
}

/// `queue.abort`: discards the transaction.
package enum QueueAbortCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) { player = list.player() }
  }

  package typealias Reply = QueueVersionReply

  package static let name: CommandName = "queue.abort"

  package static let definition = CommandDefinition<Self>(
    .queue, "Discard the transaction.", errors: [.invalidState, .noSuchPlayer],
    example: ["> queue.abort", "< ok version=7"])
}
