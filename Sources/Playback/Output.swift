import Logging
import MediaCore
import RealtimeAudio

/// One device stream and its mixer, and the players on it.
///
/// Opens sinks on workers, replaces them when they fail, another device is wanted or one comes back (Output+Devices), and hands
/// what the render side says to the players. Players keep their positions across all of that.
///
/// Threading: confined to the control loop.
final class Output: @unchecked Sendable {
  // `@unchecked Sendable`: confined to `loop`; closures that come from elsewhere hop onto it first.

  struct Session {
    var number: UInt64
    /// What it was opened for.
    var choice: DeviceChooser.Choice
    var sink: any AudioSink
    var core: RenderCore
    /// Streams that the render side may still read, and whose they are.
    var streams: [UInt64: RenderStream] = [:]
    var owners: [Int: any OutputClient] = [:]
  }

  /// A device that is there and could not be opened is tried again: soon at first, for it may have come a moment ago, and later and later.
  struct Retry {
    private static let firstMilliseconds: Int64 = 50
    private static let longestMilliseconds: Int64 = 32_000

    var timer: (any ControlTimer)?
    private var milliseconds = firstMilliseconds

    /// Something is different: whoever refused may not any more.
    mutating func hurry() { milliseconds = Self.firstMilliseconds }

    /// How long to wait this time.
    mutating func takeNanoseconds() -> Int64 {
      defer { milliseconds = min(Self.longestMilliseconds, milliseconds * 2) }
      return milliseconds * 1_000_000
    }
  }

  let loop: any ControlLoop
  var state = OutputState() { didSet { if state != oldValue { onStateChange(state) } } }
  var onStateChange: (OutputState) -> Void = { _ in }
  /// An attempt to open a device came to its end.
  var onOpened: () -> Void = {}
  /// What streams are for, the server's word on them, and that a device went away with it.
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
  /// The clock's last word has been taken.
  private var isEnding = false
  private var batchDepth = 0
  private var gatheringTimer: (any ControlTimer)?
  /// What former devices were given beyond full scale.
  private var formerClippedSampleCount = 0

  // Devices (Output+Devices).
  var chooser: DeviceChooser
  var tracker = RouteTracker()
  var monitor: (any AudioDeviceMonitor)?
  /// What is being opened, and whether because somebody asked for it; nil: nothing.
  var attempt: (choice: DeviceChooser.Choice, isChosen: Bool, beginning: HostTime)?
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

  /// Whether a device that cannot be had may be had later.
  var canRecover: Bool { configuration.canRecover }

  /// The mixer; nil while there is no device.
  var core: RenderCore? { session?.core }

  var format: AudioFormat? { session?.core.format }

  /// Samples beyond full scale that were heard since the output was made.
  var clippedSampleCount: Int { formerClippedSampleCount + (session?.core.clippedSampleCount ?? 0) }

  /// Takes an input for `client`; nil without a device, or when the mixer is full.
  func attachInput(for client: any OutputClient) -> Int? {
    guard let index = session?.core.attachInput() else { return nil }
    session?.owners[index] = client
    return index
  }

  func detachInput(_ index: Int) {
    session?.core.detachInput(index)
    session?.owners[index] = nil
  }

  /// Whether a device is being opened, which virtual time waits for.
  var isOpening: Bool { openingCount > 0 }

  /// Keeps a stream alive until the render side is done with it.
  func keep(_ stream: RenderStream) { session?.streams[stream.id] = stream }

  /// Commits what `body` does in one go: the mixer sees all of it at the same frame.
  func batch(_ body: () -> Void) {
    batchDepth += 1
    body()
    batchDepth -= 1
    if batchDepth == 0 { commit() }
  }

  /// Commits what `body` does a little later, with the commands of the calls that follow; at the latest with the next commit.
  func gatherCommands(forNanoseconds delay: Int64, _ body: () -> Void) {
    guard delay > 0 else { return body() }
    batchDepth += 1
    body()
    batchDepth -= 1
    gatheringTimer?.cancel()
    gatheringTimer = loop.schedule(at: loop.now.advanced(byNanoseconds: delay)) { [weak self] in self?.commit() }
  }

