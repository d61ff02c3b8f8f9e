import MediaCore

/// What becomes of the pitch at other rates than 1.
extension PlayerControl {
  /// What items that have no algorithm of their own are played with; `timeDomain` at first.
  public var audioTimePitchAlgorithm: AudioTimePitchAlgorithm { control.core.timePitchSlot.value }

  /// Sets what items that have no algorithm of their own are played with, now and later. What is being heard changes as
  /// at a change of rate, 60 ms after what is heard then and across 5 ms; at the rate 1 nothing changes.
  ///
  /// Errors: `unsupportedRate` for an algorithm that this build does not have; nothing has changed then.
  public func setAudioTimePitchAlgorithm(_ algorithm: AudioTimePitchAlgorithm) throws(MediaError) {
    try control.core.setTimePitch(algorithm)
  }
}
