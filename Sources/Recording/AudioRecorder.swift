// Records what a source gives into one file, as AVAudioRecorder does. Its own thread takes sound from the source's queue, measures it and
// gives it to an AssetWriter; nothing here runs in the source's callback, and nothing of what callers ask for waits for the disk but
// `prepareToRecord` and `stop`.
import MediaCore
import RealtimeAudio
import Synchronization

/// Records sound into a file.
///
/// Life: `prepareToRecord` (or the first `record`) opens the source and begins the file; `record` and `pause` in turns, all into that
/// file; `stop`, or what ends it by itself, makes it whole. Then `record` begins anew, which is an error where the file may not be replaced.
///
/// Threading: any thread. Closures that it is given run on its own thread, in order, and must not wait for the recorder.
public final class AudioRecorder: Sendable {
  /// What it is doing.
  public enum State: String, Sendable, Hashable {
    /// Not begun.
    case idle
    /// The source is being opened, and the file begun.
    case preparing
    /// Everything is there; nothing listens.
    case prepared
    case recording
    case paused
    /// The file is being made whole.
    case stopping
    /// It is over; `outcome` says what there is.
    case stopped
  }

  /// What is wanted besides the settings.
  public struct Options: Sendable {
    /// Nothing is kept before a sample has this level, in dBFS, but for a quarter of a second before it; nil: from the first on.
    public var startLevel: Float?
    /// What stays below, in dBFS, is silent, and of such a stretch only `longestSilence` is kept; nil: all of it is.
    public var silenceLevel: Float?
    /// In seconds, 0.1 to 3600: half at the beginning of the silence, half (a quarter of a second at most) at its end.
    public var longestSilence = 1.0
    /// What the file's tags say, as FFmpeg names them.
    public var metadata: [String: String] = [:]
    /// Notes what is being recorded, for the next start; nil: nobody does.
    public var journal: RecordingJournal?
    /// The session that the recorder follows: `AudioSession`. `record` fails while the session does not permit recording;
    /// an interruption pauses the recorder; a category that does not record stops it. Default: none.
    public var session: (any RecorderSession)?
    /// Told what happens, in the order in which it does, one after another, on any thread.
    public var onEvent: (@Sendable (Event) -> Void)?

    /// Everything is kept.
    public init() {}

    /// Errors: `invalidArgument`.
    func check() throws(MediaError) {
      for level in [startLevel, silenceLevel].compactMap({ $0 }) where !(-160...0).contains(level) {
        throw MediaError(.invalidArgument, "a level is from -160 to 0 dBFS, not \(level)", operation: "prepareToRecord")
      }
      guard (0.1...3_600).contains(longestSilence) else {
        throw MediaError(.invalidArgument, "silence is kept for 0.1 to 3600 seconds", operation: "prepareToRecord")
      }
    }
  }

  /// What happened.
  public enum Event: Sendable, Hashable {
    case state(State)
    /// So many frames of the source were lost before a time of the recording, where silence stands for them.
    case lost(frameCount: Int64, at: MediaTime)
    /// It is over, by whatever.
    case finished(Outcome)
  }

  /// What a recording came to.
  public struct Outcome: Sendable, Hashable {
    /// Where the file is: absolute, bytes; nil: there is none.
    public var path: [UInt8]?
    /// How long it is; invalid when a failure left only a part of what had been recorded.
    public var duration: MediaTime
    /// Bytes of the file; 0 when not known.
    public var byteCount: Int64
    /// Frames of the source that were lost; silence stands for them.
    public var lostFrameCount: Int64
    /// Frames that were left out: before the level to start at, and of silence.
    public var skippedFrameCount: Int64
    /// Why it ended before anybody asked; nil: somebody did, or its time was over.
    public var error: MediaError?
  }

  /// What can be seen of it.
  public struct Status: Sendable, Hashable {
    public var state = State.idle
    /// How much has been recorded: 0 when stopped.
    public var currentTime = MediaTime.zero
    /// Of the source: float32; nil before it is open.
    public var sourceFormat: AudioFormat?
    /// What the source is called; empty before it is open.
    public var sourceLabel = ""
    /// How it is coded; nil before the settings were checked.
    public var format: RecordingSettings.Format?
    public var lostFrameCount: Int64 = 0
    public var skippedFrameCount: Int64 = 0
    /// It waits for something loud enough.
    public var isWaitingForLevel = false
    /// Nil before it is over.
    public var outcome: Outcome?
  }

