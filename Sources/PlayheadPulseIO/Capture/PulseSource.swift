import Logging
import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// An audio source through PulseAudio (or PipeWire's `pipewire-pulse`): a microphone, or the monitor of a sink.
/// Float32, by default at the device's rate.
///
/// Audio arrives in fragments of 50 ms. While paused, the stream is corked: nothing is captured, and no thread wakes.
/// After `sourceLost` the owner closes the source and opens a new one.
///
/// Threading: `open`, `start` and `close` on threads that may block, one at a time; the rest on any thread. Captured
/// audio comes from libpulse's thread, `playhead-pulse`.
public final class PulseSource: AudioSource {
  /// The device and the properties of the stream.
  public struct Configuration: Sendable, Hashable {
    /// The server, as libpulse names it: `unix:/path/to/socket`; nil is the user's default.
    public var server: String?
    /// The device's name, as `pactl list short sources` prints it, or `@DEFAULT_MONITOR@` for the monitor of the
    /// default sink. Nil is the server's default source, which the server may replace by another source. The loss of a
    /// named source causes `sourceLost`.
    public var sourceName: String?
    /// The sample rate, in Hz; nil is the device's rate, at which no resampling is needed.
    public var sampleRateHz: Int?
    /// The number of channels; nil is the device's count.
    public var channelCount: Int?
    /// The duration of a fragment, in ms. Shorter fragments cause more wakeups.
    public var fragmentMilliseconds = 50
    /// The timeout of `open`, in ms.
    public var timeoutMilliseconds = 3_000
    /// The name that mixers show.
    public var applicationName = "Playhead"
    /// The name of the stream that mixers show.
    public var streamName = "Recording"
    /// The role, as in PulseAudio's `media.role`, such as `phone`; nil: none.
    public var mediaRole: String?

    /// Creates a configuration, by default for the default source of the user's server.
    public init(server: String? = nil, sourceName: String? = nil) {
      self.server = server
      self.sourceName = sourceName
    }
  }

  private let configuration: Configuration
  private let logger: Logger
  private let lifecycle: StreamLifecycle<PulseCaptureDriver>
  private let runRequest = CaptureRunRequest()

  /// Creates a source. No I/O.
  public init(
    _ configuration: Configuration = Configuration(),
    logger: Logger = Logger(label: "playhead.pulse", factory: { _ in SwiftLogNoOpLogHandler() })
  ) {
    self.configuration = configuration
    self.logger = logger
    lifecycle = StreamLifecycle(deviceName: configuration.sourceName)
  }

  deinit { close() }

  /// `pulse:NAME`; before `open`, `pulse` for the default device.
  public var label: String { lifecycle.label }

  // MARK: - AudioSource

  /// Connects and creates a corked stream. Never starts a server.
  ///
  /// - Throws:
  ///   - `sourceUnavailable` when no server responds in time or it has no such device.
  ///   - `sourceConfiguration` when PulseAudio does not support the format.
  ///   - `invalidState` when the source is open or closed.
  public func open() throws(MediaError) -> AudioFormat {
    let stream = try lifecycle.open(
      PulseStream.Request(
        direction: .input, server: configuration.server, deviceName: configuration.sourceName,
        sampleRateHz: configuration.sampleRateHz, channelCount: configuration.channelCount,
        bufferMilliseconds: configuration.fragmentMilliseconds, timeoutMilliseconds: configuration.timeoutMilliseconds,
        applicationName: configuration.applicationName, streamName: configuration.streamName,
        mediaRole: configuration.mediaRole))
    logger.info(
      "source opened",
      metadata: [
        "source": "\(stream.deviceName)", "rate": "\(stream.format.sampleRateHz)",
        "channels": "\(stream.format.channelCount)",
      ])
    return stream.format
  }

  public func start(into queue: CaptureQueue, onFailure: @escaping @Sendable (MediaError) -> Void) {
    lifecycle.start(format: queue.format) { [lifecycle, runRequest] stream in
      PulseCaptureDriver(
        stream: stream, queue: queue, signal: lifecycle.signal, runRequest: runRequest, onFailure: onFailure)
    }
  }

  public func setRunning(_ isRunning: Bool) {
    runRequest.isRunning.store(isRunning, ordering: .relaxed)
    lifecycle.signal.raise()
  }

  public func close() {
    let frameCount = lifecycle.close { driver in
      driver.drain()
      driver.end()
      return driver.frameCount
    }
    if let frameCount { logger.info("source closed", metadata: ["frames": "\(frameCount)"]) }
  }
}

/// Whether a source should run, as last set by its user.
final class CaptureRunRequest: Sendable {
  let isRunning = Atomic<Bool>(false)
}
