import DaemonConfiguration
import Isolation
import MediaAssets
import MediaCore

/// The worker processes of the daemon.
enum Workers {
  /// Has assets parsed as the options say, and starts a worker, so that the first file does not wait for one.
  ///
  /// - Returns: the workers; nil where the daemon parses everything itself. Errors: `workerUnavailable`.
  static func start(_ isolation: DaemonOptions.Isolation) throws(MediaError) -> WorkerPool? {
    guard isolation != .none else { return nil }
    guard let workers = WorkerPool.shared else {
      throw MediaError(
        .workerUnavailable,
        "the program \(WorkerProgram.name) is missing beside playheadd and in ../lib/playhead; `--isolate none` runs without it",
        operation: "worker")
    }
    try workers.start()
    Asset.Isolation.standard = isolation == .playback ? .playback : .worker
    return workers
  }
}
