import PlayheadMediaCore

/// Counts the frames that a sound server dropped silently because its buffer of a record stream was full (4 MB: eleven
/// seconds of stereo at 48 kHz). Frames are dropped if this process reads nothing for a longer time. A value type
/// without side effects.
///
/// PulseAudio drops the newest frames, and PipeWire drops all but the newest. Either way, once this process has read
/// all available frames, it has read fewer frames than the elapsed time requires: the difference is the loss.
struct CaptureGap: Hashable {
  /// The shortest pause that may cause a loss. A running source delivers fragments more often.
  private static let minimumPauseNanoseconds: Int64 = 300_000_000

  /// The number of frames read since the stream was created, at a time.
  private struct ReadMark: Hashable {
    var time: HostTime
    var frames: Int64
  }

  private let sampleRateHz: Int
  /// The capacity of the server's buffer.
  private let bufferFrames: Int64
  /// Whether the server's counters include the dropped frames. PipeWire's counters do.
  private let countsDroppedFrames: Bool
  /// The last time at which frames were read.
  private var lastRead: ReadMark?
  /// The last read before a long pause, until the loss of that pause is known.
  private var pauseStart: ReadMark?
  /// The part of the server's count of read frames that exceeds the frames read here and is no new loss: the excess
  /// when the stream started, and the losses already returned.
  private var knownExcess: Int64 = 0

  init(sampleRateHz: Int, bufferFrames: Int, countsDroppedFrames: Bool) {
    (self.sampleRateHz, self.bufferFrames) = (sampleRateHz, Int64(bufferFrames))
    self.countsDroppedFrames = countsDroppedFrames
  }

  /// Whether frames may be missing, and the server's counters are needed to decide.
  var isPending: Bool { pauseStart != nil }

  /// Discards both marks: the stream restarts, and its pause is not a loss.
  mutating func reset() { (lastRead, pauseStart) = (nil, nil) }

  /// Records the start of the stream: `readFrames` have left the server so far, and `receivedFrames` were read here.
  mutating func streamStarted(readFrames: Int64, receivedFrames: Int64) { knownExcess = readFrames - receivedFrames }

  /// Records that `receivedFrames` were read since the stream was created. Returns true when the server must be queried
  /// for its counters.
  mutating func didRead(_ receivedFrames: Int64, at now: HostTime) -> Bool {
    if pauseStart == nil, let lastRead, now.nanoseconds(since: lastRead.time) > Self.minimumPauseNanoseconds {
      pauseStart = lastRead
    }
    lastRead = ReadMark(time: now, frames: receivedFrames)
    return pauseStart != nil
  }

  /// Evaluates the server's counters: it has received `writtenFrames` since the stream was created, of which
  /// `readFrames` have left it. Returns the number of missing frames; nil when more frames must be read first.
  mutating func evaluate(writtenFrames: Int64, readFrames: Int64) -> Int? {
    guard let pauseStart, let lastRead else { return 0 }
    let tenthOfSecondFrames = Int64(sampleRateHz) / 10
    guard writtenFrames - readFrames < tenthOfSecondFrames else { return nil }
    self.pauseStart = nil
    let missing: Int64
    if countsDroppedFrames {
      missing = readFrames - lastRead.frames - knownExcess
    } else {
      // A paused or suspended source delivers no frames either. Frames were dropped only if the server's buffer was
      // full.
      guard lastRead.frames - pauseStart.frames >= bufferFrames / 2 else { return 0 }
      let elapsedFrames = Double(lastRead.time.nanoseconds(since: pauseStart.time)) / 1e9 * Double(sampleRateHz)
      missing = Int64(elapsedFrames) - (lastRead.frames - pauseStart.frames)
    }
    // A smaller difference is jitter of the fragments.
    guard missing >= tenthOfSecondFrames else { return 0 }
    if countsDroppedFrames { knownExcess += missing }
    return Int(missing)
  }
}
