import MediaCore

extension PlayerStateMachine {
  /// Restores a saved queue. Playback of the first item will start at `time`.
  package mutating func restore(
    _ newEntries: [Entry], history ids: [ItemID], version: UInt64, shuffle saved: ShuffleSnapshot?,
    loop savedLoop: LoopSnapshot?, at time: MediaTime
  ) {
    entries = QueueEntries(newEntries)
    for id in ids { history.append(id) }
    queueVersion = version
    if let saved {
      let original = saved.original.flatMap(\.ids).filter { entries.contains($0) }
      // Ignore an unshuffled order that does not match the queue: the queue is then not shuffled.
      if original.count == entries.count { shuffle = QueueShuffle(saved, original: QueueOrder(original)) }
    }
    guard let first = entries.first else { return }
    if time.isNumeric, time > .zero { deferredRequest = DecodeRequest(itemID: first.id, time: time) }
    if let savedLoop {
      loop = Loop(
        itemID: first.id, start: savedLoop.range.start, end: savedLoop.range.end, remaining: savedLoop.remainingCount,
        isArmed: savedLoop.isArmed, count: savedLoop.loopCount, isFinishing: savedLoop.isFinishing)
    }
  }
}

extension QueueShuffle {
  /// Restores a saved state.
  fileprivate init(_ saved: ShuffleSnapshot, original: QueueOrder) {
    self.init(
      seed: saved.seed, original: original, round: saved.round,
      remaining: min(max(1, saved.remainingCount), original.count), generatorState: saved.generatorState)
  }
}
