import Glibc

/// The bit rate of separate audio: an exponentially weighted average over its segments. A pure value.
struct AudioBitRate: Sendable, Hashable {
  /// Half-life of the average, in seconds of audio.
  static let halfLife = 8.0
  /// Minimum duration of a measured segment, in seconds. In shorter segments, such as those before advertisements, the
  /// overhead distorts the result.
  static let minimumSeconds = 0.5

  private var bits = 0.0
  private var seconds = 0.0

  mutating func add(byteCount: Int64, audioNanoseconds: Int64) {
    let length = Double(audioNanoseconds) / 1e9
    guard length >= Self.minimumSeconds, byteCount > 0 else { return }
    let decay = exp2(-length / Self.halfLife)
    bits = bits * decay + Double(byteCount) * 8
    seconds = seconds * decay + length
  }

  /// Bits per second; nil before the first measured segment.
  var bitsPerSecond: Int64? { seconds > 0 ? Int64(min(1e15, max(1, bits / seconds)).rounded()) : nil }
}
