import Glibc
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// Measures the loudness of files. Decodes the files completely, one after another, on threads of their own.
///
/// <!-- listing: measure-loudness -->
/// ```swift
/// let report = try await LoudnessScan([Asset(path: "/music/one.flac")]).report()
/// for file in report.files { print(try file.get().gainDecibels ?? 0) }
/// ```
///
/// A file that cannot be read, or takes too long to open, has an error in the report, and the scan continues. If
/// reading fails within a file, the audio before the error is measured, and ``LoudnessMeasurement/fault`` is the error.
///
/// Threading: any thread.
public final class LoudnessScan: Sendable {
  /// The maximum duration that is measured of one file, in seconds: one day.
  static let maximumSeconds = 86_400

  /// The measurement of one file, which can be cancelled while it blocks.
  private final class FileRun: Sendable {
    let opening = AssetOpening()
    let reader = Mutex<AudioTrackReader?>(nil)
    let job = Mutex<AssetWorkers.Job?>(nil)

    func cancel() {
      opening.cancel()
      reader.withLock { $0 }?.cancel()
      job.withLock { $0 }?.cancel()
    }
  }

  private struct State {
    var isCancelled = false
    var hasStarted = false
    /// The run of the current or next file.
    var run: FileRun?
    var report = LoudnessReport(files: [])
    var blocks = GatingBlocks()
    var completion: (@Sendable (Result<LoudnessReport, MediaError>) -> Void)?
  }

  private let assets: [Asset]
  private let measuresAlbum: Bool
  private let maximumUnknownSeconds: Int
  private let state = Mutex(State())

  /// Creates a scan. No I/O.
  ///
  /// - Parameters:
  ///   - assets: The files, in the order of the report.
  ///   - measuresAlbum: whether the files are also measured together, as one album.
  public convenience init(_ assets: [Asset], measuresAlbum: Bool = false) {
    self.init(
      assets, measuresAlbum: measuresAlbum, maximumUnknownSeconds: AudioTrackReader.maximumUnknownDurationSeconds)
  }

  /// - Parameter maximumUnknownSeconds: The limit of a file whose duration is unknown.
  init(_ assets: [Asset], measuresAlbum: Bool = false, maximumUnknownSeconds: Int) {
    self.assets = assets
    self.measuresAlbum = measuresAlbum
    self.maximumUnknownSeconds = maximumUnknownSeconds
  }

  /// Starts the scan. May be called once.
  ///
  /// The closures run on a measuring thread. `completion` is called once; on cancellation or a timeout it runs on the
  /// thread that cancels or that checks for timeouts. Without assets it is called immediately.
  ///
  /// - Parameters:
  ///   - progress: called for each file at its start, at each twentieth, and at its end.
  ///   - completion: receives the report, or `cancelled`. Errors of single files are in the report.
  public func start(
    progress: @escaping @Sendable (LoudnessProgress) -> Void = { _ in },
    completion: @escaping @Sendable (Result<LoudnessReport, MediaError>) -> Void
  ) {
    start(on: .shared, progress: progress, completion: completion)
  }

  /// Starts the scan on other threads than those that measure for the whole process.
  package func start(
    on scanner: LoudnessScanner, progress: @escaping @Sendable (LoudnessProgress) -> Void = { _ in },
    completion: @escaping @Sendable (Result<LoudnessReport, MediaError>) -> Void
  ) {
    let mayStart = state.withLock { state in
      precondition(!state.hasStarted, "a scan can start only once")
      state.hasStarted = true
      if !state.isCancelled { state.completion = completion }
      return !state.isCancelled
    }
    guard mayStart else { return completion(.failure(Self.cancelled)) }
    measure(0, on: scanner, progress)
  }

  /// Runs the scan. Cancelling the calling task cancels the scan.
  public func report(
    progress: @escaping @Sendable (LoudnessProgress) -> Void = { _ in }
  ) async throws(MediaError) -> LoudnessReport {
    try await report(on: .shared, progress: progress)
  }

