// The thread that measures. One, for all scans, and with the least share of the processor: neither what is played nor what is asked
// meanwhile is to suffer. It lives while there is work.
import DequeModule
import Glibc
import RealtimeAudio
import Synchronization

/// Runs scans one after another.
///
/// Threading: any.
public final class LoudnessScanner: Sendable {
  /// What scans run on unless a test says otherwise.
  public static let shared = LoudnessScanner()

  private struct State {
    var waiting: Deque<@Sendable () -> Void> = []
    var isRunning = false
  }

  private let state = Mutex(State())

  public init() {}

  /// Runs `body`, which may block, behind those that came before. Does not block.
  func run(_ body: @escaping @Sendable () -> Void) {
    let begins = state.withLock { state in
      state.waiting.append(body)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard begins else { return }
    NamedThread.detached(name: "scan") { [self] in
      // Linux: of this thread alone. Where it is refused the scan runs as everything else does.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      while let body = next() { body() }
    }
  }

  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      if let body = state.waiting.popFirst() { return body }
      state.isRunning = false
      return nil
    }
  }
}
