import Glibc

/// The level of each channel, in dBFS: 0 is full scale, `MeterLevels.silence` is silence.
public struct MeterLevels: Sendable, Hashable {
  /// The level that represents silence: -160 dBFS.
  public static let silence: Float = -160

  /// The level of the root mean square over the measured time. A square wave at full scale has 0, a sine -3.01.
  public var averagePower: [Float]
  /// The level of the largest sample.
  public var peakPower: [Float]

  /// Converts a magnitude to a level; magnitude 1 is full scale.
  public static func decibels(_ magnitude: Double) -> Float {
    magnitude > 0 ? max(silence, Float(20 * log10(magnitude))) : silence
  }

  /// Converts a level to a magnitude.
  package static func magnitude(_ decibels: Float) -> Float { Float(pow(10, Double(decibels) / 20)) }

  /// Converts a level to a position on a meter, from 0 to 1: 0 up to -60 dBFS, and 1 from 0 dBFS on. Between them the
  /// position is the root of the amplitude, so that both quiet and loud audio are visible.
  public static func scale(_ decibels: Float) -> Float {
    guard decibels > Float(minimumDecibels) else { return 0 }
    guard decibels < 0 else { return 1 }
    let floor = pow(10, minimumDecibels / 20)
    return Float(((pow(10, Double(decibels) / 20) - floor) / (1 - floor)).squareRoot())
  }

  private static let minimumDecibels = -60.0

  /// Creates levels from one value per channel.
  public init(averagePower: [Float], peakPower: [Float]) {
    (self.averagePower, self.peakPower) = (averagePower, peakPower)
  }

  package static func silent(channelCount: Int) -> MeterLevels {
    let levels = [Float](repeating: silence, count: channelCount)
    return MeterLevels(averagePower: levels, peakPower: levels)
  }
}
