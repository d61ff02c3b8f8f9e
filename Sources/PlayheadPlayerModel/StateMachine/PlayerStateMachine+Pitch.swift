import PlayheadMediaCore

/// Changes of the pitch algorithm while there is a stream.
extension PlayerStateMachine {
  /// The pitch algorithm of item `id` changed; nil: of any item. Audio that was decoded for a rate other than 1 is then
  /// outdated, as after a change of rate. No algorithm is used at rate 1, nor after an end that has been heard.
  package mutating func timePitchChanged(of id: ItemID?) {
    guard decodedRate.magnitude != .normal, !hasPassedEnd, endedItemID == nil else { return }
    let isAffected =
      id == nil || decodedPasses.contains { $0.pass.itemID == id } || requestInPreparation?.itemID == id
      || uncommitted?.request.itemID == id || plan.passes.first?.itemID == id
    if isAffected { isPitchStale = true }
  }
}
