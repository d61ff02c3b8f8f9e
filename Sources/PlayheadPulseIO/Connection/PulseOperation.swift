import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// A pending operation of a server. The end of this value cancels the operation; its callback no longer runs.
///
/// Threading: under the loop's lock.
struct PulseOperation: ~Copyable {
  private let pointer: OpaquePointer

  /// Takes ownership of the operation that a call of libpulse has returned; nil if the call has failed.
  init?(_ pointer: OpaquePointer?) {
    guard let pointer else { return nil }
    self.pointer = pointer
  }

  deinit {
    pa_operation_cancel(pointer)
    pa_operation_unref(pointer)
  }

  /// Lets an operation complete, which its callback reports. Returns false if the call has failed.
  @discardableResult
  static func start(_ pointer: OpaquePointer?) -> Bool {
    guard let operation = PulseOperation(pointer) else { return false }
    operation.release()
    return true
  }

  /// Lets the operation complete, or releases it when it is complete.
  consuming func release() {
    pa_operation_unref(pointer)
    discard self
  }

  /// Waits until the server has replied. Throws the context's error if the stream or the connection is lost, and a
  /// timeout of `call` at `deadline`. Not from a callback.
  func wait(on connection: PulseConnection, until deadline: HostTime, for call: String) throws(PulseFailure) {
    let pointer = pointer
    pa_operation_set_state_callback(
      pointer, { _, userdata in CallbackBox<PulseMainloop>.target(userdata)?.signal() }, connection.mainloop.userdata)
    defer { pa_operation_set_state_callback(pointer, nil, nil) }
    try connection.wait(until: deadline, for: call) {
      switch pa_operation_get_state(pointer) {
      case PA_OPERATION_DONE: true
      case PA_OPERATION_CANCELLED: nil
      default: false
      }
    }
  }
}
