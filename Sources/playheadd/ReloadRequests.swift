import ControlServer
import Glibc
import MediaCore
import Synchronization

/// The result of a reload.
typealias ReloadResult = Result<ReloadOutcome, MediaError>

/// The reload requests of clients. They are added on the control loop. The main thread completes them, after SIGHUP
/// wakes it.
final class ReloadRequests: Sendable {
  private let waiting = Mutex<[@Sendable (ReloadResult) -> Void]>([])

  /// Requests a reload. `completion` is called once.
  func add(_ completion: @escaping @Sendable (ReloadResult) -> Void) {
    waiting.withLock { $0.append(completion) }
    // Every thread blocks the signal, and the main thread waits for it.
    kill(getpid(), SIGHUP)
  }

  /// Removes and returns the pending requests. The next reload completes them.
  func removeAll() -> [@Sendable (ReloadResult) -> Void] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
