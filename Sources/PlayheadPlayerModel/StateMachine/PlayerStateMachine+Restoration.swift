import PlayheadMediaCore

extension PlayerStateMachine {
  /// Restores a saved queue. Playback of the first item will start at `time`.
  package mutating func restore(
    _ newEntries: [Entry], history ids: [ItemID], version: UInt64, shuffle saved: ShuffleSnapshot?,
    loop savedLoop: LoopSnapshot?, at time: MediaTime
  ) {
    queue.restore(newEntries, history: ids, version: version, shuffle: saved)
    guard let first = entries.first else { return }
    if time.isNumeric, time > .zero { progress.deferRequest(DecodeRequest(itemID: first.id, time: time)) }
    if let savedLoop {
      intent.setLoop(
        Loop(
          itemID: first.id, start: savedLoop.range.start, end: savedLoop.range.end,
          remaining: savedLoop.remainingCount, isArmed: savedLoop.isArmed, count: savedLoop.loopCount,
          isFinishing: savedLoop.isFinishing))
    }
  }
}
