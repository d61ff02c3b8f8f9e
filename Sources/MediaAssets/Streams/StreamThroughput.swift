import Glibc
import NetworkIO

/// How fast segments come: two averages of which one forgets soon and the other late. The lower one counts, so that what became
/// slower is noticed at once, and what became faster is believed only after a while. Pure.
///
/// What is averaged is how long a bit takes, for a fast segment between slow ones helps nobody. Segments weigh as much as they last,
/// not as long as they took: a network that became fast is noticed as well as one that became slow.
struct StreamThroughput: Sendable, Hashable {
  /// Seconds of sound after which what came before counts half.
  static let halfLives = (fast: 4.0, slow: 12.0)

  /// Seconds that a bit takes, with the wait for the answer.
  private var whole = Averages()
  /// The same without.
  private var body = Averages()
  /// Seconds that answers are waited for, for each second of sound.
  private var wait = Averages()

  private struct Averages: Sendable, Hashable {
    var fast = Average(halfLife: StreamThroughput.halfLives.fast)
    var slow = Average(halfLife: StreamThroughput.halfLives.slow)

    mutating func add(_ value: Double, lasting seconds: Double) {
      fast.add(value, lasting: seconds)
      slow.add(value, lasting: seconds)
    }

    /// The one that says less of the network; nil before anything came.
    var value: Double? { fast.value.flatMap { fast in slow.value.map { max(fast, $0) } } }
  }

  private struct Average: Sendable, Hashable {
    let halfLife: Double
    var sum = 0.0
    var weight = 0.0

    init(halfLife: Double) { self.halfLife = halfLife }

    mutating func add(_ value: Double, lasting seconds: Double) {
      let kept = exp2(-seconds / halfLife)
      sum = sum * kept + value * (1 - kept)
      weight = weight * kept + (1 - kept)
    }

    /// Nothing came before the first one.
    var value: Double? { weight > 0 ? sum / weight : nil }
  }

  /// A segment came, and has so much sound. What has no bytes or no sound says nothing.
  mutating func add(_ measure: TransferMeasure, soundNanoseconds: Int64) {
    guard measure.byteCount > 0, soundNanoseconds > 0 else { return }
    let seconds = min(Double(soundNanoseconds) / 1e9, 60)
    // No network is faster than clocks tell.
    func secondsPerBit(_ nanoseconds: Int64) -> Double {
      Double(max(nanoseconds, 1_000)) / 1e9 / (Double(measure.byteCount) * 8)
    }
    whole.add(secondsPerBit(measure.nanoseconds), lasting: seconds)
    body.add(secondsPerBit(measure.nanoseconds - measure.waitNanoseconds), lasting: seconds)
    wait.add(Double(measure.waitNanoseconds) / Double(soundNanoseconds), lasting: seconds)
  }

  /// Bits a second; nil before anything came.
  var bitsPerSecond: Double? { whole.value.map { 1 / $0 } }

  /// Bits a second that sound might have whose segments last as long: more bits take longer to come, but are waited for no longer.
  /// What is left of each second once the answer is there tells how many that are. Nil before anything came.
  var capacity: Double? {
    guard let body = body.value, let wait = wait.value else { return nil }
    return max(0, 1 - wait) / body
  }
}
