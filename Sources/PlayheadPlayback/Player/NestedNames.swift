import PlayheadPlayerModel

// AVFoundation nests these types. The state machine, which knows no players, defines them.

extension Player {
  /// Whether a player is paused, waits to play, or plays: AVPlayer.TimeControlStatus.
  public typealias TimeControlStatus = PlayheadPlayerModel.TimeControlStatus
  /// The reason why a player waits to play: AVPlayer.WaitingReason.
  public typealias WaitingReason = PlayheadPlayerModel.WaitingReason
  /// The action at the end of an item: AVPlayer.ActionAtItemEnd.
  public typealias ActionAtItemEnd = PlayheadPlayerModel.ActionAtItemEnd
}

extension QueuePlayer {
  /// Whether a player is paused, waits to play, or plays: AVPlayer.TimeControlStatus.
  public typealias TimeControlStatus = PlayheadPlayerModel.TimeControlStatus
  /// The reason why a player waits to play: AVPlayer.WaitingReason.
  public typealias WaitingReason = PlayheadPlayerModel.WaitingReason
  /// The action at the end of an item: AVPlayer.ActionAtItemEnd.
  public typealias ActionAtItemEnd = PlayheadPlayerModel.ActionAtItemEnd
}

extension PlayerItem {
  /// Whether an item is ready to play: AVPlayerItem.Status.
  public typealias Status = ItemStatus
}
