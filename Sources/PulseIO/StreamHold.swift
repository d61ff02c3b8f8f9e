import RealtimeAudio
import Synchronization

/// Whether the server has muted a stream that is to stand still, and from which frame on it was not heard.
struct StreamHold {
  /// The stream stands until it is let go, whatever is to sound.
  private(set) var isHeld = false
  /// It was muted before it began, and nobody knows yet whether that is an interruption.
  private(set) var isInQuestion = false
  /// Whether the interruption is over. The sink's owner decides when the stream resumes.
  private(set) var hasEnded = false
  /// What had been read for certain, and what had been heard, when the request came; nil where nothing ran.
  private var requested: (unreadFrame: Int64, heardFrame: Int64?)?

  /// `unreadFrame`: no frame before it can still be read. `heardFrame`: what is heard now; nil where that is not known.
  mutating func begin(unreadFrame: Int64?, heardFrame: Int64? = nil) {
    isHeld = true
    isInQuestion = false
    hasEnded = false
    if let unreadFrame { requested = (unreadFrame, heardFrame) }
  }

  /// The stream is muted, and has not run yet.
  mutating func beginInQuestion() {
    isHeld = true
    isInQuestion = true
  }

  mutating func end() { self = StreamHold() }

  /// Records that the interruption has ended, or has begun again before the stream resumed.
  mutating func noteEnd(_ hasEnded: Bool) { self.hasEnded = hasEnded }

  /// Let go before it is known where the stream stands.
  var released: StreamHold {
    var released = self
    (released.isHeld, released.isInQuestion) = (false, false)
    return released
  }

  /// Frames were counted that a jump moved.
  mutating func move(byFrames movement: Int64) {
    requested?.unreadFrame += movement
    if let heardFrame = requested?.heardFrame { requested?.heardFrame = heardFrame + movement }
  }

  /// Where a stream that was corked at `readFrame` goes on, so that nothing is lost that was read while it was muted.
  ///
  /// The server mutes before it asks. What it read since then was not heard; what it read before the request came is not
  /// among that. A device that gives back what it had taken (`readFrame` is earlier) has played muted from about what was
  /// heard when the request came.
  mutating func standingFrame(readFrame: Int64) -> Int64 {
    guard let requested else { return readFrame }
    self.requested = nil
    if readFrame >= requested.unreadFrame { return requested.unreadFrame }
    return min(readFrame, requested.heardFrame ?? readFrame)
  }
}

/// What is asked of a driver by its sink, until the loop's thread takes it.
final class StreamRequests: Sendable {
  struct Requests: Sendable {
    var role: StreamRole?
    /// Let the stream go; true: though the server has not said so.
    var release: Bool?
  }

  private let waiting = Mutex(Requests())

  func add(_ change: (inout Requests) -> Void) { waiting.withLock { change(&$0) } }

  func take() -> Requests {
    waiting.withLock { requests in
      defer { requests = Requests() }
      return requests
    }
  }
}
