import DequeModule
import RealtimeAudio
import Synchronization

/// A few threads on which files are opened for who waits without blocking. A file that is slow holds up none but those that
/// come when all threads have one like it.
///
/// Threading: any. A thread lives while there is work.
public final class AssetWorkers: Sendable {
  /// What all assets are loaded by unless a test says otherwise.
  public static let shared = AssetWorkers(threadLimit: 4)

  private struct State {
    var waiting: Deque<@Sendable () -> Void> = []
    var threadCount = 0
  }

  private let threadLimit: Int
  private let state = Mutex(State())

  /// - Parameter threadLimit: how many threads there are at once, 1 or more.
  public init(threadLimit: Int) {
    precondition(threadLimit > 0, "work needs a thread")
    self.threadLimit = threadLimit
  }

  /// Runs `body`, which may block, on one of the threads. Does not block.
  public func run(_ body: @escaping @Sendable () -> Void) {
    let number = state.withLock { state -> Int? in
      state.waiting.append(body)
      guard state.threadCount < threadLimit else { return nil }
      state.threadCount += 1
      return state.threadCount
    }
    if let number { NamedThread.detached(name: "load-asset-\(number)") { [self] in work() } }
  }

  /// How much has not begun yet.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  private func work() {
    while let body = next() { body() }
  }

  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      if let body = state.waiting.popFirst() { return body }
      state.threadCount -= 1
      return nil
    }
  }
}
