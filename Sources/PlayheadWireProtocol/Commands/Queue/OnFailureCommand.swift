import PlayheadMediaCore

/// The reaction of a player to the failure of an entry.
package enum FailurePolicy: String, Sendable, Hashable, CaseIterable {
  case skip
  case stop
  case retry
}

/// `on-failure`: sets or shows the reaction to the failure of an entry.
package enum OnFailureCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Nil: the policy does not change.
    package let policy: Parameter<FailurePolicy?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      policy = list.optional("policy", .word, "skip|stop|retry", "the action; default: `skip`")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var onFailure: FailurePolicy

    package init(onFailure: FailurePolicy) { self.onFailure = onFailure }

    package static let fields: [Field<Self>] = [Field(.onFailure) { $0.onFailure }]
  }

  package static let name: CommandName = "on-failure"

  package static let definition = CommandDefinition<Self>(
    .queue, "Set what happens when an entry fails, or show it.",
    details: """
      - `skip` (default): the next entry plays. The failed entry leaves the queue with an `item-skipped` event. The \
      last entry is not skipped: the player waits there (`currentItemFailed`), or pauses with `end-action stop`.
      - `stop`: the player pauses, and the failed entry stays current. `play` continues with the next entry.
      - `retry`: the next entry plays, with an `item-skipped` event. The failed entry moves to the end of the queue. \
      While the player plays, failed entries among the next 8 are opened again: each after 1 s, and then after \
      doubled delays of at most 60 s. If all entries have failed, the player waits (`currentItemFailed`) until one \
      can be opened. A descriptor, and an entry that crashed the daemon, are not opened again. An entry whose file \
      or server fails while it plays forwards is retried, too, and continues at the position of the failure. An \
      entry with damaged content leaves the queue as at its end.
      """,
    readsWithoutValue: true, errors: [.noSuchPlayer], example: ["> on-failure stop", "< ok onFailure=stop"])
}
