import MediaTesting
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import RigSupport
import Synchronization

@testable import PlayheadControlLoop
@testable import PlayheadPlayerModel

/// A simulated sound server whose devices appear and disappear on request. A player plays one time-coded file on
/// virtual time.
///
/// The rig closes its engine when the test releases it.
final class DeviceRig: Sendable {
  /// The sink of one device, controlled by the test.
  final class Sink: AudioSink {
    let deviceName: String?
    let inner: VirtualSink
    private let isBroken: Bool
    private let onNotice = Mutex<@Sendable (DeviceNotice) -> Void>({ _ in })
    private let onFailure = Mutex<@Sendable (MediaError) -> Void>({ _ in })

    init(_ name: String, inner: VirtualSink, isBroken: Bool) {
      deviceName = name
      self.inner = inner
      self.isBroken = isBroken
    }

    var label: String { "pulse:\(deviceName ?? "")" }

    func observeDevice(_ handler: @escaping @Sendable (DeviceNotice) -> Void) { onNotice.withLock { $0 = handler } }

    func open() throws(MediaError) -> AudioFormat {
      if isBroken { throw MediaError(.outputUnavailable, "there is no such device") }
      return try inner.open()
    }

    func start(
      core: RenderCore, wakeControl: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (MediaError) -> Void
    ) {
      self.onFailure.withLock { $0 = onFailure }
      inner.start(core: core, wakeControl: wakeControl, onFailure: onFailure)
    }

    func commandsPosted() { inner.commandsPosted() }
    func close() { inner.close() }
    func fail(_ code: MediaError.Code) { onFailure.withLock { $0 }(MediaError(code, "gone")) }
    func notice(_ notice: DeviceNotice) { onNotice.withLock { $0 }(notice) }
  }

  /// The server: its devices, the sinks created for them, and the handler of reports.
  final class Server: AudioDeviceMonitor {
    struct State {
      var names: [String]
      var broken: Set<String> = []
      var sinks: [Sink] = []
      var report: (@Sendable (AudioDevices?) -> Void)?
      var checkCount = 0
    }

    let state: Mutex<State>

    init(_ names: [String]) { state = Mutex(State(names: names)) }

    func start(_ onReport: @escaping @Sendable (AudioDevices?) -> Void) { state.withLock { $0.report = onReport } }
    func check() { state.withLock { $0.checkCount += 1 } }
    func cancel() {}

    /// The first name is the default device.
    func makeSink(_ name: String?, inner: VirtualSink) -> Sink {
      state.withLock { state in
        let name = name ?? state.names.first ?? "none"
        let sink = Sink(name, inner: inner, isBroken: !state.names.contains(name) || state.broken.contains(name))
        state.sinks.append(sink)
        return sink
      }
    }

    /// The newest sink for a device.
    func sink(_ label: String) -> Sink? { state.withLock { $0.sinks.last { $0.label == label } } }
  }

  let loop = VirtualControlLoop(base: ThreadControlLoop(name: "devices"))
  let heard = HeardSamples()
  let server: Server
  let engine: PlaybackEngine
  let player: QueuePlayer
  /// The file that the player plays.
  let path: String
  private let files: TemporaryDirectory
  private let routeLog = TextLog()
  private let pauseLog = TextLog()

