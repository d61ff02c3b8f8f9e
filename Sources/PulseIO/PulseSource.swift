import CPulse
import Logging
import MediaCore
import RealtimeAudio
import Synchronization

/// A source of sound through PulseAudio (or PipeWire's `pipewire-pulse`): a microphone, or the monitor of a sink. Float32, at the device's
/// own rate.
///
/// Sound comes in pieces of 50 ms. While it stands the stream is corked: nothing is captured, and nothing wakes. Whoever needs the source
/// back after `sourceLost` closes it and opens a new one.
///
/// Threading: `open`, `start` and `close` on threads that may block, one at a time; the rest anywhere. What is captured comes from libpulse's
/// own thread, `playhead-pulse`.
public final class PulseSource: AudioSource {
  /// Which device, and how.
  public struct Configuration: Sendable, Hashable {
    /// The server, as libpulse names it: `unix:/path/to/socket`; nil is the user's default.
    public var server: String?
    /// The device's name, as `pactl list short sources` says it, or `@DEFAULT_MONITOR@` for what the default sink plays; nil is the
    /// server's default. Where one is named only that is recorded, and when it goes that is `sourceLost`; the default one is the server's to
    /// replace.
    public var sourceName: String?
    /// Frames per second; nil is the device's own rate, at which nothing is resampled on the way.
    public var sampleRateHz: Int?
    /// Nil is the device's own count.
    public var channelCount: Int?
    /// How much comes together. Less means more wakeups.
    public var fragmentMilliseconds = 50
    /// How long `open` may take before it gives up.
    public var timeOutMilliseconds = 3_000
    /// What mixers show.
    public var applicationName = "Playhead"
    public var streamName = "Recording"
    /// What it is for, as PulseAudio's `media.role` has it, such as `phone`; nil: not said.
    public var mediaRole: String?

    public init(server: String? = nil, sourceName: String? = nil) {
      self.server = server
      self.sourceName = sourceName
    }
  }

  /// What `open` and `start` make.
  private enum Stage {
    case idle
    case opened(PulseCaptureStream)
    case started(PulseCaptureStream, PulseCaptureDriver)
    case closed
  }

  private let configuration: Configuration
  private let logger: Logger
  private let signal = EventSignal()
  private let wish = CaptureWish()
  private let stage = Mutex(Stage.idle)
  private let deviceName: Mutex<String?>

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

  /// Connects and makes a corked stream. Errors: `sourceUnavailable` when no server answers in time or it has no such device,
  /// `sourceConfiguration` when PulseAudio cannot do the format. Never starts a server.
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
      throw MediaError(.invalidState, "a source opens once")
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
      guard case .opened(let stream) = stage else { preconditionFailure("start needs a source that is open") }
      precondition(queue.format == stream.format, "the queue's format is not the source's")
      let driver = stream.connection.mainloop.withLock {
        let driver = PulseCaptureDriver(stream: stream, queue: queue, signal: signal, wish: wish, onFailure: onFailure)
        driver.begin()
        return driver
      }
      stage = .started(stream, driver)
      // It may have been let run before there was anyone to see it.
      signal.raise()
    }
  }

  public func setRunning(_ isRunning: Bool) {
    wish.isRunning.store(isRunning, ordering: .relaxed)
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
        driver.takeRest()
        driver.end()
      }
      stream.close()
      logger.info("source closed", metadata: ["frames": "\(driver.frameCount)"])
    }
  }
}

/// Whether a source is to run, as its user last said.
final class CaptureWish: Sendable {
  let isRunning = Atomic<Bool>(false)
}
