import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists

/// The variants of a stream or of one of its renditions: the active one, the failed ones, and those that the network
/// sustains. A pure value.
struct StreamVariants: Sendable {
  /// The candidates, best first.
  private let candidates: [HLSVariantChoice.Candidate]
  /// The index of the active variant.
  private(set) var current: Int
  /// The variants that were not available.
  private var failures = VariantBackoff()
  /// The variants that were too slow.
  private var delays = VariantBackoff()
  /// Measured bit rates, by variant. For separate audio they replace the bandwidth in the master playlist, which
  /// includes video that is not loaded.
  private var audioBitRates: [Int: AudioBitRate] = [:]
  /// The number of segments of the active variant that have arrived.
  private var segmentCount = 0

  /// Number of segments of a variant before a better one is tried, and before its failure is forgotten. A switch begins
  /// before the current position, so that fewer segments may all have been read before.
  static let minimumSegmentCount = 3
  /// Number of segments of a variant after which its delays are forgotten.
  static let steadySegmentCount = 15

  /// Maximum number of variants that are tried in a row. If as many have failed recently, no others are tried.
  static let maximumAttemptCount = 16

  /// - Parameter candidates: Empty for a stream without variants.
  init(_ candidates: [HLSVariantChoice.Candidate] = []) {
    self.candidates = candidates
    current = 0
  }

  subscript(_ index: Int) -> HLSVariantChoice.Candidate? {
    candidates.indices.contains(index) ? candidates[index] : nil
  }

  /// Returns the variants to try when none is active or the active one fails: those after it, then the better ones,
  /// without recently failed variants. If all have failed, but enough segments of the active one have arrived since,
  /// all may be tried again.
  ///
  /// - Returns: At most `maximumAttemptCount` variants, less the number of recently failed ones.
  func others(at now: HostTime) -> [Int] {
    let indices = candidates.indices.filter { $0 > current } + candidates.indices.filter { $0 < current }
    let fresh = indices.filter { !failures.isBlocked($0, at: now) }
    if fresh.isEmpty, segmentCount >= Self.minimumSegmentCount {
      return Array(indices.prefix(Self.maximumAttemptCount))
    }
    return Array(fresh.prefix(max(0, Self.maximumAttemptCount - failures.count(at: now))))
  }

  /// The variants to try first, in order.
  var first: [Int] { Array(candidates.indices.prefix(Self.maximumAttemptCount)) }

  /// Bits per second, according to the master playlist; nil if unspecified.
  var bandwidth: Int64? { self[current].flatMap { $0.variant.bandwidth > 0 ? $0.variant.bandwidth : nil } }

  /// Records that variants were not available. They are not used for a while.
  mutating func fail(_ indices: some Sequence<Int>, at now: HostTime) {
    for index in indices where candidates.indices.contains(index) { failures.add(index, at: now) }
  }

  /// Makes a variant the active one.
  mutating func activate(_ index: Int) {
    current = index
    segmentCount = 0
  }

  /// Adds a segment of the active variant. Returns the variant to switch to; nil for none.
  ///
  /// - Parameters:
  ///   - throughput: Bits per second of the network; nil if unknown.
  ///   - capacity: The throughput for larger segments; nil: `throughput`.
  ///   - idleNanoseconds: The time during which the reader needed no data, because it had enough data, or the live
  ///     stream had no more.
  mutating func addSegment(
    byteCount: Int64, audioNanoseconds: Int64, throughput: Double?, capacity: Double? = nil, idleNanoseconds: Int64,
    at now: HostTime
  ) -> Int? {
    segmentCount += 1
    audioBitRates[current, default: AudioBitRate()].add(byteCount: byteCount, audioNanoseconds: audioNanoseconds)
    forgetDisprovedFailures()
    let ladder = HLSVariantLadder(rungs(at: now))
    let isAhead = segmentCount >= Self.minimumSegmentCount && idleNanoseconds >= audioNanoseconds / 4
    let choice = ladder.choice(from: current, throughput: throughput, capacity: capacity, isAhead: isAhead)
    if choice != nil, let throughput, !ladder.isSustained(current, throughput: throughput) {
      delays.add(current, at: now)
    }
    return choice
  }

  /// Forgets the failures and delays that the received segments of the active variant disprove.
  private mutating func forgetDisprovedFailures() {
    if segmentCount >= Self.steadySegmentCount { delays.forget(current) }
    guard segmentCount >= Self.minimumSegmentCount else { return }
    // If all variants failed, the cause was the network or the server, which now works again.
    if candidates.indices.allSatisfy(failures.contains) { failures.forgetAll() } else { failures.forget(current) }
  }

  private func rungs(at now: HostTime) -> [HLSVariantLadder.Rung] {
    let isAnyWithin = candidates.contains(where: \.isWithinLimit)
    return candidates.enumerated().map { index, candidate in
      let bandwidth = candidate.variant.bandwidth
      var bitRate = bandwidth
      if candidate.rendition?.location != nil {
        let measured = audioBitRates[index]?.bitsPerSecond ?? 0
        bitRate = bandwidth > 0 ? min(measured, bandwidth) : measured
      }
      return HLSVariantLadder.Rung(
        bitRate: bitRate, bandwidth: bandwidth,
        isUsable: !failures.isBlocked(index, at: now) && (candidate.isWithinLimit || !isAnyWithin),
        wasTooSlow: delays.isBlocked(index, at: now))
    }
  }
}
