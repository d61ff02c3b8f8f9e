import MediaCore

/// Where items end that are not to be played to the end of their sound.
extension PlayerStateMachine {
  /// An item from its beginning to where it is to end.
  func whole(_ entry: Entry) -> Pass { Pass(itemID: entry.id, end: entry.forwardEnd) }

  /// The loop that is being played; not one that the item ends before.
  var soundingLoop: Loop? {
    guard let loop, loop.isArmed, let current = entries.first, loop.itemID == current.id else { return nil }
    return current.forwardEnd.map { loop.end <= $0 } ?? true ? loop : nil
  }

  /// Whether a pass ends where its item does, and not only where a loop goes back, or what was cut is to go on.
  func endsItem(_ pass: Pass) -> Bool {
    guard let end = pass.end else { return true }
    if let loop = soundingLoop, loop.itemID == pass.itemID, end <= loop.end {
      return loop.endsItem && end == loop.end
    }
    return entries[pass.itemID]?.forwardEnd.map { end >= $0 } ?? false
  }

  /// Playback of the item goes on from `time`: answers where that pass ends, nil for the end of its sound.
  mutating func passEnd(from time: MediaTime, of id: ItemID) -> MediaTime? {
    let loopEnd = armLoop(at: time, of: id)
    guard let itemEnd = entries[id]?.forwardEnd else { return loopEnd }
    return min(max(itemEnd, time), loopEnd ?? .positiveInfinity)
  }

  /// Sets where an item ends; `time` of the current item is being heard, or about to be.
  mutating func setEnds(of id: ItemID, forward: MediaTime?, reverse: MediaTime?, heardAt time: MediaTime) -> [Action] {
    guard var entry = entries[id] else { return [] }
    let hasMoved = entry.forwardEnd != forward
    entry.forwardEnd = forward
    entry.reverseEnd = reverse
    if hasMoved { entry.isTooShort = false }
    entries[id] = entry
    guard hasMoved else { return [] }
    guard let forward, forward <= time, isHeard(id), endedItem != id else { return reconcile() }
    // It is at its end already.
    return start(Start(itemID: id, time: time))
  }

  /// Whether what is heard, or stands to be heard, is this item, before its end.
  private func isHeard(_ id: ItemID) -> Bool {
    entries.first?.id == id && decoding == .active && decoded.first?.pass.itemID == id && !hasPassedEnd
      && seeks.current == nil
  }
}
