import MediaCore

/// Counts the frames that a sound server dropped silently because its buffer of a record stream was full: 4 MB, eleven
/// seconds of stereo at 48 kHz. After a pause of this process, fewer frames arrive than the elapsed time requires. A
/// value type without side effects.
///
/// PulseAudio drops the newest frames, and PipeWire drops all but the newest. In both cases the frames are missing once
/// this process has caught up, except for the frames that it read meanwhile.
struct CaptureGap: Hashable {
  /// Fragments arrive more often than this.
  private static let leastNanoseconds: Int64 = 300_000_000

  private struct Mark: Hashable {
    var time: HostTime
    var frames: Int64
  }

  private let sampleRateHz: Int
  /// The capacity of the server's buffer, and whether the server's counters include the dropped frames, as PipeWire's
  /// do.
  private let heldFrames: Int64
  private let countsDropped: Bool
  /// The last time at which frames were read.
  private var last: Mark?
  /// The last read before a long pause, until the loss of that pause is known.
  private var begin: Mark?
  /// The frames that the server counts as read in excess of the frames read here, known since the stream started.
  private var knownFrames: Int64 = 0

  init(sampleRateHz: Int, heldFrames: Int, countsDropped: Bool) {
    (self.sampleRateHz, self.heldFrames, self.countsDropped) = (sampleRateHz, Int64(heldFrames), countsDropped)
  }

  /// Whether frames may be missing.
  var isOpen: Bool { begin != nil }

  /// Forgets the marks: the stream restarts, so the length of the pause is irrelevant.
  mutating func forget() { (last, begin) = (nil, nil) }

  /// Records the start of the stream: `readFrames` have left the server so far, and `takenFrames` were read here.
  mutating func began(readFrames: Int64, takenFrames: Int64) { knownFrames = readFrames - takenFrames }

  /// Records that `takenFrames` were read since the stream was created. Returns true when the server must be queried
  /// for its counters.
  mutating func took(_ takenFrames: Int64, at now: HostTime) -> Bool {
    if begin == nil, let last, now.nanoseconds(since: last.time) > Self.leastNanoseconds { begin = last }
    last = Mark(time: now, frames: takenFrames)
    return begin != nil
  }

  /// Evaluates the server's counters: it has received `writtenFrames` since the stream was created, of which
  /// `readFrames` have left it. Returns the number of missing frames; nil when more frames must be read first.
  mutating func answered(writtenFrames: Int64, readFrames: Int64) -> Int? {
    guard let begin, let last else { return 0 }
    let tenth = Int64(sampleRateHz) / 10
    guard writtenFrames - readFrames < tenth else { return nil }
    self.begin = nil
    let missing: Int64
    if countsDropped {
      missing = readFrames - last.frames - knownFrames
    } else {
      // A paused or suspended source delivers nothing: only a full server drops frames.
      guard last.frames - begin.frames >= heldFrames / 2 else { return 0 }
      let passed = Double(last.time.nanoseconds(since: begin.time)) / 1e9 * Double(sampleRateHz)
      missing = Int64(passed) - (last.frames - begin.frames)
    }
    // The arrival of fragments varies slightly.
    guard missing >= tenth else { return 0 }
    if countsDropped { knownFrames += missing }
    return Int(missing)
  }
}
