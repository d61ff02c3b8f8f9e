// Makes images of a video at given times, as AVAssetImageGenerator. One thread performs the queued requests in order,
// so that the file is opened once. The thread exists while there are requests. It does not retain the generator, so
// that releasing the generator cancels the requests.
import DequeModule
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// Makes images of an asset's video.
///
/// <!-- listing: make-image -->
/// ```swift
/// let generator = AssetImageGenerator(asset: Asset(path: "/films/one.mkv"))
/// let (image, actualTime) = try generator.image(at: .seconds(60))
/// print(image.width, image.height, actualTime)
/// ```
///
/// Uses the first enabled video track; artwork is not video. Changes of properties do not affect earlier requests.
///
/// With `Asset.Isolation`, a worker process decodes the video and makes the images. The generator uses this worker for
/// all requests, until the generator is released. If the worker crashes, the request fails with `damagedFile`, and the
/// next request starts another worker. An image has at most 34 Mi pixels (8192 x 4352), and 16 Mi if the file is a
/// stream that cannot seek back. Without isolation, the limit is 64 Mi pixels.
///
/// Threading: any thread.
public final class AssetImageGenerator: Sendable {
  /// The result of one request.
  public enum Outcome: Sendable {
    /// The image in BGRA, and the start time of the video frame that it shows.
    case succeeded(PixelBuffer, actualTime: MediaTime)
    /// The image could not be made, for this reason.
    case failed(MediaError)
    /// The request was cancelled.
    case cancelled
  }

  /// The asset of which images are made.
  public let asset: Asset
  private let settings = Mutex(ImageSettings())
  private let queue: ImageQueue

  /// Creates a generator that has not opened the asset. Performs no I/O.
  public init(asset: Asset) {
    self.asset = asset
    queue = ImageQueue(asset, nil)
  }

  /// Creates a generator with separate workers, for tests.
  init(asset: Asset, pool: WorkerPool) {
    self.asset = asset
    queue = ImageQueue(asset, pool)
  }

  /// Pending requests end with `cancelled`.
  deinit { queue.cancelAll() }

  // MARK: - Properties

  /// The settings that contain all properties below.
  public var imageSettings: ImageSettings {
    get { settings.withLock { $0 } }
    set { settings.withLock { $0 = newValue } }
  }

  /// The maximum width and height in pixels. Default: 0, unlimited. Images keep their aspect ratio and are never
  /// enlarged.
  public var maximumSize: PixelSize {
    get { settings.withLock { .init(width: $0.maximumWidth ?? 0, height: $0.maximumHeight ?? 0) } }
    set { settings.withLock { ($0.maximumWidth, $0.maximumHeight) = (newValue.width, newValue.height) } }
  }

  /// How much earlier than the requested time an image may be. Default: infinite.
  public var requestedTimeToleranceBefore: MediaTime {
    get { settings.withLock { $0.toleranceBefore } }
    set { settings.withLock { $0.toleranceBefore = newValue } }
  }

  /// How much later than the requested time an image may be. Default: infinite.
  public var requestedTimeToleranceAfter: MediaTime {
    get { settings.withLock { $0.toleranceAfter } }
    set { settings.withLock { $0.toleranceAfter = newValue } }
  }

  /// Whether images are rotated as the track specifies. Default: false.
  public var appliesPreferredTrackTransform: Bool {
    get { settings.withLock { $0.appliesPreferredTrackTransform } }
    set { settings.withLock { $0.appliesPreferredTrackTransform = newValue } }
  }

  /// The part and the aspect ratio of the video frame that is used. Default: the clean aperture.
  public var apertureMode: ImageSettings.ApertureMode {
    get { settings.withLock { $0.apertureMode } }
    set { settings.withLock { $0.apertureMode = newValue } }
  }

  // MARK: - Images

  /// Returns the image at a time, after all earlier requests. Blocks.
  ///
  /// With tolerances of zero, the image shows the video frame at that time, which may have begun earlier. The first
  /// frame is also used for times before it, and the last frame for times until the asset's end.
  ///
  /// - Throws:
  ///   - `invalidTime` for invalid tolerances and times, and for times outside the asset by more than the tolerance
  ///   - `invalidArgument` for a negative size
  ///   - `noPlayableTracks` without video, `unknownCodec`, `unsupportedLocation` for segmented streams
  ///   - the errors of opening and reading
  ///   - `decodeFailed` if no frame can be decoded
  ///   - `mediaLimitExceeded` for an image that is too large
  ///   - with isolation, `damagedFile` if the worker crashes, and `workerUnavailable`
  ///   - `cancelled`
  public func image(at time: MediaTime) throws(MediaError) -> (image: PixelBuffer, actualTime: MediaTime) {
    let signal = ConditionMutex<Outcome?>(nil)
    queue.add([time], imageSettings) { _, outcome in signal.update { $0 = outcome } }
    switch signal.wait({ $0 }) {
    case .succeeded(let image, let actualTime): return (image, actualTime)
    case .failed(let error): throw error
    case .cancelled, nil: throw ImageQueue.cancelled
    }
  }

