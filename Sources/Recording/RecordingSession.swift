// One recording, from its source to its file: the thread that takes sound from the queue.
import MediaAssets
import MediaCore
import RealtimeAudio
import Synchronization
import WholeFiles

/// What runs one recording.
///
/// Threading: `run`, `start`, `pause` and `stop` anywhere; the rest on its own thread, `playhead-record`.
final class RecordingSession: @unchecked Sendable {
  // `@unchecked Sendable`: what is not protected by `mail` belongs to the thread.

  /// What is to be done next; protected by the mutex that it is in.
  private struct Mail {
    var source: (any AudioSource)?
    var queue: CaptureQueue?
    var starts: [AudioRecorder.StartRequest] = []
    var isStopping = false
    var failure: MediaError?
  }

  /// Seconds of sound that wait while the disk stands, before any is lost.
  static let queueSeconds = 4
  /// What is lost with the process at most is this much, what waits in the queue, and the encoder's delay.
  static let flushInterval = MediaTime(value: 1, timescale: 2)
  static let fragmentInterval = MediaTime(value: 1, timescale: 1)

  private let place: RecordingPlace
  private let settings: RecordingSettings
  private let options: AudioRecorder.Options
  private let makeSource: @Sendable () -> any AudioSource
  private let shared: WakeSignal<AudioRecorder.Shared>
  private let mail = Mutex(Mail())
  /// Serializes `updateSource`.
  private let sourceUpdates = Mutex(())

  init(
    _ place: RecordingPlace, _ settings: RecordingSettings, _ options: AudioRecorder.Options,
    _ makeSource: @escaping @Sendable () -> any AudioSource, _ shared: WakeSignal<AudioRecorder.Shared>
  ) {
    (self.place, self.settings, self.options, self.makeSource, self.shared) = (
      place, settings, options, makeSource, shared
    )
  }

  // MARK: - Anywhere

  /// Begins.
  func run(prepared: (@Sendable (Result<Void, MediaError>) -> Void)?) {
    NamedThread.detached(name: "playhead-record") { self.record(prepared) }
  }

  /// Starts the recording, or resumes it.
  func start(_ request: AudioRecorder.StartRequest) {
    let queue = mail.withLock { mail in
      mail.starts.append(request)
      return mail.queue
    }
    // The request arrives before the audio that it is for.
    queue?.wake()
    updateSource()
  }

  func pause() { updateSource() }

  /// Runs the source while the recorder records. Of calls from several threads, the last one sees the newest state.
  private func updateSource() {
    sourceUpdates.withLock { _ in
      let isRecording = shared.withState { $0.status.state == .recording }
      mail.withLock { $0.source }?.setRunning(isRecording)
    }
  }

  func stop() {
    let queue = mail.withLock { mail in
      mail.isStopping = true
      return mail.queue
    }
    queue?.wake()
  }

  // MARK: - Its thread

  private func record(_ prepared: (@Sendable (Result<Void, MediaError>) -> Void)?) {
    let track: RecordingTrack
    do throws(MediaError) { track = try prepare() } catch {
      end(
        AudioRecorder.Outcome(
          path: nil, duration: .zero, byteCount: 0, lostFrameCount: 0, skippedFrameCount: 0, error: error),
        preparation: .failure(error))
      prepared?(.failure(error))
      return
    }
    let (start, isStopping) = shared.update { shared in
      let isStopping = !shared.completions.isEmpty
      shared.enter(isStopping ? .stopping : shared.start == nil ? .prepared : .recording)
      defer { shared.start = nil }
      return (isStopping ? nil : shared.start, isStopping)
    }
    if isStopping { stop() }
    if let start { self.start(start) }
    // The source runs when `record` returns: it waits for this.
    shared.update { $0.preparation = .success(()) }
    prepared?(.success(()))
    shared.tell(options.onEvent)
    let failure = take(track)
    // It may have ended by itself.
    shared.update { if $0.status.state != .stopping { $0.enter(.stopping) } }
    shared.tell(options.onEvent)
    end(track.finish(failure), preparation: nil)
  }

  /// Opens the source and the file. Errors: as `AudioRecorder.prepareToRecord`; nothing is left then.
  private func prepare() throws(MediaError) -> RecordingTrack {
    // Settings that no source could be recorded with are refused before anything is opened.
    let assumed = AudioFormat(sampleRateHz: 48_000, channelCount: 1)
    try RecordingTrack.check(try settings.resolve(fileName: place.name, source: assumed), place, assumed)
    _ = try place.recover()
    try place.file.check()
    let source = makeSource()
    let format: AudioFormat
    do throws(MediaError) { format = try source.open() } catch {
      source.close()
      throw error
    }
    do throws(MediaError) {
      let resolved = try settings.resolve(fileName: place.name, source: format)
      let track = try RecordingTrack(place, resolved, format, options, shared)
      let queue = CaptureQueue(format: format, capacityFrames: format.sampleRateHz * Self.queueSeconds)
      mail.withLock { ($0.source, $0.queue) = (source, queue) }
      shared.update { shared in
        shared.status.sourceFormat = format
        shared.status.sourceLabel = source.label
        shared.status.format = resolved.format
        shared.status.isWaitingForLevel = options.startLevel != nil
      }
      source.start(into: queue) { [self] error in
        mail.withLock { $0.failure = error }
        queue.wake()
      }
      return track
    } catch {
      source.close()
      throw error
    }
  }

  /// Takes what comes until it is over; why, when nobody asked for that.
  private func take(_ track: RecordingTrack) -> MediaError? {
    let (source, queue) = mail.withLock { ($0.source, $0.queue) }
    guard let source, let queue else { return nil }
    defer { source.close() }
    while true {
      queue.wait()
      // Before what there is is taken: what a failure or a stop left in the queue is taken, too.
      let (starts, isStopping, failure) = mail.withLock { mail in
        defer { mail.starts = [] }
        return (mail.starts, mail.isStopping, mail.failure)
      }
      if isStopping { source.close() }
      for start in starts { track.begin(start) }
      while !track.isOver, queue.take({ track.add($0, frameCount: $1, piece: $2, isFirst: $3) }) {}
      if isStopping || failure != nil, !track.isOver { track.addRest(lostFrameCount: queue.lostFrameCount) }
      track.publish(lostFrameCount: queue.lostFrameCount)
      if let error = track.error ?? failure { return error }
      if track.isOver || isStopping { return nil }
    }
  }

  private func end(_ outcome: AudioRecorder.Outcome, preparation: Result<Void, MediaError>?) {
    let completions = shared.update { shared in
      shared.enter(.stopped)
      shared.untold.append(.finished(outcome))
      shared.status.currentTime = .zero
      shared.status.isWaitingForLevel = false
      shared.status.outcome = outcome
      if let preparation { shared.preparation = preparation }
      shared.session = nil
      defer { shared.completions = [] }
      return shared.completions
    }
    shared.tell(options.onEvent)
    for completion in completions {
      completion(preparation.map { $0.flatMap { .success(outcome) } } ?? .success(outcome))
    }
  }
}
