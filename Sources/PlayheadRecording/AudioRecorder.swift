// Records the audio of a source into one file, as AVAudioRecorder does. A separate thread dequeues the source's audio,
// measures it and appends it to an `AssetWriter`. No code of this file runs in the source's callback. Only
// `prepareToRecord`, `stop`, `deleteRecording`, and a `record` that prepares the recorder wait for the disk.
import PlayheadMediaCore
import PlayheadRealtimeAudio
@_exported import PlayheadRecordingFiles
import Synchronization

/// Records audio into a file.
///
/// <!-- listing: record -->
/// ```swift
/// var options = AudioRecorder.Options()
/// options.session = session
/// let recorder = AudioRecorder(
///   location: RecordingLocation(path: "/memos/idea.flac"), options: options
/// ) { PulseSource() }
/// try recorder.record(forDuration: .seconds(60))
/// try recorder.pause()
/// try recorder.record()
/// recorder.updateMeters()
/// print(recorder.currentTime, recorder.peakPower(forChannel: 0))
/// let outcome = try recorder.stop()
/// print(outcome.duration, outcome.byteCount)
/// ```
///
/// Lifecycle:
/// 1. `prepareToRecord()`, or the first `record(atHostTime:forDuration:)`, opens the source and creates the file.
/// 2. `record` and ``pause()`` alternate. All audio goes into the same file.
/// 3. `stop()`, a time limit or a failure ends the recording and finishes the file.
/// 4. A later `record` starts a new recording. The call fails if the file exists and may not be replaced.
///
/// Threading: any thread. ``Options/onEvent`` is called on any thread, other closures on the recorder's thread. They
/// run in order and must not wait for the recorder.
public final class AudioRecorder: Sendable {
  /// The state of a recorder.
  public enum State: String, Sendable, Hashable {
    /// Nothing has been started.
    case idle
    /// The source is being opened and the file created.
    case preparing
    /// Source and file are open; no audio is captured.
    case prepared
    /// Audio is captured.
    case recording
    /// Recording is paused; the file stays open.
    case paused
    /// The file is being finished.
    case stopping
    /// The recording has ended; ``Status/outcome`` describes the result.
    case stopped
  }

  /// Options other than the settings of the format.
  public struct Options: Sendable {
    /// Level in dBFS, -160 to 0, at which recording starts. Audio before the first sample of this level is skipped,
    /// except the last quarter of a second. Default: nil, which records from the first frame.
    public var startLevel: Float?
    /// Level in dBFS, -160 to 0, below which audio counts as silence. Only ``longestSilence`` of each silent range is
    /// kept. Default: nil, which keeps all silence.
    public var silenceLevel: Float?
    /// Seconds of each silent range that are kept, 0.1 to 3600. Half of them, at most a quarter of a second, are
    /// kept at its end, the rest at its start. Default: 1.
    public var longestSilence = 1.0
    /// The tags of the file, with FFmpeg's names.
    public var metadata: [String: String] = [:]
    /// The journal that lists the unfinished file, for recovery at the next start. Default: none.
    public var journal: RecordingJournal?
    /// The session that the recorder follows: `AudioSession`. `record` fails while the session does not permit
    /// recording. An interruption pauses the recorder; a category that does not permit recording stops it. Default:
    /// none.
    public var session: (any RecorderSession)?
    /// Called for each event, in order, one at a time, on any thread.
    public var onEvent: (@Sendable (Event) -> Void)?

    /// Options that keep all audio.
    public init() {}

    /// - Throws: `invalidArgument`.
    func check() throws(MediaError) {
      for level in [startLevel, silenceLevel].compactMap({ $0 }) where !(-160...0).contains(level) {
        throw MediaError(
          .invalidArgument, "level must be between -160 and 0 dBFS (got \(level))", operation: "prepareToRecord")
      }
      guard (0.1...3_600).contains(longestSilence) else {
        throw MediaError(
          .invalidArgument, "longest silence must be between 0.1 and 3600 s (got \(longestSilence))",
          operation: "prepareToRecord")
      }
    }
  }

  /// An event of a recording.
  public enum Event: Sendable, Hashable {
    /// The state changed.
    case state(State)
    /// The source lost `frameCount` frames. Silence replaces them at this time of the recording.
    case lost(frameCount: Int64, at: MediaTime)
    /// The recording ended, for any reason.
    case finished(Outcome)
  }

