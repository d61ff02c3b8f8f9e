import Glibc

/// How loud something was, for each channel, in dBFS: 0 is full scale, `MeterLevels.silence` is silence.
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

  /// The magnitude that has a level; the other way round.
  package static func magnitude(_ decibels: Float) -> Float { Float(pow(10, Double(decibels) / 20)) }

  /// Where a level stands on a meter, from 0 to 1, for drawing: 0 up to -60 dBFS, 1 from 0 dBFS on, in between the root of
  /// the amplitude, which shows quiet sounds and leaves room for loud ones.
  public static func scale(_ decibels: Float) -> Float {
    guard decibels > Float(minimumDecibels) else { return 0 }
    guard decibels < 0 else { return 1 }
    let floor = pow(10, minimumDecibels / 20)
    return Float(((pow(10, Double(decibels) / 20) - floor) / (1 - floor)).squareRoot())
  }

  private static let minimumDecibels = -60.0

  /// A value for each channel.
  public init(averagePower: [Float], peakPower: [Float]) {
    (self.averagePower, self.peakPower) = (averagePower, peakPower)
  }

  package static func silent(channelCount: Int) -> MeterLevels {
    let levels = [Float](repeating: silence, count: channelCount)
    return MeterLevels(averagePower: levels, peakPower: levels)
  }
}
