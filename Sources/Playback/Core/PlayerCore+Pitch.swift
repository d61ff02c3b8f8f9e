import MediaCore
import PlayerModel

/// Pitch algorithms: requests, and their effect on the audible pass.
extension PlayerCore {
  /// Sets the algorithm of all items without a custom one, now and later.
  func setTimePitch(_ algorithm: AudioTimePitchAlgorithm) throws(MediaError) {
    try algorithm.requireAvailable(operation: "setAudioTimePitchAlgorithm")
    guard timePitchSlot.value != algorithm else { return }
    timePitchSlot.customValue = algorithm
    timePitchChanged(nil)
  }

  /// The algorithm of an item changed; nil: of all items without a custom one. Audio decoded at a rate other than 1 is
  /// decoded again. Like a change of rate it is heard a little later, with a cross-fade of 5 ms.
  func timePitchChanged(_ id: PlayerItem.ID?) {
    guard !isClosed else { return }
    machine.timePitchChanged(of: id)
    publish(.request)
    applyRequestedRate()
  }
}
