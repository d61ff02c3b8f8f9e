import PlayheadMediaCore
import PlayheadWholeFiles

/// Performs exports one after another at a low processor priority (niceness 10). While an export waits for data,
/// another one continues.
///
/// Threading: any thread.
package final class AssetExporter: Sendable {
  /// The default exporter.
  package static let shared = AssetExporter()

  let workers = AssetWorkers(
    limits: WorkSlots.Limits(slotCount: 1, threadCount: 8), isWatched: true, threadName: "export", niceness: 10)

  /// Creates an exporter with separate threads.
  package init() {}
}

/// Exports an asset to a file: with another container, another codec, or a part of it. As AVAssetExportSession.
///
/// <!-- listing: export -->
/// ```swift
/// var settings = ExportSettings(.m4a)
/// settings.timeRange = TimeRange(start: .seconds(60), end: .seconds(90))
/// let export = AssetExportSession(Asset(path: "/music/one.flac"), to: "/music/part.m4a", settings)
/// let outcome = try await export.outcome { print($0 ?? 0) }
/// print(outcome.duration, outcome.byteCount)
/// ```
///
/// A worker process performs the export if all assets are files or URLs with an isolation. This process exports
/// segmented streams and compositions.
///
/// Threading: any thread. An export can be started once.
public final class AssetExportSession: Sendable {
  /// The result of an export.
  public struct Outcome: Sendable, Hashable, Codable {
    /// The duration of the written media.
    public var duration: MediaTime
    /// The size of the file in bytes.
    public var byteCount: Int64
    /// The first decoding error of the source. The file contains silence instead of data that failed to decode. Nil if
    /// there was no error.
    public var fault: MediaError?
  }

  private let source: ExportSource
  private let settings: ExportSettings
  private let file: WholeFile
  private let run = WorkRun<Outcome>("export")

  /// Creates an export of one asset to a file. Performs no I/O.
  ///
  /// - Parameters:
  ///   - asset: The asset to export.
  ///   - path: The absolute path of the file.
  ///   - settings: The format and the range of the file.
  ///   - replacesFile: Whether the file replaces an existing file.
  public convenience init(_ asset: Asset, to path: String, _ settings: ExportSettings, replacesFile: Bool = false) {
    self.init(joining: [asset], to: Array(path.utf8), settings, replacesFile: replacesFile)
  }

  /// Creates an export of several assets, one after another with a chapter for each, or mixed together. The file has
  /// the tags of the first asset. For other arrangements use a ``Composition``.
  ///
  /// - Parameters:
  ///   - assets: The assets, in order.
  ///   - mixes: Whether all assets begin at the same time.
  ///   - path: The absolute path of the file.
  ///   - settings: The format and the range of the file.
  ///   - replacesFile: Whether the file replaces an existing file.
  public convenience init(
    joining assets: [Asset], mixes: Bool = false, to path: String, _ settings: ExportSettings,
    replacesFile: Bool = false
  ) {
    self.init(joining: assets, mixes: mixes, to: Array(path.utf8), settings, replacesFile: replacesFile)
  }

  /// Creates an export to a file whose path need not be UTF-8.
  package convenience init(
    joining assets: [Asset], mixes: Bool = false, to path: [UInt8], _ settings: ExportSettings, replacesFile: Bool
  ) {
    self.init(
      joining: assets, mixes: mixes,
      to: WholeFile(path: path, replaces: replacesFile, hint: "replacing is not allowed"), settings)
  }

  /// Creates an export of several assets to `file`, which may be restricted to some folders.
  package init(joining assets: [Asset], mixes: Bool = false, to file: WholeFile, _ settings: ExportSettings) {
    precondition(!assets.isEmpty, "an export needs at least one asset")
    (source, self.file, self.settings) = (ExportSource(assets: assets, mixes: mixes), file, settings)
  }

  /// Starts the export. Call once. The closures are called on an exporting thread. If the export is cancelled or
  /// times out, `completion` is called on the cancelling thread or on the watchdog thread.
  ///
  /// - Parameters:
  ///   - progress: Called with the completed fraction, from 0 to 1: at the beginning (nil if the duration is unknown),
  ///     in steps of 1/20, and at the end.
  ///   - completion: Called once. On success the file is complete and has its name. On an error there is no file.
  ///     Errors:
  ///     - those of ``AssetReader`` and ``AssetWriter``, also if the source ends early
  ///     - `fileExists`, `writeFailed`
  ///     - `invalidTime` for a range after the end
  ///     - `noPlayableTracks` if the asset has none of the requested tracks
  ///     - `unsupportedLocation` for a stream without an end
  ///     - `cancelled`
  public func start(
    progress: @escaping @Sendable (Double?) -> Void = { _ in },
    completion: @escaping @Sendable (Result<Outcome, MediaError>) -> Void
  ) {
    start(on: .shared, progress: progress, completion: completion)
  }

  /// Starts the export on other threads than those that export for the whole process.
  package func start(
    on exporter: AssetExporter, progress: @escaping @Sendable (Double?) -> Void = { _ in },
    completion: @escaping @Sendable (Result<Outcome, MediaError>) -> Void
  ) {
    run.start(
      on: exporter.workers, forNanoseconds: source.openingNanoseconds, name: source.name, completion: completion
    ) { [self] job throws(MediaError) in
      try export(job, progress)
    }
  }

  /// Starts the export and returns its result. Cancelling the task cancels the export.
  public func outcome(
    progress: @escaping @Sendable (Double?) -> Void = { _ in }
  ) async throws(MediaError) -> Outcome {
    try await outcome(on: .shared, progress: progress)
  }

  /// Exports on other threads than those that export for the whole process.
  package func outcome(
    on exporter: AssetExporter, progress: @escaping @Sendable (Double?) -> Void = { _ in }
  ) async throws(MediaError) -> Outcome {
    try await run.outcome { start(on: exporter, progress: progress, completion: $0) }
  }

  /// Cancels the export. The completion is called immediately, and no file appears. Has no effect after the export has
  /// ended, or while the complete file gets its name. Does not block.
  public func cancel() { run.cancel() }

  // MARK: - Exporting

  private func export(
    _ job: AssetWorkers.Job, _ progress: @escaping @Sendable (Double?) -> Void
  ) throws(MediaError) -> Outcome {
    let unfinished = try file.create()
    let control = ExportControl(
      addCancellation: { [run] (cancel) throws(MediaError) in try run.addCancellation(cancel) },
      check: { [run] () throws(MediaError) in
        job.reportProgress()
        try run.check()
      },
      report: { progress($0.map { Double($0) / 20 }) })
    let descriptor = unfinished.descriptor
    let isolated = try IsolatedExport(source, settings).run(writingTo: descriptor, control)
    let outcome: Outcome
    if let isolated {
      outcome = isolated
    } else {
      outcome = try LocalExport(source, settings).run(writingTo: descriptor, control)
    }
    guard run.disableCancellation() else { throw run.cancelled }
    try unfinished.commit()
    return outcome
  }
}
