import Glibc
import MediaCore

/// How loud something was, for each of the output's channels, in dBFS: 0 is full scale, `MeterLevels.silence` is silence.
public struct MeterLevels: Sendable, Hashable {
  /// What stands for silence: -160 dBFS.
  public static let silence: Float = -160

  /// The power's average over the time measured: the level of the root of the mean square. A square wave at full scale has
  /// 0, a sine -3.01.
  public var averagePower: [Float]
  /// The level of the largest sample.
  public var peakPower: [Float]

  /// The level of a magnitude, 1 being full scale.
  public static func decibels(_ magnitude: Double) -> Float {
    magnitude > 0 ? max(silence, Float(20 * log10(magnitude))) : silence
  }

  /// Where a level stands on a meter, from 0 to 1, for drawing: 0 up to -60 dBFS, 1 from 0 dBFS on, in between the root of
  /// the amplitude, which shows quiet sounds and leaves room for loud ones.
  public static func scale(_ decibels: Float) -> Float {
    guard decibels > Float(minimumDecibels) else { return 0 }
    guard decibels < 0 else { return 1 }
    let floor = pow(10, minimumDecibels / 20)
    return Float(((pow(10, Double(decibels) / 20) - floor) / (1 - floor)).squareRoot())
  }

  private static let minimumDecibels = -60.0

  static func silent(channelCount: Int) -> MeterLevels {
    let levels = [Float](repeating: silence, count: channelCount)
    return MeterLevels(averagePower: levels, peakPower: levels)
  }
}

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
