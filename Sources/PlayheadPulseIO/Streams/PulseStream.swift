import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio

// The part of playback and record streams that does not depend on the direction: one stream and its connection.
// `open` creates the stream on a thread that may block (PulseStream+Opening); afterwards a StreamDriver uses it under
// the loop's lock.

/// Drives an open stream. libpulse's thread calls all functions under the loop's lock; `fail` may also be called on the
/// thread that attaches the driver.
protocol StreamDriver: AnyObject {
  /// Registers the driver's callbacks. The owner keeps the driver alive until it has detached it.
  func begin()
  /// The owner has raised the signal.
  func signalRaised()
  /// The stream no longer exists.
  func streamEnded()
  /// Reports the failure to the owner, once, and stops using the stream.
  func fail(_ message: String)
}

/// A `pa_stream` that is connected and ready, and that is corked until its driver starts it.
final class PulseStream: @unchecked Sendable {
  // `@unchecked Sendable`: the variables, `connection` and the target of `pointer` are protected by the loop's lock.

  /// The properties of the stream and its device at the time of the creation.
  struct Properties: Sendable {
    var format: AudioFormat
    var deviceName: String
    /// The size of the server's buffer for the stream, in frames.
    var bufferFrameCount: Int
    /// Whether the server muted a playback stream from the beginning.
    var isMuted = false
    /// See `PulseConnection.DeviceInfo.isGraphNode`.
    var isGraphNode: Bool
  }

  private typealias Box = CallbackBox<PulseStream>

  let connection: PulseConnection
  let pointer: OpaquePointer
  let properties: Properties
  private weak var driver: (any StreamDriver)?
  private var signalEvent: LoopEvent?

  /// Takes ownership of a corked stream that is ready.
  init(_ connection: PulseConnection, _ pointer: OpaquePointer, _ properties: Properties) {
    (self.connection, self.pointer, self.properties) = (connection, pointer, properties)
  }

  var mainloop: PulseMainloop { connection.mainloop }
  var isConnected: Bool { pa_context_get_state(connection.context) == PA_CONTEXT_READY }

  // MARK: - Lifecycle

  /// Reports the events of the stream, of its connection and of `signal` to `driver`, until `detach`.
  func attach(_ driver: any StreamDriver, signal: EventSignal) {
    self.driver = driver
    let userdata = mainloop.userdata(for: self)
    pa_stream_set_state_callback(pointer, { _, userdata in Box.target(userdata)?.stateChanged() }, userdata)
    connection.onLoss = { [weak self] in self?.connectionLost() }
    signalEvent = LoopEvent(readable: signal.descriptor, on: mainloop, userdata) { _, _, _, _, userdata in
      Box.target(userdata)?.driver?.signalRaised()
    }
    if signalEvent == nil { return driver.fail("the main loop cannot add an event source") }
    // The stream or the connection may have failed between `open` and now.
    stateChanged()
    if !isConnected { connectionLost() }
  }

  /// Ends the reports to the driver.
  func detach() {
    connection.onLoss = nil
    signalEvent = nil
    pa_stream_set_state_callback(pointer, nil, nil)
    driver = nil
  }

  /// Ignores the owner's signal from now on.
  func disableSignal() { signalEvent?.disableDescriptor() }

  /// Closes the stream and the connection, and ends the loop's thread; afterwards no callback runs. Not inside
  /// `withLock`.
  func close() {
    mainloop.withLock { Self.destroy(pointer) }
    mainloop.stop()
  }

  /// Disconnects and releases a stream.
  static func destroy(_ stream: OpaquePointer) {
    pa_stream_set_state_callback(stream, nil, nil)
    pa_stream_disconnect(stream)
    pa_stream_unref(stream)
  }

  func connectionLost() { driver?.fail("the connection to the sound server was lost") }

  private func stateChanged() {
    if pa_stream_get_state(pointer) != PA_STREAM_READY { driver?.streamEnded() }
  }

  // MARK: - Operations

  /// Corks or resumes the stream. `done` runs with `userdata` when the server has replied. Returns nil if the driver
  /// has failed.
  func setCorked(
    _ isCorked: Bool, _ userdata: UnsafeMutableRawPointer, _ done: @escaping pa_stream_success_cb_t
  ) -> PulseOperation? {
    let operation = PulseOperation(pa_stream_cork(pointer, isCorked ? 1 : 0, done, userdata))
    if operation == nil { driver?.fail("the stream cannot be \(isCorked ? "stopped" : "started")") }
    return operation
  }

  /// Requests a timing from the server: `timing` is up to date when `done` runs with `userdata`. Nil if the stream is
  /// lost.
  func requestTiming(_ userdata: UnsafeMutableRawPointer, _ done: @escaping pa_stream_success_cb_t) -> PulseOperation? {
    PulseOperation(pa_stream_update_timing_info(pointer, done, userdata))
  }

  /// The server's last timing; nil before the first one.
  var timing: pa_timing_info? { pa_stream_get_timing_info(pointer)?.pointee }
}
