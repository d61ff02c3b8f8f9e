/// When to try again, and when no more. Pure.
struct RetryPolicy: Sendable, Hashable {
  private let delays: [Duration]
  private let maximumRetryAfter: Duration
  /// Attempts that failed since a byte came.
  private(set) var failureCount = 0

  init(_ options: HTTPOptions) {
    delays = options.reconnectDelays
    maximumRetryAfter = options.maximumRetryAfter
  }

  /// A byte came.
  mutating func succeeded() { failureCount = 0 }

  /// How long to wait for the next attempt; nil when there is to be none.
  mutating func failed(retryAfter: Duration?) -> Duration? {
    guard failureCount < delays.count else { return nil }
    defer { failureCount += 1 }
    return max(delays[failureCount], min(retryAfter ?? .zero, maximumRetryAfter))
  }
}
