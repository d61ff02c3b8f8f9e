import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension EventsCommand: SometimesWaitingHandler {
  /// The maximum number of reply bytes for one byte of text: JSON escapes a control character as `\u001f`.
  private static let bytesPerTextByte = 6

  /// Returns the available events.
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let query = arguments.query
    return reply(to: query, since: try startNumber(of: query, context.server), context.server)
  }

  /// Replies when there is a matching event, when requested events are missing from the log, or after the timeout.
  /// Replies with an error if the player of the query is closed.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let (query, server) = (arguments.query, context.server)
    let since = try startNumber(of: query, server)
    let log = server.log
    var waiterID: UInt64?
    var timer: (any ControlTimer)?
    var closeHandler: (NamedPlayer, UInt64)?
    request.onEnd {
      if let waiterID { log.removeWaiter(waiterID) }
      timer?.cancel()
      if let (player, id) = closeHandler { player.removeCloseHandler(id) }
    }
    // The last examined event. Earlier events are not examined again.
    var examinedNumber = since
    func checkLog() {
      let part = log.part(query, since: examinedNumber, byteLimit: .max)
      // Matching events, or events that were already removed from the log, complete the request.
      guard part.entries.isEmpty, part.missedCount == 0 else {
        return request.finish(reply(to: query, since: since, server))
      }
      examinedNumber = part.lastNumber
      waiterID = log.addWaiter { checkLog() }
    }
    checkLog()
    guard waiterID != nil else { return }
    if let name = query.player {
      let player = try server.registry.player(name)
      let id = player.addCloseHandler { request.fail(MediaError(.waitEnded, "the player \(name) was closed")) }
      closeHandler = (player, id)
    }
    guard let nanoseconds = query.timeout?.wholeNanoseconds else { return }
    timer = server.loop.schedule(at: server.loop.now.advanced(byNanoseconds: nanoseconds)) { [weak server] in
      if let server { request.finish(reply(to: query, since: since, server)) }
    }
  }

  /// The sequence number after which the reply to a query begins.
  ///
  /// - Throws: `other-instance`, `no-such-event` or `no-such-player`.
  private static func startNumber(of query: EventQuery, _ server: ServerContext) throws(MediaError) -> UInt64 {
    let log = server.log
    if let instance = query.instance, instance != log.instance {
      throw MediaError(.otherInstance, "this is instance \(log.instance); its last event is \(log.lastNumber)")
    }
    if let player = query.player { _ = try server.registry.player(player) }
    guard let since = query.since else { return log.lastNumber }
    guard UInt64(since) <= log.lastNumber else {
      throw MediaError(.noSuchEvent, "event number must be at most \(log.lastNumber) (got \(since))")
    }
    return UInt64(since)
  }

  private static func reply(to query: EventQuery, since: UInt64, _ server: ServerContext) -> Reply {
    var query = query
    query.limit = min(query.limit, server.limits.listCount)
    let part = server.log.part(
      query, since: since, byteLimit: server.limits.outputByteCount / 2 / bytesPerTextByte)
    return Reply(
      instance: server.log.instance, lastEvent: part.lastNumber, missed: part.missedCount, hasMore: part.hasMore,
      events: part.entries.map { ($0.number, $0.event) })
  }
}

/// Makes a closure `Sendable`. Safety: the closure is created and called on the control loop only.
struct ControlLoopClosure: @unchecked Sendable {
  let body: () -> Void
}
