import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// The automatic selection of tracks for the items of a player.
extension PlayerCore {
  /// Changes the selection criteria. Items whose audio track changes are decoded again, as after `select`. Explicit
  /// choices for items stay.
  func changeMediaSelection(_ change: (inout MediaSelectionPreferences.Values) -> Void) {
    let decoded = machine.decodedItemIDs.compactMap { items[$0] }
    func tracks() -> [AssetTrack.ID?] {
      decoded.map { item in
        (try? item.asset.loaded?.get()).flatMap { item.mediaSelectionSlot.audioTrackID(in: $0) }
      }
    }
    let before = tracks()
    // Event observers get the changes of all ready entries, in the order of their ids.
    let watched =
      eventObservers.isEmpty ? [] : items.values.filter { $0.status == .readyToPlay }.sorted { $0.id < $1.id }
    let oldSelections = watched.map(\.currentMediaSelection)
    change(&mediaSelectionPreferences.values)
    for (item, (old, new)) in zip(decoded, zip(before, tracks())) where old != new { mediaSelectionChanged(item.id) }
    publish(.request)
    for (item, old) in zip(watched, oldSelections) {
      let new = item.currentMediaSelection
      if new != old { send(.mediaSelectionChanged(item.id, new)) }
    }
  }

  /// Handles an explicit choice of other tracks for an item.
  func mediaSelectionChosen(_ id: PlayerItem.ID, isAudio: Bool) {
    guard !isClosed, let item = items[id] else { return }
    if isAudio { mediaSelectionChanged(id) }
    send(.mediaSelectionChanged(id, item.currentMediaSelection))
  }
}

extension PlayerStateMachine {
  /// The items whose audio is decoded, in preparation or planned.
  var decodedItemIDs: Set<ItemID> {
    var ids = Set(decodedPasses.map(\.pass.itemID))
    ids.formUnion(plan.passes.map(\.itemID))
    ids.formUnion([requestInPreparation?.itemID, progress.uncommitted?.request.itemID].compactMap(\.self))
    return ids
  }
}
