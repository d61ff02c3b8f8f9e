import PlayheadMediaCore
import PlayheadPlayerModel

/// Pitch algorithms: requests, and their effect on the audible pass.
extension PlayerCore {
  /// Sets the algorithm of all items without a custom one, now and later.
  func setTimePitch(_ algorithm: AudioTimePitchAlgorithm) throws(MediaError) {
    try algorithm.requireAvailable(operation: "setAudioTimePitchAlgorithm")
    guard timePitchSlot.value != algorithm else { return }
    timePitchSlot.customValue = algorithm
    timePitchChanged(nil)
  }

  /// Handles a change of the algorithm of an item; nil: of all items without a custom one. Audio at a rate other than 1
  /// is decoded again. The change is heard 60 ms later, like a change of rate, with a cross-fade of 5 ms.
  func timePitchChanged(_ id: PlayerItem.ID?) {
    guard !isClosed else { return }
    machine.timePitchChanged(of: id)
    publish(.request)
    applyRequestedRate()
  }
}
