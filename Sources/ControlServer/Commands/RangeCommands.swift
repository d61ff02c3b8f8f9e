import MediaCore
import Playback
import PlayerModel
import WireProtocol

/// `play` with a range.
extension Connection {
  /// Plays a range of the current item, and replies at its end. Waits until the item is ready, so that its duration is
  /// known.
  func start(
    _ range: PlaybackCommand.PlayedRange, on target: NamedPlayer, _ request: AnyWaitingRequest
  ) throws(MediaError) {
    let state = target.state
    guard let item = state.currentItemID else {
      throw MediaError(.noCurrentItem, "there is no current item to play a range of")
    }
    if let named = try target.itemID(ifGiven: range.item), named != item {
      throw MediaError(.noSuchItem, "item \(named) is not the current item")
    }
    guard state.itemStatus == .unknown else { return try play(range, of: item, on: target, request) }
    let controlLoop = server.loop
    let wait = ReadinessWait(target, items: [item], loop: server.loop) { error in
      // In a separate loop iteration, because the callback runs while the player changes.
      controlLoop.execute { [weak self] in
        if let error { return request.fail(error) }
        guard let self, !request.isDone else { return }
        guard target.state.currentItemID == item else { return request.fail(Self.itemChanged) }
        do throws(MediaError) { try self.play(range, of: item, on: target, request) } catch { request.fail(error) }
      }
    }
    request.onEnd { wait.cancel() }
    wait.start()
  }

  private func play(
    _ range: PlaybackCommand.PlayedRange, of item: PlayerItem.ID, on target: NamedPlayer, _ request: AnyWaitingRequest
  ) throws(MediaError) {
    let id = try target.player.tryOnLoop { player throws(MediaError) in
      let duration = player.state.itemDuration
      let current = player.currentTime()
      let start = try range.start?.resolve(current: current, duration: duration) ?? current
      let end = try range.end.resolve(current: start, duration: duration)
      return try player.playRange(TimeRange(start: start, end: end), itemID: item) { outcome in
        request.finish(Self.reply(outcome, item, end, of: target))
      }
    }
    request.onEnd { target.player.onLoop { $0.cancelRange(id) } }
  }

  private static let itemChanged = MediaError(.waitEnded, "another item became current before the end of the range")

  /// The reply at the end of a range of `item` that ends at `end`.
  private static func reply(
    _ outcome: RangeOutcome, _ item: PlayerItem.ID, _ end: MediaTime, of target: NamedPlayer
  ) -> Reply {
    let reason: String
    switch outcome {
    case .finished:
      // The player's time still follows the output.
      var fields: Fields = ["item": .int(item)]
      fields.append(position: end)
      return .ok(fields)
    case .itemFailed:
      return .error(
        target.state.itemStatus.error ?? MediaError(.waitEnded, "the item failed before the end of the range"))
    case .replaced: reason = "a seek or another range replaced the range"
    case .itemChanged: return .error(itemChanged)
    case .itemEnded: reason = "the item ended before the end of the range"
    case .cancelled: reason = "the range was cancelled"
    case .closed: reason = "the player \(target.name) was closed"
    }
    return .error(MediaError(.waitEnded, reason))
  }
}
