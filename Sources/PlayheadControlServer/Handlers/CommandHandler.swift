import PlayheadMediaCore
import PlayheadWireProtocol

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
    return CommandHandler(run: { parsed, context throws(MediaError) in
      let reply = try run(Arguments(selected: parsed), context)
      return hasFields && !reply.isEmpty ? PlayheadWireProtocol.Reply(reply) : nil
    })
  }
}

/// The handler of a command whose reply comes later.
protocol WaitingHandler: HandledCommand, WaitingCommand {
  /// Starts a request on the control loop. The handler finishes `request` now or later.
  ///
  /// - Throws: The error reply.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError)
}

extension WaitingHandler {
  static var handler: CommandHandler {
    CommandHandler(start: { parsed, context, request throws(MediaError) in
      try start(Arguments(selected: parsed), context, WaitingRequest(erased: request))
    })
  }
}

/// The handler of a command whose reply comes immediately or later, depending on the request.
protocol SometimesWaitingHandler: HandledCommand, SometimesWaitingCommand {
  /// Carries out a request that does not wait, and returns the reply.
  ///
  /// - Throws: The error reply.
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply
  /// Starts a request that waits. The handler finishes `request` now or later.
  ///
  /// - Throws: The error reply.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError)
}

extension SometimesWaitingHandler {
  static var handler: CommandHandler {
    CommandHandler { parsed, context throws(MediaError) in
      let reply = try run(Arguments(selected: parsed), context)
      return reply.isEmpty ? nil : PlayheadWireProtocol.Reply(reply)
    } start: { parsed, context, request throws(MediaError) in
      try start(Arguments(selected: parsed), context, WaitingRequest(erased: request))
    }
  }
}

/// The handler of a command that carries out large requests in several loop iterations (``ConnectionStateMachine``).
/// The command has an immediate reply, or sometimes waits.
protocol SlicedHandler: HandledCommand {
  /// Whether the request is so large that it needs several loop iterations.
  static func isLarge(_ arguments: Arguments<Self>, _ context: RequestContext) -> Bool
  /// Carries out a request that is not large and does not wait, and returns the reply.
  ///
  /// - Throws: The error reply.
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply
  /// Starts a request that is large or waits.
  ///
  /// - Throws: The error reply.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError)
}

extension SlicedHandler {
  static var handler: CommandHandler {
    CommandHandler { parsed, context throws(MediaError) in
      PlayheadWireProtocol.Reply(try run(Arguments(selected: parsed), context))
    } start: { parsed, context, request throws(MediaError) in
      try start(Arguments(selected: parsed), context, WaitingRequest(erased: request))
    } isLarge: {
      isLarge(Arguments(selected: $0), $1)
    }
  }
}

/// The handler of a command with an immediate reply that may carry out any request in several loop iterations.
protocol AlwaysSlicedHandler: HandledCommand, ImmediateCommand {
  /// Starts a request.
  ///
  /// - Throws: The error reply.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError)
}

extension AlwaysSlicedHandler {
  static var handler: CommandHandler {
    CommandHandler(
      start: { parsed, context, request throws(MediaError) in
        try start(Arguments(parsed: parsed), context, WaitingRequest(erased: request))
      }, isLarge: { _, _ in true })
  }
}

/// A handler without its types.
struct CommandHandler: Sendable {
  /// Carries out a request with an immediate reply. The function returns nil for `ok` without fields.
  typealias Run = @Sendable (ParsedArguments, RequestContext) throws(MediaError) -> Reply?
  /// Starts a request whose reply comes later.
  typealias Start = @Sendable (ParsedArguments, RequestContext, AnyWaitingRequest) throws(MediaError) -> Void

  private let immediate: Run?
  private let waiting: Start?
  /// Whether a request with an immediate reply needs several loop iterations, and is started. Nil: never.
  let isLarge: (@Sendable (ParsedArguments, RequestContext) -> Bool)?

  init(
    run: Run? = nil, start: Start? = nil,
    isLarge: (@Sendable (ParsedArguments, RequestContext) -> Bool)? = nil
  ) {
    (immediate, waiting, self.isLarge) = (run, start, isLarge)
  }

  /// Carries out a request that does not wait. Nil means `ok` without fields.
  func run(_ arguments: ParsedArguments, _ context: RequestContext) throws(MediaError) -> Reply? {
    guard let immediate else { preconditionFailure("a waiting command got a request that does not wait") }
    return try immediate(arguments, context)
  }

  /// Starts a request that waits.
  func start(
    _ arguments: ParsedArguments, _ context: RequestContext, _ request: AnyWaitingRequest
  ) throws(MediaError) {
    guard let waiting else { preconditionFailure("an immediate command got a request that waits") }
    try waiting(arguments, context, request)
  }

  /// The handlers of all commands, in the order of ``CommandTable/all``: sorted by name.
  static let all: [CommandHandler] = {
    let families = [
      AssetCommands().handlers, ConnectionCommands().handlers, FileCommands().handlers, ItemCommands().handlers,
      PlaybackCommands().handlers, PlayersCommands().handlers, QueueCommands().handlers, RecordingCommands().handlers,
      SessionCommands().handlers, StateCommands().handlers, SynchronizedCommands().handlers,
      WatchingCommands().handlers,
    ]
    let handlers = families.joined().sorted { $0.name.rawValue < $1.name.rawValue }
    precondition(handlers.count == CommandTable.count, "a family of commands is missing")
    return handlers.map(\.handler)
  }()
}

extension CommandList where repeat each Definition: HandledCommand {
  /// The handlers of the commands.
  fileprivate var handlers: [(name: CommandName, handler: CommandHandler)] {
    var handlers: [(name: CommandName, handler: CommandHandler)] = []
    for handler in repeat ((each Definition).name, (each Definition).handler) { handlers.append(handler) }
    return handlers
  }
}
