import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// Repeats, loops and transitions.
extension PlayerCore {
  /// Sets the repeat mode; see `PlayerStateMachine.setRepeatMode`.
  func setRepeatMode(
    _ mode: RepeatMode, count: Int? = nil, modeAfterwards: RepeatMode = .off
  ) throws(MediaError) {
    if mode == .all, !machine.canAdvance {
      throw MediaError(.invalidArgument, "repeating all needs a queue; this player has one item", operation: "repeat")
    }
    run(machine.setRepeatMode(mode, count: count, modeAfterwards: modeAfterwards), cause: .request)
  }

  /// Sets the cross-fade between items; nil: none.
  ///
  /// - Throws: `invalidTime`: see `Crossfade.validate`.
  func setCrossfade(_ crossfade: Crossfade?) throws(MediaError) {
    try checkOpen("crossfade")
    try crossfade?.validate()
    let canDecodeAgain = currentItem?.isSeekable != false
    run(machine.setCrossfade(crossfade, heardAt: canDecodeAgain ? currentTime() : nil), cause: .request)
  }

  /// Loops a part of the current item, rounded down to frames; nil removes the loop.
  func setLoop(_ range: TimeRange?, count: Int?, itemID: PlayerItem.ID?) throws(MediaError) {
    guard let current = machine.entries.first else {
      throw MediaError(.noCurrentItem, "there is no current item to loop", operation: "loop")
    }
    if let itemID, itemID != current.id {
      throw MediaError(
        .noSuchItem, "item \(itemID) is not the current item, which is \(current.id)", operation: "loop")
    }
    guard let range else { return run(machine.setLoop(nil, count: nil, heardAt: .zero), cause: .request) }
    if let error = current.status.error { throw error }
    guard current.status == .readyToPlay, let item = items[current.id] else {
      throw MediaError(.invalidState, "the item is not ready: its duration is unknown", operation: "loop")
    }
    if let count, count < 1 {
      throw MediaError(.invalidArgument, "loop count must be at least 1 (got \(count))", operation: "loop")
    }
    let frames = try roundedToFrames(range, in: item)
    // A pending seek counts as complete.
    run(machine.setLoop(frames, count: count, heardAt: machine.pendingRequest?.time ?? currentTime()), cause: .request)
  }

  /// See `PlayerControl.finishLoop`.
  func finishLoop(itemID: PlayerItem.ID?) throws(MediaError) {
    guard let current = machine.entries.first else {
      throw MediaError(.noCurrentItem, "there is no current item", operation: "loop")
    }
    if let itemID, itemID != current.id {
      throw MediaError(
        .noSuchItem, "item \(itemID) is not the current item, which is \(current.id)", operation: "loop")
    }
    guard machine.loop?.itemID == current.id else {
      throw MediaError(.invalidState, "no loop is active", operation: "loop")
    }
    run(machine.finishLoop(), cause: .request)
  }

  /// Returns the range, rounded down to whole frames of the item.
  private func roundedToFrames(_ range: TimeRange, in item: PlayerItem) throws(MediaError) -> TimeRange {
    let (start, end) = (range.start, range.end)
    guard start.isNumeric, end.isNumeric, start >= .zero else {
      throw MediaError(.invalidTime, "loop times must be numeric and not negative", operation: "loop")
    }
    guard start < end else {
      throw MediaError(
        .invalidTime, "the loop must end after its start \(start.decimalDescription) (got \(end.decimalDescription))",
        operation: "loop")
    }
    let duration = item.duration
    guard !duration.isNumeric || end <= duration else {
      throw MediaError(
        .invalidTime,
        "a loop must end within the item's \(duration.decimalDescription) s (got \(end.decimalDescription) s)",
        operation: "loop")
    }
    let rate = loading.sampleRateHz(of: item)
    guard let first = start.frameIndex(rate: rate, rounding: .towardNegativeInfinity),
      let last = end.frameIndex(rate: rate, rounding: .towardNegativeInfinity)
    else { throw MediaError(.invalidTime, "loop times are out of range", operation: "loop") }
    let rounded = TimeRange(start: MediaTime(frame: first, rate: rate), end: MediaTime(frame: last, rate: rate))
    guard rounded.duration >= Machine.shortestLoop else {
      throw MediaError(.invalidTime, "a loop must last at least 10 ms", operation: "loop")
    }
    return rounded
  }

  // MARK: - Transitions

  /// Reports the transition after an end that has been heard, once the next pass has a first output frame.
  func reportTransition() {
    guard let open = chain.openTransition else { return }
    readSegments()
    let ended = (streamID: open.end.streamID, index: open.end.passID.index)
    guard let audio = timeline.audiblePosition(of: open.toItemID, from: open.outputFrame, after: ended) else { return }
    chain.endTransition()
    let trim = chain.popStartTrim(ofPass: audio.passIndex, streamID: audio.streamID)
    // If the player was paused in between, no audio was missing.
    let wasPaused = timeline.run(at: open.outputFrame)?.end?.reason == .stopped
    send(
      .transition(
        PlayerTransition(
          fromItemID: open.end.itemID, toItemID: open.toItemID, time: audio.position.time,
          hostTime: output.hostTime(ofFrame: audio.outputFrame),
          trimmedEnd: open.end.trim, trimmedStart: trim,
          insertedFrameCount: wasPaused ? 0 : audio.outputFrame - open.outputFrame,
          overlapFrameCount: open.end.overlapFrameCount, curve: open.end.crossfade?.curve)))
  }
}
