import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlayerModel

/// An event of a player.
///
/// <!-- listing: observe-events -->
/// ```swift
/// for await event in await player.events() {
///   switch event {
///   case .playedToEnd(let id, let time): print("played", id, time)
///   case .itemFailed(let id, let error): print("failed", id, error)
///   case .stalled(let id, let time): print("stalled", id, time)
///   default: break
///   }
/// }
/// ```
public enum PlayerEvent: Sendable, Hashable {
  /// The last sample of the item was heard. Emitted once for each pass.
  case playedToEnd(PlayerItem.ID, MediaTime)
  /// Decoding of the item failed before its end. All decoded audio has been heard.
  case failedToPlayToEnd(PlayerItem.ID, MediaTime, MediaError)
  /// Samples did not arrive in time.
  case stalled(PlayerItem.ID, MediaTime)
  /// The time of the current item changed other than by playback. Emitted once for each change. `hostTime` is the
  /// instant at which the new time is heard; nil while the time does not advance.
  case timeJumped(PlayerItem.ID, MediaTime, TimeJumpCause, hostTime: HostTime?)
  /// The status or duration of an item changed. If `isPrecise` is false, the duration is an estimate.
  case itemChanged(PlayerItem.ID, ItemStatus, MediaTime, isPrecise: Bool)
  /// The selected tracks of an item changed, by an explicit choice or by the player's criteria. The first selection is
  /// known when the item is ready. Corresponds to AVPlayerItem's `mediaSelectionDidChange`.
  case mediaSelectionChanged(PlayerItem.ID, MediaSelection)
  /// An item could not be opened. A playing player continues with the next item.
  case itemFailed(PlayerItem.ID, MediaError)
  /// A playing player skipped a failed item. The item has left the queue, or with the policy `retry` moved to its end.
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
  /// The player has been silent for the duration of its `silenceDetection`, or is heard again.
  case silence(PlayerSilence)
  /// An item, or a pass of it, was followed by the next one. Emitted when the transition is heard.
  case transition(PlayerTransition)
}
