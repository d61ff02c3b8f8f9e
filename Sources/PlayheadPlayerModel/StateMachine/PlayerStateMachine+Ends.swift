import PlayheadMediaCore

/// End times of items and resume times.
extension PlayerStateMachine {
  /// A pass from the item's beginning to its end time, or in reverse from its end.
  package func wholePass(of entry: Entry) -> Pass {
    Pass(itemID: entry.id, start: decodedRate.itemStart, end: entry.end(at: decodedRate))
  }

  /// The start time of an item that becomes current. In reverse it is the item's end, and the resume time is ignored.
  func startTime(of entry: Entry) -> MediaTime {
    guard let time = entry.resumeTime, time.isNumeric, time > .zero, time < entry.endTime, !decodedRate.isReverse
    else {
      return .zero
    }
    return time
  }

  /// The pass of an item that becomes current for the first time.
  package func firstPass(of entry: Entry) -> Pass {
    var pass = wholePass(of: entry)
    if entry.resumeTime != nil, !decodedRate.isReverse { pass.start = startTime(of: entry) }
    return pass
  }

  /// Whether decoding of the current item has begun or is prepared, so that its start is determined.
  func hasBegun(_ id: ItemID) -> Bool {
    if let first = decodedPasses.first { return first.pass.itemID == id }
    return requestInPreparation?.itemID == id
  }

  /// The armed loop of the current item; nil if the item ends before the loop point.
  var activeLoop: Loop? {
    guard let loop, loop.isArmed, let current = entries.first, loop.itemID == current.id else { return nil }
    let loopPoint = loop.loopPoint(at: decodedRate)
    return current.end(at: decodedRate).map { decodedRate.reaches(loopPoint, by: $0) } ?? true ? loop : nil
  }

  /// Whether a pass ends at its item's end, not only at a loop point or where it was split.
  package func endsItem(_ pass: Pass) -> Bool {
    guard let end = pass.end else { return true }
    if let loop = activeLoop, loop.itemID == pass.itemID,
      decodedRate.reaches(end, by: loop.loopPoint(at: decodedRate))
    {
      return loop.isFinishing && end == loop.loopPoint(at: decodedRate)
    }
    return entries[pass.itemID]?.end(at: decodedRate).map { decodedRate.reaches($0, by: end) } ?? false
  }

  /// Returns the end of a pass that starts at `time`; nil: the end of the item's audio. Updates the loop.
  mutating func passEnd(from time: MediaTime, of id: ItemID) -> MediaTime? {
    let loopEnd = armLoop(at: time, of: id)
    if let end = entries[id].flatMap({ earlyRangeEnd(of: $0, at: targetRate) }), time < end { return end }
    guard let itemEnd = entries[id]?.end(at: targetRate) else { return loopEnd }
    let end = targetRate.reaches(itemEnd, by: time) ? time : itemEnd
    guard let loopEnd, !targetRate.reaches(end, by: loopEnd) else { return end }
    return loopEnd
  }

  /// Sets the end times of an item.
  ///
  /// - Parameter time: The position of the current item that is heard or will be heard next.
  package mutating func setEnds(of id: ItemID, forward: MediaTime?, reverse: MediaTime?, heardAt time: MediaTime)
    -> [Action]
  {
    guard var entry = entries[id] else { return [] }
    let former = entry.end(at: decodedRate)
    entry.forwardEnd = forward
    entry.reverseEnd = reverse
    let end = entry.end(at: decodedRate)
    guard end != former else {
      queue.update(id) { $0 = entry }
      return []
    }
    entry.isTooShort = false
    queue.update(id) { $0 = entry }
    guard let end, decodedRate.reaches(end, by: time), isHeard(id), heardEnd.reportedItemID != id else {
      return reconcile()
    }
    // The position is already past the new end.
    return decode(DecodeRequest(itemID: id, time: time))
  }

  /// Whether the player plays or is paused within a decoded pass of this item: before its end, and with no seek
  /// pending.
  private func isHeard(_ id: ItemID) -> Bool {
    entries.first?.id == id && progress.isActive && decodedPasses.first?.pass.itemID == id && !heardEnd.isPassed
      && seeks.current == nil
  }
}
