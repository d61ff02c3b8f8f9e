import PlayheadMediaCore
import PlayheadWireProtocol

/// The handler of a command that edits the queue.
///
/// All such commands have the same handler: their requests differ only in the edits that they contain.
protocol QueueEditHandler: SlicedHandler, QueueEditingCommand {}

extension QueueEditHandler {
  static func isLarge(_ arguments: Arguments<Self>, _ context: RequestContext) -> Bool {
    let edit = request(arguments)
    // Until playlists are read, their request only waits.
    guard edit.playlists == .none else { return false }
    return edit.isLarge
      || (edit.emptiesQueue && !edit.waitsUntilReady && context.client.isQueueLong(of: edit.player))
  }

  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    Reply(try context.client.run(request(arguments)))
  }

  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    try context.client.start(Self.request(arguments), WaitingEdit(request))
  }
}

extension LoadCommand: QueueEditHandler {}
extension AppendCommand: QueueEditHandler {}
extension InsertCommand: QueueEditHandler {}
extension RemoveCommand: QueueEditHandler {}
extension ClearCommand: QueueEditHandler {}
extension QueueEditCommand: QueueEditHandler {}

extension MoveCommand: QueueEditHandler {
  static func isLarge(_: Arguments<Self>, _: RequestContext) -> Bool { false }
}

extension ReplaceCommand: QueueEditHandler {
  static func isLarge(_: Arguments<Self>, _: RequestContext) -> Bool { false }
}

/// A request that edits the queue and gets its reply later, without the type of the reply.
struct WaitingEdit: Sendable {
  let erased: AnyWaitingRequest
  private let reply: @Sendable (QueueEditOutcome) -> Void

  init<Definition: Command>(_ request: WaitingRequest<Definition>) where Definition.Reply: QueueEditReply {
    erased = request.erased
    reply = { request.finish(Definition.Reply($0)) }
  }

  /// Ends the request and sends the reply. Has no effect if the request has already ended.
  func finish(_ outcome: QueueEditOutcome) { reply(outcome) }
}
