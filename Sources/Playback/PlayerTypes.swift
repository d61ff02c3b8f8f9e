import MediaAssets
import MediaCore
import NetworkIO

/// Whether a player plays, as AVPlayer.TimeControlStatus.
public enum TimeControlStatus: String, Sendable, Hashable, CaseIterable {
  /// The rate is 0.
  case paused
  /// The rate is not 0, but nothing sounds yet; `reasonForWaitingToPlay` says why.
  case waiting
  /// Sound (or the silence that stands for it) is being rendered.
  case playing
}

/// Why a player waits, as AVPlayer.WaitingReason; the last five are Playhead's own.
public enum WaitingReason: String, Sendable, Hashable, CaseIterable {
  /// Samples did not arrive in time; playback goes on by itself.
  case toMinimizeStalls
  /// The item is being opened or its first samples decoded: short.
  case evaluatingBufferingRate
  /// The queue is empty; what is inserted next starts by itself.
  case noItemToPlay
  /// The current item failed, and no other follows.
  case currentItemFailed
  /// There is no device at the moment, or it takes no audio (`OutputState.Status.unresponsive`); the position is kept.
  case outputUnavailable
  /// It plays from a moment on that has not come: `setRate(_:time:atHostTime:)`, `PlaybackEngine.start`.
  case startTimeNotReached
  /// Something else is heard on the device (`AudioSessionEvent.interruptionBegan`). It goes on with the interruption's end, or
  /// when it is told to play.
  case interrupted
  /// The session's category allows no playing.
  case categoryForbidsPlayback
}

/// What happens when the current item ends, as AVPlayer.ActionAtItemEnd.
public enum ActionAtItemEnd: String, Sendable, Hashable, CaseIterable {
  /// The next item follows without a gap. Only with a queue.
  case advance
  /// The rate becomes 0; the item stays current, at its end.
  case pause
  /// Nothing changes: time goes on past the end, silently.
  case none
}

