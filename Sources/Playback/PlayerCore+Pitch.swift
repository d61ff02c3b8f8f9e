import MediaCore

/// Pitch algorithms: what is asked for, and how what is heard follows.
extension PlayerCore {
  /// Sets the algorithm for all items that have none of their own, now and later.
  func setTimePitch(_ algorithm: AudioTimePitchAlgorithm) throws(MediaError) {
    try algorithm.requireAvailable(operation: "pitch")
    guard timePitchSlot.value != algorithm else { return }
    timePitchSlot.own = algorithm
    timePitchChanged(nil)
  }

  /// An item's algorithm, or with nil that of all without one of their own, is another one: what was decoded at another
  /// rate than 1 is decoded anew and heard as a change of rate is, a little ahead of what is heard and across 5 ms.
  func timePitchChanged(_ id: PlayerItem.ID?) {
    guard !isClosed else { return }
    machine.timePitchChanged(of: id)
    publish(.request)
    followSpeed()
  }
}
