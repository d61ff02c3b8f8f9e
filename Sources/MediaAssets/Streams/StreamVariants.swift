import MediaCore
import NetworkIO
import Playlists

/// The variants of a stream, or of one rendition of it: which one is heard, which have failed, and which the network sustains. Pure.
struct StreamVariants: Sendable {
  /// The best first.
  private let candidates: [HLSVariantChoice.Candidate]
  /// The one that is heard.
  private(set) var current: Int
  /// Those that could not be had.
  private var failures = VariantSetbacks()
  /// Those that came too slowly.
  private var delays = VariantSetbacks()
  /// Bits a second of those whose sound comes by itself: what the master playlist says counts pictures that nobody loads.
  private var soundRates: [Int: SoundBitRate] = [:]
  /// Segments of the present one that have come.
  private var segmentCount = 0

  /// Segments of a variant that are heard before a better one is tried, and before it is taken to be there again. A switch begins a
  /// little before the place: fewer segments than these might be the same ones as before.
  static let leastSegmentCount = 3
  /// Segments of a variant after which it is forgotten that it came too slowly once.
  static let steadySegmentCount = 15

  /// The number of variants that are tried in a row. While that many have failed lately, no others are tried.
  static let maximumAttemptCount = 16

  /// - Parameter candidates: none for a stream that has no variants.
  init(_ candidates: [HLSVariantChoice.Candidate] = []) {
    self.candidates = candidates
    current = 0
  }

  subscript(_ index: Int) -> HLSVariantChoice.Candidate? {
    candidates.indices.contains(index) ? candidates[index] : nil
  }

  /// What may be tried when none is heard yet, or the present one fails: what comes behind it, and then what is better, without those
  /// that have failed lately. When all of them have, but enough of the present one came since, they are worth another try.
  /// The result has at most `maximumAttemptCount` variants, less those that have failed lately.
  func others(at now: HostTime) -> [Int] {
    let indices = candidates.indices.filter { $0 > current } + candidates.indices.filter { $0 < current }
    let fresh = indices.filter { !failures.holds($0, at: now) }
    if fresh.isEmpty, segmentCount >= Self.leastSegmentCount { return Array(indices.prefix(Self.maximumAttemptCount)) }
    return Array(fresh.prefix(max(0, Self.maximumAttemptCount - failures.count(at: now))))
  }

  /// Those that are tried at first, in order.
  var first: [Int] { Array(candidates.indices.prefix(Self.maximumAttemptCount)) }

  /// Bits a second, as the master playlist says; nil where it does not.
  var bandwidth: Int64? { self[current].flatMap { $0.variant.bandwidth > 0 ? $0.variant.bandwidth : nil } }

  /// These could not be had: they are left alone for a while.
  mutating func fail(_ indices: some Sequence<Int>, at now: HostTime) {
    for index in indices where candidates.indices.contains(index) { failures.add(index, at: now) }
  }

  /// This one is heard from now on.
  mutating func go(to index: Int) {
    current = index
    segmentCount = 0
  }

  /// A segment of the present one came. Answers which to go over to; nil: none.
  ///
  /// - Parameters:
  ///   - throughput: bits a second of the network; nil: not known.
  ///   - capacity: what it would be if segments were larger; nil: the same.
  ///   - idleNanoseconds: for how long whoever reads it wanted nothing meanwhile, for there was enough, or all that there is.
  mutating func took(
    byteCount: Int64, soundNanoseconds: Int64, throughput: Double?, capacity: Double? = nil, idleNanoseconds: Int64,
    at now: HostTime
  ) -> Int? {
    segmentCount += 1
    soundRates[current, default: SoundBitRate()].add(byteCount: byteCount, soundNanoseconds: soundNanoseconds)
    forget()
    let ladder = HLSVariantLadder(rungs(at: now))
    let isAhead = segmentCount >= Self.leastSegmentCount && idleNanoseconds >= soundNanoseconds / 4
    let choice = ladder.choice(from: current, throughput: throughput, capacity: capacity, isAhead: isAhead)
    if choice != nil, let throughput, !ladder.isSustained(current, throughput: throughput) {
      delays.add(current, at: now)
    }
    return choice
  }

  /// What the present one's segments tell.
  private mutating func forget() {
    if segmentCount >= Self.steadySegmentCount { delays.forget(current) }
    guard segmentCount >= Self.leastSegmentCount else { return }
    // Where all failed it was the network's fault, or the server's, which is there again.
    if candidates.indices.allSatisfy(failures.contains) { failures.forgetAll() } else { failures.forget(current) }
  }

  private func rungs(at now: HostTime) -> [HLSVariantLadder.Rung] {
    let isAnyWithin = candidates.contains(where: \.isWithinLimit)
    return candidates.enumerated().map { index, candidate in
      let bandwidth = candidate.variant.bandwidth
      var bitRate = bandwidth
      if candidate.rendition?.place != nil {
        let own = soundRates[index]?.bitsPerSecond ?? 0
        bitRate = bandwidth > 0 ? min(own, bandwidth) : own
      }
      return HLSVariantLadder.Rung(
        bitRate: bitRate, bandwidth: bandwidth,
        isUsable: !failures.holds(index, at: now) && (candidate.isWithinLimit || !isAnyWithin),
        isDoubted: delays.holds(index, at: now))
    }
  }
}
