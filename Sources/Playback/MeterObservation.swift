import MediaCore
import RealtimeAudio

/// What a meter's observer is told, once it has been heard.
public struct MeterObservation: Sendable, Hashable {
  /// The item heard at `time`; nil when there is none.
  public var itemID: PlayerItem.ID?
  /// Where the player is at the end of what was measured: since the observation before, as far as it sounded.
  public var time: MediaTime
  public var levels: MeterLevels
  /// How many nanoseconds after `time` was heard this is told.
  public var lateNanoseconds: Int64
}
