import PlayheadMediaCore

/// The time-pitch algorithm for rates other than 1.
extension PlayerControl {
  /// The algorithm of items without a custom one. Default: `timeDomain`.
  public var audioTimePitchAlgorithm: AudioTimePitchAlgorithm { control.core.itemSettings.timePitchSlot.value }

  /// Sets the algorithm of items without a custom one, now and later.
  ///
  /// The change is heard like a change of rate: after 60 ms, with a cross-fade of 5 ms. At rate 1 nothing changes.
  ///
  /// - Throws: `unsupportedRate` for an algorithm that this build does not have. Then nothing changes.
  public func setAudioTimePitchAlgorithm(_ algorithm: AudioTimePitchAlgorithm) throws(MediaError) {
    try control.core.itemSettings.setTimePitch(algorithm)
  }
}