  /// Runs the scan on other threads than those that measure for the whole process.
  package func report(
    on scanner: LoudnessScanner, progress: @escaping @Sendable (LoudnessProgress) -> Void = { _ in }
  ) async throws(MediaError) -> LoudnessReport {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        start(on: scanner, progress: progress) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      cancel()
    }
    return try result.get()
  }

  /// Cancels the scan: `completion` is called immediately, and reading stops. Does not block.
  public func cancel() {
    let run = state.withLock { state in
      state.isCancelled = true
      defer { state.run = nil }
      return state.run
    }
    run?.cancel()
    finish(.failure(Self.cancelled))
  }

  private func finish(_ result: Result<LoudnessReport, MediaError>) {
    let completion = state.withLock { state in
      defer { state.completion = nil }
      return state.completion
    }
    completion?(result)
  }

  private static var cancelled: MediaError { MediaError(.cancelled, "the scan was cancelled", operation: "scan") }

  // MARK: - Files

  /// Measures a file and the files after it, then finishes the scan.
  private func measure(
    _ index: Int, on scanner: LoudnessScanner, _ progress: @escaping @Sendable (LoudnessProgress) -> Void
  ) {
    guard index < assets.count else { return finish(.success(finalReport())) }
    let (asset, run) = (assets[index], FileRun())
    let mayStart = state.withLock { state in
      if !state.isCancelled { state.run = run }
      return !state.isCancelled
    }
    guard mayStart else { return }
    let job = scanner.workers.run(forNanoseconds: asset.openingNanoseconds, isNext: index > 0) { [self] job in
      let result = Result { () throws(MediaError) in
        try measure(asset, run, job) { [self] fraction in
          guard isCurrent(run) else { return }
          progress(LoudnessProgress(fileIndex: index, fileCount: assets.count, fraction: fraction))
        }
      }
      if recordResult(run, result) { measure(index + 1, on: scanner, progress) }
    } timedOut: { [self] reason in
      run.cancel()
      if recordResult(run, .failure(reason.error(asset.displayPath))) { measure(index + 1, on: scanner, progress) }
    }
    run.job.withLock { $0 = job }
    // A cancellation before this line could not cancel the job.
    if state.withLock({ $0.isCancelled }) { job.cancel() }
  }

  /// Records the result of a file. Returns false, and records nothing, if the run was cancelled or has timed out.
  private func recordResult(_ run: FileRun, _ result: Result<(LoudnessMeasurement, GatingBlocks), MediaError>) -> Bool {
    state.withLock { state in
      guard state.run === run else { return false }
      state.run = nil
      if case .success(let (_, blocks)) = result { state.blocks.add(blocks) }
      state.report.files.append(result.map(\.0))
      return true
    }
  }

  private func finalReport() -> LoudnessReport {
    let (measuredFiles, blocks) = state.withLock { ($0.report, $0.blocks) }
    guard measuresAlbum else { return measuredFiles }
    var report = measuredFiles
    let measured = report.files.compactMap { try? $0.get() }
    report.album = AlbumLoudness(
      integratedLoudness: blocks.integratedLoudness, truePeak: measured.map(\.truePeak).max() ?? 0,
      samplePeak: measured.map(\.samplePeak).max() ?? 0)
    return report
  }

  /// Whether the run was neither cancelled nor has timed out.
  private func isCurrent(_ run: FileRun) -> Bool { state.withLock { $0.run === run } }

  /// - Throws: `cancelled` if the run was cancelled or has timed out.
  private func checkIsCurrent(_ run: FileRun) throws(MediaError) { if !isCurrent(run) { throw Self.cancelled } }

  // MARK: - Measuring thread

  /// Opens the audio of a file. `cancel` interrupts it.
  private func open(_ asset: Asset, _ run: FileRun) throws(MediaError) -> (
    reader: AudioTrackReader, duration: MediaTime
  ) {
    try checkIsCurrent(run)
    let properties = try run.opening.load(asset)
    do throws(MediaError) {
      try properties.checkHasAudio(path: asset.displayPath, operation: "scan")
    } catch {
      run.opening.finish(asset)
      throw error
    }
    guard properties.isSeekable || properties.duration.isNumeric else {
      run.opening.finish(asset)
      throw MediaError(
        .unsupportedLocation, "a stream has no end, so its loudness is not measured: \(asset.displayPath)",
        operation: "scan")
    }
    let reader = try run.opening.reader(asset, trackID: nil)
    run.reader.withLock { $0 = reader }
    try checkIsCurrent(run)
    return (reader, properties.duration)
  }

  private func measure(
    _ asset: Asset, _ run: FileRun, _ job: AssetWorkers.Job, progress: (Double?) -> Void
  ) throws(MediaError) -> (LoudnessMeasurement, GatingBlocks) {
    let (reader, duration) = try open(asset, run)
    let remainingBlockCount = GatingBlocks.maximumCount - state.withLock { $0.blocks.count }
    let format = reader.format
    let meter = try LoudnessMeter(format, channelMask: reader.channelMask)
    let expectedFrameCount = duration.frameIndex(rate: format.sampleRateHz, rounding: .towardPositiveInfinity)
      .map { max(1, $0) }
    let maximumSeconds = expectedFrameCount == nil ? maximumUnknownSeconds : Self.maximumSeconds
    let step = meter.stepFrameCount
    let buffer = UnsafeMutablePointer<Float>.allocate(capacity: step * format.channelCount)
    defer { buffer.deallocate() }
    var (frameCount, reportedTwentieths, blocks) = (Int64(0), Int64(0), GatingBlocks())
    var fault: MediaError?
    progress(expectedFrameCount == nil ? nil : 0)
    while fault == nil {
      job.reportProgress()
      let chunk = try readStep(reader, into: buffer, frameCount: step)
      try checkIsCurrent(run)
      fault = chunk.error
      try meter.add(buffer, frameCount: chunk.count)
      frameCount += Int64(chunk.count)
      guard chunk.count == step else { break }
      if measuresAlbum, frameCount >= Int64(4 * step) { blocks.add(meter.momentaryLoudness) }
      guard frameCount < Int64(maximumSeconds) * Int64(format.sampleRateHz), blocks.count < remainingBlockCount else {
        fault = MediaError(
          .mediaLimitExceeded,
          expectedFrameCount == nil
            ? "the duration is unknown, and only \(maximumSeconds) s were measured"
            : "more than a day of audio, or too much for one album: the rest is not measured",
          operation: "scan")
        break
      }
      guard let expectedFrameCount, frameCount < expectedFrameCount else { continue }
      let twentieths = frameCount * 20 / expectedFrameCount
      if twentieths > reportedTwentieths {
        reportedTwentieths = twentieths
        progress(Double(reportedTwentieths) / 20)
      }
    }
    if frameCount == 0, let fault { throw fault }
    progress(1)
    fault = fault ?? reader.popSkippedPackets()?.error ?? reader.popWarning()?.error
    let loudness = meter.integratedLoudness
    let kind: LoudnessMeasurement.Kind =
      loudness != nil ? .measured : frameCount < Int64(4 * step) ? .tooShort : .silence
    return (
      LoudnessMeasurement(
        kind: kind, integratedLoudness: loudness, loudnessRange: loudness == nil ? nil : meter.loudnessRange,
        truePeak: meter.truePeak, samplePeak: meter.samplePeak,
        duration: MediaTime(frame: frameCount, rate: format.sampleRateHz), fault: fault), blocks
    )
  }

  /// Reads a step, or less at the end. A read error is returned with the number of frames that precede it.
  private func readStep(
    _ reader: AudioTrackReader, into buffer: UnsafeMutablePointer<Float>, frameCount: Int
  ) throws(MediaError) -> (count: Int, error: MediaError?) {
    var count = 0
    while count < frameCount {
      do throws(MediaError) {
        let destination = buffer + count * reader.format.channelCount
        switch try reader.read(into: destination, capacityFrames: frameCount - count) {
        case .frames(let read, _): count += read
        case .endOfTrack: return (count, nil)
        case .cancelled: throw Self.cancelled
        }
      } catch {
        if error.code == .cancelled { throw error }
        return (count, error)
      }
    }
    return (count, nil)
  }
}
