import Glibc
import PlayheadMediaCore

/// The limit of the audio that an effect requests before a seek target.
enum HistoryLimit {
  /// The maximum history of an effect, in seconds: that of ``AudioProcessor/historyFrameCount``.
  static let maximumSeconds = 10.0

  /// The number of frames in `seconds`, rounded up and limited.
  static func frameCount(seconds: Double, sampleRateHz: Int) -> Int {
    Int((min(seconds, maximumSeconds) * Double(sampleRateHz)).rounded(.up))
  }
}
