import PlayheadIsolation
import PlayheadMediaCore

/// Exports in a worker process.
extension AssetWorkerFunctions {
  /// The minimum interval, in nanoseconds, of the reports `alive`.
  private static let reportNanoseconds: Int64 = 1_000_000_000

  static func export(
    _ files: [SourceFile], _ parameters: ExportParameters, to descriptor: Int32, _ request: WorkerRequest
  ) throws(MediaError) -> AssetExportSession.Outcome {
    guard files.count == parameters.prefersPreciseDurations.count else { throw malformed }
    let assets = zip(files, parameters.prefersPreciseDurations).map { file, isPrecise in
      file.asset(prefersPreciseDuration: isPrecise)
    }
    var latest = MonotonicClock.nanoseconds
    let control = ExportControl(
      // The parent process cancels an export by killing this process.
      addCancellation: { _ in },
      check: {
        let now = MonotonicClock.nanoseconds
        guard now - latest >= reportNanoseconds else { return }
        latest = now
        request.report(ExportReport.alive)
      },
      report: { request.report(ExportReport.progress($0)) })
    return try LocalExport(ExportSource(assets: assets, mixes: parameters.mixes), parameters.settings)
      .run(writingTo: descriptor, control)
  }
}
