import ControlServer
import Glibc
import MediaCore
import Synchronization

/// The result of a reload.
typealias ReloadedResult = Result<ReloadOutcome, MediaError>

/// The reload requests of clients. They are added on the control loop. The main thread completes them, after SIGHUP
/// wakes it.
final class ReloadRequests: Sendable {
  private let waiting = Mutex<[@Sendable (ReloadedResult) -> Void]>([])

  /// Requests a reload. `told` is called once.
  func ask(_ told: @escaping @Sendable (ReloadedResult) -> Void) {
    waiting.withLock { $0.append(told) }
    // Every thread blocks the signal, and the main thread waits for it.
    kill(getpid(), SIGHUP)
  }

  /// Removes and returns the pending requests. The next reload completes them.
  func take() -> [@Sendable (ReloadedResult) -> Void] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
