import CPlayheadPulse
import Glibc

// Owner of libpulse's threaded main loop: one thread, named `playhead-pulse`, that runs every callback of one
// connection under the loop's lock. The thread calls into Playhead only through those callbacks, and blocks in poll(2)
// while nothing happens.

/// One `pa_threaded_mainloop`.
///
/// Threading: `withLock`, `wait` and `signal` on any thread; `withLock` and `stop` not on the loop's thread.
final class PulseMainloop: @unchecked Sendable {
  // `@unchecked Sendable`: the pointers never change; libpulse's lock protects their targets, `boxes` and `userdata`.
  private let pointer: OpaquePointer
  /// The loop's function table for custom events. Valid as long as this object.
  let api: UnsafeMutablePointer<pa_mainloop_api>
  /// The `CallbackBox`es of this loop's callbacks, until the thread has ended.
  private var boxes: [AnyObject] = []
  /// The `userdata` of callbacks that signal this loop.
  private(set) lazy var userdata = userdata(for: self)

  /// Creates the loop and starts its thread.
  init() throws(PulseFailure) {
    guard let loop = pa_threaded_mainloop_new() else {
      throw PulseFailure("pa_threaded_mainloop_new", code: PA_ERR_INTERNAL)
    }
    guard let api = pa_threaded_mainloop_get_api(loop) else {
      pa_threaded_mainloop_free(loop)
      throw PulseFailure("pa_threaded_mainloop_get_api", code: PA_ERR_INTERNAL)
    }
    pa_threaded_mainloop_set_name(loop, "playhead-pulse")
    // The event is created before the thread starts; otherwise the thread could run it while libpulse still creates it.
    // If the loop never runs, the event is freed with it (`pa_threaded_mainloop_once_unlocked` would leak it).
    let priorityEvent = api.pointee.defer_new(
      api,
      { api, event, _ in
        PulseMainloop.raisePriority()
        api?.pointee.defer_free(event)
      }, nil)
    guard priorityEvent != nil else {
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

  /// Runs `body` while no callback runs. Not from the loop's thread, not recursively.
  func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    pa_threaded_mainloop_lock(pointer)
    defer { pa_threaded_mainloop_unlock(pointer) }
    return try body()
  }

  /// Releases the lock until `signal` is called, then acquires it again. Only inside `withLock`.
  func wait() { pa_threaded_mainloop_wait(pointer) }

  /// Wakes every `wait`. From a callback or inside `withLock`.
  func signal() { pa_threaded_mainloop_signal(pointer, 0) }

  /// Creates the `userdata` of callbacks that call `target`, once for each object. Inside `withLock`.
  func userdata<Target: AnyObject>(for target: Target) -> UnsafeMutableRawPointer {
    let box = CallbackBox(target)
    boxes.append(box)
    return box.userdata
  }

  /// Gives the calling thread the priority of PulseAudio's threads, so that audio does not underrun on a busy machine.
  /// On Linux, setpriority(2) with the id 0 changes the calling thread only. If RLIMIT_NICE does not permit the change,
  /// the priority stays as it is.
  private static func raisePriority() { _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, -11) }

  /// Ends the thread; afterwards no callback runs. Not inside `withLock`.
  func stop() { pa_threaded_mainloop_stop(pointer) }
}