  /// Where the file will be.
  public let place: RecordingPlace
  /// What it is written as.
  public let settings: RecordingSettings
  private let options: Options
  private let makeSource: @Sendable () -> any AudioSource
  private let shared = WakeSignal(Shared())
  /// Whether an interruption of the session paused the recorder.
  private let interrupted = Atomic(false)

  /// What callers and the thread share; protected by the monitor that it is in.
  struct Shared: Sendable {
    var status = Status()
    var session: RecordingSession?
    /// What `prepareToRecord` failed of.
    var preparation: Result<Void, MediaError>?
    /// What somebody asked for while it was being prepared.
    var start: StartRequest?
    var meters: [Int: MeterObserver] = [:]
    var nextMeter = 1
    /// What was measured since `updateMeters`.
    var unread: RecordingMeter.Sum?
    var levels: MeterLevels?
    var completions: [@Sendable (Result<Outcome, MediaError>) -> Void] = []
    /// What happened, and has not been told yet.
    var untold: [Event] = []
    /// Somebody is telling it.
    var isTelling = false

    /// Whoever calls this has it told when he is out of the monitor.
    mutating func enter(_ state: State) {
      status.state = state
      untold.append(.state(state))
    }
  }

  /// How recording begins, or goes on.
  struct StartRequest: Sendable {
    /// Nothing that was captured before is kept; nil: from now on.
    var hostTime: HostTime?
    /// It stops after so much more; nil: when somebody says so.
    var duration: MediaTime?
  }

  /// Who is told levels.
  struct MeterObserver: Sendable {
    let intervalFrames: @Sendable (Int) -> Int
    var sum: RecordingMeter.Sum?
    let body: @Sendable (MeterLevels, MediaTime) -> Void
  }

  /// A recorder that has not begun. No I/O.
  ///
  /// - Parameter makeSource: makes what is recorded; called once for each recording, on the recorder's thread.
  public init(
    place: RecordingPlace, settings: RecordingSettings = RecordingSettings(), options: Options = Options(),
    source makeSource: @escaping @Sendable () -> any AudioSource
  ) {
    (self.place, self.settings, self.options, self.makeSource) = (place, settings, options, makeSource)
  }

  /// Who lets go of a recorder that is at work stops it.
  deinit { try? stop { _ in } }

  // MARK: - What can be seen

  /// All of it at one moment.
  public var status: Status { shared.withState { $0.status } }

  /// Whether it records.
  public var isRecording: Bool { shared.withState { $0.status.state == .recording } }

  /// How much has been recorded; zero when stopped.
  public var currentTime: MediaTime { shared.withState { $0.status.currentTime } }

  // MARK: - Recording

  /// Opens the source and begins the file, so that `record` begins at once. Blocks for as long as that takes. Nothing when it has begun.
  ///
  /// What a crash left of a recording to the same place is made whole first.
  /// Errors: `invalidArgument` and `unsupportedAudioFormat` for settings, before anything is written; `sourceUnavailable`; `fileExists`;
  /// `outsideRoots`; `writeFailed`; `invalidState` when it is being stopped.
  public func prepareToRecord() throws(MediaError) {
    guard try begin(nil) else { return }
    try shared.wait { $0.preparation }?.get()
  }

  /// The same without blocking.
  ///
  /// - Parameter completion: called once, on a thread of the recorder's, or at once.
  public func prepareToRecord(completion: @escaping @Sendable (Result<Void, MediaError>) -> Void) {
    do throws(MediaError) {
      guard try begin(nil, completion) else { return completion(.success(())) }
    } catch { completion(.failure(error)) }
  }

  /// Records from now on, or from `hostTime` on; resumes after a pause, in the same file.
  ///
  /// A recorder that is not prepared prepares itself first, and blocks for as long as that takes. When the method returns,
  /// the recorder records, and `pause` is possible. A prepared recorder does not block.
  ///
  /// - Parameters:
  ///   - hostTime: CLOCK_MONOTONIC; exact to the sample as far as the source knows when it captured. It has to lie ahead.
  ///   - duration: it stops by itself after so much more; nil: it does not. Above 0.
  /// Errors: `invalidState` while it records, or is being stopped; `fileExists` after a recording that is not to be replaced;
  /// `invalidTime`; those of `prepareToRecord`; those of the session.
  public func record(atHostTime hostTime: HostTime? = nil, forDuration duration: MediaTime? = nil) throws(MediaError) {
    try startRecording(atHostTime: hostTime, forDuration: duration)
    try shared.wait { $0.preparation }?.get()
  }

