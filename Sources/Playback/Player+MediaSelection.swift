import MediaAssets
import MediaCore

/// Which of several tracks the items present by themselves. As AVPlayer's media selection criteria.
extension PlayerControl {
  /// What is wanted of a group of tracks, `audible` or `legible`; nil: nothing, so that it is what the file would have.
  public func mediaSelectionCriteria(for characteristic: MediaCharacteristic) -> MediaSelectionCriteria? {
    control.core.mediaSelectionPreferences.values.criteria[characteristic]
  }

  /// Sets what is wanted of a group of tracks, `audible` or `legible`, of all items now and later; nil: nothing. What was chosen
  /// for an item (`PlayerItem.select`) stays, until `selectAutomatically` gives that up. What is heard changes as after
  /// `select`: at the time at which it is.
  ///
  /// Errors: `invalidArgument` for another characteristic, of which there are no groups.
  public func setMediaSelectionCriteria(
    _ criteria: MediaSelectionCriteria?, for characteristic: MediaCharacteristic
  ) throws(MediaError) {
    guard characteristic == .audible || characteristic == .legible else {
      throw MediaError(
        .invalidArgument, "tracks are chosen among those that are audible, or legible, not \(characteristic.rawValue)",
        operation: "media-selection")
    }
    control.core.changeMediaSelection { $0.criteria[characteristic] = criteria }
  }

  /// Whether these criteria are followed; at first they are. Otherwise items present what their files would have.
  public var appliesMediaSelectionCriteriaAutomatically: Bool {
    control.core.mediaSelectionPreferences.values.areApplied
  }

  /// Sets whether the criteria are followed, by all items of which nothing was chosen, now and later.
  public func setAppliesMediaSelectionCriteriaAutomatically(_ applies: Bool) {
    control.core.changeMediaSelection { $0.areApplied = applies }
  }
}
