import Glibc

/// How many bits a second sound has that comes by itself, by its segments: an average in which the last ones count most. Pure.
struct SoundBitRate: Sendable, Hashable {
  /// Seconds of sound after which what came before counts half.
  static let halfLife = 8.0
  /// What a segment has besides its sound tells too much in shorter ones, such as those in front of advertisements.
  static let leastSeconds = 0.5

  private var bits = 0.0
  private var seconds = 0.0

  mutating func add(byteCount: Int64, soundNanoseconds: Int64) {
    let length = Double(soundNanoseconds) / 1e9
    guard length >= Self.leastSeconds, byteCount > 0 else { return }
    let kept = exp2(-length / Self.halfLife)
    bits = bits * kept + Double(byteCount) * 8
    seconds = seconds * kept + length
  }

  /// Bits a second; nil before there was a segment that tells.
  var bitsPerSecond: Int64? { seconds > 0 ? Int64(min(1e15, max(1, bits / seconds)).rounded()) : nil }
}
