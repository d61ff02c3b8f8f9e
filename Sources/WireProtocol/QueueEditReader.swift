import MediaCore

/// Reads commands that edit the queue where they stand within another command: as one argument in words, or as an object
/// with `method` and `params` in JSON.
enum QueueEditReader {
  /// The commands that may stand there.
  static let names: Set<CommandName> = [.append, .clear, .insert, .load, .move, .remove, .replace]

  /// Errors: `bad-arguments` for commands that do not edit.
  static func spec(named name: ArraySlice<UInt8>) throws(MediaError) -> CommandSpec {
    guard let spec = CommandTable.spec(named: name) else {
      throw CommandTable.unknownCommand(String(decoding: name, as: UTF8.self))
    }
    guard names.contains(spec.name) else {
      let accepted = names.map(\.rawValue).sorted().joined(separator: ", ")
      throw MediaError(.badArguments, "\(spec.name.rawValue) does not edit the queue; \(accepted) do")
    }
    return spec
  }

  /// The command of bound arguments. Errors: those of the command, and `bad-arguments` for what a part of an edit cannot have.
  static func command(of arguments: Arguments) throws(MediaError) -> QueueCommand {
    for name in [ParameterName.player, .ifVersion, .wait] where arguments.isGiven(name) {
      throw arguments.failure("\(name.rawValue) cannot be said of a part of an edit")
    }
    guard case .queue(let command, _) = try arguments.spec.build(arguments) else {
      preconditionFailure("the command table's \(arguments.spec.name.rawValue) is no command about the queue")
    }
    return command
  }

  /// The same without the command: nothing holds on to the arguments' memory.
  static func check(_ arguments: Arguments) throws(MediaError) { _ = try command(of: arguments) }

  /// The error of a part of an edit, which `text` shows.
  static func located(_ error: MediaError, _ text: ArraySlice<UInt8>) -> MediaError {
    MediaError(
      error.code, "in \(Excerpt.quoted(text)): \(error.message)", operation: CommandName.queueEdit.rawValue)
  }

  /// The error for a value in JSON that is no edit.
  static func isNoEdit(_ shown: String) -> MediaError {
    MediaError(
      .badArguments,
      "\(ParameterName.ops.rawValue) cannot be \(shown); it takes \(ParameterSpec.Kind.edit.accepted)",
      operation: CommandName.queueEdit.rawValue)
  }
}

extension QueueCommand: WireListElement {
  public static func unpacked(_ bytes: ArraySlice<UInt8>) -> QueueCommand {
    var parser = RequestParser()
    do throws(MediaError) { return try parser.edit(bytes) } catch {
      preconditionFailure("an edit that was read is none any more: \(error)")
    }
  }
}
