import PlayheadMediaCore

/// The conditions under which a player reports silence (``PlayerEvent/silence(_:)``).
public struct SilenceDetection: Sendable, Hashable {
  /// The duration after which silence is reported, from 0.1 s to a day; nil: never.
  public var duration: MediaTime?
  /// The level in dBFS, from -100 to 0, below which audio is silent. It applies to the largest sample of all channels.
  public var threshold: Float

  /// Creates the conditions.
  public init(duration: MediaTime?, threshold: Float = -60) { (self.duration, self.threshold) = (duration, threshold) }

  /// No silence is reported.
  public static let off = SilenceDetection(duration: nil)
}

/// The beginning or the end of silence.
public struct PlayerSilence: Sendable, Hashable {
  /// Whether silence began or ended.
  public enum Phase: String, Sendable, Hashable, CaseIterable {
    /// The player has been silent for the duration of the detection.
    case began
    /// Audio is heard again.
    case ended
  }

  /// Whether silence began or ended.
  public var phase: Phase
  /// The output frame at which the silence began or ended, exact to 10 ms; nil if no device ran.
  public var outputFrame: Int64?
  /// The instant at which the silence began or ended.
  public var hostTime: HostTime
  /// The duration of the silence so far.
  public var durationNanoseconds: Int64
}
