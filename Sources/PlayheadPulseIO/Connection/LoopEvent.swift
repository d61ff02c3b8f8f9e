import CPlayheadPulse

/// An event source of a main loop. The end of this value removes the source; its callback no longer runs.
///
/// Threading: under the loop's lock, or after the end of the loop's thread.
struct LoopEvent: ~Copyable {
  private enum Kind { case descriptor, timer, deferred }

  private let kind: Kind
  private let pointer: OpaquePointer
  private let mainloop: PulseMainloop

  private init?(_ kind: Kind, _ pointer: OpaquePointer?, _ mainloop: PulseMainloop) {
    guard let pointer else { return nil }
    (self.kind, self.pointer, self.mainloop) = (kind, pointer, mainloop)
  }

  deinit {
    let api = mainloop.api
    switch kind {
    case .descriptor: api.pointee.io_free(pointer)
    case .timer: api.pointee.time_free(pointer)
    case .deferred: api.pointee.defer_free(pointer)
    }
  }

  /// Calls `callback` while `descriptor` is readable. Nil if libpulse has no memory left, as for the other sources.
  init?(
    readable descriptor: Int32, on mainloop: PulseMainloop, _ userdata: UnsafeMutableRawPointer,
    _ callback: @escaping pa_io_event_cb_t
  ) {
    let api = mainloop.api
    self.init(.descriptor, api.pointee.io_new(api, descriptor, PA_IO_EVENT_INPUT, callback, userdata), mainloop)
  }

  /// Calls `callback` in each iteration of the loop.
  init?(
    deferredOn mainloop: PulseMainloop, _ userdata: UnsafeMutableRawPointer, _ callback: @escaping pa_defer_event_cb_t
  ) {
    let api = mainloop.api
    self.init(.deferred, api.pointee.defer_new(api, callback, userdata), mainloop)
  }

  /// Calls `callback` once, at a time of the wall clock.
  init?(
    at time: timeval, on mainloop: PulseMainloop, _ userdata: UnsafeMutableRawPointer,
    _ callback: @escaping pa_time_event_cb_t
  ) {
    let api = mainloop.api
    var time = time
    self.init(.timer, api.pointee.time_new(api, &time, callback, userdata), mainloop)
  }

  /// Calls `callback` once, after a duration of the monotonic clock.
  init?(
    afterMicroseconds duration: UInt64, on connection: PulseConnection, _ userdata: UnsafeMutableRawPointer,
    _ callback: @escaping pa_time_event_cb_t
  ) {
    let time = pa_rtclock_now() + duration
    self.init(.timer, pa_context_rttime_new(connection.context, time, callback, userdata), connection.mainloop)
  }

  /// Calls the callback of a timer of the monotonic clock once more, or later than planned, after a duration.
  func restart(afterMicroseconds duration: UInt64, on connection: PulseConnection) {
    pa_context_rttime_restart(connection.context, pointer, pa_rtclock_now() + duration)
  }

  /// Ignores the descriptor from now on.
  func disableDescriptor() { mainloop.api.pointee.io_enable(pointer, PA_IO_EVENT_NULL) }
}
