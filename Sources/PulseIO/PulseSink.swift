import CPulse
import Logging
import MediaCore
import RealtimeAudio
import Synchronization

/// An output through PulseAudio (or PipeWire's `pipewire-pulse`): float32, at the device's own rate.
///
/// The stream holds about 100 ms, so that a player wakes the machine rarely; commands are heard at once all the same. A
/// seek of the only player that sounds replaces what is queued from where the device reads next, and a pause stops the
/// stream: within one block of the device, 20 ms. Where something else sounds on, what is queued is rendered again and
/// overwritten, clear of what the device is about to read: 20 to 50 ms, and no other player loses a sample by it. When
/// nothing sounds the stream is corked and nothing wakes. A sound server that starves us, or is starved by us, loses no
/// sample: the stream goes on where it was. Whoever needs the sink back after `outputLost` or `deviceLost` closes it and opens a new one;
/// `PulseDeviceMonitor` says when that is worth trying.
///
/// Threading: `open`, `start` and `close` on threads that may block, one at a time; the rest anywhere. Callbacks come
/// from libpulse's own thread, `playhead-pulse`.
public final class PulseSink: SharedDeviceSink {
  /// Which device, and how.
  public struct Configuration: Sendable, Hashable {
    /// The server, as libpulse names it: `unix:/path/to/socket`; nil is the user's default (`PULSE_SERVER`, then
    /// `$XDG_RUNTIME_DIR/pulse/native`).
    public var server: String?
    /// The device's name, as `pactl list short sinks` says it: the sound stays there, or ends with it. Nil is the server's default,
    /// and wherever the server or a mixer moves it.
    public var sinkName: String?
    /// Frames per second; nil is the device's own rate, at which nothing is resampled on the way.
    public var sampleRateHz: Int?
    /// Nil is the device's own count.
    public var channelCount: Int?
    /// How much sound is asked to be under way, the device's part included. Less means more wakeups.
    public var latencyMilliseconds = 100
    /// How long `open` may take before it gives up.
    public var timeOutMilliseconds = 3_000
    /// What mixers show.
    public var applicationName = "Playhead"
    public var streamName = "Playback"
    /// What the server is told that the stream is for.
    public var role = StreamRole.music

    public init(
      server: String? = nil, sinkName: String? = nil, sampleRateHz: Int? = nil,
      channelCount: Int? = nil
    ) {
      self.server = server
      self.sinkName = sinkName
      self.sampleRateHz = sampleRateHz
      self.channelCount = channelCount
    }
  }

  /// What the sink has done so far.
  public struct Statistics: Sendable, Hashable {
    /// Blocks of sound handed to the server.
    public var writeCount: Int
    /// Answers of the server to the question where the stream stands.
    public var timingCount: Int
    /// How often commands were made heard by overwriting.
    public var spliceCount: Int
    /// Splices whose first frames came after the device had passed them: that much of the new sound was not heard.
    public var lateSpliceCount: Int
    /// How often the server had played all that it had.
    public var starvationCount: Int
    /// Frames that the server's buffer for the stream holds, as granted by it.
    public var bufferFrameCount: Int
    /// What the device beyond that buffer held at the last timing, in µs.
    public var deviceLatencyMicroseconds: Int
  }

  /// What `open` and `start` make.
  private enum Stage {
    case idle
    case opening
    case opened(PulseStream)
    case started(PulseStream, PulseStreamDriver)
    case closed
  }

  private static let spliceNanoseconds: Int64 = 50_000_000

  private let configuration: Configuration
  private let logger: Logger
  private let signal = EventSignal()
  private let counters = PulseCounters()
  private let stage = Mutex(Stage.idle)
  private let requests = StreamRequests()
  /// What `prepare` says.
  private let preparation = Mutex<(role: StreamRole, onSharing: @Sendable (SharingNotice) -> Void)?>(nil)
  private let device: Mutex<String?>
  private let onNotice = Mutex<@Sendable (DeviceNotice) -> Void>({ _ in })

  public init(
    _ configuration: Configuration = Configuration(),
    logger: Logger = Logger(label: "playhead.pulse", factory: { _ in SwiftLogNoOpLogHandler() })
  ) {
    self.configuration = configuration
    self.logger = logger
    device = Mutex(configuration.sinkName)
  }

  deinit { close() }

  /// `pulse:NAME`; before `open`, `pulse` for the default device.
  public var label: String {
    device.withLock { name in name.map { "pulse:\($0)" } ?? "pulse" }
  }

  /// The device that the stream is on now, wherever somebody moved it.
  public var deviceName: String? { device.withLock { $0 } }

  public func observeDevice(_ handler: @escaping @Sendable (DeviceNotice) -> Void) {
    onNotice.withLock { $0 = handler }
  }

