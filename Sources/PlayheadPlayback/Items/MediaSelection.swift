import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel
import Synchronization

/// The selected options of an item's groups, like AVMediaSelection.
public struct MediaSelection: Sendable, Hashable {
  let options: [MediaCharacteristic: MediaSelectionOption]

  /// The selected option of a group; nil: none.
  public func selectedOption(in group: MediaSelectionGroup) -> MediaSelectionOption? { options[group.characteristic] }
}

/// A player's preferences for tracks of items without an explicit choice. Decode threads read them.
final class MediaSelectionPreferences: Sendable {
  struct Values: Sendable, Hashable {
    var criteria: [MediaCharacteristic: MediaSelectionCriteria] = [:]
    /// Whether the criteria are applied.
    var areApplied = true
  }

  private let state = Mutex(Values())

  var values: Values {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }

  /// The preferred option of a group.
  func option(in group: MediaSelectionGroup) -> MediaSelectionOption? {
    let values = values
    guard values.areApplied, let criteria = values.criteria[group.characteristic] else { return group.defaultOption }
    return group.preferredOption(by: criteria)
  }
}

/// The explicit track choices of an item. The decode thread reads them.
final class MediaSelectionSlot: Sendable {
  /// The choice for one group.
  enum Choice: Sendable, Hashable {
    /// The player's preference, or else the default of the file.
    case automatic
    case none
    case track(AssetTrack.ID)
  }

  private struct State {
    var choices: [MediaCharacteristic: Choice] = [:]
    var playerPreferences: MediaSelectionPreferences?
  }

  private let state = Mutex(State())

  /// The preferences of the player, which apply without an explicit choice.
  var playerPreferences: MediaSelectionPreferences? {
    get { state.withLock { $0.playerPreferences } }
    set { state.withLock { $0.playerPreferences = newValue } }
  }

  subscript(characteristic: MediaCharacteristic) -> Choice {
    get { state.withLock { $0.choices[characteristic] ?? .automatic } }
    set { state.withLock { $0.choices[characteristic] = newValue } }
  }

  /// The id of the audio track to play; nil: silence.
  func audioTrackID(in properties: AssetProperties) -> AssetTrack.ID? {
    switch self[.audible] {
    case .automatic:
      properties.mediaSelectionGroup(for: .audible).flatMap(preferred)?.trackID ?? properties.audioTrackID
    case .none: nil
    case .track(let id): id
    }
  }

  /// Checks that the selected audio can be decoded.
  ///
  /// - Throws: `properties.audioFault`.
  func checkAudio(of properties: AssetProperties) throws(MediaError) {
    guard let fault = properties.audioFault, audioTrackID(in: properties) == nil else { return }
    if case .none = self[.audible] { return }
    throw fault
  }

  /// The player's preferred option of a group.
  private func preferred(in group: MediaSelectionGroup) -> MediaSelectionOption? {
    playerPreferences?.option(in: group)
  }

  /// The selected option of a group.
  func option(in group: MediaSelectionGroup) -> MediaSelectionOption? {
    switch self[group.characteristic] {
    case .automatic: preferred(in: group) ?? group.defaultOption
    case .none: nil
    case .track(let id): group.option(trackID: id)
    }
  }

  /// The explicit choices by group.
  var choices: [MediaCharacteristic: Choice] { state.withLock { $0.choices } }

  /// Copies the choices of another slot.
  func copy(from other: MediaSelectionSlot) {
    let otherChoices = other.state.withLock { $0.choices }
    state.withLock { $0.choices = otherChoices }
  }
}

extension MediaSelectionSlot.Choice {
  init(_ choice: PlayerItem.TrackChoice) {
    switch choice {
    case .none: self = .none
    case .track(let id): self = .track(id)
    }
  }

  /// The choice in its saved form; nil without an explicit choice.
  var saved: PlayerItem.TrackChoice? {
    switch self {
    case .automatic: nil
    case .none: PlayerItem.TrackChoice.none
    case .track(let id): .track(id)
    }
  }
}

