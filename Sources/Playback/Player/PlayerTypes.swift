import MediaAssets
import MediaCore
import NetworkIO

/// Whether a player plays; corresponds to AVPlayer.TimeControlStatus.
public enum TimeControlStatus: String, Sendable, Hashable, CaseIterable {
  /// The rate is 0.
  case paused
  /// The rate is not 0, but no audio is rendered yet; see `reasonForWaitingToPlay`.
  case waiting
  /// Audio is being rendered, or silence instead of missing audio.
  case playing
}

/// The reason why a player waits; corresponds to AVPlayer.WaitingReason. The last five cases are specific to Playhead.
public enum WaitingReason: String, Sendable, Hashable, CaseIterable {
  /// Samples did not arrive in time. Playback resumes automatically.
  case toMinimizeStalls
  /// The item is being opened, or its first samples are being decoded, which takes a short time.
  case evaluatingBufferingRate
  /// The queue is empty. The next inserted item starts automatically.
  case noItemToPlay
  /// The current item failed, and no other item follows.
  case currentItemFailed
  /// There is no device now, or it accepts no audio (`OutputState.Status.unresponsive`). The position is kept.
  case outputUnavailable
  /// The start instant is in the future: `setRate(_:time:atHostTime:)`, `PlaybackEngine.start`.
  case startTimeNotReached
  /// Other audio is heard on the device (`AudioSessionEvent.interruptionBegan`). Playback resumes when the interruption
  /// ends, or with `play`.
  case interrupted
  /// The category of the session does not allow playback.
  case categoryForbidsPlayback
}

/// The action at the end of the current item; corresponds to AVPlayer.ActionAtItemEnd.
public enum ActionAtItemEnd: String, Sendable, Hashable, CaseIterable {
  /// The next item follows without a gap. Only in a queue.
  case advance
  /// The rate becomes 0; the item stays current, at its end.
  case pause
  /// The rate stays: the item's time continues past the end, in silence.
  case none
}

/// Whether an item can be played; corresponds to AVPlayerItem.Status.
public enum ItemStatus: Sendable, Hashable {
  /// Not opened yet.
  case unknown
  case readyToPlay
  /// The item cannot be played; final.
  case failed(MediaError)

  /// `unknown`, `readyToPlay` or `failed`.
  public var name: String {
    switch self {
    case .unknown: "unknown"
    case .readyToPlay: "readyToPlay"
    case .failed: "failed"
    }
  }

  public var error: MediaError? { if case .failed(let error) = self { error } else { nil } }
}

/// The cause of a change.
public enum ChangeCause: String, Sendable, Hashable, CaseIterable {
  /// A call or a command.
  case request
  /// The current item reached its end.
  case itemEnded
  /// A loop in the current item returned to its beginning, or ended.
  case looped
  /// An item could not be opened or played.
  case itemFailed
  /// An item was opened, or a first or better value of its duration became known.
  case itemLoaded
  /// The first samples are decoded.
  case buffered
  /// Samples did not arrive in time.
  case stalled
  /// The output appeared, disappeared or was replaced.
  case output
  /// An interruption of the session began or ended.
  case interruption
  /// The session was deactivated.
  case session
  /// The player was closed.
  case closed
}

/// The cause of a jump of an item's time.
public enum TimeJumpCause: String, Sendable, Hashable, CaseIterable {
  case seek
  /// `step`.
  case step
  /// `stop`, which seeks to the beginning.
  case stop
  /// Playback was past the item's end (`actionAtItemEnd` `none`) and returns to the end: `actionAtItemEnd` became
  /// `pause`, or the direction changed.
  case endAction
  /// The item is repeated, or is its own successor, and starts again from its beginning.
  case `repeat`
  /// The current item was selected again (`jump`, `previous`): back to its beginning.
  case restart
}

