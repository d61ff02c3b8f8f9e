import PlayheadMediaCore

/// The timing requests of a stream. They are numbered; the server replies in order. A value type without side effects.
struct TimingRequests: Hashable {
  /// The interval of timings while the clock is settled. Timings are requested together with the server's requests for
  /// audio, so that no extra wakeup occurs.
  private static let intervalNanoseconds: Int64 = 150_000_000

  /// The number of the last request, and of the last reply.
  private(set) var requested: UInt64 = 0
  private(set) var received: UInt64 = 0
  private(set) var lastRequest = HostTime(nanoseconds: 0)
  /// The longest recent reply time; it decays by an eighth with each reply.
  private(set) var slowestReplyNanoseconds: Int64 = 0

  /// Whether no reply is pending.
  var isIdle: Bool { received == requested }

  /// Returns whether a request is due: no reply is pending and, if the clock is settled, the interval has passed.
  func isDue(at now: HostTime, isSettled: Bool) -> Bool {
    isIdle && (!isSettled || now.nanoseconds(since: lastRequest) >= Self.intervalNanoseconds)
  }

  /// Records a request.
  mutating func request(at now: HostTime) {
    requested += 1
    lastRequest = now
  }

  /// Records a reply. Its time is known only if it is the reply to the last request.
  mutating func receive(at now: HostTime) {
    received += 1
    guard isIdle else { return }
    slowestReplyNanoseconds = max(now.nanoseconds(since: lastRequest), slowestReplyNanoseconds / 8 * 7)
  }
}
