import Playhead

/// The time of a virtual engine. It begins at 0, and passes only in `advance` and `settle`.
///
/// <!-- listing: advance-clock -->
/// ```swift
/// try await test.clock.advance(by: .milliseconds(250))
/// print(test.clock.now, test.output.frameCount)
/// ```
///
/// Threading: any task. Concurrent calls pass their times one after the other.
public final class VirtualClock: Sendable {
  private let loop: VirtualControlLoop

  init(_ loop: VirtualControlLoop) { self.loop = loop }

  /// The virtual time since the engine was made.
  public var now: MediaTime { MediaTime(value: loop.now.nanoseconds, timescale: 1_000_000_000) }

  /// Sets the wall clock, for starts at a date (`StartMoment.date`). It begins at 1970-01-01T00:00:00Z and advances
  /// with this clock. Local time is UTC.
  public func setWallTime(_ instant: WallTime) async {
    await withCheckedContinuation { continuation in
      loop.execute { [loop] in
        loop.wallClock.set(to: instant)
        continuation.resume()
      }
    }
  }

  /// Lets time pass, as fast as decoders deliver audio. Returns when everything that happens in this time has happened:
  /// audio was heard, and observers were called.
  ///
  /// - Parameter time: At least 0, rounded down to nanoseconds.
  /// - Throws: `invalidTime` for a negative, infinite or indefinite time, or one that exceeds 100 years.
  public func advance(by time: MediaTime) async throws(MediaError) {
    guard time.isNumeric, (MediaTime.zero...MediaTime.seconds(3_155_760_000)).contains(time) else {
      throw MediaError(
        .invalidTime, "time must be numeric, at least 0 and at most 100 years (got \(time))", operation: "advance")
    }
    await pass(time.convertScale(1_000_000_000, method: .towardNegativeInfinity).value)
  }

  /// Waits until files are open, decoders are ready and all earlier requests are handled. No time passes.
  public func settle() async { await pass(0) }

  private func pass(_ nanoseconds: Int64) async {
    await withCheckedContinuation { continuation in
      loop.execute { [loop] in loop.advance(byNanoseconds: nanoseconds) { continuation.resume() } }
    }
  }
}
