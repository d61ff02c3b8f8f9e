import MediaCore

/// Another pitch algorithm while there is a stream.
extension PlayerStateMachine {
  /// Item `id`, or with nil any of them, is to be played with another algorithm. What is decoded for another rate than 1 is
  /// as stale as if the rate had changed; at the rate 1 no algorithm is at work, nor behind an end that has been heard.
  mutating func timePitchChanged(of id: ItemID?) {
    guard decodedSpeed.magnitude != .normal, !hasPassedEnd, endedItem == nil else { return }
    let isConcerned =
      id == nil || decoded.contains { $0.pass.itemID == id } || preparedStart?.itemID == id
      || uncommitted?.start.itemID == id || plan.passes.first?.itemID == id
    if isConcerned { isPitchStale = true }
  }
}
