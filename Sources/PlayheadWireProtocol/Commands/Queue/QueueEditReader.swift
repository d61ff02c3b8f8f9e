import PlayheadMediaCore

/// Reads commands that edit the queue and are nested in another command: one argument in the text form, an object with
/// `method` and `params` in JSON.
struct QueueEditReader: Sendable {
  private let name: CommandName
  private let read: @Sendable (ParsedArguments) -> RequestedEdit

  private init<Definition: SingleEditCommand>(_: Definition.Type) {
    name = Definition.name
    read = { Definition.edit(Arguments(parsed: $0)) }
  }

  /// The readers of the commands that can be nested, sorted by name.
  private static let all = [
    QueueEditReader(AppendCommand.self), QueueEditReader(ClearCommand.self), QueueEditReader(InsertCommand.self),
    QueueEditReader(LoadCommand.self), QueueEditReader(MoveCommand.self), QueueEditReader(RemoveCommand.self),
    QueueEditReader(ReplaceCommand.self),
  ]

  /// The definition of the nested command.
  ///
  /// - Throws: `bad-arguments` for commands that do not edit the queue.
  static func spec(named name: ArraySlice<UInt8>) throws(MediaError) -> CommandSpec {
    guard let spec = CommandTable.spec(named: name) else {
      throw CommandTable.unknownCommand(String(decoding: name, as: UTF8.self))
    }
    guard all.contains(where: { $0.name == spec.name }) else {
      let accepted = all.map(\.name.rawValue).joined(separator: ", ")
      throw MediaError(.badArguments, "an edit must be one of \(accepted) (got \(spec.name.rawValue))")
    }
    return spec
  }

  /// Checks the arguments of a nested command.
  ///
  /// - Throws: The errors of the command. `bad-arguments` for parameters that are not allowed in a part of an edit.
  static func check(_ arguments: ParsedArguments) throws(MediaError) {
    for name in [ParameterName.player, .ifVersion, .wait] where arguments.isGiven(name) {
      throw arguments.failure("\(name.rawValue) is not allowed within queue.edit")
    }
    try arguments.spec.check(arguments)
  }

  /// The edit of a nested command whose arguments are checked.
  static func edit(of arguments: ParsedArguments) -> RequestedEdit {
    guard let reader = all.first(where: { $0.name == arguments.name }) else {
      preconditionFailure("\(arguments.name.rawValue) does not edit the queue")
    }
    return reader.read(arguments)
  }

  /// The error of a part of an edit. The message shows `text`.
  static func located(_ error: MediaError, _ text: ArraySlice<UInt8>) -> MediaError {
    MediaError(
      error.code, "\(QueueEditCommand.edits.rawValue): in \(Excerpt.quoted(text)): \(error.message)",
      operation: QueueEditCommand.name.rawValue)
  }

  /// The error for a JSON value that is not an edit.
  static func invalidEdit(_ shown: String) -> MediaError {
    MediaError(
      .badArguments,
      "\(QueueEditCommand.edits.rawValue) must be \(ParameterSpec.Kind.edit.accepted) (got \(shown))",
      operation: QueueEditCommand.name.rawValue)
  }
}
