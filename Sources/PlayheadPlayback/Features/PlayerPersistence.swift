import PlayheadMediaCore
import PlayheadPlayerModel

/// The observers of a player's persistent state.
final class PlayerPersistence: PlayerFeature {
  typealias Position = (item: PlayerItem, time: MediaTime, hasEnded: Bool)

  private unowned let player: PlayerCore
  /// See `QueuePlayer.setChangeObserver`.
  var changeObserver: (@Sendable ([PlayerItem]) -> Void)?
  /// See `QueuePlayer.setPositionObserver`.
  var positionObserver: (@Sendable (PlayerItem, MediaTime, Bool) -> Void)?
  private var positionBeforeClose: Position?

  init(_ player: PlayerCore) { self.player = player }

  // MARK: - Changes

  /// Reports items that are new, or whose settings changed.
  func itemsChanged(_ items: [PlayerItem]) { changeObserver?(items) }

  /// Reports that the settings of the player may have changed.
  func settingsChanged() { changeObserver?([]) }

  func stateWillPublish() { settingsChanged() }

  // MARK: - Positions

  /// The current item, its position, and whether forward playback has reached its end. Nil without a
  /// `positionObserver`, for a stream, and before the item has begun.
  var currentPosition: Position? {
    guard positionObserver != nil, let item = player.currentItem, item.status == .readyToPlay, item.isSeekable == true,
      item.liveWindow == nil, item.resumeTime == nil
    else { return nil }
    let hasEnded =
      (player.machine.hasItemEnded || player.machine.hasPassedEnd) && !player.machine.decodedRate.isReverse
    return (item, player.currentTime(), hasEnded)
  }

  /// Reports the position at which an item was left, unless it is still current.
  func reportIfLeft(_ position: Position?) {
    guard let position, player.machine.entries.first?.id != position.item.id else { return }
    positionObserver?(position.item, position.time, position.hasEnded)
  }

  /// Reports that an item was played to its end.
  func playedToEnd(_ item: PlayerItem, at time: MediaTime) {
    if !player.machine.decodedRate.isReverse { positionObserver?(item, time, true) }
  }

  /// Clears the resume time of the current item once the item has started at that time, so that it starts at its
  /// beginning next time.
  func update() {
    guard let current = player.currentItem, current.resumeTime != nil,
      player.machine.entries.first?.resumeTime == nil
    else { return }
    current.resumeTime = nil
    itemsChanged([current])
  }

  func playerWillClose() { positionBeforeClose = currentPosition }

  func playerDidClose() {
    reportIfLeft(positionBeforeClose)
    positionBeforeClose = nil
  }
}
