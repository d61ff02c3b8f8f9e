import PlayheadMediaCore

/// Exponential backoff for variants: a failed variant is blocked, and after each further failure for twice as long. A
/// pure value.
struct VariantBackoff: Sendable {
  private struct Entry: Sendable {
    /// The number of earlier failures.
    var count = 0
    var end: HostTime
  }

  private var entries: [Int: Entry] = [:]

  /// The duration of the first block.
  static let firstNanoseconds: Int64 = 30_000_000_000
  /// The maximum duration is 64 minutes.
  private static let maximumDoublingCount = 7

  /// Records a failure. A failure of a blocked variant restarts its block with the same duration.
  mutating func add(_ index: Int, at now: HostTime) {
    let count = entries[index].map { now < $0.end ? $0.count : $0.count + 1 } ?? 0
    let length = Self.firstNanoseconds << min(count, Self.maximumDoublingCount)
    entries[index] = Entry(count: count, end: now.advanced(byNanoseconds: length))
  }

  /// Returns whether a variant is blocked now.
  func isBlocked(_ index: Int, at now: HostTime) -> Bool { entries[index].map { now < $0.end } ?? false }

  /// Returns the number of variants blocked now.
  func count(at now: HostTime) -> Int { entries.values.count { now < $0.end } }

  /// Returns whether a failure of the variant is recorded, even if the variant is not blocked any more.
  func contains(_ index: Int) -> Bool { entries[index] != nil }

  mutating func forget(_ index: Int) { entries[index] = nil }
  mutating func forgetAll() { entries = [:] }
}
