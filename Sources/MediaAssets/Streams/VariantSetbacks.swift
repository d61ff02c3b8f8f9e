import MediaCore

/// Which variants were tried in vain: each is left alone for a while, and the next time for twice as long. Pure.
struct VariantSetbacks: Sendable {
  private struct Setback: Sendable {
    /// Those before it.
    var count = 0
    var end: HostTime
  }

  private var setbacks: [Int: Setback] = [:]

  /// For how long the first one counts.
  static let firstNanoseconds: Int64 = 30_000_000_000
  /// An hour, and a little more.
  private static let maximumDoublingCount = 7

  /// One more. While the one before counts it is the same one, which lasts on.
  mutating func add(_ index: Int, at now: HostTime) {
    let count = setbacks[index].map { now < $0.end ? $0.count : $0.count + 1 } ?? 0
    let length = Self.firstNanoseconds << min(count, Self.maximumDoublingCount)
    setbacks[index] = Setback(count: count, end: now.advanced(byNanoseconds: length))
  }

  /// Whether it is to be left alone now.
  func holds(_ index: Int, at now: HostTime) -> Bool { setbacks[index].map { now < $0.end } ?? false }

  /// How many are to be left alone now.
  func count(at now: HostTime) -> Int { setbacks.values.count { now < $0.end } }

  /// Whether there was any that is not forgotten.
  func contains(_ index: Int) -> Bool { setbacks[index] != nil }

  mutating func forget(_ index: Int) { setbacks[index] = nil }
  mutating func forgetAll() { setbacks = [:] }
}
