import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// Time that a test advances. Retry delays end at once and are recorded. A test that needs a network clock declares
/// `extension ManualTime: NetworkClock {}`. Threading: any thread.
package final class ManualTime: Sendable {
  private struct State {
    var now = HostTime(nanoseconds: 0)
    var retryDelays: [Int64] = []
    var advanceHandlers: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  package init() {}

  package var now: HostTime { state.withLock { $0.now } }

  /// The recorded retry delays, in milliseconds.
  package var retryDelayMilliseconds: [Int64] { state.withLock { $0.retryDelays } }

  package func milliseconds(until deadline: HostTime, isRetryDelay: Bool) -> Int32 {
    guard isRetryDelay else { return .max }
    state.withLock { state in
      state.retryDelays.append(deadline.nanoseconds(since: state.now) / 1_000_000)
      state.now = max(state.now, deadline)
    }
    return 0
  }

  package func onAdvance(_ wake: @escaping @Sendable () -> Void) {
    // A new array each time. `append` writes into the array that `advance` has released, and the thread sanitizer does
    // not see reference counts.
    state.withLock { $0.advanceHandlers = $0.advanceHandlers + [wake] }
  }

  package func advance(seconds: Int64) {
    let advanceHandlers = state.withLock { state in
      state.now = state.now.advanced(byNanoseconds: seconds * 1_000_000_000)
      return state.advanceHandlers
    }
    for wake in advanceHandlers { wake() }
  }
}
