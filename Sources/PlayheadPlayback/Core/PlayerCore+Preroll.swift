import PlayheadMediaCore
import PlayheadPlayerModel

/// Prerolls: decoding of the next samples while the player stays silent.
extension PlayerCore {
  /// A pending preroll. `completion` gets true when the player is ready.
  struct Preroll {
    var itemID: PlayerItem.ID
    var rate: PlaybackRate
    var completion: @Sendable (Bool) -> Void
  }

  /// Implements `PlayerControl.preroll`.
  func preroll(atRate rate: Double, completion: @escaping @Sendable (Bool) -> Void) throws(MediaError) {
    try checkOpen("preroll")
    let playbackRate = try validatedRate(rate, operation: "preroll")
    guard machine.rate == 0 else {
      throw MediaError(.invalidState, "the player must be paused to preroll", operation: "preroll")
    }
    guard let current = machine.entries.first else {
      throw MediaError(.noCurrentItem, "there is no current item to preroll", operation: "preroll")
    }
    if let error = current.status.error { throw error }
    try checkDirection(playbackRate, operation: "preroll")
    guard startGroup == nil || machine.targetRate == playbackRate else {
      throw MediaError(
        .invalidState, "a joint start at the rate \(machine.targetRate.value) is pending",
        operation: "preroll")
    }
    // Prerolls for another rate end, because their decoded audio is replaced.
    let interrupted = prerolls.filter { $0.rate != playbackRate }
    prerolls.removeAll { $0.rate != playbackRate }
    prerolls.append(Preroll(itemID: current.id, rate: playbackRate, completion: completion))
    machine.setTargetRate(playbackRate)
    run(machine.needsRateChange ? machine.changeDecodedRate(from: currentTime()) : [], cause: .request)
    for preroll in interrupted { enqueue(.preroll(preroll.completion, false)) }
    completeReadyPrerolls()
  }

  /// Whether the mixer has the next audio, so that playback starts without decoding.
  private var isPrerolled: Bool {
    machine.requestInPreparation == nil && machine.progress.isActive && machine.progress.uncommitted == nil
      && machine.seeks.current == nil && !machine.decodedPasses.isEmpty && !machine.needsRateChange
  }

  /// Completes all prerolls: with true if the player is ready; with false if they cannot succeed, because the item
  /// failed or is not current, or the rate changed.
  func completeReadyPrerolls() {
    guard !prerolls.isEmpty else { return }
    let current = machine.entries.first
    if prerolls.contains(where: { $0.itemID != current?.id || $0.rate != machine.targetRate })
      || current?.status.error != nil
    {
      return endPrerolls()
    }
    if isPrerolled { endPrerolls(areReady: true) }
  }

  /// Completes all prerolls.
  func endPrerolls(areReady: Bool = false) {
    let ending = prerolls
    prerolls = []
    for preroll in ending { enqueue(.preroll(preroll.completion, areReady)) }
  }
}