  /// Records without waiting for the preparation; the outcome has its error.
  package func startRecording(
    atHostTime hostTime: HostTime? = nil, forDuration duration: MediaTime? = nil
  ) throws(MediaError) {
    if let duration, !duration.isNumeric || duration <= .zero {
      throw MediaError(.invalidTime, "a recording lasts longer than nothing", operation: "record")
    }
    if let hostTime, hostTime <= .now {
      throw MediaError(.invalidTime, "the time to begin at has passed", operation: "record")
    }
    if let session = options.session {
      try session.checkRecording()
      session.add(self)
    }
    interrupted.store(false, ordering: .relaxed)
    _ = try begin(StartRequest(hostTime: hostTime, duration: duration))
  }

  /// Stands still; `record` goes on. Does not block.
  ///
  /// Errors: `invalidState` unless it records.
  public func pause() throws(MediaError) {
    let session = try shared.update { shared throws(MediaError) -> RecordingSession? in
      guard shared.status.state == .recording else { throw Self.wrongState("only what records is paused", shared) }
      shared.enter(.paused)
      return shared.session
    }
    session?.pause()
    shared.tell(options.onEvent)
  }

  /// Ends the recording and makes the file whole. Blocks for as long as that takes.
  ///
  /// When it has ended by itself, that is what is answered.
  /// Errors: `invalidState` when nothing was begun; what `prepareToRecord` failed of.
  @discardableResult
  public func stop() throws(MediaError) -> Outcome {
    let done = WakeSignal<Result<Outcome, MediaError>?>(nil)
    try stop { result in done.update { $0 = result } }
    guard let result = done.wait({ $0 }) else { throw MediaError(.invalidState, "the recording ended") }
    return try result.get()
  }