  /// The result of a recording.
  public struct Outcome: Sendable, Hashable {
    /// The absolute path of the file; nil if there is no file. Bytes that are not UTF-8 are U+FFFD.
    public var path: String? { pathBytes.map { String(decoding: $0, as: UTF8.self) } }
    /// The absolute path of the file, in bytes.
    package var pathBytes: [UInt8]?
    /// The duration of the file; invalid if a failure cut the file short and the rest cannot be read.
    public var duration: MediaTime
    /// The size of the file in bytes; 0 if it is unknown.
    public var byteCount: Int64
    /// Frames that the source lost. Silence replaces them.
    public var lostFrameCount: Int64
    /// Frames that were skipped: audio before ``Options/startLevel`` was reached, and silence.
    public var skippedFrameCount: Int64
    /// Why the recording failed; nil if it was stopped or reached its time limit.
    public var error: MediaError?
  }

  /// A snapshot of the recorder's observable state.
  public struct Status: Sendable, Hashable {
    /// The state of the recorder.
    public var state = State.idle
    /// The recorded duration; zero when stopped.
    public var currentTime = MediaTime.zero
    /// The format of the source, as float32; nil before the source is open.
    public var sourceFormat: AudioFormat?
    /// The name of the source; empty before the source is open.
    public var sourceLabel = ""
    /// The format of the file; nil before the settings were checked.
    public var format: RecordingSettings.Format?
    /// The number of frames that the source has lost so far.
    public var lostFrameCount: Int64 = 0
    /// The number of frames that were skipped so far.
    public var skippedFrameCount: Int64 = 0
    /// Whether the recorder waits for audio of ``Options/startLevel``.
    public var isWaitingForLevel = false
    /// The result; nil before the recording has ended.
    public var outcome: Outcome?
  }

  /// The location of the file.
  public let location: RecordingLocation
  /// The format of the file.
  public let settings: RecordingSettings
  private let options: Options
  private let makeSource: @Sendable () -> any AudioSource
  private let shared = ConditionMutex(Shared())
  /// Whether an interruption of the session paused the recorder.
  private let wasInterrupted = Atomic(false)

  /// State that callers and the recorder's thread share; protected by the monitor that contains it.
  struct Shared: Sendable {
    var status = Status()
    var session: RecordingSession?
    /// The result of the preparation; nil while it runs.
    var preparation: Result<Void, MediaError>?
    /// Called with the result of the preparation that runs.
    var preparationCompletions: [@Sendable (Result<Void, MediaError>) -> Void] = []
    /// The recording that was requested during the preparation.
    var startRequest: StartRequest?
    var meterObservers: [Int: MeterObserver] = [:]
    var nextMeterNumber = 1
    /// Audio that was measured since `updateMeters`.
    var unreadSum: RecordingMeter.Sum?
    var levels: MeterLevels?
    var completions: [@Sendable (Result<Outcome, MediaError>) -> Void] = []
    /// The events that have not been delivered yet, in order.
    var pendingEvents: [Event] = []
    /// Whether a thread is delivering events.
    var isDelivering = false

    /// Sets the result of the preparation. Returns the closures that the caller must call with it, outside the monitor.
    mutating func endPreparation(
      _ result: Result<Void, MediaError>
    ) -> [@Sendable (Result<Void, MediaError>) -> Void] {
      preparation = result
      defer { preparationCompletions = [] }
      return preparationCompletions
    }

    /// Changes the state. The caller delivers the event after it has left the monitor.
    mutating func enter(_ state: State) {
      status.state = state
      pendingEvents.append(.state(state))
    }
  }

  /// A request to start or resume recording.
  struct StartRequest: Sendable {
    /// Audio that was captured before this time is skipped; nil: now.
    var hostTime: HostTime?
    /// Recording stops after this duration; nil: no limit.
    var duration: MediaTime?
  }

  /// An observer of levels.
  struct MeterObserver: Sendable {
    /// Converts a sample rate in Hz to the number of frames of an interval.
    let intervalFrames: @Sendable (Int) -> Int
    var sum: RecordingMeter.Sum?
    let body: @Sendable (MeterLevels, MediaTime) -> Void
  }

