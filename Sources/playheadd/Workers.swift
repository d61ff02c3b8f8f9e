import Logging
import PlayheadDaemonConfiguration
import PlayheadIsolation
import PlayheadMediaAssets
import PlayheadMediaCore

/// The worker processes of the daemon.
enum Workers {
  /// Selects the process that parses assets.
  ///
  /// - Returns: The workers, none of which runs yet. Nil if the daemon parses everything itself.
  /// - Throws: `workerUnavailable` if the program is missing.
  static func prepare(_ isolation: DaemonOptions.Isolation) throws(MediaError) -> WorkerPool? {
    guard isolation != .none else { return nil }
    guard let workers = WorkerPool.shared else {
      throw MediaError(
        .workerUnavailable,
        "the program \(WorkerProgram.name) is neither next to playheadd nor in ../lib/playhead;"
          + " use `--isolate none` to run without it",
        operation: "worker")
    }
    Asset.Isolation.standard = isolation == .playback ? .playback : .opening
    return workers
  }

  /// Starts a worker, so that the first file does not wait for one. Logs a failure. Opening a file tries again.
  ///
  /// Call it after the first replies: a worker loads FFmpeg, which delays them.
  static func start(_ workers: WorkerPool, logger: Logger) {
    do throws(MediaError) { try workers.start() } catch {
      logger.error("no worker process could be started", metadata: ["error": "\(error.message)"])
    }
  }
}
