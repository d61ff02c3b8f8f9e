import PlayheadLibAV
import PlayheadMediaCore

/// Packets that were skipped, because they did not decode.
struct SkippedPackets: Equatable {
  var count: Int
  /// The failure of the first packet.
  var failure: AVFailure
  /// The position of the first packet on the timeline.
  var frame: Int64

  /// Returns the packets as readers report them.
  func report(sampleRateHz: Int, path: String) -> (count: Int, time: MediaTime, error: MediaError) {
    (
      count, MediaTime(frame: frame, rate: sampleRateHz),
      MediaError(skippedPackets: count, failure, in: path)
    )
  }
}

/// Collects skipped packets until they are reported.
struct SkipReport {
  private var skipped: SkippedPackets?

  /// Records a skipped packet.
  ///
  /// - Parameter frame: The position of the packet; nil during preroll, whose failures are not reported.
  mutating func note(_ failure: AVFailure, at frame: Int64?) {
    guard let frame else { return }
    skipped = SkippedPackets(
      count: min(skipped?.count ?? 0, Int.max - 1) + 1, failure: skipped?.failure ?? failure,
      frame: skipped?.frame ?? frame)
  }

  /// Returns and clears the skipped packets.
  mutating func drain() -> SkippedPackets? {
    defer { skipped = nil }
    return skipped
  }
}