  /// Creates a recorder. No I/O.
  ///
  /// - Parameters:
  ///   - location: The location of the file.
  ///   - settings: The format of the file. Default: that of the extension.
  ///   - options: Other options.
  ///   - makeSource: creates the source. The closure is called once for each recording, on the recorder's thread.
  public init(
    location: RecordingLocation, settings: RecordingSettings = RecordingSettings(), options: Options = Options(),
    source makeSource: @escaping @Sendable () -> any AudioSource
  ) {
    (self.location, self.settings, self.options, self.makeSource) = (location, settings, options, makeSource)
  }

  /// Stops a recording that is still running when the recorder is released.
  deinit { try? stop { _ in } }

  // MARK: - Observable state

  /// A consistent snapshot of the state.
  public var status: Status { shared.withState { $0.status } }

  /// Whether the recorder is recording.
  public var isRecording: Bool { shared.withState { $0.status.state == .recording } }

  /// The recorded duration; zero when stopped.
  public var currentTime: MediaTime { shared.withState { $0.status.currentTime } }

  // MARK: - Recording

  /// Opens the source and creates the file, so that `record(atHostTime:forDuration:)` starts at once. Blocks until
  /// then. Does nothing if the recorder is already prepared.
  ///
  /// If a recording to the same location crashed, its remainder is repaired first.
  ///
  /// - Throws: `invalidArgument` and `unsupportedAudioFormat` for the settings, before anything is written;
  ///   `sourceUnavailable`; `fileExists`; `outsideRoots`; `writeFailed`; `invalidState` while the recorder stops.
  public func prepareToRecord() throws(MediaError) {
    try prepareOrStart(nil)
    try shared.wait { $0.preparation }?.get()
  }

  /// Opens the source and creates the file, without blocking. While another preparation runs, waits for its result.
  ///
  /// - Parameter completion: called once, on the recorder's thread, or immediately.
  public func prepareToRecord(completion: @escaping @Sendable (Result<Void, MediaError>) -> Void) {
    do throws(MediaError) { try prepareOrStart(nil, completion) } catch { completion(.failure(error)) }
  }

  /// Starts recording, now or at `hostTime`. After a pause, resumes recording into the same file.
  ///
  /// If the recorder is not prepared, this call prepares it and blocks until then; otherwise it does not block. When
  /// the method returns, the recorder is recording, and ``pause()`` is possible.
  ///
  /// - Parameters:
  ///   - hostTime: a future CLOCK_MONOTONIC time. Its accuracy is that of the capture times that the source reports, at
  ///     best one sample.
  ///   - duration: the duration to record from then on, above 0. Default: no limit.
  /// - Throws: `invalidState` while the recorder records or stops; `fileExists` after a recording that may not be
  ///   replaced; `invalidTime`; the errors of `prepareToRecord()`; the errors of the session.
  public func record(atHostTime hostTime: HostTime? = nil, forDuration duration: MediaTime? = nil) throws(MediaError) {
    try startRecording(atHostTime: hostTime, forDuration: duration)
    try shared.wait { $0.preparation }?.get()
  }

  /// Starts recording without waiting for the preparation. If the preparation fails, the outcome contains its error.
  ///
  /// - Parameter prepared: Called once with the result of the preparation, on the recorder's thread or immediately.
  package func startRecording(
    atHostTime hostTime: HostTime? = nil, forDuration duration: MediaTime? = nil,
    prepared: (@Sendable (Result<Void, MediaError>) -> Void)? = nil
  ) throws(MediaError) {
    if let duration, !duration.isNumeric || duration <= .zero {
      throw MediaError(.invalidTime, "duration must be more than 0 s (got \(duration) s)", operation: "record")
    }
    let now = HostTime.now
    if let hostTime, hostTime <= now { throw hostTime.errorForPastStart(now: now, operation: "record") }
    if let session = options.session {
      try session.checkRecording()
      session.add(self)
    }
    wasInterrupted.store(false, ordering: .relaxed)
    try prepareOrStart(StartRequest(hostTime: hostTime, duration: duration), prepared)
  }

  /// Pauses recording; `record(atHostTime:forDuration:)` resumes it. Does not block.
  ///
  /// - Throws: `invalidState` unless the recorder is recording.
  public func pause() throws(MediaError) {
    let session = try shared.update { shared throws(MediaError) -> RecordingSession? in
      guard shared.status.state == .recording else {
        throw Self.invalidState("only an active recording can be paused", shared)
      }
      shared.enter(.paused)
      return shared.session
    }
    session?.pause()
    shared.deliverEvents(to: options.onEvent)
  }

