// Measures one file for its waveform, on a thread of `WaveformScanner`: never on the caller's.
import MediaAssets
import MediaCore

/// Runs scans for waveforms one after another, and with the least share of the processor. A scan that waits for a file's bytes holds up no
/// other.
///
/// Threading: any.
public final class WaveformScanner: Sendable {
  /// What scans run on unless a test says otherwise.
  public static let shared = WaveformScanner()

  let workers = AssetWorkers(
    limits: WorkPlaces.Limits(placeCount: 1, threadCount: 8), isWatched: true, threadName: "waveform", niceness: 10)

  public init() {}
}

/// Finds out what a file looks like: decodes the part that is asked for.
///
/// Threading: any.
public final class WaveformScan: Sendable {
  private let asset: Asset
  private let request: WaveformRequest
  private let cache: WaveformCache?
  private let output: WaveformOutput?
  private let opening = AssetOpening()
  private let run = WorkRun<WaveformResult>("waveform")

  /// A scan of a file. Nothing is read yet.
  ///
  /// - Parameters:
  ///   - output: what is written of it, whole or not at all; a picture has a bin for each of its columns unless the request says otherwise.
  ///   - cache: where waveforms are kept; nil: this one is not.
  public init(
    _ asset: Asset, _ request: WaveformRequest = WaveformRequest(), output: WaveformOutput? = nil,
    cache: WaveformCache? = nil
  ) {
    self.asset = asset
    var request = request
    if let output, output.form.isPicture, request.scale == nil { request.scale = .bins(output.style.width) }
    self.request = request
    self.output = output
    self.cache = cache
  }

  /// Begins, once. Both closures are called on a thread that measures, the second one once, or by who cancels, or the thread that looks
  /// at the time.
  ///
  /// `progress` is told how much has been read, from 0 to 1: at the beginning (nil where the length is not known), at each twentieth, and at the end.
  /// Errors: those of `Waveform.write` and `WholeFile.write`; `invalidArgument`, `invalidTime` (also where the range lies behind the sound); `cancelled`; `mediaLimitExceeded`; those of opening
  /// and reading files, also where one breaks off; `readFailed` when the file changes meanwhile.
  public func start(
    on scanner: WaveformScanner = .shared, progress: @escaping @Sendable (Double?) -> Void = { _ in },
    completion: @escaping @Sendable (Result<WaveformResult, MediaError>) -> Void
  ) {
    do throws(MediaError) { try request.check() } catch { return completion(.failure(error)) }
    run.start(
      on: scanner.workers, forNanoseconds: asset.openingNanoseconds, name: asset.displayPath, completion: completion
    ) { [self] job throws(MediaError) in
      try run.holds { [opening] in opening.cancel() }
      var identity: WaveformCache.Identity?
      try checkOutput()
      let result = try measure(job, progress, &identity)
      try write(result.waveform)
      // Before anybody knows of it, so that who asks again then finds it.
      if let identity { cache?.keep(result.waveform, identity, request) }
      return result
    }
  }

  /// The same for a task; cancelling that cancels the scan.
  public func result(
    on scanner: WaveformScanner = .shared, progress: @escaping @Sendable (Double?) -> Void = { _ in }
  ) async throws(MediaError) -> WaveformResult {
    try await run.outcome { start(on: scanner, progress: progress, completion: $0) }
  }

  /// Ends it: who waits is told at once, and what is read is given up. Does not block.
  public func cancel() { run.cancel() }

  // MARK: - On a thread

  /// What can be said before anything is read.
  private func checkOutput() throws(MediaError) {
    guard let output else { return }
    try output.style.check()
    if output.form == .dat, case .bins? = request.scale { throw Waveform.unevenBins }
    try output.file.check()
  }

  private func write(_ waveform: Waveform) throws(MediaError) {
    guard let output else { return }
    try output.file.writePieces { append throws(MediaError) in
      try waveform.write(output.form, output.style) { (bytes) throws(MediaError) in
        try run.check()
        try append(bytes)
      }
      try run.check()
    }
  }

  /// - Parameter fresh: is set to what file it is of, when it is to be kept.
  private func measure(
    _ job: AssetWorkers.Job, _ progress: @Sendable (Double?) -> Void, _ fresh: inout WaveformCache.Identity?
  ) throws(MediaError) -> WaveformResult {
    try run.check()
    let properties = try opening.load(asset)
    // By what the file is now: loading it made sure that it may be read.
    let identity = cache.flatMap { _ in WaveformCache.identity(of: asset) }
    if let cache, let identity, let kept = cache.waveform(identity, request) {
      opening.finish(asset)
      progress(1)
      return WaveformResult(waveform: kept, fault: nil, isCached: true)
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
        .unsupportedPlace, "a stream has no end, so there is no waveform of it: \(asset.displayPath)",
        operation: "waveform")
    }
    let reader = try opening.reader(asset, trackID: request.trackID)
    try run.holds { reader.cancel() }
    var pass = try WaveformPass(reader, request, duration: properties.duration)
    let waveform = try pass.run(progress) { () throws(MediaError) in
      job.goesOn()
      try run.check()
    }
    let fault = reader.takeSkippedPackets()?.error ?? reader.takeWarning()?.error
    if fault == nil, identity == WaveformCache.identity(of: asset) { fresh = identity }
    progress(1)
    return WaveformResult(waveform: waveform, fault: fault, isCached: false)
  }
}
