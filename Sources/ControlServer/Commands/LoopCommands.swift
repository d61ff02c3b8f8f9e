import MediaCore
import Playback
import PlayerModel
import WireProtocol

/// `loop`: repeats a range of the current item.
extension Connection {
  /// Sets, finishes, removes or returns a loop. A new loop waits until the item is ready, so that its duration is
  /// known.
  func start(
    _ loop: PlaybackCommand.Loop, on target: NamedPlayer, _ request: AnyWaitingRequest
  ) throws(MediaError) {
    let state = target.state
    guard case .range = loop.change, let item = state.currentItemID, state.itemStatus == .unknown else {
      return request.finish(try run(loop, on: target))
    }
    let controlLoop = server.loop
    let wait = ReadinessWait(target, items: [item], loop: server.loop) { error in
      // In a separate loop iteration, because the callback runs while the player changes.
      controlLoop.execute { [weak self] in
        if let error { return request.fail(error) }
        guard let self else { return }
        do throws(MediaError) { request.finish(try self.run(loop, on: target)) } catch { request.fail(error) }
      }
    }
    request.onEnd { wait.cancel() }
    wait.start()
  }

  private func run(_ loop: PlaybackCommand.Loop, on target: NamedPlayer) throws(MediaError) -> Reply {
    let (state, heardTime) = target.player.onLoop { ($0.state, $0.currentTime()) }
    let item = try target.itemID(ifGiven: loop.item)
    switch loop.change {
    case .none: break
    case .off:
      try target.player.tryOnLoop { player throws(MediaError) in try player.setLoop(nil, itemID: item) }
    case .end:
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
    let activeLoop = newState.loop
    return .ok([
      "item": newState.currentItemID.map { .int($0) } ?? FieldValue.none,
      "start": activeLoop.map { .time($0.range.start) } ?? FieldValue.none,
      "end": activeLoop.map { .time($0.range.end) } ?? FieldValue.none,
      "count": activeLoop?.remainingCount.map { .int($0) } ?? FieldValue.none,
      "passes": activeLoop.map { .int($0.loopCount) } ?? FieldValue.none,
    ])
  }
}

extension PlayerLoop {
  /// The range in the form of `status` and `observe`: `70-83.5`.
  var wireText: String { range.wireText }
}

extension RepeatMode {
  init(_ mode: PlaybackCommand.RepeatMode) {
    switch mode {
    case .off: self = .off
    case .one: self = .one
    case .all: self = .all
    }
  }
}
