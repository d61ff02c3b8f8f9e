import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The levels of audio that has been heard, as a meter observer receives them.
///
/// <!-- listing: observe-meters -->
/// ```swift
/// let token = try await player.addMeterObserver(rate: 20) { observation in print(observation.levels) }
/// ```
public struct MeterObservation: Sendable, Hashable {
  /// The item heard at `time`; nil if there is none.
  public var itemID: PlayerItem.ID?
  /// The player's time at the end of the measured audio: the audio that played since the previous observation.
  public var time: MediaTime
  /// The levels of the measured audio, in dBFS.
  public var levels: MeterLevels
  /// The delay of this call after `time` was heard, in nanoseconds.
  public var lateNanoseconds: Int64
}
