import PlayheadMediaAssets
import PlayheadMediaCore

/// The automatic selection of tracks, like AVPlayer's media selection criteria.
extension PlayerControl {
  /// The criteria for a group of tracks, `audible` or `legible`; nil: none, so that the file determines the track.
  public func mediaSelectionCriteria(for characteristic: MediaCharacteristic) -> MediaSelectionCriteria? {
    control.core.itemSettings.mediaSelectionPreferences.values.criteria[characteristic]
  }

  /// Sets the criteria for a group of tracks, of all items now and later; nil removes them.
  ///
  /// An explicit choice for an item (`PlayerItem.select`) has priority until `selectAutomatically` removes it. Audio
  /// changes as after `select`, at the position that is heard.
  ///
  /// - Parameters:
  ///   - criteria: The criteria; nil removes them.
  ///   - characteristic: `audible` or `legible`.
  /// - Throws: `invalidArgument` for another characteristic, which has no group.
  public func setMediaSelectionCriteria(
    _ criteria: MediaSelectionCriteria?, for characteristic: MediaCharacteristic
  ) throws(MediaError) {
    guard characteristic == .audible || characteristic == .legible else {
      throw MediaError(
        .invalidArgument, "characteristic must be audible or legible (got \(characteristic.rawValue))",
        operation: "setMediaSelectionCriteria")
    }
    control.core.itemSettings.changeMediaSelection { $0.criteria[characteristic] = criteria }
  }

  /// Whether the criteria are applied. Default: true. If false, the files determine the tracks of their items.
  public var appliesMediaSelectionCriteriaAutomatically: Bool {
    control.core.itemSettings.mediaSelectionPreferences.values.areApplied
  }

  /// Sets whether the criteria are applied to all items without an explicit choice, now and later.
  public func setAppliesMediaSelectionCriteriaAutomatically(_ applies: Bool) {
    control.core.itemSettings.changeMediaSelection { $0.areApplied = applies }
  }
}
