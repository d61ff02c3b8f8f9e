import MediaCore
import WholeFiles

/// Runs exports one after another, and with the least share of the processor. One that waits for a file's bytes holds up no other.
///
/// Threading: any.
public final class AssetExporter: Sendable {
  /// What exports run on unless something else is said.
  public static let shared = AssetExporter()

  let workers = AssetWorkers(
    limits: WorkPlaces.Limits(placeCount: 1, threadCount: 8), isWatched: true, threadName: "export", niceness: 10)

  public init() {}
}

/// Makes a file of an asset: another container, another codec, a part of it. As AVAssetExportSession.
///
/// If all assets are files or addresses with an isolation, a worker process performs the export. Streams and compositions
/// are exported in this process.
///
/// Threading: any. An export is begun once.
public final class AssetExportSession: Sendable {
  /// What is there when an export has ended.
  public struct Outcome: Sendable, Hashable, Codable {
    /// How long what was written is.
    public var duration: MediaTime
    /// Bytes of the file.
    public var byteCount: Int64
    /// What in the source did not decode, though it was read; silence stands for it. Nil: nothing.
    public var fault: MediaError?
  }

  private let source: ExportSource
  private let settings: ExportSettings
  private let file: WholeFile
  private let run = WorkRun<Outcome>("export")

  /// An export into a file. Nothing is read or written yet.
  ///
  /// - Parameters:
  ///   - path: of the file, absolute, bytes.
  ///   - replacesFile: it takes the place of what is there.
  public convenience init(
    _ asset: Asset, to path: [UInt8], _ settings: ExportSettings, replacesFile: Bool = false
  ) {
    self.init(
      joining: [asset], to: WholeFile(path: path, replaces: replacesFile, hint: "it is not to be replaced"), settings)
  }

  /// An export of several assets, one behind the other, with a chapter for each, or all at once. The first one's tags are those of the
  /// file. What is to be cut and put together otherwise is a `Composition`.
  ///
  /// - Parameter mixes: all of them begin together.
  public convenience init(
    joining assets: [Asset], mixes: Bool = false, to path: [UInt8], _ settings: ExportSettings,
    replacesFile: Bool = false
  ) {
    self.init(
      joining: assets, mixes: mixes,
      to: WholeFile(path: path, replaces: replacesFile, hint: "it is not to be replaced"), settings)
  }

  /// The same into a file that may lie below some folders only.
  package init(joining assets: [Asset], mixes: Bool = false, to file: WholeFile, _ settings: ExportSettings) {
    precondition(!assets.isEmpty, "an export is made of something")
    (source, self.file, self.settings) = (ExportSource(assets: assets, mixes: mixes), file, settings)
  }

  /// Begins, once. Both closures are called on a thread of the export's, the second one once, or by who cancels, or the thread that
  /// looks at the time.
  ///
  /// `progress` is told how much has been read, from 0 to 1: at the beginning (nil where the length is not known), at each twentieth, and
  /// at the end. The file appears under its name when it is whole, before `completion` is called; on an error there is none.
  /// Errors: those of `AssetReader` and `AssetWriter`, also where the source breaks off; `fileExists`, `writeFailed`; `invalidTime` where the
  /// range lies behind the end; `noPlayableTracks` where there is nothing of what is asked for; `unsupportedPlace` for a stream without end; `cancelled`.
  public func start(
    on exporter: AssetExporter = .shared, progress: @escaping @Sendable (Double?) -> Void = { _ in },
    completion: @escaping @Sendable (Result<Outcome, MediaError>) -> Void
  ) {
    run.start(
      on: exporter.workers, forNanoseconds: source.openingNanoseconds, name: source.name, completion: completion
    ) { [self] job throws(MediaError) in
      try export(job, progress)
    }
  }

  /// The same for a task; cancelling that cancels the export.
  public func outcome(
    on exporter: AssetExporter = .shared, progress: @escaping @Sendable (Double?) -> Void = { _ in }
  ) async throws(MediaError) -> Outcome {
    try await run.outcome { start(on: exporter, progress: progress, completion: $0) }
  }

  /// Ends it: who waits is told at once, and no file appears. Nothing once it is over, or the whole file gets its name.
  /// Does not block.
  public func cancel() { run.cancel() }

  // MARK: - On a thread

  private func export(
    _ job: AssetWorkers.Job, _ progress: @escaping @Sendable (Double?) -> Void
  ) throws(MediaError) -> Outcome {
    let unfinished = try file.begin()
    let control = ExportControl(
      hold: { [run] (cancel) throws(MediaError) in try run.holds(cancel) },
      check: { [run] () throws(MediaError) in
        job.goesOn()
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
    guard run.settle() else { throw run.cancelled }
    try unfinished.commit()
    return outcome
  }
}
