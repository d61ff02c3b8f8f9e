import PlayheadMediaCore

/// `queue.edit`: applies several edits, or none of them.
public enum QueueEditCommand: ImmediateCommand, QueueEditingCommand {
  /// The name of the parameter with the edits.
  static let edits: ParameterName = "ops"

  public struct Parameters: ParameterList {
    /// At least one.
    public let ops: Parameter<WireList<RequestedEdit>>
    public let ifVersion: Parameter<Int?>
    public let player: Parameter<String>

    public init(_ list: inout ParameterListBuilder) {
      ops = list.list(edits, .edit, "EDIT", "commands that edit the queue")
      ifVersion = list.ifVersion()
      player = list.player()
    }
  }

  public typealias Reply = NewEntriesReply

  public static let name: CommandName = "queue.edit"

  public static let definition = CommandDefinition<Self>(
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

  public static func request(_ arguments: Arguments<Self>) -> QueueEditRequest {
    QueueEditRequest(.several(arguments.ops), player: arguments.player, ifVersion: arguments.ifVersion)
  }
}
