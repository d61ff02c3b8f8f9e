import MediaCore

/// How loud items are made.
extension PlayerControl {
  /// How items are made as loud as each other; off at first.
  public var replayGain: ReplayGainSettings { control.core.replayGain }

  /// Sets how items are made as loud as each other, now and later. What is being heard changes at once, over 5 ms.
  ///
  /// An item's gain is one of its own: it begins with the item's first sample, and is multiplied with its mix (`PlayerItem.audioMix`)
  /// and with the player's volume, which stays what it is.
  ///
  /// Errors: `invalidArgument` for a gain out of its range; nothing has changed then.
  public func setReplayGain(_ settings: ReplayGainSettings) throws(MediaError) {
    try control.core.setReplayGain(settings)
  }

  /// The gain that is applied to an item of the queue; nil while its tags are not known, and for an item that failed.
  ///
  /// Errors: `noSuchItem`.
  public func appliedGain(of id: PlayerItem.ID) throws(MediaError) -> AppliedGain? {
    try control.core.appliedGain(of: id)
  }
}
