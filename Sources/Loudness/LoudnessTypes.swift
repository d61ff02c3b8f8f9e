import Glibc
import MediaCore

/// How loud one file is.
public struct LoudnessMeasurement: Sendable, Hashable {
  /// What could be said of it.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case measured
    /// Nothing in it is louder than -70 LUFS.
    case silence
    /// It is shorter than 400 ms, in which loudness is measured.
    case tooShort = "too-short"
  }

  /// The loudness that ReplayGain 2.0 brings things to, in LUFS.
  public static let referenceLoudness = -18.0

  public var kind: Kind
  /// LUFS; nil unless it was measured.
  public var integratedLoudness: Double?
  /// LU; nil unless it was measured.
  public var loudnessRange: Double?
  /// The greatest value of the waveform, also between samples; 1 is full scale.
  public var truePeak: Double
  /// The greatest sample.
  public var samplePeak: Double
  /// How much sound was measured.
  public var duration: MediaTime
  /// Why it is not all of the file, or what is wrong with it though it plays; nil when nothing is.
  public var fault: MediaError?

  /// A peak in dB of full scale; nil for that of digital silence.
  public static func decibels(_ peak: Double) -> Double? { peak > 0 ? 20 * log10(peak) : nil }

  /// The ReplayGain 2.0 track gain in dB; nil unless it was measured.
  public var gainDecibels: Double? { integratedLoudness.map { Self.referenceLoudness - $0 } }
}

/// How loud several files are as one.
public struct AlbumLoudness: Sendable, Hashable {
  /// LUFS; nil where nothing in them counts.
  public var integratedLoudness: Double?
  /// The greatest of their peaks.
  public var truePeak: Double
  public var samplePeak: Double

  /// The ReplayGain 2.0 album gain in dB.
  public var gainDecibels: Double? { integratedLoudness.map { LoudnessMeasurement.referenceLoudness - $0 } }
}

/// What a scan found.
public struct LoudnessReport: Sendable, Hashable {
  /// In the order of the files; those that could not be read with their errors.
  public var files: [Result<LoudnessMeasurement, MediaError>]
  /// Of those that could be read; nil unless it was asked for.
  public var album: AlbumLoudness?
}

/// How far a scan is.
public struct LoudnessProgress: Sendable, Hashable {
  /// The file that is read, from 0 on, of so many.
  public var fileIndex: Int
  public var fileCount: Int
  /// From 0 to 1, how much of that file has been read; nil where its length is not known.
  public var fraction: Double?
}

/// The blocks of 400 ms of several files, gated together (ITU-R BS.1770-4, annex 1): what libebur128 does for several states, each
/// of which keeps seconds of sound. Here a block is a number of four bytes.
struct GatingBlocks {
  /// More than these are 277 hours.
  static let limit = 10_000_000

  private var powers: [Float] = []

  var count: Int { powers.count }

  /// Adds a block by its loudness in LUFS; nil is silence. The absolute gate is at -70.
  mutating func add(_ loudness: Double?) {
    if let loudness, loudness >= -70 { powers.append(Float(Self.power(loudness))) }
  }

  mutating func add(_ others: GatingBlocks) { powers += others.powers }

  /// LUFS; nil without blocks.
  var integratedLoudness: Double? {
    guard let all = mean(from: 0) else { return nil }
    // The relative gate: 10 LU below the mean of what the absolute one lets pass.
    return mean(from: all / 10).map { Self.loudness($0) }
  }

  private func mean(from gate: Double) -> Double? {
    var (sum, count) = (0.0, 0)
    for power in powers where Double(power) >= gate {
      sum += Double(power)
      count += 1
    }
    return count > 0 ? sum / Double(count) : nil
  }

  private static func power(_ loudness: Double) -> Double { pow(10, (loudness + 0.691) / 10) }
  private static func loudness(_ power: Double) -> Double { 10 * log10(power) - 0.691 }
}
