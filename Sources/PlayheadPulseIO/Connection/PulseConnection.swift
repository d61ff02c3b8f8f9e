import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio

// Owner of one connection to a sound server: main loop and context. Queries the server and waits for the replies, up to
// a deadline. Never starts a server (no autospawn), never waits inside a callback.

/// A `pa_context` on a separate main loop.
///
/// Threading: `init`, `connect` and queries (PulseConnection+Queries) on a thread that may block; `context` only
/// and the variables under the loop's lock.
final class PulseConnection {
  private typealias Box = CallbackBox<PulseConnection>

  let mainloop: PulseMainloop
  let context: OpaquePointer
  private var hasExpired = false
  /// Called under the lock, on the loop's thread, when the connection is lost after it was ready.
  var onLoss: (() -> Void)?
  private lazy var userdata = mainloop.userdata(for: self)

  /// Creates the context without connecting it.
  init(applicationName: String) throws(PulseFailure) {
    mainloop = try PulseMainloop()
    let loop = mainloop
    let newContext: OpaquePointer? = loop.withLock {
      let properties = pa_proplist_new()
      defer { if let properties { pa_proplist_free(properties) } }
      pa_proplist_sets(properties, PA_PROP_APPLICATION_NAME, applicationName)
      pa_proplist_sets(properties, PA_PROP_APPLICATION_ICON_NAME, "multimedia-player")
      return pa_context_new_with_proplist(loop.api, applicationName, properties)
    }
    guard let newContext else {
      throw PulseFailure("pa_context_new_with_proplist", code: PA_ERR_INTERNAL)
    }
    context = newContext
  }

  deinit {
    mainloop.stop()
    // The loop's thread has ended, so nothing runs concurrently.
    pa_context_set_state_callback(context, nil, nil)
    pa_context_disconnect(context)
    pa_context_unref(context)
  }

  /// Connects to `server` (nil: the user's default) and waits until it responds.
  func connect(server: String?, deadline: HostTime) throws(PulseFailure) {
    try mainloop.withLock { () throws(PulseFailure) in
      pa_context_set_state_callback(
        context, { _, userdata in Box.target(userdata)?.contextStateChanged() }, userdata)
      guard pa_context_connect(context, server, PA_CONTEXT_NOAUTOSPAWN, nil) >= 0 else {
        throw PulseFailure("pa_context_connect", context: context)
      }
      try wait(until: deadline, for: "pa_context_connect") { [context] in
        switch pa_context_get_state(context) {
        case PA_CONTEXT_READY: true
        case PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED: nil
        default: false
        }
      }
    }
  }

  /// Waits until `isDone` returns true. Throws the context's error if `isDone` returns nil, and a timeout at
  /// `deadline`. Call it under the loop's lock.
  func wait(
    until deadline: HostTime, for call: String, _ isDone: () -> Bool?
  ) throws(PulseFailure) {
    hasExpired = false
    let remaining = UInt64(max(0, deadline.nanoseconds(since: .now))) / 1_000
    let timer = LoopEvent(afterMicroseconds: remaining, on: self, userdata) { _, _, _, userdata in
      guard let connection = Box.target(userdata) else { return }
      connection.hasExpired = true
      connection.mainloop.signal()
    }
    guard timer != nil else { throw PulseFailure("pa_context_rttime_new", context: context) }
    while true {
      guard let done = isDone() else { throw PulseFailure(call, context: context) }
      if done { return }
      if hasExpired { throw PulseFailure(call, code: PA_ERR_TIMEOUT) }
      mainloop.wait()
    }
  }

  private func contextStateChanged() {
    let state = pa_context_get_state(context)
    if state == PA_CONTEXT_FAILED || state == PA_CONTEXT_TERMINATED { onLoss?() }
    mainloop.signal()
  }
}
