import Glibc
import PlayheadControlServer
import PlayheadMediaCore
import Synchronization

/// The result of a reload.
typealias ReloadResult = Result<ReloadOutcome, MediaError>

/// The reload requests of clients. The control loop adds them. The main thread, which SIGHUP wakes, completes them.
final class ReloadRequests: Sendable {
  private let waiting = Mutex<[@Sendable (ReloadResult) -> Void]>([])

  /// Requests a reload. `completion` is called once.
  func add(_ completion: @escaping @Sendable (ReloadResult) -> Void) {
    waiting.withLock { $0.append(completion) }
    // Wakes the main thread. All threads block the signal, so it has no other effect.
    kill(getpid(), SIGHUP)
  }

  /// Removes and returns the pending requests, which the caller must complete.
  func removeAll() -> [@Sendable (ReloadResult) -> Void] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
