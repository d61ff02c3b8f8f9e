import MediaCore

/// Counts what a sound server dropped because what it keeps for a record stream was full: 4 MB, eleven seconds of stereo at 48 kHz. It
/// says nothing of that, but who stood for so long and then took all that there was has got less than time has passed. A pure value.
///
/// PulseAudio drops what comes last, and PipeWire all but the last: either is missing where the taker has caught up, but for what it took
/// while it did.
struct CaptureGap: Hashable {
  /// Fragments come more often.
  private static let leastNanoseconds: Int64 = 300_000_000

  private struct Mark: Hashable {
    var time: HostTime
    var frames: Int64
  }

  private let sampleRateHz: Int
  /// What the server keeps at most; and whether it counts what it dropped, as PipeWire does.
  private let heldFrames: Int64
  private let countsDropped: Bool
  /// The last time that something was taken.
  private var last: Mark?
  /// The last time before nothing was taken for long, until it is known what that cost.
  private var begin: Mark?
  /// What the server counts as read more than was taken, since the stream runs: it was known before.
  private var knownFrames: Int64 = 0

  init(sampleRateHz: Int, heldFrames: Int, countsDropped: Bool) {
    (self.sampleRateHz, self.heldFrames, self.countsDropped) = (sampleRateHz, Int64(heldFrames), countsDropped)
  }

  /// Something may be missing.
  var isOpen: Bool { begin != nil }

  /// The stream runs anew: how long it stood tells nothing.
  mutating func forget() { (last, begin) = (nil, nil) }

  /// It runs: `readFrames` have left the server so far, and `takenFrames` were taken.
  mutating func began(readFrames: Int64, takenFrames: Int64) { knownFrames = readFrames - takenFrames }

  /// `takenFrames` were taken since the stream was made. True when the server is to be asked how many it has had.
  mutating func took(_ takenFrames: Int64, at now: HostTime) -> Bool {
    if begin == nil, let last, now.nanoseconds(since: last.time) > Self.leastNanoseconds { begin = last }
    last = Mark(time: now, frames: takenFrames)
    return begin != nil
  }

  /// The server has had `writtenFrames` since the stream was made, of which `readFrames` have left it. How many are missing; nil: that will be
  /// known when more was taken.
  mutating func answered(writtenFrames: Int64, readFrames: Int64) -> Int? {
    guard let begin, let last else { return 0 }
    let tenth = Int64(sampleRateHz) / 10
    guard writtenFrames - readFrames < tenth else { return nil }
    self.begin = nil
    let missing: Int64
    if countsDropped {
      missing = readFrames - last.frames - knownFrames
    } else {
      // A source that stood or slept had nothing to give: only a full server drops anything.
      guard last.frames - begin.frames >= heldFrames / 2 else { return 0 }
      let passed = Double(last.time.nanoseconds(since: begin.time)) / 1e9 * Double(sampleRateHz)
      missing = Int64(passed) - (last.frames - begin.frames)
    }
    // Fragments come a little sooner or later.
    guard missing >= tenth else { return 0 }
    if countsDropped { knownFrames += missing }
    return Int(missing)
  }
}
