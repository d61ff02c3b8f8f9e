import Glibc
import PlayheadNetworkIO

/// The throughput of the network, as a fast and a slow exponentially weighted average. The lower throughput counts:
/// decreases take effect immediately, and increases only after a while. A pure value.
///
/// The averaged quantity is the time per bit, so that one fast segment has little influence. Segments are weighted by
/// their duration, not by their transfer time, so that increases and decreases have the same weight.
struct StreamThroughput: Sendable, Hashable {
  /// Half-lives of the averages, in seconds of audio.
  static let halfLives = (fast: 4.0, slow: 12.0)

  /// Seconds per bit, including the wait for the reply.
  private var whole = Averages()
  /// Seconds per bit, without the wait for the reply.
  private var body = Averages()
  /// Seconds of waiting for replies per second of audio.
  private var wait = Averages()

  private struct Averages: Sendable, Hashable {
    var fast = Average(halfLife: StreamThroughput.halfLives.fast)
    var slow = Average(halfLife: StreamThroughput.halfLives.slow)

    mutating func add(_ value: Double, lasting seconds: Double) {
      fast.add(value, lasting: seconds)
      slow.add(value, lasting: seconds)
    }

    /// The larger average, which means the slower network; nil before the first value.
    var value: Double? { fast.value.flatMap { fast in slow.value.map { max(fast, $0) } } }
  }

  private struct Average: Sendable, Hashable {
    let halfLife: Double
    var sum = 0.0
    var weight = 0.0

    init(halfLife: Double) { self.halfLife = halfLife }

    mutating func add(_ value: Double, lasting seconds: Double) {
      let decay = exp2(-seconds / halfLife)
      sum = sum * decay + value * (1 - decay)
      weight = weight * decay + (1 - decay)
    }

    /// The average, without a bias towards the initial zero.
    var value: Double? { weight > 0 ? sum / weight : nil }
  }

  /// Adds the transfer of a segment with a duration of audio. Ignores segments without bytes or audio.
  mutating func add(_ statistics: TransferStatistics, audioNanoseconds: Int64) {
    guard statistics.byteCount > 0, audioNanoseconds > 0 else { return }
    let seconds = min(Double(audioNanoseconds) / 1e9, 60)
    // The time is at least 1 µs, because clocks are not more precise.
    func secondsPerBit(_ nanoseconds: Int64) -> Double {
      Double(max(nanoseconds, 1_000)) / 1e9 / (Double(statistics.byteCount) * 8)
    }
    whole.add(secondsPerBit(statistics.nanoseconds), lasting: seconds)
    body.add(secondsPerBit(statistics.nanoseconds - statistics.waitNanoseconds), lasting: seconds)
    wait.add(Double(statistics.waitNanoseconds) / Double(audioNanoseconds), lasting: seconds)
  }

  /// Bits per second; nil before the first segment.
  var bitsPerSecond: Double? { whole.value.map { 1 / $0 } }

  /// The maximum bit rate, in bits per second, of audio whose segments have the same duration. Larger segments need
  /// more transfer time, but the same wait for the reply. Nil before the first segment.
  var capacity: Double? {
    guard let body = body.value, let wait = wait.value else { return nil }
    return max(0, 1 - wait) / body
  }
}
