import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// The lifecycle of a sink or a source: it opens once, starts once, and closes.
///
/// Threading: any thread; `open`, `start` and `close` on threads that may block.
final class StreamLifecycle<Driver: StreamDriver>: Sendable {
  /// The stage of the lifecycle, with the objects that exist in it.
  private enum Stage {
    case idle
    case opening
    case opened(PulseStream)
    case started(PulseStream, Driver)
    case closed
  }

  /// Calls the driver's `signalRaised`.
  let signal = EventSignal()
  private let stage = Mutex(Stage.idle)
  private let device: Mutex<String?>

  /// - Parameter deviceName: The requested device; nil is the default device.
  init(deviceName: String?) { device = Mutex(deviceName) }

  /// The name of the stream's device; before `open`, the requested one.
  var deviceName: String? {
    get { device.withLock { $0 } }
    set { device.withLock { $0 = newValue } }
  }

  /// `pulse:NAME`; before `open`, `pulse` for the default device.
  var label: String { deviceName.map { "pulse:\($0)" } ?? "pulse" }

  /// Opens a corked stream. After an error other than `invalidState`, `open` can be called again.
  func open(_ request: PulseStream.Request) throws(MediaError) -> PulseStream.Properties {
    let mayOpen = stage.withLock { stage in
      guard case .idle = stage else { return false }
      stage = .opening
      return true
    }
    guard mayOpen else { throw MediaError(.invalidState, "a \(request.owner) can open only once") }
    do throws(MediaError) { return try makeStream(request) } catch {
      stage.withLock { if case .opening = $0 { $0 = .idle } }
      throw error
    }
  }

  private func makeStream(_ request: PulseStream.Request) throws(MediaError) -> PulseStream.Properties {
    guard signal.descriptor >= 0 else {
      throw MediaError(request.unavailable, "no file descriptor is left", operation: "eventfd")
    }
    let stream = try PulseStream.open(request)
    let properties = stream.properties
    let isStillOpening = stage.withLock { stage in
      guard case .opening = stage else { return false }
      stage = .opened(stream)
      return true
    }
    guard isStillOpening else {
      stream.close()
      throw MediaError(.invalidState, "the \(request.owner) was closed while it was opened")
    }
    deviceName = properties.deviceName
    return properties
  }

  /// Starts the driver that `makeDriver` returns.
  ///
  /// - Precondition: The stream is open and has the `format`.
  func start(format: AudioFormat, _ makeDriver: (PulseStream) -> sending Driver) {
    stage.withLock { stage in
      guard case .opened(let stream) = stage else { preconditionFailure("start needs an open stream") }
      precondition(format == stream.properties.format, "the format differs from that of the stream")
      let driver = makeDriver(stream)
      stream.mainloop.withLock { driver.begin() }
      stage = .started(stream, driver)
      // Commands may have been posted before the driver existed.
      signal.raise()
    }
  }

  /// Closes the stream. Before that, `end` ends the driver under the loop's lock; its result is returned, or nil if
  /// there was no driver.
  func close<Result: Sendable>(_ end: (Driver) -> Result) -> Result? {
    let last = stage.withLock { stage in
      defer { stage = .closed }
      return stage
    }
    switch last {
    case .idle, .opening, .closed: return nil
    case .opened(let stream):
      stream.close()
      return nil
    case .started(let stream, let driver):
      let result = stream.mainloop.withLock { end(driver) }
      stream.close()
      return result
    }
  }
}
