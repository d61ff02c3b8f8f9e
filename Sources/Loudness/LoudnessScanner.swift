import MediaAssets

/// Runs scans one after another, and with the least share of the processor: neither what is played nor what is asked meanwhile is to
/// suffer. A scan that waits for a file's bytes holds up no other.
///
/// Threading: any.
public final class LoudnessScanner: Sendable {
  /// What scans run on unless a test says otherwise.
  public static let shared = LoudnessScanner()

  /// Each file is work of its own. That of a scan that is under way goes before that of others.
  let workers: AssetWorkers

  public convenience init() { self.init(limits: WorkPlaces.Limits(placeCount: 1, threadCount: 8)) }

  /// - Parameter isWatched: whether there is a thread that looks at the time.
  init(limits: WorkPlaces.Limits, isWatched: Bool = true) {
    workers = AssetWorkers(limits: limits, isWatched: isWatched, threadName: "scan", niceness: 10)
  }
}