  /// - Parameter names: the devices, the default first.
  init(_ names: String..., selection: OutputSelection = OutputSelection()) async throws {
    let server = Server(names)
    self.server = server
    files = try TemporaryDirectory()
    let path = files.file("1.wav")
    self.path = path
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 480_000, sampleRateHz: 48_000)
    let (loop, heard, routeLog, pauseLog) = (loop, heard, routeLog, pauseLog)
    let makeInner: @Sendable () -> VirtualSink = {
      VirtualSink(format: Rig.format, lookAheadFrames: 4_800, writer: heard, now: { [unowned loop] in loop.now })
    }
    let engine = PlaybackEngine(
      loop: loop,
      output: OutputConfiguration(
        selection: selection, makeSink: { server.makeSink($0, inner: makeInner()) },
        makeSilence: {
          let sink = makeInner()
          loop.execute { loop.attach(sink) }
          return sink
        },
        makeMonitor: { server }))
    self.engine = engine
    player = QueuePlayer(engine: engine)
    try await player.append([PlayerItem(asset: Asset(path: path), id: 1)])
    await onLoop { rig in
      _ = engine.core.addOutputObserver { state in
        if state.status == .ready, let sink = server.sink(state.label) { loop.attach(sink.inner) }
      }
      _ = engine.core.addRouteObserver { event in
        guard case .route(let change) = event else { return }
        routeLog("\(change.reason.rawValue) \(change.current.output?.deviceName ?? "none")")
      }
      _ = rig.player.assumeIsolated { player in
        player.addStateObserver { change in
          if change.old.rate != 0, change.new.rate == 0, change.cause == .output { pauseLog("paused") }
        }
      }
      engine.open()
    }
    await report()
  }

  deinit {
    loop.execute { [engine, server] in
      // The sinks and the handler retain the output, which retains the server.
      engine.close { server.state.withLock { ($0.sinks, $0.report) = ([], nil) } }
    }
  }

  /// Runs `body` on the loop.
  func onLoop<Result: Sendable>(_ body: @escaping @Sendable (DeviceRig) -> Result) async -> Result {
    await withCheckedContinuation { continuation in loop.execute { continuation.resume(returning: body(self)) } }
  }

  /// Lets virtual time pass, after all earlier requests have started.
  func advance(milliseconds: Int64) async { await loop.advance(byNanoseconds: milliseconds * 1_000_000) }

  /// Reports these devices of the server (nil: the same as before).
  func report(_ names: [String]? = nil, unplugged: Set<String> = []) async {
    let devices = server.state.withLock { state in
      if let names { state.names = names }
      let outputs = state.names.map { name in
        AudioDevice(
          kind: .output, name: name, description: name,
          ports: [
            .init(name: "port", description: "Port", availability: unplugged.contains(name) ? .unavailable : .available)
          ],
          activePortName: "port")
      }
      return AudioDevices(serverName: "test", outputs: outputs, defaultOutputName: state.names.first)
    }
    server.state.withLock { $0.report }?(devices)
    await advance(milliseconds: 0)
  }

  /// Reports that no server is available.
  func reportNoServer() async {
    server.state.withLock { $0.report }?(nil)
    await advance(milliseconds: 0)
  }

  /// Makes the sink of a device fail.
  func fail(_ name: String, _ code: MediaError.Code) async {
    server.sink("pulse:\(name)")?.fail(code)
    await advance(milliseconds: 0)
  }

  /// Sends a notice of the device.
  func notice(_ name: String, _ notice: DeviceNotice) async {
    server.sink("pulse:\(name)")?.notice(notice)
    await advance(milliseconds: 0)
  }

  /// Selects another output. Returns the code of the error, if there is one.
  @discardableResult
  func select(_ selection: OutputSelection) async -> MediaError.Code? {
    let code = await onLoop { rig -> MediaError.Code? in
      do throws(MediaError) {
        try rig.engine.core.selectOutput(selection)
        return nil
      } catch { return error.code }
    }
    await advance(milliseconds: 0)
    return code
  }

  var output: OutputState { get async { await onLoop { $0.engine.core.outputState } } }
  /// The reasons and targets of route changes.
  var routes: [String] { routeLog.lines }
  /// The number of pauses that the output caused.
  var pauseCount: Int { pauseLog.lines.count }

  /// The player's status, waiting reason and rate.
  var playbackStatus: String {
    get async {
      let state = await player.state
      return "\(state.timeControlStatus) \(state.reasonForWaitingToPlay?.rawValue ?? "-") \(state.rate)"
    }
  }
}
