import Logging
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// One device stream with its mixer, and the players on it.
///
/// An `Output` opens sinks on separate threads, and passes the events of the sink's side to the players. It replaces a
/// sink when the sink fails, or when another device is selected or reappears (Output+Devices.swift). Players keep their
/// positions meanwhile.
///
/// Threading: confined to the control loop.
final class Output: @unchecked Sendable {
  // `@unchecked Sendable`: confined to `loop`; closures from other threads hop onto it first.

  /// The use of one open sink. Not related to `AudioSession`.
  struct Session {
    var number: UInt64
    /// The choice for which the sink was opened.
    var choice: DeviceChooser.Choice
    var sink: any AudioSink
    var core: RenderCore
    /// The streams that the sink's side may still read, by id.
    var streams: [UInt64: RenderStream] = [:]
    /// The clients by the index of their input.
    var owners: [Int: any OutputClient] = [:]
  }

  /// The retries of an available device that could not be opened. The first interval is short, because the device may
  /// have just appeared. Each following interval is twice as long, up to 32 s.
  struct Retry {
    private static let firstMilliseconds: Int64 = 50
    private static let longestMilliseconds: Int64 = 32_000

    var timer: (any ControlTimer)?
    private var milliseconds = firstMilliseconds

    /// Resets the interval, because a change of the devices or of the selection may allow a refused attempt.
    mutating func reset() { milliseconds = Self.firstMilliseconds }

    /// Returns the time to wait before this retry.
    mutating func nextDelayNanoseconds() -> Int64 {
      defer { milliseconds = min(Self.longestMilliseconds, milliseconds * 2) }
      return milliseconds * 1_000_000
    }
  }

  let loop: any ControlLoop
  var state = OutputState() { didSet { if state != oldValue { onStateChange(state) } } }
  var onStateChange: (OutputState) -> Void = { _ in }
  /// Called when an attempt to open a device has succeeded or failed.
  var onOpeningEnded: () -> Void = {}
  /// Returns the current role of streams.
  var role: () -> StreamRole = { .music }
  /// Called with the notices of the server about sharing the device.
  var onSharing: (SharingNotice) -> Void = { _ in }
  /// Called when a session ends.
  var onSessionEnded: () -> Void = {}
  var onEvent: (OutputEvent) -> Void = { _ in }
  let configuration: OutputConfiguration
  let logger: Logger
  var session: Session?
  var lastSessionNumber: UInt64 = 0
  var openingCount = 0
  var clients: [ObjectIdentifier: any OutputClient] = [:]
  private var lastHeardFrame: Int64 = 0
  /// Whether the final heard frame has been read from the clock.
  private var isHeardFrameFinal = false
  private var batchDepth = 0
  private var coalescingTimer: (any ControlTimer)?
  /// The number of samples beyond full scale on previous devices.
  private var formerClippedSampleCount = 0

  // Devices (Output+Devices).
  var chooser: DeviceChooser
  var tracker = RouteTracker()
  var monitor: (any AudioDeviceMonitor)?
  /// The choice that is being opened, whether a request selected it, and when opening began; nil: none.
  var attempt: (choice: DeviceChooser.Choice, isChosen: Bool, startedAt: HostTime)?
  var retry = Retry()

  init(loop: any ControlLoop, configuration: OutputConfiguration, logger: Logger) {
    self.loop = loop
    self.configuration = configuration
    self.logger = logger
    chooser = DeviceChooser(selection: configuration.selection)
  }

  // MARK: - Clients

  func add(_ client: any OutputClient) { clients[ObjectIdentifier(client)] = client }

  func remove(_ client: any OutputClient) { clients[ObjectIdentifier(client)] = nil }

  /// Whether an unavailable device may become available later.
  var canRecover: Bool { configuration.canRecover }

  /// The mixer; nil while there is no device.
  var core: RenderCore? { session?.core }

  var format: AudioFormat? { session?.core.format }

  /// The number of samples beyond full scale that were heard since the output was created.
  var clippedSampleCount: Int { formerClippedSampleCount + (session?.core.clippedSampleCount ?? 0) }

