import MediaAssets
import MediaCore

/// Which of several tracks the items of a player present by themselves.
extension PlayerCore {
  /// Changes what is wanted. What is decoded of another sound track than is wanted now is decoded anew, and heard as after
  /// `select`; what was chosen of an item stays.
  func changeMediaSelection(_ change: (inout MediaSelectionPreferences.Values) -> Void) {
    let decoded = machine.decodedItemIDs.compactMap { items[$0] }
    func tracks() -> [AssetTrack.ID?] {
      decoded.map { item in
        (try? item.asset.loaded?.get()).flatMap { item.mediaSelectionSlot.audioTrackID(in: $0) }
      }
    }
    let before = tracks()
    change(&mediaSelectionPreferences.values)
    for (item, (old, new)) in zip(decoded, zip(before, tracks())) where old != new { mediaSelectionChanged(item.id) }
  }
}

extension PlayerStateMachine {
  /// The items of which something is decoded, or is about to be.
  var decodedItemIDs: Set<ItemID> {
    var ids = Set(decoded.map(\.pass.itemID))
    ids.formUnion(plan.passes.map(\.itemID))
    ids.formUnion([preparedStart?.itemID, uncommitted?.start.itemID].compactMap(\.self))
    return ids
  }
}
