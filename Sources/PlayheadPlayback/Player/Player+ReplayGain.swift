import PlayheadMediaCore
import PlayheadPlayerModel

/// Loudness normalization of items.
extension PlayerControl {
  /// The settings of loudness normalization. Default: off.
  public var replayGain: ReplayGainSettings { control.core.replayGain.settings }

  /// Sets the loudness normalization of items, now and later. Audible items change at once, over 5 ms.
  ///
  /// Each item has a separate gain, which begins with the item's first sample. The gain is multiplied with the item's
  /// mix (``PlayerItem/audioMix``) and with the player's volume, which does not change.
  ///
  /// - Throws: `invalidArgument` for a gain out of its range. Then nothing changes.
  public func setReplayGain(_ settings: ReplayGainSettings) throws(MediaError) {
    try control.core.replayGain.set(settings)
  }

  /// Returns the gain that is applied to an item of the queue. Nil while its tags are unknown, and for a failed item.
  ///
  /// - Throws: `noSuchItem`.
  public func appliedGain(of id: PlayerItem.ID) throws(MediaError) -> AppliedGain? {
    try control.core.replayGain.gain(of: id)
  }
}
