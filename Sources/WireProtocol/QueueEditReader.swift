import MediaCore

/// Reads commands that edit the queue where they stand within another command: as one argument in words, or as an object
/// with `method` and `params` in JSON.
enum QueueEditReader {
  /// The commands that may stand there.
  static let names: Set<CommandName> = [.append, .clear, .insert, .load, .move, .remove, .replace]

  /// Errors: those of the command, which they begin with, and `bad-arguments` for commands that do not edit.
  static func edit(text: String) throws(MediaError) -> QueueCommand {
    var parser = RequestParser()
    do throws(MediaError) {
      try parser.lexer.lex(text.utf8.span)
      guard let word = parser.lexer.words.first else {
        throw MediaError(.badArguments, "\(ParameterSpec.Kind.edit.accepted) is missing")
      }
      let spec = try spec(named: parser.lexer.string(word))
      return try command(of: try parser.bindWords(spec, from: 1))
    } catch {
      throw located(error, text)
    }
  }

  static func edit(method: String, _ params: JSONValue?) throws(MediaError) -> QueueCommand {
    do throws(MediaError) {
      return try command(of: try RequestParser().bindJSON(try spec(named: method), params))
    } catch {
      throw located(error, method)
    }
  }

  private static func spec(named name: String) throws(MediaError) -> CommandSpec {
    guard let spec = CommandTable.spec(named: name.utf8) else { throw CommandTable.unknownCommand(name) }
    guard names.contains(spec.name) else {
      let accepted = names.map(\.rawValue).sorted().joined(separator: ", ")
      throw MediaError(.badArguments, "\(name) does not edit the queue; \(accepted) do")
    }
    return spec
  }

  private static func command(of arguments: Arguments) throws(MediaError) -> QueueCommand {
    for name in [ParameterName.player, .ifVersion, .wait] where arguments.isGiven(name) {
      throw arguments.failure("\(name.rawValue) cannot be said of a part of an edit")
    }
    guard case .queue(let command, _) = try arguments.spec.build(arguments) else {
      preconditionFailure("the command table's \(arguments.spec.name.rawValue) is no command about the queue")
    }
    if case .expanding = command {
      throw arguments.failure("a list is read by a command of its own; list=false takes its name for that of a file")
    }
    return command
  }

  private static func located(_ error: MediaError, _ text: String) -> MediaError {
    MediaError(
      error.code, "in \(Excerpt.quoted(text)): \(error.message)", operation: CommandName.queueEdit.rawValue)
  }
}
