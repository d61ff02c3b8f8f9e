import ControlLoop
import Logging
import MediaCore
import RealtimeAudio

/// One device stream with its mixer, and the players on it.
///
/// Opens sinks on workers and passes the events of the render side to the players. Replaces a sink when it fails, or
/// when another device is selected or returns (Output+Devices). Players keep their positions meanwhile.
///
/// Threading: confined to the control loop.
final class Output: @unchecked Sendable {
  // `@unchecked Sendable`: confined to `loop`; closures from other threads hop onto it first.

  struct Session {
    var number: UInt64
    /// The choice for which the sink was opened.
    var choice: DeviceChooser.Choice
    var sink: any AudioSink
    var core: RenderCore
    /// The streams that the render side may still read, and the owners of inputs.
    var streams: [UInt64: RenderStream] = [:]
    var owners: [Int: any OutputClient] = [:]
  }

  /// The retries of an available device that could not be opened: soon at first, because it may have just appeared,
  /// then at growing intervals.
  struct Retry {
    private static let firstMilliseconds: Int64 = 50
    private static let longestMilliseconds: Int64 = 32_000

    var timer: (any ControlTimer)?
    private var milliseconds = firstMilliseconds

    /// Resets the interval: conditions have changed, so that a refused attempt may succeed now.
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
  /// Called when an attempt to open a device has ended.
  var onOpened: () -> Void = {}
  /// The role of streams, the sharing notices of the server, and the loss of the device.
  var role: () -> StreamRole = { .music }
  var onSharing: (SharingNotice) -> Void = { _ in }
  var onDeviceLost: () -> Void = {}
  var onEvent: (OutputEvent) -> Void = { _ in }
  let configuration: OutputConfiguration
  let logger: Logger
  var session: Session?
  var sessionCount: UInt64 = 0
  var openingCount = 0
  var clients: [ObjectIdentifier: any OutputClient] = [:]
  private var lastHeardFrame: Int64 = 0
  /// Whether the final heard frame has been read from the clock.
  private var isEnding = false
  private var batchDepth = 0
  private var coalescingTimer: (any ControlTimer)?
  /// The number of samples beyond full scale on former devices.
  private var formerClippedSampleCount = 0

  // Devices (Output+Devices).
  var chooser: DeviceChooser
  var tracker = RouteTracker()
  var monitor: (any AudioDeviceMonitor)?
  /// The choice that is being opened, and whether by request; nil: none.
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

  /// Retains a stream until the render side no longer uses it.
  func retain(_ stream: RenderStream) { session?.streams[stream.id] = stream }

  /// Commits the commands of `body` in one batch: the mixer applies all of them at the same frame.
  func batch(_ body: () -> Void) {
    batchDepth += 1
    body()
    batchDepth -= 1
    if batchDepth == 0 { commit() }
  }

  /// Commits the commands of `body` after a short delay, together with the commands of later calls; at the latest with
  /// the next commit.
  func coalesceCommands(forNanoseconds delay: Int64, _ body: () -> Void) {
    guard delay > 0 else { return body() }
    batchDepth += 1
    body()
    batchDepth -= 1
    coalescingTimer?.cancel()
    coalescingTimer = loop.schedule(at: loop.now.advanced(byNanoseconds: delay)) { [weak self] in self?.commit() }
  }

  /// Applies the posted commands as early as they can be heard.
  func commit() {
    guard let session, batchDepth == 0 else { return }
    session.core.postCommands()
    session.sink.commandsPosted()
    guard session.core.lostCommandCount > 0 else { return }
    // A sink that accepts no commands hangs, and its position is unknown.
    logger.error("the output accepts no commands; it restarts")
    let number = session.number
    loop.execute { self.restart(number) }
  }

  /// Restarts the output from the last known positions.
  private func restart(_ number: UInt64) {
    guard let ending = session, ending.number == number else { return }
    endSession()
    start(ending.choice)
  }

  // MARK: - Time

  /// The output frame heard now. Never decreases on the same device.
  var heardFrame: Int64 {
    guard let session, !isEnding else { return lastHeardFrame }
    lastHeardFrame = max(lastHeardFrame, session.core.clock.snapshot().heardFrame(at: loop.now))
    return lastHeardFrame
  }

  /// Whether frames are being heard. A device that was just started pauses briefly before the first frame.
  var isClockRunning: Bool { session?.core.clock.snapshot().isRunning ?? false }

  /// The time before a frame is heard at which the running device must know it.
  var commandLeadNanoseconds: Int64 { session?.sink.commandLeadNanoseconds ?? 0 }

  /// The instant at which `frame` is or was heard; nil while the device is stopped.
  func hostTime(ofFrame frame: Int64) -> HostTime? { session?.core.clock.snapshot().hostTime(ofFrame: frame) }

  /// The first frame heard at `time` or later, according to the clock; nil while the device is stopped.
  func frame(heardAt time: HostTime) -> Int64? { session?.core.clock.snapshot().frame(heardAt: time) }

  // MARK: - Sharing the device

  /// Sets the role of the stream. `makesNewStream`: the role of the present stream cannot change, so a new one is
  /// opened.
  func setRole(_ role: StreamRole, makesNewStream: Bool) {
    guard let session, let sink = session.sink as? any SharedDeviceSink else { return }
    guard makesNewStream else { return sink.setRole(role) }
    let number = session.number
    loop.execute { self.restart(number) }
  }

  /// Resumes a stream after an interruption, after the posted commands.
  func endInterruption(overrulesServer: Bool) {
    (session?.sink as? any SharedDeviceSink)?.endInterruption(overrulesServer: overrulesServer)
  }

  // MARK: - The clock

  /// Accepts the final position of the clock, even if an earlier position was later: frames that a failed device had
  /// announced were not heard.
  private func acceptClock(doubtNanoseconds: Int64) {
    guard let session else { return }
    let time = loop.now.advanced(byNanoseconds: -doubtNanoseconds)
    lastHeardFrame = session.core.clock.snapshot().heardFrame(at: time)
    isEnding = true
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

  /// Ends the session. `doubtNanoseconds` is the maximum time since the device may have stopped without a report.
  func endSession(doubtNanoseconds: Int64 = 0) {
    guard let ending = session else { return }
    acceptClock(doubtNanoseconds: max(doubtNanoseconds, ending.sink.possibleLossNanoseconds))
    deliver(from: ending)
    for client in clients.values { client.outputWillStop() }
    onDeviceLost()
    formerClippedSampleCount += ending.core.clippedSampleCount
    session = nil
    isEnding = false
    // The streams live until the sink makes no more calls.
    dispose(of: ending.sink, keeping: Array(ending.streams.values))
  }

  /// Closes a sink on a worker, because closing may block. In virtual time closes it at once, because it does not block
  /// and no time may pass.
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

  /// Handles a wake from the render side of a session.
  private func pump(_ number: UInt64) { if session?.number == number { pump() } }

  /// Delivers all events of the render side to their clients, then lets the clients evaluate them.
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
