import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol

extension PlayCommand: SometimesWaitingHandler, AllPlayersHandler {
  static func run(_ arguments: Arguments<Self>, on target: NamedPlayer) throws(MediaError) -> Reply {
    try target.play()
    return Reply()
  }

  /// Plays a range of the current item, and replies at its end. Waits until the item is ready, so that its duration is
  /// known.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    guard case .one(let name) = arguments.player, let end = arguments.to else {
      preconditionFailure("the parser accepted a range without its end, or for all players")
    }
    let (target, start) = (try context.server.registry.player(name), arguments.from)
    let state = target.state
    guard let item = state.currentItemID else {
      throw MediaError(.noCurrentItem, "there is no current item to play a range of")
    }
    if let named = try target.itemID(ifGiven: arguments.item), named != item {
      throw MediaError(.noSuchItem, "item \(named) is not the current item")
    }
    guard state.itemStatus == .unknown else { return try play(from: start, to: end, of: item, on: target, request) }
    let loop = context.server.loop
    let wait = ReadinessWait(target, items: [item], loop: loop) { error in
      // In a separate loop iteration, because the callback runs while the player changes.
      loop.execute {
        if let error { return request.fail(error) }
        guard !request.isDone else { return }
        guard target.state.currentItemID == item else { return request.fail(itemChanged) }
        do throws(MediaError) { try play(from: start, to: end, of: item, on: target, request) } catch {
          request.fail(error)
        }
      }
    }
    request.onEnd { wait.cancel() }
    wait.start()
  }

  private static func play(
    from startExpression: TimeExpression?, to endExpression: TimeExpression, of item: PlayerItem.ID,
    on target: NamedPlayer, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let id = try target.player.tryOnLoop { player throws(MediaError) in
      let duration = player.state.itemDuration
      let current = player.currentTime()
      let start = try startExpression?.resolve(current: current, duration: duration) ?? current
      let end = try endExpression.resolve(current: start, duration: duration)
      return try player.playRange(TimeRange(start: start, end: end), itemID: item) { outcome in
        request.finish(with: result(outcome, item, end, of: target))
      }
    }
    request.onEnd { target.player.onLoop { $0.cancelRange(id) } }
  }

  private static let itemChanged = MediaError(.waitEnded, "another item became current before the end of the range")

  /// The reply at the end of a range of `item` that ends at `end`.
  private static func result(
    _ outcome: RangeOutcome, _ item: PlayerItem.ID, _ end: MediaTime, of target: NamedPlayer
  ) -> Result<Reply, MediaError> {
    let reason: String
    switch outcome {
    // Not the player's time, which still follows the output.
    case .finished: return .success(Reply(played: (item, end)))
    case .itemFailed:
      return .failure(
        target.state.itemStatus.error ?? MediaError(.waitEnded, "the item failed before the end of the range"))
    case .replaced: reason = "a seek or another range replaced the range"
    case .itemChanged: return .failure(itemChanged)
    case .itemEnded: reason = "the item ended before the end of the range"
    case .cancelled: reason = "the range was cancelled"
    case .closed: reason = "the player \(target.name) was closed"
    }
    return .failure(MediaError(.waitEnded, reason))
  }
}
