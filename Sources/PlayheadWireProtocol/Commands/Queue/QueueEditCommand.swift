import PlayheadMediaCore

/// `queue.edit`: applies several edits, or none of them.
package enum QueueEditCommand: ImmediateCommand, QueueEditingCommand {
  /// The name of the parameter with the edits.
  static let edits: ParameterName = "ops"

  package struct Parameters: ParameterList {
    /// At least one.
    package let ops: Parameter<WireList<RequestedEdit>>
    package let ifVersion: Parameter<Int?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      ops = list.list(edits, .edit, "EDIT", "commands that edit the queue")
      ifVersion = list.ifVersion()
      player = list.player()
    }
  }

  package typealias Reply = NewEntriesReply

  package static let name: CommandName = "queue.edit"

  package static let definition = CommandDefinition<Self>(
    .queue, "Apply several edits to the queue, or none of them.",
    details: """
      Each edit is one of these commands, without `wait`, `if-version` and `player`: `load`, `append`, `insert`, \
      `remove`, `move`, `replace`, `clear`. In JSON, an edit can also be an object with `method` and `params`.

      Each edit applies to the result of the earlier ones. All edits together make one new version. Playback \
      continues unless the current entry changes. `items` are the ids of the new entries.
      """,
    errors: [
      .invalidArgument, .noSuchItem, .versionMismatch, .queueTooLong, .unsupportedLocation, .unknownCommand,
      .noSuchPlayer, .editTooLarge,
    ],
    example: ["> queue.edit \"move 5 to=0\" \"remove 9\" if-version=7", "< ok version=8"])

  package static func request(_ arguments: Arguments<Self>) -> QueueEditRequest {
    QueueEditRequest(.several(arguments.ops), player: arguments.player, ifVersion: arguments.ifVersion)
  }
}
