import ControlServer
import Glibc
import MediaCore
import Synchronization

/// What became of it.
typealias ReloadedResult = Result<ReloadOutcome, MediaError>

/// Who asked for the configuration to be read again, over a connection. Asked on the control loop, answered by the main thread, which is
/// woken by the signal that asks for the same.
final class ReloadRequests: Sendable {
  private let waiting = Mutex<[@Sendable (ReloadedResult) -> Void]>([])

  /// Has it read; `told` is called once.
  func ask(_ told: @escaping @Sendable (ReloadedResult) -> Void) {
    waiting.withLock { $0.append(told) }
    // Every thread blocks it, and the main one waits for it.
    kill(getpid(), SIGHUP)
  }

  /// Those who have asked up to now: they are to be told of what is read from now on.
  func take() -> [@Sendable (ReloadedResult) -> Void] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
