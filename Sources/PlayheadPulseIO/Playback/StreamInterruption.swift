import PlayheadRealtimeAudio
import Synchronization

/// The server's interruption of a stream: whether the stream must stay paused, and the first frame that was not heard.
struct StreamInterruption {
  /// Whether the stream stays paused until `end`, even if inputs are active.
  private(set) var isPaused = false
  /// Whether the stream was muted before it began. Whether that is an interruption is not known yet.
  private(set) var isUnconfirmed = false
  /// Whether the interruption is over. The sink's owner decides when the stream resumes.
  private(set) var hasEnded = false
  /// The first frame that the device may not have read, and the heard frame, at the time of the request. Nil when the
  /// stream was not running.
  private var requested: (unreadFrame: Int64, heardFrame: Int64?)?

  /// Begins an interruption.
  ///
  /// - Parameters:
  ///   - unreadFrame: the first frame that the device may not have read; nil when the stream is not running.
  ///   - heardFrame: the frame heard now; nil when unknown.
  mutating func begin(unreadFrame: Int64?, heardFrame: Int64? = nil) {
    isPaused = true
    isUnconfirmed = false
    hasEnded = false
    if let unreadFrame { requested = (unreadFrame, heardFrame) }
  }

  /// Records that the stream is muted and has not run yet.
  mutating func beginUnconfirmed() {
    isPaused = true
    isUnconfirmed = true
  }

  mutating func end() { self = StreamInterruption() }

  /// Records that the interruption has ended, or has begun again before the stream resumed.
  mutating func setEnded(_ hasEnded: Bool) { self.hasEnded = hasEnded }

  /// A copy that does not pause the stream, for a stream whose paused position is not known yet.
  var unpaused: StreamInterruption {
    var unpaused = self
    (unpaused.isPaused, unpaused.isUnconfirmed) = (false, false)
    return unpaused
  }

  /// Renumbers the frames after a jump.
  mutating func renumber(byFrames movement: Int64) {
    requested?.unreadFrame += movement
    if let heardFrame = requested?.heardFrame { requested?.heardFrame = heardFrame + movement }
  }

  /// Returns the frame at which a stream that was corked at `readFrame` resumes. Audio that was read while the stream
  /// was muted is not lost.
  ///
  /// The server mutes before it sends the request. Audio read after the request was not heard; audio read before the
  /// request counts as heard. A device that returns consumed audio (`readFrame` is earlier) has played muted from about
  /// the frame that was heard when the request arrived.
  mutating func resumeFrame(readFrame: Int64) -> Int64 {
    guard let requested else { return readFrame }
    self.requested = nil
    if readFrame >= requested.unreadFrame { return requested.unreadFrame }
    return min(readFrame, requested.heardFrame ?? readFrame)
  }
}

/// The requests of a sink to its driver, until the loop's thread reads them.
final class StreamRequests: Sendable {
  struct Requests: Sendable {
    var role: StreamRole?
    /// The argument of `PulseSink.endInterruption`; nil if it was not called.
    var overrulesServer: Bool?
  }

  private let pending = Mutex(Requests())

  /// Adds a request to the pending ones.
  func add(_ change: (inout Requests) -> Void) { pending.withLock { change(&$0) } }

  /// Returns and removes the pending requests.
  func drain() -> Requests {
    pending.withLock { requests in
      defer { requests = Requests() }
      return requests
    }
  }
}