  /// Attaches an input for `client`; nil without a device, or if the mixer is full.
  func attachInput(for client: any OutputClient) -> Int? {
    guard let index = session?.core.attachInput() else { return nil }
    session?.owners[index] = client
    return index
  }

  func detachInput(_ index: Int) {
    session?.core.detachInput(index)
    session?.owners[index] = nil
  }

  /// Whether a device is being opened. Virtual time waits for that.
  var isOpening: Bool { openingCount > 0 }

  /// Retains a stream until the sink's side no longer uses it.
  func retain(_ stream: RenderStream) { session?.streams[stream.id] = stream }

  /// Posts the commands of `body` in one batch: the mixer applies all of them at the same frame.
  func batch(_ body: () -> Void) {
    batchDepth += 1
    body()
    batchDepth -= 1
    if batchDepth == 0 { postCommands() }
  }

  /// Posts the commands of `body` after `delay`, together with the commands of later calls. Any call of `postCommands`
  /// posts them earlier.
  func coalesceCommands(forNanoseconds delay: Int64, _ body: () -> Void) {
    guard delay > 0 else { return body() }
    batchDepth += 1
    body()
    batchDepth -= 1
    coalescingTimer?.cancel()
    coalescingTimer = loop.schedule(at: loop.now.advanced(byNanoseconds: delay)) { [weak self] in self?.postCommands() }
  }

  /// Posts all pending commands to the mixer, which applies them as early as they can be heard. Has no effect in a
  /// batch.
  func postCommands() {
    guard let session, batchDepth == 0 else { return }
    session.core.postCommands()
    session.sink.commandsPosted()
    guard session.core.lostCommandCount > 0 else { return }
    // The sink hangs: it has not read the earlier commands. Its position is unknown.
    logger.error("the output accepts no commands; it restarts")
    let number = session.number
    loop.execute { self.restart(number) }
  }

  /// Ends the session and opens the same device again. Players continue from the last known positions.
  private func restart(_ number: UInt64) {
    guard let ending = session, ending.number == number else { return }
    endSession()
    start(ending.choice)
  }

  // MARK: - Time

  /// The output frame heard now. Never decreases on the same device.
  var heardFrame: Int64 {
    guard let session, !isHeardFrameFinal else { return lastHeardFrame }
    lastHeardFrame = max(lastHeardFrame, session.core.clock.snapshot().heardFrame(at: loop.now))
    return lastHeardFrame
  }

  /// Whether frames are being heard. After its start a device takes some time until the first frame is heard.
  var isClockRunning: Bool { session?.core.clock.snapshot().isRunning ?? false }

  /// How long before a frame is heard its commands must be posted while the device runs.
  var commandLeadNanoseconds: Int64 { session?.sink.commandLeadNanoseconds ?? 0 }

  /// Returns the instant at which `frame` is heard; nil while the device is stopped.
  func hostTime(ofFrame frame: Int64) -> HostTime? { session?.core.clock.snapshot().hostTime(ofFrame: frame) }

  /// Returns the first frame heard at `time` or later; nil while the device is stopped.
  func frame(heardAt time: HostTime) -> Int64? { session?.core.clock.snapshot().frame(heardAt: time) }

  // MARK: - Sharing the device

  /// Sets the role of the stream. With `makesNewStream` a new stream is opened for the role, because the role of the
  /// current stream cannot change.
  func setRole(_ role: StreamRole, makesNewStream: Bool) {
    guard let session, let sink = session.sink as? any SharedDeviceSink else { return }
    guard makesNewStream else { return sink.setRole(role) }
    let number = session.number
    loop.execute { self.restart(number) }
  }

  /// Resumes a stream after an interruption. The caller posts its commands first.
  func endInterruption(overrulesServer: Bool) {
    (session?.sink as? any SharedDeviceSink)?.endInterruption(overrulesServer: overrulesServer)
  }

  // MARK: - The clock