/// Selection of an item's tracks.
extension PlayerItem {
  /// The groups of tracks, audio first; empty until the asset is loaded.
  public var mediaSelectionGroups: [MediaSelectionGroup] { (try? asset.loaded?.get())?.mediaSelectionGroups ?? [] }

  /// The selected option of each group; empty until the asset is loaded.
  public var currentMediaSelection: MediaSelection {
    var options: [MediaCharacteristic: MediaSelectionOption] = [:]
    for group in mediaSelectionGroups { options[group.characteristic] = mediaSelectionSlot.option(in: group) }
    return MediaSelection(options: options)
  }

  /// Selects an option of a group, or none if `option` is nil.
  ///
  /// A new audio track is heard once it has been decoded. It replaces the old one at the same item time, with a
  /// crossfade of 5 ms. Playback continues at any rate, a pending seek arrives in the new track, and a paused player
  /// keeps its position.
  ///
  /// - Throws: then the selection does not change.
  ///   - `noSuchTrack` if `option` is not in the group, or the asset does not have the group.
  ///   - `invalidState` before the asset is loaded, or if `option` is nil and the group must have a selection.
  ///   - `unknownCodec` if the option cannot be played.
  public func select(_ option: MediaSelectionOption?, in group: MediaSelectionGroup) throws(MediaError) {
    try checkGroup(group)
    guard let option else {
      guard group.allowsEmptySelection else {
        throw MediaError(
          .invalidState, "the \(group.characteristic.rawValue) group must have a selected track",
          operation: "select")
      }
      return choose(.none, group)
    }
    guard group.options.contains(option) else {
      throw MediaError(.noSuchTrack, "track \(option.trackID) is not an option of the group", operation: "select")
    }
    guard option.isPlayable else {
      throw MediaError(.unknownCodec, "track \(option.trackID) cannot be played", operation: "select")
    }
    choose(.track(option.trackID), group)
  }

  /// Selects the best option of a group by these criteria.
  ///
  /// <!-- listing: select-track -->
  /// ```swift
  /// for group in item.mediaSelectionGroups where group.characteristic == .audible {
  ///   try item.select(matching: MediaSelectionCriteria(preferredLanguages: ["fr", "en"]), in: group)
  /// }
  /// ```
  ///
  /// - Throws: `noSuchTrack` if no option matches; the errors of `select(_:in:)`.
  @discardableResult
  public func select(
    matching criteria: MediaSelectionCriteria, in group: MediaSelectionGroup
  ) throws(MediaError) -> MediaSelectionOption {
    guard let option = group.option(matching: criteria) else {
      throw MediaError(
        .noSuchTrack, "no \(group.characteristic.rawValue) track matches the criteria",
        operation: "select")
    }
    try select(option, in: group)
    return option
  }

  /// Selects the option of a group by the player's criteria, or else the default of the file.
  ///
  /// - Throws: the errors of `select(_:in:)`.
  public func selectAutomatically(in group: MediaSelectionGroup) throws(MediaError) {
    try checkGroup(group)
    choose(.automatic, group)
  }

  private func checkGroup(_ group: MediaSelectionGroup) throws(MediaError) {
    guard case .success(let properties)? = asset.loaded else {
      throw MediaError(.invalidState, "the item is not ready: its tracks are unknown", operation: "select")
    }
    guard properties.mediaSelectionGroup(for: group.characteristic) == group else {
      throw MediaError(
        .noSuchTrack, "the item does not have this group of \(group.characteristic.rawValue) tracks",
        operation: "select")
    }
  }

  private func choose(_ choice: MediaSelectionSlot.Choice, _ group: MediaSelectionGroup) {
    let before = currentMediaSelection.selectedOption(in: group)
    mediaSelectionSlot[group.characteristic] = choice
    guard currentMediaSelection.selectedOption(in: group) != before else { return }
    notifyAudioChange(group.characteristic == .audible ? .mediaSelection : .subtitles)
  }
}