  /// The sink's counts. Any thread.
  public var statistics: Statistics {
    Statistics(
      writeCount: counters.writeCount.load(ordering: .relaxed),
      timingCount: counters.timingCount.load(ordering: .relaxed),
      spliceCount: counters.spliceCount.load(ordering: .relaxed),
      lateSpliceCount: counters.lateSpliceCount.load(ordering: .relaxed),
      starvationCount: counters.starvationCount.load(ordering: .relaxed),
      bufferFrameCount: counters.bufferFrames.load(ordering: .relaxed),
      deviceLatencyMicroseconds: counters.deviceLatencyMicroseconds.load(ordering: .relaxed))
  }

  // MARK: - AudioSink

  /// Connects and makes a corked stream. A sink opens once, and may be opened again only after an error.
  ///
  /// Errors: `outputUnavailable` when no server answers in time or it has no such device, `outputConfiguration` when PulseAudio
  /// cannot do the format, `invalidState` when the sink is open, being opened or closed. Never starts a server.
  public func open() throws(MediaError) -> AudioFormat {
    let mayOpen = stage.withLock { stage in
      guard case .idle = stage else { return false }
      stage = .opening
      return true
    }
    guard mayOpen else { throw MediaError(.invalidState, "a sink opens once") }
    do throws(MediaError) { return try makeStream() } catch {
      stage.withLock { if case .opening = $0 { $0 = .idle } }
      throw error
    }
  }

  private func makeStream() throws(MediaError) -> AudioFormat {
    guard signal.descriptor >= 0 else {
      throw MediaError(.outputUnavailable, "no file descriptor is left", operation: "eventfd")
    }
    var configuration = configuration
    if let role = preparation.withLock({ $0?.role }) { configuration.role = role }
    let stream = try PulseStream.open(configuration)
    let isWanted = stage.withLock { stage in
      guard case .opening = stage else { return false }
      stage = .opened(stream)
      return true
    }
    guard isWanted else {
      stream.close()
      throw MediaError(.invalidState, "the sink was closed while it was opened")
    }
    device.withLock { $0 = stream.sinkName }
    counters.bufferFrames.store(stream.bufferFrameCount, ordering: .relaxed)
    logger.info(
      "output opened",
      metadata: [
        "sink": "\(stream.sinkName)", "rate": "\(stream.format.sampleRateHz)",
        "channels": "\(stream.format.channelCount)", "bufferFrames": "\(stream.bufferFrameCount)",
      ])
    return stream.format
  }

  public func start(
    core: RenderCore, wakeControl: @escaping @Sendable () -> Void,
    onFailure: @escaping @Sendable (MediaError) -> Void
  ) {
    stage.withLock { stage in
      guard case .opened(let stream) = stage else {
        preconditionFailure("start needs a sink that is open")
      }
      precondition(core.format == stream.format, "the core's format is not the sink's")
      let handler = onNotice.withLock { $0 }
      let driver = stream.connection.mainloop.withLock {
        let driver = PulseStreamDriver(
          connection: stream.connection, stream: stream.pointer, core: core, signal: signal,
          counters: counters, requests: requests, isGraphNode: stream.isGraphNode,
          onSharing: preparation.withLock { $0?.onSharing },
          wakeControl: wakeControl,
          onNotice: { [weak self] notice in
            if case .moved(let name) = notice { self?.device.withLock { $0 = name } }
            handler(notice)
          }, onFailure: onFailure)
        if stream.isMuted { driver.beginMuted() }
        driver.begin()
        return driver
      }
      stage = .started(stream, driver)
      // Commands may have been posted before there was anyone to see them.
      signal.raise()
    }
  }

  public func commandsPosted() { signal.raise() }

  public var doubtNanoseconds: Int64 { counters.doubtNanoseconds.load(ordering: .relaxed) }

  /// What the device holds, and the distance that a splice keeps from its read position (`SplicePlan`).
  public var commandLeadNanoseconds: Int64 {
    Int64(counters.deviceLatencyMicroseconds.load(ordering: .relaxed)) * 1_000 + Self.spliceNanoseconds
  }

  // MARK: - SharedDeviceSink

  public func prepare(role: StreamRole, onSharing: @escaping @Sendable (SharingNotice) -> Void) {
    preparation.withLock { $0 = (role, onSharing) }
  }

  public func setRole(_ role: StreamRole) {
    requests.add { $0.role = role }
    signal.raise()
  }

  public func endInterruption(overrulesServer: Bool) {
    requests.add { $0.release = overrulesServer }
    signal.raise()
  }

  // MARK: - Closing

  public func close() {
    let last = stage.withLock { stage in
      defer { stage = .closed }
      return stage
    }
    switch last {
    case .idle, .opening, .closed: return
    case .opened(let stream): stream.close()
    case .started(let stream, let driver):
      stream.connection.mainloop.withLock { driver.end() }
      stream.close()
      logger.info("output closed", metadata: ["lateSplices": "\(statistics.lateSpliceCount)"])
    }
  }
}
