import MediaAssets
import MediaCore
import Synchronization

/// Which options of an item's groups are presented. As AVMediaSelection.
public struct MediaSelection: Sendable, Hashable {
  let options: [MediaCharacteristic: MediaSelectionOption]

  /// What is presented of a group; nil: nothing of it.
  public func selectedOption(in group: MediaSelectionGroup) -> MediaSelectionOption? { options[group.characteristic] }
}

/// What a player wants of those tracks of its items that nothing was chosen of. Read by decode threads.
final class MediaSelectionPreferences: Sendable {
  struct Values: Sendable, Hashable {
    var criteria: [MediaCharacteristic: MediaSelectionCriteria] = [:]
    /// Whether they are followed.
    var areApplied = true
  }

  private let state = Mutex(Values())

  var values: Values {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }

  /// What is presented of a group.
  func option(in group: MediaSelectionGroup) -> MediaSelectionOption? {
    let values = values
    guard values.areApplied, let criteria = values.criteria[group.characteristic] else { return group.defaultOption }
    return group.preferredOption(by: criteria)
  }
}

/// What was chosen of an item's tracks. Read by the decode thread.
final class MediaSelectionSlot: Sendable {
  /// What is to be presented of one group.
  enum Choice: Sendable, Hashable {
    /// What the player wants, or else what the file would have.
    case automatic
    case none
    case track(AssetTrack.ID)
  }

  private struct State {
    var choices: [MediaCharacteristic: Choice] = [:]
    var player: MediaSelectionPreferences?
  }

  private let state = Mutex(State())

  /// What holds where nothing was chosen.
  var player: MediaSelectionPreferences? {
    get { state.withLock { $0.player } }
    set { state.withLock { $0.player = newValue } }
  }

  subscript(characteristic: MediaCharacteristic) -> Choice {
    get { state.withLock { $0.choices[characteristic] ?? .automatic } }
    set { state.withLock { $0.choices[characteristic] = newValue } }
  }

  /// The sound track to play of an asset; nil: silence.
  func audioTrackID(in properties: AssetProperties) -> AssetTrack.ID? {
    switch self[.audible] {
    case .automatic:
      properties.mediaSelectionGroup(for: .audible).flatMap(preferred)?.trackID ?? properties.audioTrackID
    case .none: nil
    case .track(let id): id
    }
  }

  /// Throws `audioFault` if the item plays audio that cannot be decoded.
  func checkAudio(of properties: AssetProperties) throws(MediaError) {
    guard let fault = properties.audioFault, audioTrackID(in: properties) == nil else { return }
    if case .none = self[.audible] { return }
    throw fault
  }

  /// What the player prefers of a group.
  private func preferred(in group: MediaSelectionGroup) -> MediaSelectionOption? { player?.option(in: group) }

  /// What is presented of a group.
  func option(in group: MediaSelectionGroup) -> MediaSelectionOption? {
    switch self[group.characteristic] {
    case .automatic: preferred(in: group) ?? group.defaultOption
    case .none: nil
    case .track(let id): group.option(trackID: id)
    }
  }

  /// What was chosen of which group.
  var choices: [MediaCharacteristic: Choice] { state.withLock { $0.choices } }

  /// Takes over what was chosen elsewhere.
  func copy(from other: MediaSelectionSlot) {
    let theirs = other.state.withLock { $0.choices }
    state.withLock { $0.choices = theirs }
  }
}

extension MediaSelectionSlot.Choice {
  init(_ choice: PlayerItem.TrackChoice) {
    switch choice {
    case .none: self = .none
    case .track(let id): self = .track(id)
    }
  }

  /// Nil where nothing was chosen.
  var saved: PlayerItem.TrackChoice? {
    switch self {
    case .automatic: nil
    case .none: PlayerItem.TrackChoice.none
    case .track(let id): .track(id)
    }
  }
}

/// Choosing among an item's tracks.
extension PlayerItem {
  /// The tracks to choose from, sound first; none until the asset is loaded.
  public var mediaSelectionGroups: [MediaSelectionGroup] { (try? asset.loaded?.get())?.mediaSelectionGroups ?? [] }

  /// What is presented of each group; of none until the asset is loaded.
  public var currentMediaSelection: MediaSelection {
    var options: [MediaCharacteristic: MediaSelectionOption] = [:]
    for group in mediaSelectionGroups { options[group.characteristic] = mediaSelectionSlot.option(in: group) }
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

  /// Presents of a group what the player's criteria say, or else what the file would have. Errors: as `select`'s.
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
    guard currentMediaSelection.selectedOption(in: group) != before else { return }
    soundChanged(group.characteristic == .audible ? .mediaSelection : .subtitles)
  }
}
