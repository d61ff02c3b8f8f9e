import Logging
import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// An output through PulseAudio (or PipeWire's `pipewire-pulse`): float32, by default at the device's rate.
///
/// The stream buffers about 100 ms, so that a player wakes the machine rarely. Commands are heard without that delay:
/// - If only one player is audible, a seek replaces the buffered audio from the device's next read on, and a pause
///   stops the stream. Both take effect within one block of the device, 20 ms.
/// - If other audio continues, the buffered audio is rendered again and overwritten, except for the frames that the
///   device may read meanwhile. The commands are heard after 20 to 50 ms, and no other player loses a sample.
/// - If no input is active, the stream is corked and no thread wakes.
///
/// An underrun, whether the server or this process causes it, loses no sample: the stream continues at the same frame.
/// After `outputLost` or `deviceLost` the owner closes the sink and opens a new one; an `AudioDeviceMonitor` reports
/// when a retry makes sense.
///
/// Threading: `open`, `start` and `close` on threads that may block, one at a time; the rest on any thread. Callbacks
/// come from libpulse's thread, `playhead-pulse`.
public final class PulseSink: SharedDeviceSink {
  /// The device and the properties of the stream.
  public struct Configuration: Sendable, Hashable {
    /// The server, as libpulse names it: `unix:/path/to/socket`. Nil is the user's default (`PULSE_SERVER`, then
    /// `$XDG_RUNTIME_DIR/pulse/native`).
    public var server: String?
    /// The device's name, as `pactl list short sinks` prints it: the stream stays on that device and ends with it. Nil
    /// is the server's default device; the server or a mixer may then move the stream.
    public var sinkName: String?
    /// The sample rate, in Hz; nil is the device's rate, at which no resampling is needed.
    public var sampleRateHz: Int?
    /// The number of channels; nil is the device's count.
    public var channelCount: Int?
    /// The requested latency, including the device's part, in ms. A lower latency causes more wakeups.
    public var latencyMilliseconds = 100
    /// The timeout of `open`, in ms.
    public var timeoutMilliseconds = 3_000
    /// The name that mixers show.
    public var applicationName = "Playhead"
    /// The name of the stream that mixers show.
    public var streamName = "Playback"
    /// The role of the stream that is reported to the server.
    public var role = StreamRole.music

    /// Creates a configuration, by default for the default sink of the user's server.
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

  /// The sink's counters.
  public struct Statistics: Sendable, Hashable {
    /// The number of blocks written to the server.
    public var writeCount: Int
    /// The number of timing replies of the server.
    public var timingCount: Int
    /// The number of times that commands were applied by overwriting buffered audio.
    public var spliceCount: Int
    /// The number of splices whose first frames arrived after the device had passed them: these frames were not heard.
    public var lateSpliceCount: Int
    /// The number of underruns.
    public var underrunCount: Int
    /// The size of the server's buffer for the stream, as granted by the server, in frames.
    public var bufferFrameCount: Int
    /// The device's latency beyond that buffer at the last timing, in µs.
    public var deviceLatencyMicroseconds: Int
  }

  private static let spliceNanoseconds: Int64 = 50_000_000

  private let configuration: Configuration
  private let logger: Logger
  private let lifecycle: StreamLifecycle<PulseStreamDriver>
  private let counters = PulseCounters()
  private let requests = StreamRequests()
  /// The arguments of `prepare`.
  private let preparation = Mutex<(role: StreamRole, onSharing: @Sendable (SharingNotice) -> Void)?>(nil)
  private let onNotice = Mutex<@Sendable (DeviceNotice) -> Void>({ _ in })

  /// Creates a sink. No I/O.
  public init(
    _ configuration: Configuration = Configuration(),
    logger: Logger = Logger(label: "playhead.pulse", factory: { _ in SwiftLogNoOpLogHandler() })
  ) {
    self.configuration = configuration
    self.logger = logger
    lifecycle = StreamLifecycle(deviceName: configuration.sinkName)
  }

  deinit { close() }

  /// `pulse:NAME`; before `open`, `pulse` for the default device.
  public var label: String { lifecycle.label }

  /// The current device of the stream, also after another program moved it.
  public var deviceName: String? { lifecycle.deviceName }

