import PlayheadMediaCore

/// Changes of the rate or pitch while there is a stream: the audible pass continues from its position, decoded for the
/// new rate.
///
/// The current audio is not cut off before the new audio is available. The pass is split a little after the position
/// that is heard. The rest of the pass is decoded at the new rate in a separate generation, which follows like any
/// other pass. Further changes wait until then, so frequent changes are heard one after the other.
extension PlayerStateMachine {
  /// Whether the decoded audio has another rate than `targetRate`, or an outdated pitch algorithm.
  package var needsRateChange: Bool {
    (decodedRate != targetRate || progress.isPitchStale) && !progress.isIdle
  }

  /// Whether the target rate has the other direction than the decoded audio.
  package var isChangingDirection: Bool { decodedRate.isReverse != targetRate.isReverse }

  /// Whether a change of rate can occur at a future position, not only at once.
  package var canSplitForRateChange: Bool {
    buffering.isRendering && !buffering.isRebuffering && rate != 0 && progress.uncommitted == nil
      && !heardEnd.isPassed && progress.hasStream
  }

  /// Decodes everything again for the target rate. `time` is the position of the current item that is heard, or at
  /// which it is paused.
  package mutating func changeDecodedRate(from time: MediaTime) -> [Action] {
    guard needsRateChange, let current = entries.first else { return [] }
    if isChangingDirection {
      // In the new direction the item has another end.
      heardEnd.clearReport()
      if heardEnd.isPassed {
        // Continue from the end that was passed, back into the item.
        heardEnd.leaveSilence()
        let end = current.endTime(at: decodedRate)
        return decode(DecodeRequest(itemID: current.id, time: end, jumpCause: .endAction))
      }
    }
    if let request = progress.unheardRequest { return decode(request) }
    if heardEnd.isPassed {
      return decode(DecodeRequest(itemID: current.id, time: time, isContinuation: true, isSilence: true))
    }
    if isChangingDirection, let loop = activeLoop, loop.count > 0, time == loop.returnTime(at: decodedRate) {
      // Playback has just returned to the beginning of the loop, and nothing of the new pass has been heard. The last
      // audio heard is at the loop point. Reverse from there, which stays in the loop.
      return decode(DecodeRequest(itemID: current.id, time: loop.loopPoint(at: decodedRate)))
    }
    return decode(DecodeRequest(itemID: current.id, time: time, isContinuation: true))
  }

  /// Prepares another continuation from `time`, because the pending one is so late that playback has passed all of it.
  package mutating func restartContinuation(from time: MediaTime) -> [Action] {
    guard let late = progress.replacementInPreparation, late.isContinuation, !late.isSilence else { return [] }
    let stall = buffering.pendingStall
    let actions = decode(DecodeRequest(itemID: late.itemID, time: time, isContinuation: true))
    if let stall { buffering.continuationWasLate(of: stall) }
    return actions
  }

  /// Whether a pass can be split for another rate.
  package func canSplit(_ id: PassID) -> Bool { indexToSplit(id) != nil }

  private func indexToSplit(_ id: PassID) -> Int? {
    guard needsRateChange, canSplitForRateChange, let index = decodedPasses.firstIndex(where: { $0.id == id }),
      !decodedPasses[index].pass.isSilence, !isChangingDirection || index == 0
    else { return nil }
    return index
  }

  /// Splits a pass at `time`, which is at `streamFrame` of its stream: it has the old rate before and the target
  /// rate after. Does nothing if the pass cannot be split.
  package mutating func splitForRateChange(_ id: PassID, at time: MediaTime, streamFrame: Int64) -> [Action] {
    guard let index = indexToSplit(id) else { return [] }
    var rest = decodedPasses[index].pass
    rest.start = time
    if isChangingDirection { rest.end = passEnd(from: time, of: rest.itemID) }
    progress.end(index, at: time)
    var next = DecodeRequest(rest, spliceAfter: id)
    next.isContinuation = true
    return [.split(id, atStreamFrame: streamFrame)] + decode(next)
  }
}
