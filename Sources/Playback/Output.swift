import Logging
import MediaCore
import RealtimeAudio

/// Names an observer until it is removed; unique within an engine.
public typealias ObserverToken = UInt64

/// Which device an engine plays on, and what to do without it.
public struct OutputConfiguration: Sendable {
  /// Makes the device's sink. Called anew for every attempt.
  public var makeSink: @Sendable () -> any AudioSink
  /// What plays while the device cannot be had; nil: players wait.
  public var makeFallback: (@Sendable () -> any AudioSink)?
  /// Calls back once, from any thread, when the device may be there; answers what cancels that. nil: never again.
  public var awaitDevice: (@Sendable (_ onAppearance: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)?)?

  public init(
    makeSink: @escaping @Sendable () -> any AudioSink, makeFallback: (@Sendable () -> any AudioSink)? = nil,
    awaitDevice: (@Sendable (_ onAppearance: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)?)? = nil
  ) {
    self.makeSink = makeSink
    self.makeFallback = makeFallback
    self.awaitDevice = awaitDevice
  }

  /// Whether players can hope for anything when the device cannot be had: a fallback, or a device to wait for. Without it
  /// an output that does not open never will.
  public var canRecover: Bool { makeFallback != nil || awaitDevice != nil }
}

/// What an engine plays on at the moment.
public struct OutputState: Sendable, Hashable {
  public enum Status: String, Sendable, Hashable {
    /// The device is being opened for the first time.
    case opening
    case ready
    /// The fallback plays, until the device appears; `error` says why.
    case fallback
    /// Nothing plays; players wait. `error` says why.
    case lost
    case closed
  }

  public var status = Status.opening
  /// As `AudioSink.label`; empty while nothing is open.
  public var label = ""
  public var format: AudioFormat?
  public var error: MediaError?
}

/// Who plays on an output. Called on the control loop.
protocol OutputClient: AnyObject {
  func outputDidStart()
  func outputWillStop()
  func handle(_ event: RenderEvent)
  /// All events that waited have been handled.
  func didHandleEvents()
}

/// One device stream and its mixer, and the players on it.
///
/// Opens sinks on workers, replaces them when they fail or the device comes back, and hands what the render side says to
/// the players. Players keep their positions across all of that.
///
/// Threading: confined to the control loop.
final class Output: @unchecked Sendable {
  // `@unchecked Sendable`: confined to `loop`; closures that come from elsewhere hop onto it first.

  private struct Session {
    var number: UInt64
    var sink: any AudioSink
    var core: RenderCore
    /// Streams that the render side may still read, and whose they are.
    var streams: [UInt64: RenderStream] = [:]
    var owners: [Int: any OutputClient] = [:]
  }

  let loop: any ControlLoop
  private(set) var state = OutputState() { didSet { if state != oldValue { onStateChange(state) } } }
  var onStateChange: (OutputState) -> Void = { _ in }
  /// An attempt to open a device came to its end.
  var onOpened: () -> Void = {}
  /// What streams are for, the server's word on them, and that a device went away with it.
  var role: () -> StreamRole = { .music }
  var onNotice: (DeviceNotice) -> Void = { _ in }
  var onDeviceLost: () -> Void = {}
  private let configuration: OutputConfiguration
  private let logger: Logger
  private var session: Session?
  private var sessionCount: UInt64 = 0
  private var openingCount = 0
  private var clients: [ObjectIdentifier: any OutputClient] = [:]
  private var cancelAwaiting: (@Sendable () -> Void)?
  private var lastHeardFrame: Int64 = 0
  private var batchDepth = 0
  /// What former devices were given beyond full scale.
  private var formerClippedSampleCount = 0

  init(loop: any ControlLoop, configuration: OutputConfiguration, logger: Logger) {
    self.loop = loop
    self.configuration = configuration
    self.logger = logger
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
    guard session?.number == number else { return }
    endSession()
    open()
  }

  // MARK: - Time

  /// The output frame heard now; never goes back while the device is the same.
  var heardFrame: Int64 {
    guard let session else { return lastHeardFrame }
    lastHeardFrame = max(lastHeardFrame, session.core.clock.snapshot().heardFrame(at: loop.now))
    return lastHeardFrame
  }

  /// Whether frames are being heard; a device that was just set going stands for a moment before the first one.
  var isClockRunning: Bool { session?.core.clock.snapshot().isRunning ?? false }

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

