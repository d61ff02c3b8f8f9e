import Glibc
import PlayheadMediaCore

/// The loudness of one file.
public struct LoudnessMeasurement: Sendable, Hashable {
  /// The kind of result.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The loudness was measured.
    case measured
    /// The file has no block above -70 LUFS.
    case silence
    /// The file is shorter than 400 ms, the length of a loudness block.
    case tooShort = "too-short"
  }

  /// The target loudness of ReplayGain 2.0, in LUFS.
  public static let referenceLoudness = -18.0

  /// What the measurement found.
  public var kind: Kind
  /// The integrated loudness in LUFS; nil unless ``kind`` is `measured`.
  public var integratedLoudness: Double?
  /// The loudness range in LU; nil unless ``kind`` is `measured`.
  public var loudnessRange: Double?
  /// The largest value of the waveform, including values between samples; 1 is full scale.
  public var truePeak: Double
  /// The largest sample; 1 is full scale.
  public var samplePeak: Double
  /// The duration of the measured audio.
  public var duration: MediaTime
  /// The reason why the file was measured only in part, or a defect of the file that does not prevent playback; nil if
  /// there is none.
  public var fault: MediaError?

  /// A peak in dBFS; nil for digital silence.
  public static func decibels(_ peak: Double) -> Double? { peak > 0 ? 20 * log10(peak) : nil }

  /// The ReplayGain 2.0 track gain in dB; nil unless ``kind`` is `measured`.
  public var gainDecibels: Double? { integratedLoudness.map { Self.referenceLoudness - $0 } }
}

/// The loudness of several files together.
public struct AlbumLoudness: Sendable, Hashable {
  /// The integrated loudness in LUFS; nil if no block of the files passed the gate.
  public var integratedLoudness: Double?
  /// The largest true peak of the files.
  public var truePeak: Double
  /// The largest sample of the files.
  public var samplePeak: Double

  /// The ReplayGain 2.0 album gain in dB.
  public var gainDecibels: Double? { integratedLoudness.map { LoudnessMeasurement.referenceLoudness - $0 } }
}

/// The result of a scan.
public struct LoudnessReport: Sendable, Hashable {
  /// Measurements and errors, in the order of the files.
  public var files: [Result<LoudnessMeasurement, MediaError>]
  /// The album of all readable files; nil unless it was requested.
  public var album: AlbumLoudness?
}

/// The progress of a scan.
public struct LoudnessProgress: Sendable, Hashable {
  /// The index of the current file, from 0.
  public var fileIndex: Int
  /// The number of files of the scan.
  public var fileCount: Int
  /// The part of the current file that has been read, from 0 to 1; nil if its length is unknown.
  public var fraction: Double?
}

/// The 400 ms blocks of several files, gated together (ITU-R BS.1770-4, annex 1). libebur128 can also gate several
/// states together, but each state retains seconds of audio. Here a block has four bytes.
struct GatingBlocks {
  /// Maximum number of blocks: 277 hours.
  static let maximumCount = 10_000_000

  private var powers: [Float] = []

  var count: Int { powers.count }

  /// Adds a block by its loudness in LUFS; nil is silence. Blocks below the absolute gate of -70 LUFS are dropped.
  mutating func add(_ loudness: Double?) {
    if let loudness, loudness >= -70 { powers.append(Float(Self.power(loudness))) }
  }

  mutating func add(_ others: GatingBlocks) { powers += others.powers }

  /// Integrated loudness in LUFS; nil without blocks.
  var integratedLoudness: Double? {
    guard let all = meanPower(atLeast: 0) else { return nil }
    // The relative gate: 10 LU below the mean of the blocks above the absolute gate.
    return meanPower(atLeast: all / 10).map { Self.loudness($0) }
  }

  /// The mean of the powers that are at least `gate`; nil if no power is.
  private func meanPower(atLeast gate: Double) -> Double? {
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
