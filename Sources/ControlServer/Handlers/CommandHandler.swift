import MediaCore
import WireProtocol

/// A command that has a handler.
protocol HandledCommand: Command {
  static var handler: CommandHandler { get }
}

/// The handler of a command with an immediate reply.
protocol ImmediateHandler: HandledCommand, ImmediateCommand {
  /// Carries out a request on the control loop, and returns the reply.
  ///
  /// - Throws: The error reply.
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply
}

extension ImmediateHandler {
  static var handler: CommandHandler {
    // `ok` without fields has a faster path.
    let hasFields = !Reply.fields.isEmpty || Reply.rowFields != nil
    return CommandHandler { parsed, context throws(MediaError) in
      let reply = try run(Arguments(parsed: parsed), context)
      return hasFields ? WireProtocol.Reply(reply) : nil
    }
  }
}

/// A handler without its types.
struct CommandHandler: Sendable {
  /// Carries out a request with an immediate reply. Nil means `ok` without fields.
  let run: @Sendable (ParsedArguments, RequestContext) throws(MediaError) -> Reply?

  init(run: @escaping @Sendable (ParsedArguments, RequestContext) throws(MediaError) -> Reply?) { self.run = run }

  /// The handlers of all commands, in the order of ``CommandTable/all``. Nil for a command that is not defined as a
  /// type.
  static let all: [CommandHandler?] = {
    var handlers = [CommandHandler?](repeating: nil, count: CommandTable.count)
    for (name, handler) in AllCommands().handlers {
      guard let index = CommandTable.index(named: name.rawValue.utf8) else {
        preconditionFailure("the table contains every command")
      }
      handlers[index] = handler
    }
    return handlers
  }()
}

/// A family whose commands all have handlers.
protocol HandledFamily: CommandFamily {
  var handlers: [(name: CommandName, handler: CommandHandler)] { get }
}

extension CommandList: HandledFamily where repeat each Definition: HandledCommand {
  var handlers: [(name: CommandName, handler: CommandHandler)] {
    var handlers: [(name: CommandName, handler: CommandHandler)] = []
    for handler in repeat ((each Definition).name, (each Definition).handler) { handlers.append(handler) }
    return handlers
  }
}

extension CommandFamilies where repeat each Family: HandledFamily {
  /// The handlers of all families.
  var handlers: [(name: CommandName, handler: CommandHandler)] {
    var handlers: [(name: CommandName, handler: CommandHandler)] = []
    for family in repeat (each Family)() { handlers += family.handlers }
    return handlers
  }
}
