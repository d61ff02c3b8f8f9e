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
    // Who watches is told of all entries whose tracks are known, in the order of their numbers.
    let watched =
      eventObservers.isEmpty ? [] : items.values.filter { $0.status == .readyToPlay }.sorted { $0.id < $1.id }
    let presented = watched.map(\.currentMediaSelection)
    change(&mediaSelectionPreferences.values)
    for (item, (old, new)) in zip(decoded, zip(before, tracks())) where old != new { mediaSelectionChanged(item.id) }
    publish(.request)
    for (item, old) in zip(watched, presented) {
      let new = item.currentMediaSelection
      if new != old { send(.mediaSelectionChanged(item.id, new)) }
    }
  }

  /// Other tracks of an item were chosen.
  func mediaSelectionChosen(_ id: PlayerItem.ID, isSound: Bool) {
    guard !isClosed, let item = items[id] else { return }
    if isSound { mediaSelectionChanged(id) }
    send(.mediaSelectionChanged(id, item.currentMediaSelection))
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
