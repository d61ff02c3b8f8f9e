import PlayheadMediaCore

/// Changes of the pitch algorithm while there is a stream.
extension PlayerStateMachine {
  /// The pitch algorithm of item `id` changed; nil: of any item. Audio that was decoded for a rate other than 1 is then
  /// outdated, as after a change of rate. No algorithm is used at rate 1, nor after an end that has been heard.
  package mutating func timePitchChanged(of id: ItemID?) {
    guard decodedRate.magnitude != .normal, !heardEnd.isReached else { return }
    let isAffected =
      progress.includes(id) || progress.uncommitted?.request.itemID == id || plan.passes.first?.itemID == id
    if isAffected { progress.pitchChanged() }
  }
}
