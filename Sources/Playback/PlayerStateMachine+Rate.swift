import MediaCore

/// Another rate, or another pitch, while there is a stream: what is heard goes on from where it is, decoded for it.
///
/// What sounds is not cut off before the new sound is there. A pass is split at a place a little ahead of what is heard:
/// what is left of it is decoded at the new rate in a generation of its own, and takes over there as any pass that
/// follows another. Until that is done a further change waits, so that however often the rate is changed, what is heard
/// follows.
extension PlayerStateMachine {
  /// Whether what is decoded is not at the rate, or not with the pitch, that is wanted.
  var needsSpeedChange: Bool {
    (decodedSpeed != speed || isPitchStale) && (hasStream || preparedStart != nil)
  }

  /// Whether the rate that is wanted goes the other way than what is decoded.
  var isTurning: Bool { decodedSpeed.isReverse != speed.isReverse }

  /// Whether a change of rate can be heard at a place ahead, as opposed to at once.
  var canSplitForSpeed: Bool {
    guard isSounding, !isStarved, rate != 0, uncommitted == nil, !hasPassedEnd else { return false }
    if case .preparing(let start) = decoding { return start.spliceAfter != nil }
    return decoding == .active
  }

  /// Everything is decoded anew for the rate that is wanted; `time` of the current item is being heard, or it stands there.
  mutating func changeSpeed(from time: MediaTime) -> [Action] {
    guard needsSpeedChange, let current = entries.first else { return [] }
    if isTurning {
      // From here on the item has another end.
      endedItem = nil
      if hasPassedEnd {
        // Back into the item, from the end that was passed.
        hasPassedEnd = false
        let end = current.endTime(at: decodedSpeed)
        return start(Start(itemID: current.id, time: end, jumpCause: .endAction))
      }
    }
    if case .preparing(let prepared) = decoding, prepared.spliceAfter == nil { return start(prepared) }
    if let uncommitted { return start(uncommitted.start) }
    if hasPassedEnd { return start(Start(itemID: current.id, time: time, isContinuation: true, isSilence: true)) }
    if isTurning, let loop = soundingLoop, loop.count > 0, time == loop.entry(at: decodedSpeed) {
      // It has just gone back, and nothing of the new pass has been heard: the other end of the loop is what was heard last.
      // Turned round there it goes on from that, and stays in the loop.
      return start(Start(itemID: current.id, time: loop.turn(at: decodedSpeed)))
    }
    return start(Start(itemID: current.id, time: time, isContinuation: true))
  }

  /// What was to go on with what sounds is prepared so late that this is beyond it by now: it goes on from `time`.
  mutating func continueAnew(from time: MediaTime) -> [Action] {
    guard case .preparing(let late) = decoding, late.isContinuation, !late.isSilence, late.spliceAfter == nil else {
      return []
    }
    let stall = untoldStall
    let actions = start(Start(itemID: late.itemID, time: time, isContinuation: true))
    untoldStall = stall
    return actions
  }

  /// Whether a pass can be split for another rate.
  func canSplit(_ id: PassID) -> Bool { placeToSplit(id) != nil }

  private func placeToSplit(_ id: PassID) -> Int? {
    guard needsSpeedChange, canSplitForSpeed, let index = decoded.firstIndex(where: { $0.id == id }),
      !decoded[index].pass.isSilence, !isTurning || index == 0
    else { return nil }
    return index
  }

  /// The pass is heard at the old rate up to `time`, which is at `streamFrame` of its stream, and from there on at the one
  /// that is wanted. Nothing happens when it is not one that could be.
  mutating func splitForSpeed(_ id: PassID, at time: MediaTime, streamFrame: Int64) -> [Action] {
    guard let index = placeToSplit(id) else { return [] }
    var rest = decoded[index].pass
    rest.start = time
    if isTurning { rest.end = passEnd(from: time, of: rest.itemID) }
    decoded.removeLast(decoded.count - index - 1)
    decoded[index].pass.end = time
    isLastEnded = true
    var next = Start(rest, spliceAfter: id)
    next.isContinuation = true
    return [.split(id, atStreamFrame: streamFrame)] + start(next)
  }
}