  /// Ends the recording and finishes the file. Blocks until the file is finished.
  ///
  /// - Returns: The outcome, also of a recording that has already ended.
  /// - Throws: `invalidState` if no recording was started; the error of a failed preparation.
  @discardableResult
  public func stop() throws(MediaError) -> Outcome {
    let done = ConditionMutex<Result<Outcome, MediaError>?>(nil)
    try stop { result in done.update { $0 = result } }
    guard let result = done.wait({ $0 }) else { throw MediaError(.invalidState, "the recording ended") }
    return try result.get()
  }

  /// Ends the recording and finishes the file, without blocking.
  ///
  /// - Parameter completion: called once, on the recorder's thread, or immediately if the recording has already ended.
  /// - Throws: `invalidState` if no recording was started.
  public func stop(completion: @escaping @Sendable (Result<Outcome, MediaError>) -> Void) throws(MediaError) {
    let (session, outcome) = try shared.update { shared throws(MediaError) -> (RecordingSession?, Outcome?) in
      switch shared.status.state {
      case .idle: throw Self.invalidState("no recording was started", shared)
      case .stopped: return (nil, shared.status.outcome)
      case .stopping, .preparing:
        shared.completions.append(completion)
        return (shared.session, nil)
      case .prepared, .recording, .paused:
        shared.enter(.stopping)
        shared.completions.append(completion)
        return (shared.session, nil)
      }
    }
    if let outcome { return completion(.success(outcome)) }
    shared.deliverEvents(to: options.onEvent)
    session?.stop()
  }

  /// Removes the file. Blocks briefly.
  ///
  /// - Throws: `invalidState` unless the recorder is stopped; `fileNotFound` if there is no file; `outsideRoots`;
  ///   `writeFailed`.
  public func deleteRecording() throws(MediaError) {
    let path = try shared.withState { shared throws(MediaError) -> [UInt8] in
      guard shared.status.state == .stopped else {
        throw Self.invalidState("a recording can be deleted only after it is stopped", shared)
      }
      guard let path = shared.status.outcome?.pathBytes else {
        throw MediaError(.fileNotFound, "there is no recording", operation: "deleteRecording")
      }
      return path
    }
    try location.remove(path)
    shared.update { $0.status.outcome?.pathBytes = nil }
  }

  // MARK: - Meters

  /// Updates ``averagePower(forChannel:)`` and ``peakPower(forChannel:)`` with the audio that was captured since the
  /// last call. Without new audio, they keep their values, so calls may be more frequent than the source's buffers.
  public func updateMeters() {
    shared.withState { shared in
      guard let sum = shared.unreadSum else { return }
      shared.levels = sum.levels
      shared.unreadSum = nil
    }
  }

  /// The RMS level in dBFS at the last ``updateMeters()``; `MeterLevels.silence` before the first.
  public func averagePower(forChannel channel: Int) -> Float { level(channel, \.averagePower) }

  /// The level of the largest sample in dBFS at the last ``updateMeters()``; `MeterLevels.silence` before the first.
  public func peakPower(forChannel channel: Int) -> Float { level(channel, \.peakPower) }

  private func level(_ channel: Int, _ values: KeyPath<MeterLevels, [Float]>) -> Float {
    let values = shared.withState { $0.levels?[keyPath: values] } ?? []
    return values.indices.contains(channel) ? values[channel] : MeterLevels.silence
  }

  /// Registers an observer of levels. While recording, `body` runs on the recorder's thread once for each interval of
  /// `1 / rate` seconds. `body` receives the levels of the interval and the recording time at its end.
  ///
  /// - Parameters:
  ///   - rate: calls a second, 1 to 100.
  ///   - body: Called on the recorder's thread, with the levels and the recording time.
  /// - Returns: A number for ``removeMeterObserver(_:)``.
  /// - Throws: `invalidArgument`.
  public func addMeterObserver(
    rate: Double, _ body: @escaping @Sendable (MeterLevels, MediaTime) -> Void
  ) throws(MediaError) -> Int {
    guard (1...100).contains(rate) else {
      throw MediaError(
        .invalidArgument, "meter rate must be between 1 and 100 per second (got \(rate))", operation: "addMeterObserver"
      )
    }
    return shared.withState { shared in
      defer { shared.nextMeterNumber += 1 }
      shared.meterObservers[shared.nextMeterNumber] = MeterObserver(
        intervalFrames: { max(1, Int(Double($0) / rate)) }, body: body)
      return shared.nextMeterNumber
    }
  }

