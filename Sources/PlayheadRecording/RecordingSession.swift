// One recording, from its source to its file: the thread that dequeues captured audio.
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadWholeFiles
import Synchronization

/// Runs one recording.
///
/// Threading: `run`, `start`, `pause` and `stop` on any thread; the rest on the recording's thread, `playhead-record`.
final class RecordingSession: @unchecked Sendable {
  // `@unchecked Sendable`: state outside `mailbox` is used only on the recording's thread.

  /// Pending work; protected by the mutex that contains it.
  private struct Mailbox {
    var source: (any AudioSource)?
    var queue: CaptureQueue?
    var starts: [AudioRecorder.StartRequest] = []
    var isStopping = false
    var failure: MediaError?
  }

  /// Seconds of audio that the queue buffers while the disk is blocked, before frames are lost.
  static let queueSeconds = 4
  /// Maximum loss if the process dies: this interval, the content of the queue, and the encoder's delay.
  static let flushInterval = MediaTime(value: 1, timescale: 2)
  static let fragmentInterval = MediaTime(value: 1, timescale: 1)

  private let location: RecordingLocation
  private let settings: RecordingSettings
  private let options: AudioRecorder.Options
  private let makeSource: @Sendable () -> any AudioSource
  private let shared: ConditionMutex<AudioRecorder.Shared>
  private let mailbox = Mutex(Mailbox())
  /// Serializes `updateSource`.
  private let sourceUpdates = Mutex(())

  init(
    _ location: RecordingLocation, _ settings: RecordingSettings, _ options: AudioRecorder.Options,
    _ makeSource: @escaping @Sendable () -> any AudioSource, _ shared: ConditionMutex<AudioRecorder.Shared>
  ) {
    (self.location, self.settings, self.options, self.makeSource, self.shared) = (
      location, settings, options, makeSource, shared
    )
  }

  // MARK: - Any thread

  /// Starts the recording's thread.
  func run() {
    NamedThread.detached(name: "playhead-record") { self.record() }
  }

  /// Starts or resumes recording.
  func start(_ request: AudioRecorder.StartRequest) {
    let queue = mailbox.withLock { mailbox in
      mailbox.starts.append(request)
      return mailbox.queue
    }
    // The thread reads the request before the audio that it applies to.
    queue?.wake()
    updateSource()
  }

  func pause() { updateSource() }

  /// Runs the source while the recorder records. If calls are concurrent, the last one applies the newest state.
  private func updateSource() {
    sourceUpdates.withLock { _ in
      let isRecording = shared.withState { $0.status.state == .recording }
      mailbox.withLock { $0.source }?.setRunning(isRecording)
    }
  }

  func stop() {
    let queue = mailbox.withLock { mailbox in
      mailbox.isStopping = true
      return mailbox.queue
    }
    queue?.wake()
  }

  // MARK: - The recording's thread

  private func record() {
    let track: RecordingTrack
    do throws(MediaError) { track = try prepare() } catch {
      end(
        AudioRecorder.Outcome(
          pathBytes: nil, duration: .zero, byteCount: 0, lostFrameCount: 0, skippedFrameCount: 0, error: error),
        preparation: .failure(error))
      return
    }
    let (start, isStopping) = shared.update { shared in
      let isStopping = !shared.completions.isEmpty
      shared.enter(isStopping ? .stopping : shared.startRequest == nil ? .prepared : .recording)
      defer { shared.startRequest = nil }
      return (isStopping ? nil : shared.startRequest, isStopping)
    }
    if isStopping { stop() }
    if let start { self.start(start) }
    // `AudioRecorder.record` waits for this result, so the source already runs when that call returns.
    let completions = shared.update { $0.endPreparation(.success(())) }
    for completion in completions { completion(.success(())) }
    shared.deliverEvents(to: options.onEvent)
    let failure = capture(into: track)
    // The recording may have ended without `stop`.
    shared.update { if $0.status.state != .stopping { $0.enter(.stopping) } }
    shared.deliverEvents(to: options.onEvent)
    end(track.finish(failure), preparation: nil)
  }

  /// Opens the source and the file.
  ///
  /// - Throws: the errors of `AudioRecorder.prepareToRecord`. No file remains then.
  private func prepare() throws(MediaError) -> RecordingTrack {
    // Settings that no source can satisfy are rejected before the source and the file are opened.
    let assumed = AudioFormat(sampleRateHz: 48_000, channelCount: 1)
    try RecordingTrack.check(try settings.resolve(fileName: location.name, source: assumed), location, assumed)
    if !location.isOpened { _ = try location.recover() }
    try location.file.check()
    let source = makeSource()
    let format: AudioFormat
    do throws(MediaError) { format = try source.open() } catch {
      source.close()
      throw error
    }
    do throws(MediaError) {
      let resolved = try settings.resolve(fileName: location.name, source: format)
      let track = try RecordingTrack(location, resolved, format, options, shared)
      let queue = CaptureQueue(format: format, capacityFrames: format.sampleRateHz * Self.queueSeconds)
      mailbox.withLock { ($0.source, $0.queue) = (source, queue) }
      shared.update { shared in
        shared.status.sourceFormat = format
        shared.status.sourceLabel = source.label
        shared.status.format = resolved.format
        shared.status.isWaitingForLevel = options.startLevel != nil
      }
      source.start(into: queue) { [self] error in
        mailbox.withLock { $0.failure = error }
        queue.wake()
      }
      return track
    } catch {
      source.close()
      throw error
    }
  }

  /// Records until the end. Returns the error that ended the recording; nil if it was stopped or reached its limit.
  private func capture(into track: RecordingTrack) -> MediaError? {
    let (source, queue) = mailbox.withLock { ($0.source, $0.queue) }
    guard let source, let queue else { return nil }
    defer { source.close() }
    while true {
      queue.wait()
      // The mailbox is read before the queue, so that audio queued before a failure or a stop is still recorded.
      let (starts, isStopping, failure) = mailbox.withLock { mailbox in
        defer { mailbox.starts = [] }
        return (mailbox.starts, mailbox.isStopping, mailbox.failure)
      }
      if isStopping { source.close() }
      for start in starts { track.start(start) }
      while !track.isOver, queue.readChunk({ track.add($0, frameCount: $1, chunk: $2, isFirst: $3) }) {}
      if isStopping || failure != nil, !track.isOver { track.addTrailingSilence(lostFrameCount: queue.lostFrameCount) }
      track.publish(lostFrameCount: queue.lostFrameCount)
      if let error = track.error ?? failure { return error }
      if track.isOver || isStopping { return nil }
    }
  }

  private func end(_ outcome: AudioRecorder.Outcome, preparation: Result<Void, MediaError>?) {
    let (completions, preparationCompletions) = shared.update { shared in
      shared.enter(.stopped)
      shared.pendingEvents.append(.finished(outcome))
      shared.status.currentTime = .zero
      shared.status.isWaitingForLevel = false
      shared.status.outcome = outcome
      shared.session = nil
      defer { shared.completions = [] }
      return (shared.completions, preparation.map { shared.endPreparation($0) } ?? [])
    }
    shared.deliverEvents(to: options.onEvent)
    for completion in completions {
      completion(preparation.map { $0.flatMap { .success(outcome) } } ?? .success(outcome))
    }
    if let preparation { for completion in preparationCompletions { completion(preparation) } }
  }
}