  /// Stores the final heard frame of the session. It may be less than frames read before: a failed device may have
  /// announced frames that were not heard.
  private func storeFinalHeardFrame(uncertaintyNanoseconds: Int64) {
    guard let session else { return }
    let time = loop.now.advanced(byNanoseconds: -uncertaintyNanoseconds)
    lastHeardFrame = session.core.clock.snapshot().heardFrame(at: time)
    isHeardFrameFinal = true
  }

  // MARK: - Sessions

  /// Plays on an open sink.
  func beginSession(on sink: any AudioSink, format: AudioFormat, number: UInt64, for choice: DeviceChooser.Choice) {
    endSession()
    let core = RenderCore(format: format)
    session = Session(number: number, choice: choice, sink: sink, core: core)
    lastHeardFrame = 0
    sink.observeDevice { [loop] notice in loop.execute { self.handle(notice, number) } }
    sink.start(
      core: core,
      wakeControl: { [loop] in loop.execute { self.pump(number) } },
      onFailure: { [loop] error in loop.execute { self.sinkFailed(number, error) } })
    logger.info(
      "output opened",
      metadata: [
        "output": "\(sink.label)", "rate": "\(format.sampleRateHz)", "channels": "\(format.channelCount)",
      ])
  }

  /// Ends the session. `uncertaintyNanoseconds` is the maximum time since the device may have stopped without a report.
  func endSession(uncertaintyNanoseconds: Int64 = 0) {
    guard let ending = session else { return }
    storeFinalHeardFrame(uncertaintyNanoseconds: max(uncertaintyNanoseconds, ending.sink.possibleLossNanoseconds))
    deliver(from: ending)
    for client in clients.values { client.outputWillStop() }
    onSessionEnded()
    formerClippedSampleCount += ending.core.clippedSampleCount
    session = nil
    isHeardFrameFinal = false
    // The streams are retained until the sink is closed and makes no more calls.
    dispose(of: ending.sink, keeping: Array(ending.streams.values))
  }

  /// Closes a sink on a separate thread, because closing may block. In virtual time the sink is closed at once, because
  /// closing does not block and no time may pass.
  func dispose(
    of sink: any AudioSink, keeping streams: [RenderStream] = [], then completion: @escaping @Sendable () -> Void = {}
  ) {
    if isVirtual {
      sink.close()
      return completion()
    }
    NamedThread.detached(name: "close-output") {
      sink.close()
      withExtendedLifetime(streams) { completion() }
    }
  }

  /// Closes the output permanently.
  func close(completion: @escaping @Sendable () -> Void) {
    retry.timer?.cancel()
    if let monitor { NamedThread.detached(name: "close-monitor") { monitor.cancel() } }
    monitor = nil
    guard let ending = session else {
      state = OutputState(status: .closed)
      return completion()
    }
    session = nil
    state = OutputState(status: .closed)
    dispose(of: ending.sink, keeping: Array(ending.streams.values)) { [loop] in loop.execute(completion) }
  }

  // MARK: - Events

  /// Whether the sink's side has posted events that are not delivered yet. `pump` will deliver them.
  var hasPendingEvents: Bool { session?.core.hasPendingEvents ?? false }

  /// Handles a wakeup from the sink's side of a session.
  private func pump(_ number: UInt64) { if session?.number == number { pump() } }

  /// Delivers all events of the sink's side to their clients, then calls `didHandleEvents`.
  func pump() {
    guard let session else { return }
    deliver(from: session)
    guard session.core.lostEventCount == 0 else {
      logger.error("render events were lost; the output restarts")
      return restart(session.number)
    }
    for client in clients.values { client.didHandleEvents() }
  }

  private func deliver(from session: Session) {
    while let event = session.core.nextEvent() {
      switch event.kind {
      case .streamRetired:
        self.session?.streams[event.streamID] = nil
        session.owners[Int(event.inputIndex)]?.handle(event)
      case .rewound: for client in session.owners.values { client.handle(event) }
      default: session.owners[Int(event.inputIndex)]?.handle(event)
      }
    }
  }
}
