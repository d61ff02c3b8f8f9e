import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Decides whether the device consumes the stream, from the read position in the server's timings.
///
/// The server's replies are no evidence: PipeWire replies for a stream that no link connects to a device. A pure value
/// without I/O or a clock. Positions are bytes of the stream, times are those of the timings.
///
/// Two timings without progress prove a stall:
/// 1. The first one comes when the device must have read again: after its latency at the last progress, and a margin.
/// 2. The second one comes at least `confirmationNanoseconds` later, to exclude that the first timing only followed a
///    pause of this process.
///
/// A timing with an empty buffer proves nothing, because then this process is late.
struct ConsumptionMonitor: Hashable {
  /// The conclusion from one timing.
  enum Verdict: Hashable {
    /// The device has read since the previous timing.
    case consuming
    /// The device has not read, and was not due to read.
    case undecided
    /// The device should have read. Another timing, after this duration, decides.
    case suspected(nanoseconds: Int64)
    /// The device does not read.
    case stalled
  }

  /// The duration between the end of the device's latency and the first suspicion.
  static let marginNanoseconds: Int64 = 200_000_000
  /// The least duration between the suspicion and the verdict.
  static let confirmationNanoseconds: Int64 = 100_000_000
  /// The duration that a device may take to start.
  static let startNanoseconds: Int64 = 1_000_000_000
  /// The longest plausible latency of a device. Longer reported latencies are limited to this value.
  static let longestLatencyMicroseconds: Int64 = 10_000_000

  /// Whether the device had stalled at the last verdict. A cork does not reset it; only a read of the device does.
  private(set) var isStalled = false
  /// The newest known read position; nil before the first timing.
  private var readPosition: Int64?
  /// The time at which the device must have read again.
  private var deadline = HostTime(nanoseconds: 0)
  private var suspicion: HostTime?

  /// Records that the stream starts, or resumes, at `time`.
  mutating func start(at time: HostTime) {
    readPosition = nil
    deadline = time.advanced(byNanoseconds: Self.startNanoseconds)
    suspicion = nil
  }

  /// Evaluates one timing of the running stream.
  ///
  /// - Parameters:
  ///   - readPosition: The stream's read position.
  ///   - isEmpty: Whether the server's buffer is empty.
  ///   - latencyMicroseconds: The device's latency.
  ///   - blockNanoseconds: The duration of the device's blocks; 0 if it is unknown.
  ///   - time: The time of the timing.
  mutating func observe(
    readPosition: Int64, isEmpty: Bool, latencyMicroseconds: Int64, blockNanoseconds: Int64, at time: HostTime
  ) -> Verdict {
    guard let last = self.readPosition else {
      self.readPosition = readPosition
      return isStalled ? .stalled : .undecided
    }
    self.readPosition = readPosition
    let hasRead = readPosition > last
    if hasRead { isStalled = false }
    guard !isStalled else { return .stalled }
    if hasRead || isEmpty {
      let latency = min(max(0, latencyMicroseconds), Self.longestLatencyMicroseconds) * 1_000
      deadline = time.advanced(byNanoseconds: latency + Self.marginNanoseconds + 2 * blockNanoseconds)
      suspicion = nil
      return hasRead ? .consuming : .undecided
    }
    guard time >= deadline else { return .undecided }
    let confirmation = Self.confirmationNanoseconds + 2 * blockNanoseconds
    let first = suspicion ?? time
    suspicion = first
    let elapsed = time.nanoseconds(since: first)
    guard elapsed >= confirmation else { return .suspected(nanoseconds: confirmation - elapsed) }
    isStalled = true
    return .stalled
  }
}
