// Measures one file for its waveform, on a thread of `WaveformScanner`: never on the caller's.
import MediaAssets
import MediaCore
import Synchronization

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
  private struct State {
    var isOver = false
    var reader: AudioTrackReader?
    var job: AssetWorkers.Job?
    var completion: (@Sendable (Result<WaveformResult, MediaError>) -> Void)?
  }

  private let asset: Asset
  private let request: WaveformRequest
  private let cache: WaveformCache?
  private let output: WaveformOutput?
  private let opening = AssetOpening()
  private let state = Mutex(State())

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
    let mayBegin = state.withLock { state in
      precondition(state.completion == nil && state.job == nil, "a scan is started once")
      if !state.isOver { state.completion = completion }
      return !state.isOver
    }
    guard mayBegin else { return completion(.failure(Self.cancelled)) }
    let job = scanner.workers.run(forNanoseconds: asset.openingNanoseconds) { [self] job in
      var identity: WaveformCache.Identity?
      let result = Result { () throws(MediaError) in
        try checkOutput()
        let result = try measure(job, progress, &identity)
        try write(result.waveform)
        return result
      }
      // Before anybody knows of it, so that who asks again then finds it.
      if case .success(let made) = result, let identity { cache?.keep(made.waveform, identity, request) }
      finish(result)
    } timedOut: { [self] reason in
      end(with: .failure(reason.error(asset.displayPath)))
    }
    let isOver = state.withLock { state in
      state.job = job
      return state.isOver
    }
    if isOver { job.cancel() }
  }

  /// The same for a task; cancelling that cancels the scan.
  public func result(
    on scanner: WaveformScanner = .shared, progress: @escaping @Sendable (Double?) -> Void = { _ in }
  ) async throws(MediaError) -> WaveformResult {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        start(on: scanner, progress: progress) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      cancel()
    }
    return try result.get()
  }

  /// Ends it: who waits is told at once, and what is read is given up. Does not block.
  public func cancel() { end(with: .failure(Self.cancelled)) }

  private func end(with result: Result<WaveformResult, MediaError>) {
    let (reader, job) = state.withLock { state in
      state.isOver = true
      return (state.reader, state.job)
    }
    opening.cancel()
    reader?.cancel()
    job?.cancel()
    finish(result)
  }

  private func finish(_ result: Result<WaveformResult, MediaError>) {
    let completion = state.withLock { state in
      defer { state.completion = nil }
      state.isOver = true
      state.reader = nil
      return state.completion
    }
    completion?(result)
  }

  private static var cancelled: MediaError {
    MediaError(.cancelled, "the waveform was cancelled", operation: "waveform")
  }

  private func check() throws(MediaError) { if state.withLock({ $0.isOver }) { throw Self.cancelled } }

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
        try check()
        try append(bytes)
      }
      try check()
    }
  }

  /// - Parameter fresh: is set to what file it is of, when it is to be kept.
  private func measure(
    _ job: AssetWorkers.Job, _ progress: @Sendable (Double?) -> Void, _ fresh: inout WaveformCache.Identity?
  ) throws(MediaError) -> WaveformResult {
    try check()
    let properties = try opening.load(asset)
    // By what the file is now: loading it made sure that it may be read.
    let identity = cache.flatMap { _ in WaveformCache.identity(of: asset) }
    if let cache, let identity, let kept = cache.waveform(identity, request) {
      opening.finish(asset)
      progress(1)
      return WaveformResult(waveform: kept, fault: nil, isCached: true)
    }
    guard properties.hasAudio else {
      opening.finish(asset)
      throw MediaError(.noPlayableTracks, "there is no sound in \(asset.displayPath)", operation: "waveform")
    }
    guard properties.isSeekable || properties.duration.isNumeric else {
      opening.finish(asset)
      throw MediaError(
        .unsupportedPlace, "a stream has no end, so there is no waveform of it: \(asset.displayPath)",
        operation: "waveform")
    }
    let reader = try opening.reader(asset, trackID: request.trackID)
    state.withLock { $0.reader = reader }
    try check()
    var pass = try WaveformPass(reader, request, duration: properties.duration)
    let waveform = try pass.run(progress) { () throws(MediaError) in
      job.goesOn()
      try check()
    }
    let fault = reader.takeSkippedPackets()?.error ?? reader.takeWarning()?.error
    if fault == nil, identity == WaveformCache.identity(of: asset) { fresh = identity }
    progress(1)
    return WaveformResult(waveform: waveform, fault: fault, isCached: false)
  }
}
