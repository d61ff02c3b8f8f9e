import PlayheadMediaCore

/// The reply of the commands that change the current entry.
package struct CurrentEntryReply: ReplyFields {
  /// The id of the current entry. Nil if there is none.
  package var item: UInt64?
  package var version: UInt64

  package init(item: UInt64?, version: UInt64) { (self.item, self.version) = (item, version) }

  package static let fields: [Field<Self>] = [Field(nullable: .item) { $0.item }, Field(.version) { $0.version }]
}

/// `next`: plays the next entry.
package enum NextCommand: ImmediateCommand {
  package typealias Parameters = PlayerVersionParameters
  package typealias Reply = CurrentEntryReply

  package static let name: CommandName = "next"

  package static let definition = CommandDefinition<Self>(
    .queue, "Play the next entry.",
    details: "The current entry leaves the queue; `previous` brings it back. After the last entry there is no"
      + " current item.",
    errors: [.noCurrentItem, .versionMismatch, .noSuchPlayer],
    example: ["> next", "< ok item=2 version=6"])
}

/// `previous`: plays the previous entry.
package enum PreviousCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// The current entry is restarted instead if more than this duration of it was heard. Nil: never.
    package let restartAfter: Parameter<MediaTime?>
    package let ifVersion: Parameter<Int?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      restartAfter = list.option(
        "restart-after", .duration, "TIME", "restart the current entry if more than this has been heard, such as 3")
      ifVersion = list.ifVersion()
      player = list.player()
    }
  }

  package typealias Reply = CurrentEntryReply

  package static let name: CommandName = "previous"

  package static let definition = CommandDefinition<Self>(
    .queue, "Play the previous entry.",
    details: """
      The previous entry returns to the queue before the current one, with the same id. It plays from its start. If \
      there is no previous entry, a queue that repeats and is not shuffled continues with its last entry.

      With `restart-after`, the current entry starts again instead if more than TIME of it has been heard, as on a \
      CD player.
      """,
    errors: [.noSuchItem, .versionMismatch, .noSuchPlayer],
    example: ["> previous restart-after=3", "< ok item=1 version=7"])
}

/// `jump`: plays another entry.
package enum JumpCommand: ImmediateCommand {
  /// The entry to jump to.
  package enum Target: Sendable, Hashable {
    case entry(EntryReference)
    /// 0 is the current entry.
    case index(Int)
  }

  package struct Parameters: ParameterList {
    package let id: Parameter<EntryReference?>
    /// 0 is the current entry.
    package let index: Parameter<Int?>
    package let ifVersion: Parameter<Int?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      id = list.optional(.id, .entry, "ID", "the entry")
      index = list.option(.index, .integer(0...Int.max), "INDEX", "its position; 0 is the current entry")
      ifVersion = list.ifVersion()
      player = list.player()
    }
  }

  package typealias Reply = CurrentEntryReply

  package static let name: CommandName = "jump"

  package static let definition = CommandDefinition<Self>(
    .queue, "Play another entry from its start.",
    details:
      "The entry is selected by its id, or by its position (`index`). Entries before it count as played:"
      + " `previous` returns to them, and in a queue that repeats they move to the end. An entry of the history"
      + " returns to the queue, with all entries played after it.",
    errors: [.invalidArgument, .noSuchItem, .itemInUse, .versionMismatch, .noSuchPlayer],
    example: ["> jump 9", "< ok item=9 version=8"])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    guard (arguments.id == nil) != (arguments.index == nil) else {
      throw arguments.failure("exactly one of id and index is required")
    }
  }
}

extension Arguments<JumpCommand> {
  /// The entry to jump to.
  package var target: JumpCommand.Target {
    if let id = self.id { return .entry(id) }
    guard let index = self.index else { preconditionFailure("a checked request selects an entry") }
    return .index(index)
  }
}
