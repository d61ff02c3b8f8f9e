import CPlayheadPulse
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

  /// The stage of the lifecycle, with the objects that exist in it.
  private enum Stage {
    case idle
    case opened(PulseCaptureStream)
    case started(PulseCaptureStream, PulseCaptureDriver)
    case closed
  }

  private let configuration: Configuration
  private let logger: Logger
  private let signal = EventSignal()
  private let runRequest = CaptureRunRequest()
  private let stage = Mutex(Stage.idle)
  private let deviceName: Mutex<String?>

  /// Creates a source. No I/O.
  public init(
    _ configuration: Configuration = Configuration(),
    logger: Logger = Logger(label: "playhead.pulse", factory: { _ in SwiftLogNoOpLogHandler() })
  ) {
    self.configuration = configuration
    self.logger = logger
    deviceName = Mutex(configuration.sourceName)
  }

  deinit { close() }

  /// `pulse:NAME`; before `open`, `pulse` for the default device.
  public var label: String { deviceName.withLock { name in name.map { "pulse:\($0)" } ?? "pulse" } }

  // MARK: - AudioSource

  /// Connects and creates a corked stream. Never starts a server.
  ///
  /// - Throws:
  ///   - `sourceUnavailable` when no server responds in time or it has no such device.
  ///   - `sourceConfiguration` when PulseAudio does not support the format.
  ///   - `invalidState` when the source is open or closed.
  public func open() throws(MediaError) -> AudioFormat {
    guard signal.descriptor >= 0 else {
      throw MediaError(.sourceUnavailable, "no file descriptor is left", operation: "eventfd")
    }
    let stream = try PulseCaptureStream.open(configuration)
    let isOpen = stage.withLock { stage in
      guard case .idle = stage else { return false }
      stage = .opened(stream)
      return true
    }
    guard isOpen else {
      stream.close()
      throw MediaError(.invalidState, "a source can open only once")
    }
    deviceName.withLock { $0 = stream.sourceName }
    logger.info(
      "source opened",
      metadata: [
        "source": "\(stream.sourceName)", "rate": "\(stream.format.sampleRateHz)",
        "channels": "\(stream.format.channelCount)",
      ])
    return stream.format
  }

  public func start(into queue: CaptureQueue, onFailure: @escaping @Sendable (MediaError) -> Void) {
    stage.withLock { stage in
      guard case .opened(let stream) = stage else { preconditionFailure("start needs an open source") }
      precondition(queue.format == stream.format, "the formats of the queue and the source differ")
      let driver = stream.connection.mainloop.withLock {
        let driver = PulseCaptureDriver(
          stream: stream, queue: queue, signal: signal, runRequest: runRequest, onFailure: onFailure)
        driver.begin()
        return driver
      }
      stage = .started(stream, driver)
      // The source may have been started before the driver existed.
      signal.raise()
    }
  }

  public func setRunning(_ isRunning: Bool) {
    runRequest.isRunning.store(isRunning, ordering: .relaxed)
    signal.raise()
  }

  public func close() {
    let last = stage.withLock { stage in
      defer { stage = .closed }
      return stage
    }
    switch last {
    case .idle, .closed: return
    case .opened(let stream): stream.close()
    case .started(let stream, let driver):
      stream.connection.mainloop.withLock {
        driver.drain()
        driver.end()
      }
      stream.close()
      logger.info("source closed", metadata: ["frames": "\(driver.frameCount)"])
    }
  }
}

/// Whether a source should run, as last set by its user.
final class CaptureRunRequest: Sendable {
  let isRunning = Atomic<Bool>(false)
}
