import PlayheadMediaAssets

/// Runs scans one at a time, with low priority, so that they do not delay playback and other requests. A scan that
/// waits for the bytes of a file does not block other scans.
///
/// Threading: any thread.
package final class LoudnessScanner: Sendable {
  /// The default scanner.
  package static let shared = LoudnessScanner()

  /// One job for each file. Files of a running scan precede those of other scans.
  let workers: AssetWorkers

  /// Makes a scanner with separate threads.
  package convenience init() { self.init(limits: WorkSlots.Limits(slotCount: 1, threadCount: 8)) }

  /// - Parameter isWatched: whether a thread checks for timeouts.
  init(limits: WorkSlots.Limits, isWatched: Bool = true) {
    workers = AssetWorkers(limits: limits, isWatched: isWatched, threadName: "scan", niceness: 10)
  }
}
