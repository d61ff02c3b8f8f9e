import MediaCore

/// Reads commands that edit the queue and are nested in another command: one argument in the text form, an object with
/// `method` and `params` in JSON.
enum QueueEditReader {
  /// The commands that can be nested.
  static let names: Set<CommandName> = [.append, .clear, .insert, .load, .move, .remove, .replace]

  /// The definition of the nested command.
  ///
  /// - Throws: `bad-arguments` for commands that do not edit the queue.
  static func spec(named name: ArraySlice<UInt8>) throws(MediaError) -> CommandSpec {
    guard let spec = CommandTable.spec(named: name) else {
      throw CommandTable.unknownCommand(String(decoding: name, as: UTF8.self))
    }
    guard names.contains(spec.name) else {
      let accepted = names.map(\.rawValue).sorted().joined(separator: ", ")
      throw MediaError(.badArguments, "an edit must be one of \(accepted) (got \(spec.name.rawValue))")
    }
    return spec
  }

  /// Creates the command from its parsed arguments.
  ///
  /// - Throws: The errors of the command. `bad-arguments` for parameters that are not allowed in a part of an edit.
  static func command(of arguments: ParsedArguments) throws(MediaError) -> QueueCommand {
    for name in [ParameterName.player, .ifVersion, .wait] where arguments.isGiven(name) {
      throw arguments.failure("\(name.rawValue) is not allowed within queue.edit")
    }
    guard case .queue(let command, _) = try arguments.spec.build(arguments) else {
      preconditionFailure("the command table's \(arguments.spec.name.rawValue) is not a queue command")
    }
    return command
  }

  /// Checks the command without keeping it, so that the memory of the arguments can be reused.
  static func check(_ arguments: ParsedArguments) throws(MediaError) { _ = try command(of: arguments) }

  /// The error of a part of an edit. The message shows `text`.
  static func located(_ error: MediaError, _ text: ArraySlice<UInt8>) -> MediaError {
    MediaError(
      error.code, "\(ParameterName.ops.rawValue): in \(Excerpt.quoted(text)): \(error.message)",
      operation: CommandName.queueEdit.rawValue)
  }

  /// The error for a JSON value that is not an edit.
  static func invalidEdit(_ shown: String) -> MediaError {
    MediaError(
      .badArguments,
      "\(ParameterName.ops.rawValue) must be \(ParameterSpec.Kind.edit.accepted) (got \(shown))",
      operation: CommandName.queueEdit.rawValue)
  }
}

extension QueueCommand: WireListElement {
  public static func unpacked(_ bytes: ArraySlice<UInt8>) -> QueueCommand {
    var parser = RequestParser()
    do throws(MediaError) { return try parser.edit(bytes) } catch {
      preconditionFailure("an edit that was accepted cannot be parsed again: \(error)")
    }
  }
}