/// How far an item is, as AVPlayerItem.Status.
public enum ItemStatus: Sendable, Hashable {
  /// Not opened yet.
  case unknown
  case readyToPlay
  /// Final.
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

/// Why something changed.
public enum ChangeCause: String, Sendable, Hashable, CaseIterable {
  /// A call or command asked for it.
  case request
  /// The current item came to its end.
  case itemEnded
  /// A loop of a part of the current item went back, or is over.
  case looped
  /// An item could not be opened or played.
  case itemFailed
  /// An item was opened, or its duration became known, or known better.
  case itemLoaded
  /// The first samples are there.
  case buffered
  /// Samples did not arrive in time.
  case stalled
  /// The output appeared, went away or was replaced.
  case output
  /// An interruption of the session began or ended.
  case interruption
  /// The session was deactivated.
  case session
  /// The player was closed.
  case closed
}

/// Why an item's time is suddenly another one.
public enum TimeJumpCause: String, Sendable, Hashable, CaseIterable {
  case seek
  /// `step`.
  case step
  /// `stop`, which goes back to the beginning.
  case stop
  /// `actionAtItemEnd` became `pause` while time ran on behind the item's end: back to that.
  case endAction
  /// The item was to be repeated, or left for itself, while or before it was over: back to its beginning.
  case `repeat`
  /// The current item was made current again (`jump`, `previous`): back to its beginning.
  case restart
}

/// Things that happen once, at a time.
public enum PlayerEvent: Sendable, Hashable {
  /// The item's last sample was heard. Once for each pass.
  case playedToEnd(PlayerItem.ID, MediaTime)
  /// The item broke off: what could be decoded has been heard.
  case failedToPlayToEnd(PlayerItem.ID, MediaTime, MediaError)
  /// Samples did not arrive in time.
  case stalled(PlayerItem.ID, MediaTime)
  /// The current time of an item changed other than by playing, and why. Once for each such change.
  case timeJumped(PlayerItem.ID, MediaTime, TimeJumpCause)
  /// An item's status or duration changed; `isPrecise` says whether the duration is no estimate.
  case itemChanged(PlayerItem.ID, ItemStatus, MediaTime, isPrecise: Bool)
  /// Other tracks of an item are presented, by choice or by the player's criteria. What is presented at first is known with the
  /// item's status. As AVPlayerItem's mediaSelectionDidChange.
  case mediaSelectionChanged(PlayerItem.ID, MediaSelection)
  /// An item could not be opened; a player that plays goes on with the next one.
  case itemFailed(PlayerItem.ID, MediaError)
  /// A player that plays went on behind an item that had failed, without it; the item has left the queue.
  case itemSkipped(PlayerItem.ID, MediaError)
  /// Packets of the item did not decode, the first at this time; silence stands for what they last. Said when it is
  /// found, up to two seconds before it is heard.
  case packetsSkipped(PlayerItem.ID, MediaTime, count: Int, MediaError)
  /// Something is wrong with the item's file at this time, though it plays: `irregularTimestamps`, `wrongLength`,
  /// `unsupportedEdit`; or something went wrong with its server, at the time that is heard. Said when it is found. As AVPlayerItemNewErrorLogEntry.
  case newErrorLogEntry(PlayerItem.ID, MediaTime, MediaError)
  /// The chapter of the current item is another one, or is known now; nil: before the first one. Told when its first sample
  /// is heard. Of items without chapters nothing is told.
  case chapterChanged(PlayerItem.ID, MediaTime, PlayerChapter?)
  /// A stream plays something else from this time on: said when that is heard.
  case streamTitle(PlayerItem.ID, MediaTime, StreamTitle)
  /// A stream says something else that holds from this time on, a date range or an ID3 tag: said when that is heard.
  case timedMetadata(PlayerItem.ID, TimedMetadataGroup)
  /// A server answered for the item: how long that took, and from where. As AVPlayerItemNewAccessLogEntry.
  case newAccessLogEntry(PlayerItem.ID, MediaTime, AccessLogEvent)
  /// One item, or one pass of it, was followed by the next: told when that is heard.
  case seam(PlayerSeam)
}

/// Every public fact of a player, at one moment.
public struct PlayerState: Sendable, Hashable {
  public var timeControlStatus = TimeControlStatus.paused
  public var reasonForWaitingToPlay: WaitingReason?
  /// The desired rate; 0 is paused.
  public var rate: Double = 0
  /// The rate that `play` sets.
  public var defaultRate: Double = 1
  /// How fast the item's time goes on in what is being heard: 0 while paused or waiting; the rate before while what
  /// follows a change of `rate` has not been heard yet. As the rate of AVPlayerItem's timebase.
  public var timebaseRate: Double = 0
  public var currentItemID: PlayerItem.ID?
  public var volume: Float = 1
  public var isMuted = false
  /// -1 is left, 1 is right.
  public var pan: Float = 0
  /// How items are made as loud as each other.
  public var replayGain = ReplayGainSettings()
  public var actionAtItemEnd = ActionAtItemEnd.advance
  /// What becomes of the pitch of items that have no algorithm of their own.
  public var audioTimePitchAlgorithm = AudioTimePitchAlgorithm.timeDomain
  /// What is wanted of groups of tracks.
  public var mediaSelectionCriteria: [MediaCharacteristic: MediaSelectionCriteria] = [:]
  /// Whether that is followed.
  public var appliesMediaSelectionCriteriaAutomatically = true
  public var repeatMode = RepeatMode.off
  /// The current item's loop, if there is one.
  public var loop: PlayerLoop?
  /// Entries of the queue, the current one included.
  public var itemCount = 0
  /// Grows with every change of the queue.
  public var queueVersion: UInt64 = 0
  /// What the queue's order comes from while it is shuffled; nil while it is not.
  public var shuffleSeed: UInt64?
  public var itemFailurePolicy = ItemFailurePolicy.skip
  /// Why the player does not play on: the current item failed and no other follows, or `itemFailurePolicy` paused the player
  /// at an item that failed or broke off. Nil again as soon as it plays, or another item is current.
  public var error: MediaError?
  /// Whether the player is paused where the current item's end was heard: that of its sound, or an end time.
  public var isAtItemEnd = false
  /// The same backwards: that is the item's beginning, or an end time for that way.
  public var isAtItemBeginning = false
  /// The current item's.
  public var itemStatus = ItemStatus.unknown
  /// The current item's; indefinite until it is known.
  public var itemDuration = MediaTime.indefinite
  /// Whether that is no estimate.
  public var itemProvidesPreciseDuration = false
  /// Whether a stall ends by itself; see `PlayerControl.setAutomaticallyWaitsToMinimizeStalling`.
  public var automaticallyWaitsToMinimizeStalling = true
  /// Whether so much of the current item is decoded that playing is not expected to stall.
  public var isPlaybackLikelyToKeepUp = false
  /// Whether as much of it is decoded as is wanted, so that decoding rests. That ends waiting for samples, even where it is
  /// not likely to keep up.
  public var isPlaybackBufferFull = false
  /// Whether nothing of it is decoded that has not been heard: a player that plays stalls, or is at its end.
  public var isPlaybackBufferEmpty = true
}

/// One change of a player's state, as observers get it.
public struct PlayerChange: Sendable, Hashable {
  public var old: PlayerState
  public var new: PlayerState
  public var cause: ChangeCause
}
