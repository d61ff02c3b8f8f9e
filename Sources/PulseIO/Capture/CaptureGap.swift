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

  private struct Mark: Hashable {
    var time: HostTime
    var frames: Int64
  }

  private let sampleRateHz: Int
  /// The capacity of the server's buffer, and whether the server's counters include the dropped frames, as PipeWire's
  /// do.
  private let bufferFrames: Int64
  private let countsDropped: Bool
  /// The last time at which frames were read.
  private var last: Mark?
  /// The last read before a long pause, until the loss of that pause is known.
  private var pauseStart: Mark?
  /// The frames that the server counts as read in excess of the frames read here, known since the stream started.
  private var knownFrames: Int64 = 0

  init(sampleRateHz: Int, bufferFrames: Int, countsDropped: Bool) {
    (self.sampleRateHz, self.bufferFrames, self.countsDropped) = (sampleRateHz, Int64(bufferFrames), countsDropped)
  }

  /// Whether frames may be missing.
  var isOpen: Bool { pauseStart != nil }

  /// Forgets the marks: the stream restarts, so the length of the pause is irrelevant.
  mutating func reset() { (last, pauseStart) = (nil, nil) }

  /// Records the start of the stream: `readFrames` have left the server so far, and `receivedFrames` were read here.
  mutating func streamStarted(readFrames: Int64, receivedFrames: Int64) { knownFrames = readFrames - receivedFrames }

  /// Records that `receivedFrames` were read since the stream was created. Returns true when the server must be queried
  /// for its counters.
  mutating func didRead(_ receivedFrames: Int64, at now: HostTime) -> Bool {
    if pauseStart == nil, let last, now.nanoseconds(since: last.time) > Self.minimumPauseNanoseconds {
      pauseStart = last
    }
    last = Mark(time: now, frames: receivedFrames)
    return pauseStart != nil
  }

  /// Evaluates the server's counters: it has received `writtenFrames` since the stream was created, of which
  /// `readFrames` have left it. Returns the number of missing frames; nil when more frames must be read first.
  mutating func evaluate(writtenFrames: Int64, readFrames: Int64) -> Int? {
    guard let pauseStart, let last else { return 0 }
    let tenth = Int64(sampleRateHz) / 10
    guard writtenFrames - readFrames < tenth else { return nil }
    self.pauseStart = nil
    let missing: Int64
    if countsDropped {
      missing = readFrames - last.frames - knownFrames
    } else {
      // A paused or suspended source delivers nothing: only a full server drops frames.
      guard last.frames - pauseStart.frames >= bufferFrames / 2 else { return 0 }
      let elapsedFrames = Double(last.time.nanoseconds(since: pauseStart.time)) / 1e9 * Double(sampleRateHz)
      missing = Int64(elapsedFrames) - (last.frames - pauseStart.frames)
    }
    // The arrival of fragments varies slightly.
    guard missing >= tenth else { return 0 }
    if countsDropped { knownFrames += missing }
    return Int(missing)
  }
}