  /// Applies what was posted to the mixer as soon as it can be heard.
  func commit() {
    guard let session, batchDepth == 0 else { return }
    session.core.postCommands()
    session.sink.commandsPosted()
    guard session.core.lostCommandCount > 0 else { return }
    // A sink that takes no commands hangs, and what it plays is not known any more.
    logger.error("the output takes no commands; it starts anew")
    let number = session.number
    loop.execute { self.startAnew(number) }
  }

  /// Begins again, from the positions last known.
  private func startAnew(_ number: UInt64) {
    guard let ending = session, ending.number == number else { return }
    endSession()
    start(ending.choice)
  }

  // MARK: - Time

  /// The output frame heard now; never goes back while the device is the same.
  var heardFrame: Int64 {
    guard let session, !isEnding else { return lastHeardFrame }
    lastHeardFrame = max(lastHeardFrame, session.core.clock.snapshot().heardFrame(at: loop.now))
    return lastHeardFrame
  }

  /// Whether frames are being heard; a device that was just set going stands for a moment before the first one.
  var isClockRunning: Bool { session?.core.clock.snapshot().isRunning ?? false }

  /// How long before it is heard a frame has to be known to the running device.
  var commandLeadNanoseconds: Int64 { session?.sink.commandLeadNanoseconds ?? 0 }

  /// When `frame` will be heard, or was; nil while the device stands still.
  func hostTime(ofFrame frame: Int64) -> HostTime? { session?.core.clock.snapshot().hostTime(ofFrame: frame) }

  /// The first frame that is heard at `time` or after it, as far as the clock tells; nil while the device stands still.
  func frame(heardAt time: HostTime) -> Int64? { session?.core.clock.snapshot().frame(heardAt: time) }

  // MARK: - Sharing the device

  /// Says what the stream is for from now on; `makesNewStream`: the present one cannot be told.
  func setRole(_ role: StreamRole, makesNewStream: Bool) {
    guard let session, let sink = session.sink as? any SharedDeviceSink else { return }
    guard makesNewStream else { return sink.setRole(role) }
    let number = session.number
    loop.execute { self.startAnew(number) }
  }

  /// Lets a stream that was interrupted go on, after the commands that were posted.
  func endInterruption(overrulesServer: Bool) {
    (session?.sink as? any SharedDeviceSink)?.endInterruption(overrulesServer: overrulesServer)
  }

  // MARK: - The clock

  /// Takes the clock's word for where the device got to, though it may have said more before: what a device that failed
  /// promised is not what was heard.
  private func acceptClock(doubtNanoseconds: Int64) {
    guard let session else { return }
    let time = loop.now.advanced(byNanoseconds: -doubtNanoseconds)
    lastHeardFrame = session.core.clock.snapshot().heardFrame(at: time)
    isEnding = true
  }

  // MARK: - Sessions

  /// Plays on a sink that is open.
  func begin(_ sink: any AudioSink, format: AudioFormat, number: UInt64, for choice: DeviceChooser.Choice) {
    endSession()
    let core = RenderCore(format: format)
    session = Session(number: number, choice: choice, sink: sink, core: core)
    lastHeardFrame = 0
    sink.observeDevice { [loop] notice in loop.execute { self.noticed(notice, number) } }
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

  /// `doubtNanoseconds`: how long ago the device may have stopped without saying so.
  func endSession(doubtNanoseconds: Int64 = 0) {
    guard let ending = session else { return }
    acceptClock(doubtNanoseconds: max(doubtNanoseconds, ending.sink.doubtNanoseconds))
    deliver(from: ending)
    for client in clients.values { client.outputWillStop() }
    onDeviceLost()
    formerClippedSampleCount += ending.core.clippedSampleCount
    session = nil
    isEnding = false
    // The streams live until the sink calls no more.
    dispose(of: ending.sink, keeping: Array(ending.streams.values))
  }

  /// Closes a sink on a worker, for closing may block; at once where nothing does, and no time may pass meanwhile.
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

  /// Ends the output for good.
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

  /// The render side of a session has said something.
  private func pump(_ number: UInt64) { if session?.number == number { pump() } }

  /// Hands everything that the render side said to those whom it concerns, and lets them look at what it means.
  func pump() {
    guard let session else { return }
    deliver(from: session)
    guard session.core.lostEventCount == 0 else {
      logger.error("render events were lost; the output starts anew")
      return startAnew(session.number)
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
