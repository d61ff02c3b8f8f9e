import PlayheadMediaCore
import PlayheadPlayerModel

/// Prerolls: decoding of the next samples while the player stays silent.
final class PlayerPrerolls: PlayerFeature {
  /// A pending preroll. `completion` gets true when the player is ready.
  private struct Preroll {
    var itemID: PlayerItem.ID
    var rate: PlaybackRate
    var completion: @Sendable (Bool) -> Void
  }

  private unowned let player: PlayerCore
  /// The prerolls that wait until the player is ready.
  private var pending: [Preroll] = []

  init(_ player: PlayerCore) { self.player = player }

  /// Implements `PlayerControl.preroll`.
  func add(atRate rate: Double, completion: @escaping @Sendable (Bool) -> Void) throws(MediaError) {
    try player.checkOpen("preroll")
    let playbackRate = try player.validatedRate(rate, operation: "preroll")
    guard player.machine.rate == 0 else {
      throw MediaError(.invalidState, "the player must be paused to preroll", operation: "preroll")
    }
    guard let current = player.machine.entries.first else {
      throw MediaError(.noCurrentItem, "there is no current item to preroll", operation: "preroll")
    }
    if let error = current.status.error { throw error }
    try player.checkDirection(playbackRate, operation: "preroll")
    guard player.jointChanges.start == nil || player.machine.targetRate == playbackRate else {
      throw MediaError(
        .invalidState, "a joint start at the rate \(player.machine.targetRate.value) is pending",
        operation: "preroll")
    }
    // Prerolls for another rate end, because their decoded audio is replaced.
    let interrupted = pending.filter { $0.rate != playbackRate }
    pending.removeAll { $0.rate != playbackRate }
    pending.append(Preroll(itemID: current.id, rate: playbackRate, completion: completion))
    player.machine.setTargetRate(playbackRate)
    player.run(
      player.machine.needsRateChange ? player.machine.changeDecodedRate(from: player.currentTime()) : [],
      cause: .request)
    complete(interrupted, areReady: false)
    completeReady()
  }

  func stateDidPublish() { completeReady() }

  func playerDidClose() { end() }

  /// Completes all prerolls: with true if the player is ready; with false if they cannot succeed, because the item
  /// failed or is not current, or the rate changed.
  func completeReady() {
    guard !pending.isEmpty else { return }
    let (current, rate) = (player.machine.entries.first, player.machine.targetRate)
    if pending.contains(where: { $0.itemID != current?.id || $0.rate != rate }) || current?.status.error != nil {
      return end()
    }
    if player.machine.hasNextAudio { end(areReady: true) }
  }

  /// Completes all prerolls.
  func end(areReady: Bool = false) {
    let ending = pending
    pending = []
    complete(ending, areReady: areReady)
  }

  private func complete(_ prerolls: [Preroll], areReady: Bool) {
    for preroll in prerolls { player.calls.add { _ in preroll.completion(areReady) } }
  }
}

extension PlayerStateMachine {
  /// Whether the mixer has the next audio, so that playback starts without decoding.
  fileprivate var hasNextAudio: Bool {
    requestInPreparation == nil && progress.isActive && progress.uncommitted == nil && seeks.current == nil
      && !decodedPasses.isEmpty && !needsRateChange
  }
}
