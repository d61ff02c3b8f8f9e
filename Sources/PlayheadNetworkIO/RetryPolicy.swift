/// Decides whether and when to retry. Pure.
struct RetryPolicy: Sendable, Hashable {
  private let delays: [Duration]
  private let maximumRetryAfter: Duration
  /// The number of failed attempts since the last progress.
  private(set) var failureCount = 0

  init(_ options: HTTPOptions) {
    delays = options.reconnectDelays
    maximumRetryAfter = options.maximumRetryAfter
  }

  /// Resets the count after progress.
  mutating func reset() { failureCount = 0 }

  /// Counts a failed attempt. Returns the delay before the next attempt, or nil when no attempt remains.
  mutating func nextDelay(retryAfter: Duration?) -> Duration? {
    guard failureCount < delays.count else { return nil }
    defer { failureCount += 1 }
    return max(delays[failureCount], min(retryAfter ?? .zero, maximumRetryAfter))
  }
}
