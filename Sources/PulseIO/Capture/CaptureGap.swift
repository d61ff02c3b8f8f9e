import MediaCore

/// Counts the frames that a sound server dropped silently because its buffer of a record stream was full: 4 MB, eleven
/// seconds of stereo at 48 kHz. After a pause of this process, fewer frames arrive than the elapsed time requires. A
/// value type without side effects.
///
/// PulseAudio drops the newest frames, and PipeWire drops all but the newest. In both cases the frames are missing once
/// this process has caught up, except for the frames that it read meanwhile.
struct CaptureGap: Hashable {
  /// Fragments arrive more often than this.
  private static let minimumPauseNanoseconds: Int64 = 300_000_000

  /// The number of frames read since the stream was created, at a time.
  private struct ReadMark: Hashable {
    var time: HostTime
    var frames: Int64
  }

  private let sampleRateHz: Int
  /// The capacity of the server's buffer, and whether the server's counters include the dropped frames, as PipeWire's
  /// do.
  private let bufferFrames: Int64
  private let countsDroppedFrames: Bool
  /// The last time at which frames were read.
  private var lastRead: ReadMark?
  /// The last read before a long pause, until the loss of that pause is known.
  private var pauseStart: ReadMark?
  /// The frames that the server counts as read in excess of the frames read here, known since the stream started.
  private var knownFrames: Int64 = 0

  init(sampleRateHz: Int, bufferFrames: Int, countsDroppedFrames: Bool) {
    (self.sampleRateHz, self.bufferFrames) = (sampleRateHz, Int64(bufferFrames))
    self.countsDroppedFrames = countsDroppedFrames
  }

  /// Whether frames may be missing, and the server's counters are needed to decide.
  var isPending: Bool { pauseStart != nil }

  /// Discards both reads: the stream restarts, so the length of the pause is irrelevant.
  mutating func reset() { (lastRead, pauseStart) = (nil, nil) }

  /// Records the start of the stream: `readFrames` have left the server so far, and `receivedFrames` were read here.
  mutating func streamStarted(readFrames: Int64, receivedFrames: Int64) { knownFrames = readFrames - receivedFrames }

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
      missing = readFrames - lastRead.frames - knownFrames
    } else {
      // A paused or suspended source delivers nothing: only a full server drops frames.
      guard lastRead.frames - pauseStart.frames >= bufferFrames / 2 else { return 0 }
      let elapsedFrames = Double(lastRead.time.nanoseconds(since: pauseStart.time)) / 1e9 * Double(sampleRateHz)
      missing = Int64(elapsedFrames) - (lastRead.frames - pauseStart.frames)
    }
    // The arrival of fragments varies slightly.
    guard missing >= tenthOfSecondFrames else { return 0 }
    if countsDroppedFrames { knownFrames += missing }
    return Int(missing)
  }
}
