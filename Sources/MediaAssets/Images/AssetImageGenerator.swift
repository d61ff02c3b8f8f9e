// Images of a video at times, as AVAssetImageGenerator. Requests wait in one queue, and one thread makes them, in order: the file is open
// once. The thread is there while there is work, and knows nothing of the generator, so that who lets go of that ends it.
import DequeModule
import LibAV
import MediaCore
import RealtimeAudio
import Synchronization

/// Makes images of an asset's video.
///
/// Of the first video track that is enabled; a cover is no video. Properties that change do not touch what was asked for before.
/// The video is decoded in this process, also with isolation: see ``ImageExport`` for images that workers make.
/// Threading: any.
public final class AssetImageGenerator: Sendable {
  /// What became of one request.
  public enum Outcome: Sendable {
    /// The image in BGRA, and the time that it is of.
    case succeeded(PixelBuffer, actualTime: MediaTime)
    case failed(MediaError)
    case cancelled
  }

  /// What it makes images of.
  public let asset: Asset
  private let settings = Mutex(ImageSettings())
  private let queue: ImageQueue

  /// A generator that has opened nothing yet. No I/O.
  public init(asset: Asset) {
    self.asset = asset
    queue = ImageQueue(asset)
  }

  /// Who waits is told that it is cancelled.
  deinit { queue.cancelAll() }

  // MARK: - Properties

  /// All of the properties below as one.
  public var imageSettings: ImageSettings {
    get { settings.withLock { $0 } }
    set { settings.withLock { $0 = newValue } }
  }

  /// The most pixels in a row, and rows; 0: as many as there are. An image keeps its shape, and is never made larger than it is.
  public var maximumSize: VideoReadSettings.Size {
    get { settings.withLock { .init(width: $0.maximumWidth ?? 0, height: $0.maximumHeight ?? 0) } }
    set { settings.withLock { ($0.maximumWidth, $0.maximumHeight) = (newValue.width, newValue.height) } }
  }

  /// How much earlier than asked for an image may be; infinite unless set.
  public var requestedTimeToleranceBefore: MediaTime {
    get { settings.withLock { $0.toleranceBefore } }
    set { settings.withLock { $0.toleranceBefore = newValue } }
  }

  /// How much later than asked for an image may be; infinite unless set.
  public var requestedTimeToleranceAfter: MediaTime {
    get { settings.withLock { $0.toleranceAfter } }
    set { settings.withLock { $0.toleranceAfter = newValue } }
  }

  /// Images are turned as the track says; not so unless set.
  public var appliesPreferredTrackTransform: Bool {
    get { settings.withLock { $0.appliesPreferredTrackTransform } }
    set { settings.withLock { $0.appliesPreferredTrackTransform = newValue } }
  }

  /// Which part of a picture is taken, and in which shape; the clean aperture unless set.
  public var apertureMode: ImageSettings.ApertureMode {
    get { settings.withLock { $0.apertureMode } }
    set { settings.withLock { $0.apertureMode = newValue } }
  }

  // MARK: - Images

  /// The image of a time, behind what was asked for before. Blocks.
  ///
  /// With tolerances of zero it is the picture that is shown at the time, which may have begun before it. A time before the first picture
  /// is that one's, and up to the asset's end it is the last one's.
  ///
  /// Errors: `invalidTime` for tolerances and times that make no sense, and times that the asset does not have, further than the tolerance;
  /// `invalidArgument` for a size below zero; `noPlayableTracks` where there is no video, `unknownCodec`, `unsupportedPlace` for streams in
  /// segments; those of opening and reading; `decodeFailed` where nothing decodes; `cancelled`.
  public func image(at time: MediaTime) throws(MediaError) -> (image: PixelBuffer, actualTime: MediaTime) {
    let answer = WakeSignal<Outcome?>(nil)
    queue.add([time], imageSettings) { _, outcome in answer.update { $0 = outcome } }
    switch answer.wait({ $0 }) {
    case .succeeded(let image, let actualTime): return (image, actualTime)
    case .failed(let error): throw error
    case .cancelled, nil: throw ImageQueue.cancelled
    }
  }

  /// Makes images, in order, and says of each what became of it: `completion` is called once for each of the times, also for those that are
  /// there twice, and that are cancelled. Does not block.
  ///
  /// - Parameter completion: with the time as it was asked for; called on a thread of the generator's, and holds up what comes after it.
  public func generateImagesAsynchronously(
    forTimes times: [MediaTime], completion: @escaping @Sendable (_ requestedTime: MediaTime, Outcome) -> Void
  ) {
    queue.add(times, imageSettings, completion)
  }

  /// Ends all that was asked for and is not there yet: who waits for it is told `cancelled`. Does not block. What is asked for afterwards is
  /// made.
  public func cancelAllImageGeneration() { queue.cancelAll() }
}

/// The requests of one generator, and what makes them.
private final class ImageQueue: Sendable {
  typealias Completion = @Sendable (MediaTime, AssetImageGenerator.Outcome) -> Void

  private struct Job {
    let time: MediaTime
    let settings: ImageSettings
    let completion: Completion
    var isCancelled = false
  }

  private struct State {
    /// The first is the one that is being made, while there is a thread.
    var jobs: Deque<Job> = []
    var hasThread = false
    /// Used by the thread alone; open from the first image on.
    var source: ImageSource?
  }

  private let asset: Asset
  private let interrupt = Interrupt()
  private let state = Mutex(State())

  static var cancelled: MediaError { MediaError(.cancelled, "the image was cancelled", operation: "image") }

  init(_ asset: Asset) { self.asset = asset }

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

  // MARK: - The thread

  private func run() {
    while let job = next() {
      let outcome = job.isCancelled ? .cancelled : make(job)
      let isCancelled = state.withLock { state in state.jobs.popFirst()?.isCancelled ?? false }
      job.completion(job.time, isCancelled ? .cancelled : outcome)
    }
  }

  /// The first request, which stays in the queue while it is made; nil when there is none, and the thread's time is over.
  private func next() -> Job? {
    state.withLock { state in
      guard let job = state.jobs.first else {
        state.hasThread = false
        return nil
      }
      // What was cancelled was so before it.
      if !job.isCancelled { interrupt.reset() }
      return job
    }
  }

  private func make(_ job: Job) -> AssetImageGenerator.Outcome {
    do throws(MediaError) {
      try job.settings.check()
      let (image, actualTime) = try source().image(at: job.time, job.settings)
      return .succeeded(image, actualTime: actualTime)
    } catch {
      return error.code == .cancelled ? .cancelled : .failed(error)
    }
  }

  private func source() throws(MediaError) -> ImageSource {
    if let source = state.withLock({ $0.source }) { return source }
    let source = try ImageSource(VideoReaders.open(asset, interrupt: interrupt, trackID: nil, log: nil))
    state.withLock { $0.source = source }
    return source
  }
}
