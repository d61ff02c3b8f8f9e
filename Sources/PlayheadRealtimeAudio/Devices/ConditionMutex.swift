import Glibc
import PlayheadMediaCore

/// A monitor: state of type `State` under a mutex, and a condition variable to wait for changes of the state. Deadlines
/// are absolute times on CLOCK_MONOTONIC. For threads that may block, never for the sink's side.
package final class ConditionMutex<State>: @unchecked Sendable {
  // `@unchecked Sendable`: `state` is protected by `mutex`.
  private var state: State
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  /// Creates a monitor of a state.
  package init(_ state: sending State) {
    self.state = state
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Changes the state, and wakes all waiting threads.
  package func update<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(condition)
      pthread_mutex_unlock(mutex)
    }
    return try body(&state)
  }

  /// Reads or changes the state without waking a thread.
  package func withState<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Waits until `body` returns a result; nil when `deadline` passes first. `body` is called with the mutex locked, at
  /// once and after each change.
  package func wait<Result>(until deadline: HostTime? = nil, _ body: (inout State) -> Result?) -> Result? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      guard let deadline else {
        pthread_cond_wait(condition, mutex)
        continue
      }
      // A negative time would be an error instead of a timeout.
      let nanoseconds = max(0, deadline.nanoseconds)
      var time = timespec(
        tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
      if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT { return body(&state) }
    }
  }
}

extension HostTime {
  /// The current time on CLOCK_MONOTONIC.
  public static var now: HostTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return HostTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}
