import PlayheadMediaCore

/// A range of the current item that is played once: playback pauses at its end.
extension PlayerStateMachine {
  /// The end of the range that is played.
  package struct RangeEnd: Sendable, Hashable {
    package var itemID: ItemID
    package var time: MediaTime
  }

  /// Removes the end of the range: playback continues past it.
  package mutating func removeRangeEnd() -> [Action] {
    guard intent.rangeEnd != nil else { return [] }
    intent.setRangeEnd(nil)
    return reconcile()
  }

  /// The end of the range if it ends before the item does. Nothing follows it.
  func earlyRangeEnd(of entry: Entry, at rate: PlaybackRate) -> MediaTime? {
    guard let end = intent.rangeEnd, end.itemID == entry.id, !rate.isReverse, end.time < entry.endTime else {
      return nil
    }
    return end.time
  }

  /// Whether a pass ends at the end of the range, before the item's end.
  package func endsRange(_ pass: Pass) -> Bool {
    guard let entry = entries[pass.itemID], let end = earlyRangeEnd(of: entry, at: decodedRate) else { return false }
    return pass.end == end
  }

  /// Removes the range, and reports its outcome.
  mutating func endRange(_ outcome: RangeOutcome) -> [Action] {
    guard intent.rangeEnd != nil else { return [] }
    intent.setRangeEnd(nil)
    return [.completeRange(outcome)]
  }

  /// Handles the end of a pass that has been heard while a range is played, and that no pass continues. Returns nil
  /// without a range.
  ///
  /// At the end of the range the audio that follows is decoded, so that the next playback continues there. If the item
  /// itself has ended, it stays current, at its end. After an error the player pauses where the audio ended.
  mutating func rangeEndHeard(_ heard: Pass, of current: Entry, _ error: MediaError?) -> [Action]? {
    guard let range = intent.rangeEnd, range.itemID == current.id else { return nil }
    if error != nil {
      heardEnd.report(current.id)
      return endRange(.itemFailed) + pause()
    }
    if endsRange(heard) {
      return endRange(.finished) + pause()
        + decode(DecodeRequest(itemID: current.id, time: range.time, isContinuation: true))
    }
    heardEnd.report(current.id)
    let isWholeRange = !decodedRate.isReverse && range.time <= current.endTime
    return endRange(isWholeRange ? .finished : .itemEnded) + pause()
  }
}