  /// Removes an observer. One call may still be running.
  public func removeMeterObserver(_ number: Int) {
    shared.withState { _ = $0.meterObservers.removeValue(forKey: number) }
  }

  // MARK: - Internals

  private static func invalidState(_ rule: String, _ shared: Shared) -> MediaError {
    MediaError(.invalidState, "\(rule); the recorder is \(shared.status.state.rawValue)")
  }

  /// Prepares the recorder if necessary, and starts or resumes recording.
  ///
  /// - Parameters:
  ///   - start: nil only prepares.
  ///   - completion: called with the result of the preparation, unless this method throws.
  private func prepareOrStart(
    _ start: StartRequest?, _ completion: (@Sendable (Result<Void, MediaError>) -> Void)? = nil
  ) throws(MediaError) {
    try options.check()
    let (session, isNew, result) = try shared.update { shared throws(MediaError) in
      let (session, isNew) = try enterPreparationOrRecording(start, &shared)
      guard let completion, shared.preparation == nil else { return (session, isNew, shared.preparation) }
      shared.preparationCompletions.append(completion)
      return (session, isNew, nil)
    }
    if let session {
      shared.deliverEvents(to: options.onEvent)
      if isNew { session.run() } else if let start { session.start(start) }
    }
    if let completion, let result { completion(result) }
  }

  /// Changes the state for `prepareOrStart`. Returns the session that must run or start, and whether it is new.
  private func enterPreparationOrRecording(
    _ start: StartRequest?, _ shared: inout Shared
  ) throws(MediaError) -> (session: RecordingSession?, isNew: Bool) {
    switch (shared.status.state, start) {
    case (.stopped, _) where !location.file.replaces && shared.status.outcome?.pathBytes != nil:
      // A second recording would fail because the file exists, and `outcome` would describe that failure instead of the
      // first recording.
      throw MediaError(.fileExists, "the recording of this recorder exists and must not be replaced")
    case (.idle, _), (.stopped, _):
      let session = RecordingSession(location, settings, options, makeSource, self.shared)
      shared.status = Status()
      shared.enter(.preparing)
      (shared.session, shared.startRequest, shared.preparation) = (session, start, nil)
      (shared.unreadSum, shared.levels) = (nil, nil)
      return (session, true)
    case (.preparing, nil), (.prepared, nil), (.recording, nil), (.paused, nil): return (nil, false)
    case (.preparing, let start?) where shared.startRequest == nil:
      shared.startRequest = start
      return (nil, false)
    case (.prepared, _?), (.paused, _?):
      shared.enter(.recording)
      return (shared.session, false)
    default: throw Self.invalidState("the recording cannot start", shared)
    }
  }
}

/// The recorder's reactions to its session. None of these calls affects a recorder that has already ended.
extension AudioRecorder: SessionRecorder {
  public func interruptionBegan() {
    guard isRecording, (try? pause()) != nil else { return }
    wasInterrupted.store(true, ordering: .relaxed)
  }

  public func interruptionEnded(shouldResume: Bool) {
    guard wasInterrupted.exchange(false, ordering: .relaxed), shouldResume, status.state == .paused else { return }
    try? startRecording()
  }

  public func sessionForbidsRecording() {
    wasInterrupted.store(false, ordering: .relaxed)
    if isRecording || status.state == .paused { try? stop { _ in } }
  }
}

extension ConditionMutex<AudioRecorder.Shared> {
  /// Delivers pending events in order, one at a time, on the first thread that calls it.
  func deliverEvents(to onEvent: (@Sendable (AudioRecorder.Event) -> Void)?) {
    while let events = popPendingEvents() {
      for event in events { onEvent?(event) }
      withState { $0.isDelivering = false }
    }
  }

  private func popPendingEvents() -> [AudioRecorder.Event]? {
    withState { shared in
      guard !shared.isDelivering, !shared.pendingEvents.isEmpty else { return nil }
      shared.isDelivering = true
      defer { shared.pendingEvents = [] }
      return shared.pendingEvents
    }
  }
}