/// An event of a player.
public enum PlayerEvent: Sendable, Hashable {
  /// The last sample of the item was heard. Emitted once for each pass.
  case playedToEnd(PlayerItem.ID, MediaTime)
  /// Decoding of the item failed before its end. All decoded audio has been heard.
  case failedToPlayToEnd(PlayerItem.ID, MediaTime, MediaError)
  /// Samples did not arrive in time.
  case stalled(PlayerItem.ID, MediaTime)
  /// The time of the current item changed other than by playback. Emitted once for each change.
  case timeJumped(PlayerItem.ID, MediaTime, TimeJumpCause)
  /// The status or duration of an item changed. If `isPrecise` is false, the duration is an estimate.
  case itemChanged(PlayerItem.ID, ItemStatus, MediaTime, isPrecise: Bool)
  /// Other tracks of an item are presented, because of a choice or of the player's criteria. The first selection is
  /// known when the item is ready. Corresponds to AVPlayerItem's `mediaSelectionDidChange`.
  case mediaSelectionChanged(PlayerItem.ID, MediaSelection)
  /// An item could not be opened. A playing player continues with the next item.
  case itemFailed(PlayerItem.ID, MediaError)
  /// A playing player skipped a failed item. The item has left the queue.
  case itemSkipped(PlayerItem.ID, MediaError)
  /// Packets of the item, the first one at this time, could not be decoded and were replaced by silence. Emitted on
  /// detection, up to two seconds before the silence is heard.
  case packetsSkipped(PlayerItem.ID, MediaTime, count: Int, MediaError)
  /// A problem that does not prevent playback. Emitted on detection. Corresponds to AVPlayerItemNewErrorLogEntry.
  ///
  /// Problems of the file (`irregularTimestamps`, `wrongLength`, `unsupportedEdit`) have the time in the file. Problems
  /// of the server have the time that is heard.
  case newErrorLogEntry(PlayerItem.ID, MediaTime, MediaError)
  /// Another chapter of the current item began, or became known; nil before the first chapter. Emitted when the
  /// chapter's first sample is heard. Items without chapters emit no such event.
  case chapterChanged(PlayerItem.ID, MediaTime, PlayerChapter?)
  /// The title of a stream changed at this time. Emitted when that time is heard.
  case streamTitle(PlayerItem.ID, MediaTime, StreamTitle)
  /// A stream has new timed metadata from this time on: a date range or an ID3 tag. Emitted when that time is heard.
  case timedMetadata(PlayerItem.ID, TimedMetadataGroup)
  /// A server responded to a request for the item. The value has the latency and the server. Corresponds to
  /// AVPlayerItemNewAccessLogEntry.
  case newAccessLogEntry(PlayerItem.ID, MediaTime, AccessLogEvent)
  /// An item, or a pass of it, was followed by the next one. Emitted when the transition is heard.
  case transition(PlayerTransition)
}

/// A snapshot of the public properties of a player.
public struct PlayerState: Sendable, Hashable {
  public var timeControlStatus = TimeControlStatus.paused
  public var reasonForWaitingToPlay: WaitingReason?
  /// The requested rate; 0 means paused.
  public var rate: Double = 0
  /// The rate that `play` sets.
  public var defaultRate: Double = 1
  /// The rate at which the item's time advances in the audio that is heard; 0 while paused or waiting. After a change
  /// of `rate` it is the previous rate until the change is heard. Corresponds to the rate of AVPlayerItem's timebase.
  public var timebaseRate: Double = 0
  public var currentItemID: PlayerItem.ID?
  public var volume: Float = 1
  public var isMuted = false
  /// From -1 (left) to 1 (right).
  public var pan: Float = 0
  /// The loudness normalization of items.
  public var replayGain = ReplayGainSettings()
  public var actionAtItemEnd = ActionAtItemEnd.advance
  /// The time-pitch algorithm of items without a custom one.
  public var audioTimePitchAlgorithm = AudioTimePitchAlgorithm.timeDomain
  /// The selection criteria for groups of tracks.
  public var mediaSelectionCriteria: [MediaCharacteristic: MediaSelectionCriteria] = [:]
  /// Whether `mediaSelectionCriteria` are applied.
  public var appliesMediaSelectionCriteriaAutomatically = true
  public var repeatMode = RepeatMode.off
  /// The loop of the current item; nil without one.
  public var loop: PlayerLoop?
  /// The number of entries in the queue, including the current one.
  public var itemCount = 0
  /// Increases with every change of the queue.
  public var queueVersion: UInt64 = 0
  /// The seed of the shuffled order; nil while the queue is not shuffled.
  public var shuffleSeed: UInt64?
  public var itemFailurePolicy = ItemFailurePolicy.skip
  /// The error that stops playback. The current item failed and no other follows, or `itemFailurePolicy` paused the
  /// player at an item that failed or broke off. Nil again when the player plays, or another item becomes current.
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
  public var old: PlayerState
  public var new: PlayerState
  public var cause: ChangeCause
}
