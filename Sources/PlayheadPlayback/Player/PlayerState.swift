import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// A snapshot of the public properties of a player.
///
/// <!-- listing: read-state -->
/// ```swift
/// let state = await player.state
/// print(state.timeControlStatus, state.rate, state.timebaseRate, state.itemDuration)
/// ```
public struct PlayerState: Sendable, Hashable {
  /// Whether the player is paused, waits to play, or plays.
  public var timeControlStatus = TimeControlStatus.paused
  /// The reason why the player waits; nil unless it waits.
  public var reasonForWaitingToPlay: WaitingReason?
  /// The requested rate; 0 means paused.
  public var rate: Double = 0
  /// The rate that `play` sets.
  public var defaultRate: Double = 1
  /// The rate at which the item's time advances in the audio that is heard; 0 while paused or waiting. After a change
  /// of `rate` it is the previous rate until the change is heard. Corresponds to the rate of AVPlayerItem's timebase.
  public var timebaseRate: Double = 0
  /// The id of the current item; nil without one.
  public var currentItemID: PlayerItem.ID?
  /// The gain, from 0 to 1. During a fade, its final value.
  public var volume: Float = 1
  /// Whether the volume that is heard changes in a fade. False while the player is paused, and while it waits for
  /// something other than audio to be decoded or its start.
  public var isFading = false
  /// Whether the player is muted.
  public var isMuted = false
  /// From -1 (left) to 1 (right).
  public var pan: Float = 0
  /// The loudness normalization of items.
  public var replayGain = ReplayGainSettings()
  /// The conditions under which silence is reported.
  public var silenceDetection = SilenceDetection.off
  /// What happens at the end of the current item.
  public var actionAtItemEnd = ActionAtItemEnd.advance
  /// The time-pitch algorithm of items without a custom one.
  public var audioTimePitchAlgorithm = AudioTimePitchAlgorithm.timeDomain
  /// The selection criteria for groups of tracks.
  public var mediaSelectionCriteria: [MediaCharacteristic: MediaSelectionCriteria] = [:]
  /// Whether `mediaSelectionCriteria` are applied.
  public var appliesMediaSelectionCriteriaAutomatically = true
  /// What is repeated after its end.
  public var repeatMode = RepeatMode.off
  /// The cross-fade between items; nil: the next item begins without a gap after the end of the previous one.
  public var crossfade: Crossfade?
  /// The loop of the current item; nil without one.
  public var loop: PlayerLoop?
  /// The number of entries in the queue, including the current one.
  public var itemCount = 0
  /// Increases with every change of the queue.
  public var queueVersion: UInt64 = 0
  /// The seed of the shuffled order; nil while the queue is not shuffled.
  public var shuffleSeed: UInt64?
  /// The behaviour of the player when an item cannot be played.
  public var itemFailurePolicy = ItemFailurePolicy.skip
  /// The error that stops playback. The current item failed and no other follows, or `itemFailurePolicy` paused the
  /// player at an item that failed or broke off. Reset to nil when the player plays, or another item becomes current.
  public var error: MediaError?
  /// Whether the player is paused after the current item's end was heard: the end of its audio, or an end time.
  public var isAtItemEnd = false
  /// Whether the player is paused after reverse playback reached the item's beginning, or its end time for reverse
  /// playback.
  public var isAtItemBeginning = false
  /// The status of the current item.
  public var itemStatus = ItemStatus.unknown
  /// The duration of the current item; indefinite until it is known.
  public var itemDuration = MediaTime.indefinite
  /// Whether `itemDuration` is exact, not an estimate.
  public var itemProvidesPreciseDuration = false
  /// Whether stalls end automatically; see `PlayerControl.setAutomaticallyWaitsToMinimizeStalling`.
  public var automaticallyWaitsToMinimizeStalling = true
  /// Whether enough of the current item is decoded that no stall is expected.
  public var isPlaybackLikelyToKeepUp = false
  /// Whether the buffer of the current item is full, so that decoding pauses. A full buffer ends waiting for samples,
  /// even if `isPlaybackLikelyToKeepUp` is false.
  public var isPlaybackBufferFull = false
  /// Whether all decoded audio of the current item has been heard: a playing player stalls, or is at the item's end.
  public var isPlaybackBufferEmpty = true
}

/// A change of a player's state, as passed to observers.
public struct PlayerChange: Sendable, Hashable {
  /// The state before the change.
  public var old: PlayerState
  /// The state after the change.
  public var new: PlayerState
  /// Why the state changed.
  public var cause: ChangeCause
  /// The position from which the time advances at the new `timebaseRate`; nil if that rate did not change.
  public var timebaseAnchor: TimebaseAnchor?
}