  // MARK: - Opening, losing, closing

  /// Opens the device, or what stands in for it, on a worker.
  func open() {
    let configuration = configuration
    sessionCount += 1
    let number = sessionCount
    openingCount += 1
    let role = role()
    NamedThread.detached(name: "open-output") { [loop] in
      let sink = configuration.makeSink()
      (sink as? any SharedDeviceSink)?.prepare(role: role) { notice in
        loop.execute { if self.session?.number == number { self.onNotice(notice) } }
      }
      let result = Result { () throws(MediaError) in try sink.open() }
      loop.execute {
        self.openingCount -= 1
        switch result {
        case .success(let format):
          self.install(sink, format: format, number: number, asFallbackFor: nil)
          // It may have become another one while the device was being opened.
          if self.session?.number == number, self.role() != role { self.setRole(self.role(), makesNewStream: false) }
        case .failure(let error): self.openFailed(error, number: number)
        }
        self.onOpened()
      }
    }
  }

  private func openFailed(_ error: MediaError, number: UInt64) {
    guard number == sessionCount, state.status != .closed else { return }
    if session != nil {
      // The fallback plays on.
      awaitDevice()
      return
    }
    guard let makeFallback = configuration.makeFallback else {
      if configuration.canRecover {
        logger.warning("no output", metadata: ["error": "\(error)"])
      } else if state.status != .opening {
        // (That it could not even be opened is for who opened it to say.)
        logger.error("no output any more", metadata: ["error": "\(error)"])
      }
      state = OutputState(status: .lost, error: error)
      awaitDevice()
      return
    }
    let sink = makeFallback()
    do throws(MediaError) {
      let format = try sink.open()
      logger.warning(
        "playing on the fallback output", metadata: ["output": "\(sink.label)", "error": "\(error)"])
      install(sink, format: format, number: number, asFallbackFor: error)
    } catch let fallbackError {
      logger.error("no output", metadata: ["error": "\(fallbackError)"])
      state = OutputState(status: .lost, error: fallbackError)
    }
    awaitDevice()
  }

  /// Opens the device when it may be there again.
  private func awaitDevice() {
    guard let awaitDevice = configuration.awaitDevice else { return }
    cancelAwaiting?()
    cancelAwaiting = awaitDevice { [loop] in
      loop.execute {
        guard self.state.status != .closed else { return }
        self.cancelAwaiting = nil
        self.open()
      }
    }
  }

  private func install(_ sink: any AudioSink, format: AudioFormat, number: UInt64, asFallbackFor error: MediaError?) {
    guard number == sessionCount, state.status != .closed else { return dispose(of: sink) }
    endSession()
    let core = RenderCore(format: format)
    session = Session(number: number, sink: sink, core: core)
    lastHeardFrame = 0
    sink.start(
      core: core,
      wakeControl: { [loop] in loop.execute { self.pump(number) } },
      onFailure: { [loop] error in loop.execute { self.sinkFailed(number, error) } })
    logger.info(
      "output opened",
      metadata: [
        "output": "\(sink.label)", "rate": "\(format.sampleRateHz)", "channels": "\(format.channelCount)",
      ])
    state = OutputState(status: error == nil ? .ready : .fallback, label: sink.label, format: format, error: error)
    for client in clients.values { client.outputDidStart() }
  }

  private func sinkFailed(_ number: UInt64, _ error: MediaError) {
    guard session?.number == number else { return }
    logger.warning("output lost", metadata: ["error": "\(error)"])
    endSession()
    openFailed(error, number: sessionCount)
  }

  private func endSession() {
    guard let ending = session else { return }
    deliver(from: ending)
    for client in clients.values { client.outputWillStop() }
    onDeviceLost()
    formerClippedSampleCount += ending.core.clippedSampleCount
    session = nil
    // The streams live until the sink calls no more.
    dispose(of: ending.sink, keeping: Array(ending.streams.values))
  }

  /// Closes a sink on a worker, for closing may block.
  private func dispose(
    of sink: any AudioSink, keeping streams: [RenderStream] = [], then completion: @escaping @Sendable () -> Void = {}
  ) {
    NamedThread.detached(name: "close-output") {
      sink.close()
      withExtendedLifetime(streams) { completion() }
    }
  }

  /// Ends the output for good.
  func close(completion: @escaping @Sendable () -> Void) {
    cancelAwaiting?()
    cancelAwaiting = nil
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
