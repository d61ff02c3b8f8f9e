// Measures one file for its waveform, on a thread of `WaveformScanner`, never on the caller's thread.
import PlayheadMediaAssets
import PlayheadMediaCore

/// Runs waveform scans one at a time, with low priority. A scan that waits for the bytes of a file does not block other
/// scans.
///
/// Threading: any thread.
package final class WaveformScanner: Sendable {
  /// The default scanner.
  package static let shared = WaveformScanner()

  let workers = AssetWorkers(
    limits: WorkSlots.Limits(slotCount: 1, threadCount: 8), isWatched: true, threadName: "waveform", niceness: 10)

  /// Creates a scanner with separate threads.
  package init() {}
}

/// Measures the waveform of a file: decodes the requested range.
///
/// <!-- listing: draw-waveform -->
/// ```swift
/// let scan = WaveformScan(Asset(path: "/music/one.flac"), output: WaveformOutput(path: "/music/one.svg", .svg))
/// let result = try await scan.result()
/// print(result.waveform.duration)
/// ```
///
/// Threading: any thread.
public final class WaveformScan: Sendable {
  private let asset: Asset
  private let request: WaveformRequest
  private let cache: WaveformCache?
  private let output: WaveformOutput?
  private let opening = AssetOpening()
  private let run = WorkRun<WaveformResult>("waveform")

  /// Creates a scan. No I/O.
  ///
  /// - Parameters:
  ///   - asset: The file.
  ///   - request: The range and the scale.
  ///   - output: a file for the waveform. The file is written completely or not at all. For an image the default scale
  ///     is one bin per column.
  ///   - cache: the cache for waveforms; nil: no cache.
  public init(
    _ asset: Asset, _ request: WaveformRequest = WaveformRequest(), output: WaveformOutput? = nil,
    cache: WaveformCache? = nil
  ) {
    self.asset = asset
    var request = request
    if let output, output.format.isImage, request.scale == nil { request.scale = .bins(output.style.width) }
    self.request = request
    self.output = output
    self.cache = cache
  }

  /// Starts the scan. May be called once.
  ///
  /// The closures run on a measuring thread. `completion` is called once; on cancellation or a timeout it runs on the
  /// thread that cancels or that checks for timeouts.
  ///
  /// - Parameters:
  ///   - progress: receives the part that has been read, from 0 to 1, at the start, at each twentieth, and at the end.
  ///     If the length is unknown, it receives nil at the start.
  ///   - completion: receives the result or an error: those of `Waveform.write` and of writing a file;
  ///     `invalidArgument`; `invalidTime`, also for a range after the end of the audio; `cancelled`;
  ///     `mediaLimitExceeded`; errors of opening and reading the file; `readFailed` if the file changes meanwhile.
  public func start(
    progress: @escaping @Sendable (Double?) -> Void = { _ in },
    completion: @escaping @Sendable (Result<WaveformResult, MediaError>) -> Void
  ) {
    start(on: .shared, progress: progress, completion: completion)
  }

  /// Starts the scan on other threads than those that measure for the whole process.
  package func start(
    on scanner: WaveformScanner, progress: @escaping @Sendable (Double?) -> Void = { _ in },
    completion: @escaping @Sendable (Result<WaveformResult, MediaError>) -> Void
  ) {
    do throws(MediaError) { try request.check() } catch { return completion(.failure(error)) }
    run.start(
      on: scanner.workers, forNanoseconds: asset.openingNanoseconds, name: asset.displayPath, completion: completion
    ) { [self] job throws(MediaError) in
      try run.addCancellation { [opening] in opening.cancel() }
      var identity: WaveformCache.Identity?
      try checkOutput()
      let result = try measure(job, progress, &identity)
      try write(result.waveform)
      // The waveform is stored before the completion, so that a later request finds it.
      if let identity { cache?.store(result.waveform, identity, request) }
      return result
    }
  }

  /// Runs the scan. Cancelling the calling task cancels the scan.
  public func result(
    progress: @escaping @Sendable (Double?) -> Void = { _ in }
  ) async throws(MediaError) -> WaveformResult {
    try await result(on: .shared, progress: progress)
  }

  /// Runs the scan on other threads than those that measure for the whole process.
  package func result(
    on scanner: WaveformScanner, progress: @escaping @Sendable (Double?) -> Void = { _ in }
  ) async throws(MediaError) -> WaveformResult {
    try await run.outcome { start(on: scanner, progress: progress, completion: $0) }
  }

  /// Cancels the scan: `completion` is called immediately, and reading stops. Does not block.
  public func cancel() { run.cancel() }

  // MARK: - Measuring thread

  /// Checks the output before anything is read.
  private func checkOutput() throws(MediaError) {
    guard let output else { return }
    try output.style.check()
    if output.format == .dat, case .bins? = request.scale { throw Waveform.nonuniformBinsError }
    try output.file.check()
  }

  private func write(_ waveform: Waveform) throws(MediaError) {
    guard let output else { return }
    try output.file.writeChunks { append throws(MediaError) in
      try waveform.write(output.format, output.style) { (bytes) throws(MediaError) in
        try run.check()
        try append(bytes)
      }
      try run.check()
    }
  }

  /// - Parameter identityToStore: is set to the identity of the file if the result is to be stored.
  private func measure(
    _ job: AssetWorkers.Job, _ progress: @Sendable (Double?) -> Void, _ identityToStore: inout WaveformCache.Identity?
  ) throws(MediaError) -> WaveformResult {
    try run.check()
    let properties = try opening.load(asset)
    // The identity is determined after loading, because loading checks that the file may be read.
    let identity = cache.flatMap { _ in WaveformCache.identity(of: asset) }
    if let cache, let identity, let cached = cache.waveform(identity, request) {
      opening.finish(asset)
      progress(1)
      return WaveformResult(waveform: cached, fault: nil, isCached: true)
    }
    do throws(MediaError) {
      try properties.checkHasAudio(path: asset.displayPath, operation: "waveform")
    } catch {
      opening.finish(asset)
      throw error
    }
    guard properties.isSeekable || properties.duration.isNumeric else {
      opening.finish(asset)
      throw MediaError(
        .unsupportedLocation, "a stream has no end, so it has no waveform: \(asset.displayPath)",
        operation: "waveform")
    }
    let reader = try opening.reader(asset, trackID: request.trackID)
    try run.addCancellation { reader.cancel() }
    var measurement = try WaveformMeasurement(reader, request, duration: properties.duration)
    let waveform = try measurement.run(progress) { () throws(MediaError) in
      job.reportProgress()
      try run.check()
    }
    let fault = reader.popSkippedPackets()?.error ?? reader.popWarning()?.error
    if fault == nil, identity == WaveformCache.identity(of: asset) { identityToStore = identity }
    progress(1)
    return WaveformResult(waveform: waveform, fault: fault, isCached: false)
  }
}
