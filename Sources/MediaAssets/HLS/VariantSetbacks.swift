import MediaCore

/// Records failed variants: each is blocked for a while, and for twice as long after the next failure. Pure.
struct VariantSetbacks: Sendable {
  private struct Setback: Sendable {
    /// The number of earlier setbacks.
    var count = 0
    var end: HostTime
  }

  private var setbacks: [Int: Setback] = [:]

  /// Duration of the first setback.
  static let firstNanoseconds: Int64 = 30_000_000_000
  /// The maximum duration is 64 minutes.
  private static let maximumDoublingCount = 7

  /// Adds a setback. If one is active already, it is extended instead of doubled.
  mutating func add(_ index: Int, at now: HostTime) {
    let count = setbacks[index].map { now < $0.end ? $0.count : $0.count + 1 } ?? 0
    let length = Self.firstNanoseconds << min(count, Self.maximumDoublingCount)
    setbacks[index] = Setback(count: count, end: now.advanced(byNanoseconds: length))
  }

  /// Returns whether a variant is blocked now.
  func isBlocked(_ index: Int, at now: HostTime) -> Bool { setbacks[index].map { now < $0.end } ?? false }

  /// Returns the number of variants blocked now.
  func count(at now: HostTime) -> Int { setbacks.values.count { now < $0.end } }

  /// Returns whether a variant has a setback, active or not, that has not been forgotten.
  func contains(_ index: Int) -> Bool { setbacks[index] != nil }

  mutating func forget(_ index: Int) { setbacks[index] = nil }
  mutating func forgetAll() { setbacks = [:] }
}