  public func observeDevice(_ handler: @escaping @Sendable (DeviceNotice) -> Void) {
    onNotice.withLock { $0 = handler }
  }

  /// The sink's counters. Any thread.
  public var statistics: Statistics {
    Statistics(
      writeCount: counters.writeCount.load(ordering: .relaxed),
      timingCount: counters.timingCount.load(ordering: .relaxed),
      spliceCount: counters.spliceCount.load(ordering: .relaxed),
      lateSpliceCount: counters.lateSpliceCount.load(ordering: .relaxed),
      underrunCount: counters.underrunCount.load(ordering: .relaxed),
      bufferFrameCount: counters.bufferFrames.load(ordering: .relaxed),
      deviceLatencyMicroseconds: counters.deviceLatencyMicroseconds.load(ordering: .relaxed))
  }

  // MARK: - AudioSink

  /// Connects and creates a corked stream. A sink is opened once; it can be opened again only after an error. Never
  /// starts a server.
  ///
  /// - Throws:
  ///   - `outputUnavailable` when no server responds in time or it has no such device.
  ///   - `outputConfiguration` when PulseAudio does not support the format.
  ///   - `invalidState` when the sink is open, being opened or closed.
  public func open() throws(MediaError) -> AudioFormat {
    let role = preparation.withLock { $0?.role } ?? configuration.role
    let stream = try lifecycle.open(
      PulseStream.Request(
        direction: .output, server: configuration.server, deviceName: configuration.sinkName,
        sampleRateHz: configuration.sampleRateHz, channelCount: configuration.channelCount,
        bufferMilliseconds: configuration.latencyMilliseconds, timeoutMilliseconds: configuration.timeoutMilliseconds,
        applicationName: configuration.applicationName, streamName: configuration.streamName, mediaRole: role.rawValue))
    counters.bufferFrames.store(stream.bufferFrameCount, ordering: .relaxed)
    logger.info(
      "output opened",
      metadata: [
        "sink": "\(stream.deviceName)", "rate": "\(stream.format.sampleRateHz)",
        "channels": "\(stream.format.channelCount)", "bufferFrames": "\(stream.bufferFrameCount)",
      ])
    return stream.format
  }

  public func start(
    core: RenderCore, wakeControl: @escaping @Sendable () -> Void,
    onFailure: @escaping @Sendable (MediaError) -> Void
  ) {
    let handler = onNotice.withLock { $0 }
    let onSharing = preparation.withLock { $0?.onSharing }
    lifecycle.start(format: core.format) { [counters, requests, lifecycle] stream in
      PulseStreamDriver(
        stream: stream, core: core, signal: lifecycle.signal, counters: counters, requests: requests,
        onSharing: onSharing, wakeControl: wakeControl,
        onNotice: { [weak lifecycle] notice in
          if case .moved(let name) = notice { lifecycle?.deviceName = name }
          handler(notice)
        }, onFailure: onFailure)
    }
  }

  public func commandsPosted() { lifecycle.signal.raise() }

  public var possibleLossNanoseconds: Int64 { counters.possibleLossNanoseconds.load(ordering: .relaxed) }

  /// The device's latency, and the distance that a splice keeps from its read position (`SplicePlan`).
  public var commandLeadNanoseconds: Int64 {
    Int64(counters.deviceLatencyMicroseconds.load(ordering: .relaxed)) * 1_000 + Self.spliceNanoseconds
  }

  // MARK: - SharedDeviceSink

  public func prepare(role: StreamRole, onSharing: @escaping @Sendable (SharingNotice) -> Void) {
    preparation.withLock { $0 = (role, onSharing) }
  }

  public func setRole(_ role: StreamRole) {
    requests.add { $0.role = role }
    lifecycle.signal.raise()
  }

  public func endInterruption(overrulesServer: Bool) {
    requests.add { $0.overrulesServer = overrulesServer }
    lifecycle.signal.raise()
  }

  // MARK: - Closing

  public func close() {
    if lifecycle.close({ $0.end() }) != nil {
      logger.info("output closed", metadata: ["lateSplices": "\(statistics.lateSpliceCount)"])
    }
  }
}