  /// The same without blocking.
  ///
  /// - Parameter completion: called once, on the recorder's thread, or at once when it is over already.
  /// Errors: `invalidState` when nothing was begun.
  public func stop(completion: @escaping @Sendable (Result<Outcome, MediaError>) -> Void) throws(MediaError) {
    let (session, outcome) = try shared.update { shared throws(MediaError) -> (RecordingSession?, Outcome?) in
      switch shared.status.state {
      case .idle: throw Self.wrongState("nothing has been begun", shared)
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
    shared.tell(options.onEvent)
    session?.stop()
  }

  /// Removes the file. Blocks for a moment.
  ///
  /// Errors: `invalidState` unless it is stopped; `fileNotFound` when there is none; `outsideRoots`; `writeFailed`.
  public func deleteRecording() throws(MediaError) {
    let path = try shared.withState { shared throws(MediaError) -> [UInt8] in
      guard shared.status.state == .stopped else {
        throw Self.wrongState("a recording is deleted once it is stopped", shared)
      }
      guard let path = shared.status.outcome?.path else {
        throw MediaError(.fileNotFound, "there is no recording", operation: "deleteRecording")
      }
      return path
    }
    try place.remove(path)
    shared.update { $0.status.outcome?.path = nil }
  }

  // MARK: - Meters

  /// Updates `averagePower` and `peakPower` with the audio that was captured since the last call. Without new audio, they
  /// keep their values: a program may call it more often than the source delivers.
  public func updateMeters() {
    shared.withState { shared in
      guard let sum = shared.unread else { return }
      shared.levels = sum.levels
      shared.unread = nil
    }
  }

  /// The level of the root of the mean square, in dBFS, as `updateMeters` found it; `MeterLevels.silence` before.
  public func averagePower(forChannel channel: Int) -> Float { level(channel, \.averagePower) }

  /// The level of the largest sample, in dBFS, as `updateMeters` found it; `MeterLevels.silence` before.
  public func peakPower(forChannel channel: Int) -> Float { level(channel, \.peakPower) }

  private func level(_ channel: Int, _ values: KeyPath<MeterLevels, [Float]>) -> Float {
    let values = shared.withState { $0.levels?[keyPath: values] } ?? []
    return values.indices.contains(channel) ? values[channel] : MeterLevels.silence
  }

  /// Has `body` told, on the recorder's thread, how loud what was captured is: for each stretch of `1 / rate` seconds while it records,
  /// with the time of the recording at its end.
  ///
  /// - Parameter rate: 1 to 100 a second.
  /// Errors: `invalidArgument`.
  public func addMeterObserver(
    rate: Double, _ body: @escaping @Sendable (MeterLevels, MediaTime) -> Void
  ) throws(MediaError) -> Int {
    guard (1...100).contains(rate) else {
      throw MediaError(.invalidArgument, "a meter tells 1 to 100 times a second, not \(rate)", operation: "meter")
    }
    return shared.withState { shared in
      defer { shared.nextMeter += 1 }
      shared.meters[shared.nextMeter] = MeterObserver(
        intervalFrames: { max(1, Int(Double($0) / rate)) }, body: body)
      return shared.nextMeter
    }
  }

  /// Ends it. One call may be under way.
  public func removeMeterObserver(_ number: Int) { shared.withState { _ = $0.meters.removeValue(forKey: number) } }

  // MARK: - Internals

  private static func wrongState(_ rule: String, _ shared: Shared) -> MediaError {
    MediaError(.invalidState, "\(rule); the recorder is \(shared.status.state.rawValue)")
  }

  /// Begins, or goes on; false when there was nothing to begin.
  ///
  /// - Parameter start: nil: only prepares.
  private func begin(
    _ start: StartRequest?, _ completion: (@Sendable (Result<Void, MediaError>) -> Void)? = nil
  ) throws(MediaError) -> Bool {
    try options.check()
    let (session, isNew) = try shared.update { shared throws(MediaError) -> (RecordingSession?, Bool) in
      switch (shared.status.state, start) {
      case (.stopped, _) where !place.file.replaces && shared.status.outcome?.path != nil:
        // A second recording would fail at the file, and `outcome` would describe that instead of the first.
        throw MediaError(.fileExists, "the recorder has made its recording, which is not to be replaced")
      case (.idle, _), (.stopped, _):
        let session = RecordingSession(place, settings, options, makeSource, self.shared)
        shared.status = Status()
        shared.enter(.preparing)
        (shared.session, shared.start, shared.preparation) = (session, start, nil)
        (shared.unread, shared.levels) = (nil, nil)
        return (session, true)
      case (.preparing, nil), (.prepared, nil), (.recording, nil), (.paused, nil): return (nil, false)
      case (.preparing, let start?) where shared.start == nil:
        shared.start = start
        return (nil, false)
      case (.prepared, _?), (.paused, _?):
        shared.enter(.recording)
        return (shared.session, false)
      default: throw Self.wrongState("it cannot begin", shared)
      }
    }
    guard let session else { return completion == nil && start == nil }
    shared.tell(options.onEvent)
    if isNew { session.run(prepared: completion) } else if let start { session.start(start) }
    return true
  }
}

/// How a recorder follows its session. None of these calls has an effect on a recorder that has ended meanwhile.
extension AudioRecorder: SessionRecorder {
  public func interruptionBegan() {
    guard isRecording, (try? pause()) != nil else { return }
    interrupted.store(true, ordering: .relaxed)
  }

  public func interruptionEnded(shouldResume: Bool) {
    guard interrupted.exchange(false, ordering: .relaxed), shouldResume, status.state == .paused else { return }
    try? startRecording()
  }

  public func sessionForbidsRecording() {
    interrupted.store(false, ordering: .relaxed)
    if isRecording || status.state == .paused { try? stop { _ in } }
  }
}

extension WakeSignal<AudioRecorder.Shared> {
  /// Tells what happened in the order in which it did, one after another, on the thread of whoever is the first to come here.
  func tell(_ onEvent: (@Sendable (AudioRecorder.Event) -> Void)?) {
    while let events = takeUntold() {
      for event in events { onEvent?(event) }
      withState { $0.isTelling = false }
    }
  }

  private func takeUntold() -> [AudioRecorder.Event]? {
    withState { shared in
      guard !shared.isTelling, !shared.untold.isEmpty else { return nil }
      shared.isTelling = true
      defer { shared.untold = [] }
      return shared.untold
    }
  }
}
