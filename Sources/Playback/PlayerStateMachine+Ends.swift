import MediaCore

/// Where items end that are not to be played to the end of their sound.
extension PlayerStateMachine {
  /// An item from its beginning to where it is to end; backwards the other way.
  func whole(_ entry: Entry) -> Pass {
    Pass(itemID: entry.id, start: decodedSpeed.itemStart, end: entry.end(at: decodedSpeed))
  }

  /// Where an item begins that becomes current: backwards at its end, whatever was wanted.
  func firstTime(_ entry: Entry) -> MediaTime {
    guard let time = entry.resumeTime, time.isNumeric, time > .zero, time < entry.endTime, !decodedSpeed.isReverse
    else {
      return .zero
    }
    return time
  }

  /// An item from where it is to begin when it becomes current.
  func first(_ entry: Entry) -> Pass {
    var pass = whole(entry)
    if entry.resumeTime != nil, !decodedSpeed.isReverse { pass.start = firstTime(entry) }
    return pass
  }

  /// Whether the current item is being decoded, or prepared, as such: what is to be heard of it first is settled.
  func isBegun(_ id: ItemID) -> Bool {
    if let first = decoded.first { return first.pass.itemID == id }
    return preparedStart?.itemID == id
  }

  /// The loop that is being played; not one that the item ends before.
  var soundingLoop: Loop? {
    guard let loop, loop.isArmed, let current = entries.first, loop.itemID == current.id else { return nil }
    let turn = loop.turn(at: decodedSpeed)
    return current.end(at: decodedSpeed).map { decodedSpeed.reaches(turn, by: $0) } ?? true ? loop : nil
  }

  /// Whether a pass ends where its item does, and not only where a loop goes back, or what was cut is to go on.
  func endsItem(_ pass: Pass) -> Bool {
    guard let end = pass.end else { return true }
    if let loop = soundingLoop, loop.itemID == pass.itemID,
      decodedSpeed.reaches(end, by: loop.turn(at: decodedSpeed))
    {
      return loop.endsItem && end == loop.turn(at: decodedSpeed)
    }
    return entries[pass.itemID]?.end(at: decodedSpeed).map { decodedSpeed.reaches($0, by: end) } ?? false
  }

  /// Playback of the item goes on from `time`: answers where that pass ends, nil for the end of its sound.
  mutating func passEnd(from time: MediaTime, of id: ItemID) -> MediaTime? {
    let loopEnd = armLoop(at: time, of: id)
    guard let itemEnd = entries[id]?.end(at: speed) else { return loopEnd }
    let end = speed.reaches(itemEnd, by: time) ? time : itemEnd
    guard let loopEnd, !speed.reaches(end, by: loopEnd) else { return end }
    return loopEnd
  }

  /// Sets where an item ends; `time` of the current item is being heard, or about to be.
  mutating func setEnds(of id: ItemID, forward: MediaTime?, reverse: MediaTime?, heardAt time: MediaTime) -> [Action] {
    guard var entry = entries[id] else { return [] }
    let former = entry.end(at: decodedSpeed)
    entry.forwardEnd = forward
    entry.reverseEnd = reverse
    let end = entry.end(at: decodedSpeed)
    guard end != former else {
      entries[id] = entry
      return []
    }
    entry.isTooShort = false
    entries[id] = entry
    guard let end, decodedSpeed.reaches(end, by: time), isHeard(id), endedItem != id else { return reconcile() }
    // It is at its end already.
    return start(Start(itemID: id, time: time))
  }

  /// Whether what is heard, or stands to be heard, is this item, before its end.
  private func isHeard(_ id: ItemID) -> Bool {
    entries.first?.id == id && decoding == .active && decoded.first?.pass.itemID == id && !hasPassedEnd
      && seeks.current == nil
  }
}
