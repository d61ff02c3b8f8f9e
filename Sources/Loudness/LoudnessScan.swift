import Glibc
import MediaAssets
import MediaCore
import RealtimeAudio
import Synchronization

/// Measures how loud files are: decodes all of each, one after another, on a thread of its own.
///
/// A file that cannot be read is an error of its own and ends nothing. What breaks off is measured as far as it goes, with the reason.
/// Threading: any.
public final class LoudnessScan: Sendable {
  /// Sound of one file that is measured: a day.
  static let maximumSeconds = 86_400

  private struct State {
    var isCancelled = false
    var hasBegun = false
    var opening: AssetOpening?
    var reader: AudioTrackReader?
    var completion: (@Sendable (Result<LoudnessReport, MediaError>) -> Void)?
  }

  private let assets: [Asset]
  private let measuresAlbum: Bool
  private let state = Mutex(State())

  /// A scan of files, or of several as one album, too. Nothing is read yet.
  public init(_ assets: [Asset], measuresAlbum: Bool = false) {
    self.assets = assets
    self.measuresAlbum = measuresAlbum
  }

  /// Begins, once. Both closures are called on the thread that measures, the second one once, or by who cancels.
  ///
  /// `progress` is told of each file at its beginning, each twentieth and its end. Errors: `cancelled`; `loudnessUnavailable` where libebur128 is
  /// missing. Those of single files are in the report.
  public func start(
    on scanner: LoudnessScanner = .shared, progress: @escaping @Sendable (LoudnessProgress) -> Void = { _ in },
    completion: @escaping @Sendable (Result<LoudnessReport, MediaError>) -> Void
  ) {
    let mayBegin = state.withLock { state in
      precondition(!state.hasBegun, "a scan is started once")
      state.hasBegun = true
      if !state.isCancelled { state.completion = completion }
      return !state.isCancelled
    }
    guard mayBegin else { return completion(.failure(Self.cancelled)) }
    scanner.run { [self] in
      let result = Result { () throws(MediaError) in try measureAll(progress) }
      finish(result)
    }
  }

  /// The same for a task; cancelling that cancels the scan.
  public func report(
    on scanner: LoudnessScanner = .shared, progress: @escaping @Sendable (LoudnessProgress) -> Void = { _ in }
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

  /// Ends it: who waits is told at once, and what is read is given up. Does not block.
  public func cancel() {
    let (opening, reader) = state.withLock { state in
      state.isCancelled = true
      return (state.opening, state.reader)
    }
    opening?.cancel()
    reader?.cancel()
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

  private func checkCancelled() throws(MediaError) {
    if state.withLock({ $0.isCancelled }) { throw Self.cancelled }
  }

  // MARK: - On the thread

  private func measureAll(_ progress: (LoudnessProgress) -> Void) throws(MediaError) -> LoudnessReport {
    if let error = LoudnessMeter.unavailability() { throw error }
    var report = LoudnessReport(files: [])
    var blocks = GatingBlocks()
    for (index, asset) in assets.enumerated() {
      try checkCancelled()
      do throws(MediaError) {
        let (measurement, ofFile) = try measure(asset, roomForBlocks: GatingBlocks.limit - blocks.count) { fraction in
          progress(LoudnessProgress(fileIndex: index, fileCount: assets.count, fraction: fraction))
        }
        blocks.add(ofFile)
        report.files.append(.success(measurement))
      } catch {
        try checkCancelled()
        report.files.append(.failure(error))
      }
    }
    guard measuresAlbum else { return report }
    let measured = report.files.compactMap { try? $0.get() }
    report.album = AlbumLoudness(
      integratedLoudness: blocks.integratedLoudness, truePeak: measured.map(\.truePeak).max() ?? 0,
      samplePeak: measured.map(\.samplePeak).max() ?? 0)
    return report
  }

  /// Opens a file's sound, so that it can be cancelled.
  private func open(_ asset: Asset) throws(MediaError) -> (reader: AudioTrackReader, duration: MediaTime) {
    let opening = AssetOpening()
    state.withLock { $0.opening = opening }
    defer { state.withLock { $0.opening = nil } }
    try checkCancelled()
    let properties = try opening.load(asset)
    guard properties.hasAudio else {
      opening.finish(asset)
      throw MediaError(.noPlayableTracks, "there is no sound in \(asset.displayPath)", operation: "scan")
    }
    guard properties.isSeekable || properties.duration.isNumeric else {
      opening.finish(asset)
      throw MediaError(
        .unsupportedPlace, "a stream has no end, so its loudness is not measured: \(asset.displayPath)",
        operation: "scan")
    }
    let reader = try opening.reader(asset, trackID: nil)
    state.withLock { $0.reader = reader }
    try checkCancelled()
    return (reader, properties.duration)
  }

  private func measure(
    _ asset: Asset, roomForBlocks: Int, progress: (Double?) -> Void
  ) throws(MediaError) -> (LoudnessMeasurement, GatingBlocks) {
    defer { state.withLock { $0.reader = nil } }
    let (reader, duration) = try open(asset)
    let format = reader.format
    let meter = try LoudnessMeter(format, channelMask: reader.channelMask)
    let length = duration.frameIndex(rate: format.sampleRateHz, rounding: .towardPositiveInfinity).map { max(1, $0) }
    let step = meter.stepFrameCount
    let buffer = UnsafeMutablePointer<Float>.allocate(capacity: step * format.channelCount)
    defer { buffer.deallocate() }
    var (frameCount, toldPart, blocks) = (Int64(0), Int64(0), GatingBlocks())
    var fault: MediaError?
    progress(length == nil ? nil : 0)
    while fault == nil {
      let piece = try readStep(reader, into: buffer, frameCount: step)
      fault = piece.error
      try meter.add(buffer, frameCount: piece.count)
      frameCount += Int64(piece.count)
      guard piece.count == step else { break }
      if measuresAlbum, frameCount >= Int64(4 * step) { blocks.add(meter.momentaryLoudness) }
      guard frameCount < Int64(Self.maximumSeconds) * Int64(format.sampleRateHz), blocks.count < roomForBlocks else {
        fault = MediaError(
          .mediaLimitExceeded, "more than a day of sound, or too much for one album: the rest is not measured",
          operation: "scan")
        break
      }
      if let length, frameCount < length, frameCount * 20 / length > toldPart {
        toldPart = frameCount * 20 / length
        progress(Double(toldPart) / 20)
      }
    }
    if frameCount == 0, let fault { throw fault }
    progress(1)
    fault = fault ?? reader.takeSkippedPackets()?.error ?? reader.takeWarning()?.error
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

  /// Reads a tenth of a second, less at the end. What broke off comes with what there was before.
  private func readStep(
    _ reader: AudioTrackReader, into buffer: UnsafeMutablePointer<Float>, frameCount: Int
  ) throws(MediaError) -> (count: Int, error: MediaError?) {
    var count = 0
    while count < frameCount {
      do throws(MediaError) {
        let place = buffer + count * reader.format.channelCount
        switch try reader.read(into: place, capacityFrames: frameCount - count) {
        case .frames(let read, _): count += read
        case .endOfTrack: return (count, nil)
        case .cancelled: throw Self.cancelled
        }
      } catch {
        if error.code == .cancelled { throw error }
        return (count, error)
      }
    }
    try checkCancelled()
    return (count, nil)
  }
}
