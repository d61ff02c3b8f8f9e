import MediaAssets
import MediaCore
import Synchronization

/// Which options of an item's groups are presented. As AVMediaSelection.
public struct MediaSelection: Sendable, Hashable {
  let options: [MediaCharacteristic: MediaSelectionOption]

  /// What is presented of a group; nil: nothing of it.
  public func selectedOption(in group: MediaSelectionGroup) -> MediaSelectionOption? { options[group.characteristic] }
}

/// What was chosen of an item's tracks. Read by the decode thread.
final class MediaSelectionSlot: Sendable {
  /// What is to be presented of one group.
  enum Choice: Sendable, Hashable {
    /// What the file would have.
    case automatic
    case none
    case track(AssetTrack.ID)
  }

  private let choices = Mutex<[MediaCharacteristic: Choice]>([:])

  subscript(characteristic: MediaCharacteristic) -> Choice {
    get { choices.withLock { $0[characteristic] ?? .automatic } }
    set { choices.withLock { $0[characteristic] = newValue } }
  }

  /// The sound track to play of an asset; nil: silence.
  func audioTrackID(in properties: AssetProperties) -> AssetTrack.ID? {
    switch self[.audible] {
    case .automatic: properties.audioTrackID
    case .none: nil
    case .track(let id): id
    }
  }

  /// Takes over what was chosen elsewhere.
  func copy(from other: MediaSelectionSlot) {
    let theirs = other.choices.withLock { $0 }
    choices.withLock { $0 = theirs }
  }
}

/// Choosing among an item's tracks.
extension PlayerItem {
  /// The tracks to choose from, sound first; none until the asset is loaded.
  public var mediaSelectionGroups: [MediaSelectionGroup] { (try? asset.loaded?.get())?.mediaSelectionGroups ?? [] }

  /// What is presented of each group; of none until the asset is loaded.
  public var currentMediaSelection: MediaSelection {
    var options: [MediaCharacteristic: MediaSelectionOption] = [:]
    for group in mediaSelectionGroups {
      switch mediaSelectionSlot[group.characteristic] {
      case .automatic: options[group.characteristic] = group.defaultOption
      case .none: break
      case .track(let id): options[group.characteristic] = group.option(trackID: id)
      }
    }
    return MediaSelection(options: options)
  }

  /// Presents an option of a group instead of what is presented of it; nil: nothing of it.
  ///
  /// Another sound track is heard as soon as it has been decoded, across 5 ms and at the very time at which the item is then:
  /// playback goes on, whatever its rate, a seek that is under way arrives in the new track, and a paused player stays where it is.
  ///
  /// Errors: `noSuchTrack` for what is no option of the group, or a group that the asset does not have; `invalidState` for nil
  /// where something of the group has to be presented, and before the asset is loaded; `unknownCodec` for an option that
  /// cannot be presented. Then the selection is what it was.
  public func select(_ option: MediaSelectionOption?, in group: MediaSelectionGroup) throws(MediaError) {
    try checkGroup(group)
    guard let option else {
      guard group.allowsEmptySelection else {
        throw MediaError(
          .invalidState, "something of the \(group.characteristic.rawValue) tracks has to be presented",
          operation: "item.select")
      }
      return choose(.none, group)
    }
    guard group.options.contains(option) else {
      throw MediaError(.noSuchTrack, "track \(option.trackID) is not to choose from", operation: "item.select")
    }
    guard option.isPlayable else {
      throw MediaError(.unknownCodec, "track \(option.trackID) cannot be played", operation: "item.select")
    }
    choose(.track(option.trackID), group)
  }

  /// Presents the best option of a group by these criteria. Errors: `noSuchTrack` when there is none, and those of `select`.
  @discardableResult
  public func select(
    matching criteria: MediaSelectionCriteria, in group: MediaSelectionGroup
  ) throws(MediaError) -> MediaSelectionOption {
    guard let option = group.option(matching: criteria) else {
      throw MediaError(
        .noSuchTrack, "no track of the \(group.characteristic.rawValue) ones is as it is wanted",
        operation: "item.select")
    }
    try select(option, in: group)
    return option
  }

  /// Presents of a group what the file would have. Errors: as `select`'s.
  public func selectAutomatically(in group: MediaSelectionGroup) throws(MediaError) {
    try checkGroup(group)
    choose(.automatic, group)
  }

  private func checkGroup(_ group: MediaSelectionGroup) throws(MediaError) {
    guard case .success(let properties)? = asset.loaded else {
      throw MediaError(.invalidState, "the item is not ready: its tracks are not known", operation: "item.select")
    }
    guard properties.mediaSelectionGroup(for: group.characteristic) == group else {
      throw MediaError(
        .noSuchTrack, "the item has no such \(group.characteristic.rawValue) tracks", operation: "item.select")
    }
  }

  private func choose(_ choice: MediaSelectionSlot.Choice, _ group: MediaSelectionGroup) {
    let before = currentMediaSelection.selectedOption(in: group)
    mediaSelectionSlot[group.characteristic] = choice
    guard group.characteristic == .audible, currentMediaSelection.selectedOption(in: group) != before else { return }
    soundChanged(.mediaSelection)
  }
}