  /// Returns the image at a time, after all earlier requests. Cancelling the task does not cancel the request.
  ///
  /// - Throws: The errors of the form that blocks.
  public func image(at time: MediaTime) async throws(MediaError) -> (image: PixelBuffer, actualTime: MediaTime) {
    let outcome = await withCheckedContinuation { continuation in
      queue.add([time], imageSettings) { _, outcome in continuation.resume(returning: outcome) }
    }
    switch outcome {
    case .succeeded(let image, let actualTime): return (image, actualTime)
    case .failed(let error): throw error
    case .cancelled: throw ImageQueue.cancelled
    }
  }

  /// Makes images in order, and returns each with its requested time. The next images are made meanwhile; a program
  /// that requests many should take them as they arrive. Ending the loop does not cancel the requests.
  public func images(for times: [MediaTime]) -> AsyncStream<(requestedTime: MediaTime, outcome: Outcome)> {
    AsyncStream { continuation in
      guard !times.isEmpty else { return continuation.finish() }
      let remaining = Mutex(times.count)
      // The generator cancels its requests when it is released, so they retain it.
      queue.add(times, imageSettings) { [self] time, outcome in
        withExtendedLifetime(self) { _ = continuation.yield((time, outcome)) }
        let isLast = remaining.withLock { count in
          count -= 1
          return count == 0
        }
        if isLast { continuation.finish() }
      }
    }
  }

  /// Makes images in order. Does not block.
  ///
  /// - Parameters:
  ///   - times: The times of the images. A time may be repeated.
  ///   - completion: Called once for each element of `times`, with the requested time, even after cancellation. It is
  ///     called on the generator's thread and delays the next image.
  public func generateImagesAsynchronously(
    forTimes times: [MediaTime], completion: @escaping @Sendable (_ requestedTime: MediaTime, Outcome) -> Void
  ) {
    queue.add(times, imageSettings, completion)
  }

  /// Cancels all pending requests, which end with `cancelled`. Does not block. Later requests are not affected.
  public func cancelAllImageGeneration() { queue.cancelAll() }
}

/// The requests of one generator, and the thread that performs them.
private final class ImageQueue: Sendable {
  typealias Completion = @Sendable (MediaTime, AssetImageGenerator.Outcome) -> Void

  private struct Job {
    let time: MediaTime
    let settings: ImageSettings
    let completion: Completion
    var isCancelled = false
  }

  private struct State {
    /// The requests. The first one is being performed while there is a thread.
    var jobs: Deque<Job> = []
    var hasThread = false
    /// The open source, from the first image. Used only by the thread.
    var source: ImageSource?
  }

  private let asset: Asset
  private let pool: WorkerPool?
  private let interrupt = Interrupt()
  private let state = Mutex(State())

  static var cancelled: MediaError { MediaError(.cancelled, "image generation was cancelled", operation: "image") }

  /// - Parameter pool: The workers; nil for those of this process.
  init(_ asset: Asset, _ pool: WorkerPool?) { (self.asset, self.pool) = (asset, pool) }

  func add(_ times: [MediaTime], _ settings: ImageSettings, _ completion: @escaping Completion) {
    guard !times.isEmpty else { return }
    let needsThread = state.withLock { state in
      state.jobs.append(contentsOf: times.map { Job(time: $0, settings: settings, completion: completion) })
      defer { state.hasThread = true }
      return !state.hasThread
    }
    if needsThread { NamedThread.detached(name: "playhead-images") { [self] in run() } }
  }

  func cancelAll() {
    state.withLock { state in
      guard !state.jobs.isEmpty else { return }
      for index in state.jobs.indices { state.jobs[index].isCancelled = true }
      interrupt.cancel()
    }
  }

  // MARK: - Thread

  private func run() {
    while let job = next() {
      let outcome = job.isCancelled ? .cancelled : make(job)
      let isCancelled = state.withLock { state in state.jobs.popFirst()?.isCancelled ?? false }
      job.completion(job.time, isCancelled ? .cancelled : outcome)
    }
  }

  /// Returns the first request, which stays in the queue while it is performed. Returns nil if there is none; then the
  /// thread ends.
  private func next() -> Job? {
    state.withLock { state in
      guard let job = state.jobs.first else {
        state.hasThread = false
        return nil
      }
      // The interrupt may still be cancelled for previous requests.
      if !job.isCancelled { interrupt.reset() }
      return job
    }
  }

  private func make(_ job: Job) -> AssetImageGenerator.Outcome {
    do throws(MediaError) {
      try job.settings.check()
      let source = try source()
      // A request after the end of a worker opens the asset again.
      defer { if source.isLost { state.withLock { $0.source = nil } } }
      let (image, actualTime) = try source.image(at: job.time, job.settings)
      return .succeeded(image, actualTime: actualTime)
    } catch {
      return error.code == .cancelled ? .cancelled : .failed(error)
    }
  }

  private func source() throws(MediaError) -> ImageSource {
    if let source = state.withLock({ $0.source }) { return source }
    let source = try ImageSource(
      VideoReaders.open(asset, interrupt: interrupt, trackID: nil, log: nil, pool: pool))
    state.withLock { $0.source = source }
    return source
  }
}
