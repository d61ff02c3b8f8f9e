/// Chooses the variant that the network throughput permits. Pure.
package struct HLSVariantLadder: Sendable, Hashable {
  /// A variant in the ladder.
  package struct Rung: Sendable, Hashable {
    /// The measured bit rate of the loaded data, in bits per second; 0 when not known.
    package var bitRate: Int64
    /// The bandwidth in the master playlist, which may include video that is not loaded; 0 when not specified. Used
    /// only when `bitRate` is not known.
    package var bandwidth: Int64
    /// Whether the variant may be played: it has not failed, and its bit rate is within the limit.
    package var isUsable: Bool
    /// Whether the variant recently arrived too slowly.
    package var wasTooSlow: Bool

    /// Creates a variant that may be played.
    package init(bitRate: Int64, bandwidth: Int64 = 0, isUsable: Bool = true, wasTooSlow: Bool = false) {
      self.bitRate = bitRate
      self.bandwidth = bandwidth
      self.isUsable = isUsable
      self.wasTooSlow = wasTooSlow
    }
  }

  /// The variants, in descending order of quality.
  package var rungs: [Rung]

  /// Creates a ladder of variants in descending order of quality.
  package init(_ rungs: [Rung]) { self.rungs = rungs }

  /// The current variant is retained while it needs at most this share of the throughput.
  package static let sustainedShare = 0.9
  /// Another variant is chosen only if it needs at most this share. The difference prevents an immediate switch back.
  package static let chosenShare = 0.7

  /// The bit rate that a variant needs, in bits per second; nil when not known.
  ///
  /// A measured bit rate is used directly. For a variant without one, the current variant's measured bit rate is
  /// scaled by the ratio of the bandwidths in the playlist, because both bandwidths include video.
  private func neededBitRate(_ index: Int, relativeTo current: Int) -> Double? {
    let (rung, currentRung) = (rungs[index], rungs[current])
    if rung.bitRate > 0 { return Double(rung.bitRate) }
    guard rung.bandwidth > 0, currentRung.bitRate > 0, currentRung.bandwidth > 0 else { return nil }
    return Double(currentRung.bitRate) * (Double(rung.bandwidth) / Double(currentRung.bandwidth))
  }

  /// Whether the current variant arrives fast enough; true when its bit rate is not known.
  package func isSustained(_ current: Int, throughput: Double) -> Bool {
    Double(rungs[current].bitRate) <= throughput * Self.sustainedShare
  }

  /// The index of the variant to switch to; nil for no switch.
  ///
  /// - Parameters:
  ///   - current: the index of the current variant.
  ///   - throughput: the throughput in bits per second; nil when not known.
  ///   - capacity: the throughput expected for a better variant, in bits per second. Its segments are larger, so the
  ///     waits for responses are a smaller share of the time. Not used for variants that need at least the bit rate of
  ///     one that recently arrived too slowly. Nil: the same as `throughput`.
  ///   - isAhead: whether enough is buffered to try a better variant.
  package func choice(from current: Int, throughput: Double?, capacity: Double? = nil, isAhead: Bool) -> Int? {
    guard let throughput, rungs.indices.contains(current), rungs[current].bitRate > 0 else { return nil }
    let needs = rungs.indices.map { neededBitRate($0, relativeTo: current) ?? .infinity }
    func fits(_ index: Int, _ throughput: Double) -> Bool { needs[index] <= throughput * Self.chosenShare }
    if isSustained(current, throughput: throughput) {
      guard isAhead else { return nil }
      let tooSlow = rungs.indices.filter { rungs[$0].wasTooSlow }.map { needs[$0] }.min() ?? .infinity
      return rungs.indices.prefix(current).first { index in
        rungs[index].isUsable
          && (fits(index, throughput) || needs[index] < tooSlow && fits(index, capacity ?? throughput))
      }
    }
    let lower = rungs.indices.filter { rungs[$0].isUsable && needs[$0] < needs[current] }
    return lower.first { fits($0, throughput) } ?? lower.min { needs[$0] < needs[$1] }
  }
}
