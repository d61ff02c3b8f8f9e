import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol

extension EndActionCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    if let action = arguments.action {
      try target.player.tryOnLoop { player throws(MediaError) in try player.setActionAtItemEnd(ActionAtItemEnd(action))
      }
    }
    return Reply(action: target.state.actionAtItemEnd.rawValue)
  }
}

extension RepeatCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    if let mode = arguments.mode {
      try target.player.tryOnLoop { player throws(MediaError) in try player.setRepeatMode(RepeatMode(mode)) }
    }
    return Reply(mode: target.state.repeatMode.rawValue)
  }
}

extension LoopCommand: WaitingHandler {
  /// Sets, finishes, removes or returns a loop. A new loop waits until the item is ready, so that its duration is
  /// known.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let target = try context.server.registry.player(arguments.player)
    let (change, reference) = (try arguments.loop(), arguments.item)
    let state = target.state
    guard case .range = change, let item = state.currentItemID, state.itemStatus == .unknown else {
      return request.finish(try run(change, ofItem: reference, on: target))
    }
    let loop = context.server.loop
    let wait = ReadinessWait(target, items: [item], loop: loop) { error in
      // In a separate loop iteration, because the callback runs while the player changes.
      loop.execute {
        if let error { return request.fail(error) }
        guard !request.isDone else { return }
        do throws(MediaError) { request.finish(try run(change, ofItem: reference, on: target)) } catch {
          request.fail(error)
        }
      }
    }
    request.onEnd { wait.cancel() }
    wait.start()
  }

  private static func run(
    _ change: LoopRequest, ofItem reference: EntryReference?, on target: NamedPlayer
  ) throws(MediaError) -> Reply {
    let (state, heardTime) = target.player.onLoop { ($0.state, $0.currentTime()) }
    let item = try target.itemID(ifGiven: reference)
    switch change {
    case .show: break
    case .off:
      try target.player.tryOnLoop { player throws(MediaError) in try player.setLoop(nil, itemID: item) }
    case .last:
      try target.player.tryOnLoop { player throws(MediaError) in try player.finishLoop(itemID: item) }
    case .range(let startExpression, let endExpression, let count):
      guard state.currentItemID != nil else {
        throw MediaError(.noCurrentItem, "there is no current item to loop")
      }
      let start = try startExpression.resolve(current: heardTime, duration: state.itemDuration)
      let end = try endExpression.resolve(current: heardTime, duration: state.itemDuration)
      try target.player.tryOnLoop { player throws(MediaError) in
        try player.setLoop(TimeRange(start: start, end: end), count: count, itemID: item)
      }
    }
    let newState = target.state
    return Reply(
      item: newState.currentItemID,
      loop: newState.loop.map {
        .init(
          start: $0.range.start, end: $0.range.end, remainingCount: $0.remainingCount, passes: $0.loopCount)
      })
  }
}

extension RepeatMode {
  fileprivate init(_ mode: RepeatCommand.Mode) {
    switch mode {
    case .off: self = .off
    case .one: self = .one
    case .all: self = .all
    }
  }
}

extension ActionAtItemEnd {
  fileprivate init(_ action: EndActionCommand.Action) {
    switch action {
    case .advance: self = .advance
    case .stop: self = .stop
    case .pause: self = .pause
    case .none: self = .none
    }
  }
}
