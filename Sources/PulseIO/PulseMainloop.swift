import CPulse
import Glibc

// Owner of libpulse's threaded main loop: one thread, named `playhead-pulse`, that runs every callback of one
// connection with the loop's lock held. It never calls into Playhead but through those callbacks, and blocks in poll(2)
// while nothing happens.

/// One `pa_threaded_mainloop`.
///
/// Threading: `withLock`, `wait` and `signal` from any thread but (`withLock`, `stop`) the loop's own.
final class PulseMainloop: @unchecked Sendable {
  // `@unchecked Sendable`: the pointer never changes; libpulse's own lock guards what it points to.
  private let pointer: OpaquePointer
  /// The loop's table of functions for events of our own. Valid as long as this object.
  let api: UnsafeMutablePointer<pa_mainloop_api>

  /// Makes the loop and starts its thread.
  init() throws(PulseFailure) {
    guard let loop = pa_threaded_mainloop_new() else {
      throw PulseFailure("pa_threaded_mainloop_new", code: PA_ERR_INTERNAL)
    }
    guard let api = pa_threaded_mainloop_get_api(loop) else {
      pa_threaded_mainloop_free(loop)
      throw PulseFailure("pa_threaded_mainloop_get_api", code: PA_ERR_INTERNAL)
    }
    pa_threaded_mainloop_set_name(loop, "playhead-pulse")
    // Before the thread runs: afterwards libpulse would make the event while the thread may take it already. Freed with the loop where it
    // never runs (`pa_threaded_mainloop_once_unlocked` would leak it).
    let first = api.pointee.defer_new(
      api,
      { api, event, _ in
        PulseMainloop.raisePriority()
        api?.pointee.defer_free(event)
      }, nil)
    guard first != nil else {
      pa_threaded_mainloop_free(loop)
      throw PulseFailure("pa_mainloop_api.defer_new", code: PA_ERR_INTERNAL)
    }
    guard pa_threaded_mainloop_start(loop) == 0 else {
      pa_threaded_mainloop_free(loop)
      throw PulseFailure("pa_threaded_mainloop_start", code: PA_ERR_INTERNAL)
    }
    pointer = loop
    self.api = api
  }

  deinit { pa_threaded_mainloop_free(pointer) }

  /// Runs `body` while no callback runs. Not from the loop's own thread, not recursively.
  func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    pa_threaded_mainloop_lock(pointer)
    defer { pa_threaded_mainloop_unlock(pointer) }
    return try body()
  }

  /// Lets go of the lock until `signal` is called, then takes it again. Only inside `withLock`.
  func wait() { pa_threaded_mainloop_wait(pointer) }

  /// Wakes every `wait`. From a callback or inside `withLock`.
  func signal() { pa_threaded_mainloop_signal(pointer, 0) }

  /// Puts the calling thread (on Linux `who` 0 is a thread) where PulseAudio's own are, if RLIMIT_NICE allows: so that a
  /// busy machine does not starve the sound. Without the right to do so it stays where it is.
  private static func raisePriority() { _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, -11) }

  /// Ends the thread; afterwards no callback runs any more. Not inside `withLock`.
  func stop() { pa_threaded_mainloop_stop(pointer) }
}
