import MediaCore

/// A graph (PipeWire) that stood still and goes on. What its first cycles take is not heard, and nobody is told: seen were one block
/// and two. So what was taken since it stood is given again, as much as may be heard twice. A pure value; frames are output frames.
struct GraphStall: Hashable {
  /// Nobody hears a cycle that is late by less.
  private static let slackNanoseconds: Int64 = 15_000_000

  /// The first frame that the device had not taken when it stood; nil: it runs.
  private(set) var frame: Int64?
  /// Whether it was the server that stood, and not this process.
  private(set) var isCertain = false
  /// When it took sound last, and the timing that tells who stood.
  private var lastRead = HostTime(nanoseconds: 0)
  private var timing: UInt64 = 0

  /// So long after a block the next one but one is late.
  static func patienceNanoseconds(blockNanoseconds: Int64) -> Int64 { 2 * blockNanoseconds + slackNanoseconds }

  /// The device took nothing for too long after `lastRead`, though this process was awake to see it; the answer to the question `timing`
  /// will tell whether it stands.
  mutating func suspect(unreadFrame: Int64, lastRead: HostTime, timing: UInt64) {
    guard frame == nil else { return }
    (frame, self.lastRead, self.timing) = (unreadFrame, lastRead, timing)
  }

  /// The server does not answer.
  mutating func begin(unreadFrame: Int64) {
    frame = frame ?? unreadFrame
    isCertain = true
  }

  /// What a timing says: the device is at `readFrame` at `hostTime`. One that went on is where it would be, but for the block that it is
  /// in the middle of.
  mutating func answered(timing: UInt64, readFrame: Int64, hostTime: HostTime, blockFrames: Int64, sampleRateHz: Int) {
    guard let frame, !isCertain, timing >= self.timing else { return }
    let duration = Double(hostTime.nanoseconds(since: lastRead)) / 1e9
    let behindFrames = duration * Double(sampleRateHz) - Double(readFrame - frame)
    if behindFrames > Double(blockFrames) * 1.25 { isCertain = true } else { end() }
  }

  /// It runs, or something else is played.
  mutating func end() { self = GraphStall() }

  /// From where on to play again, now that the device has taken everything before `unreadFrame`; nil: not yet, or nothing stood. Where
  /// one block more was taken than may be heard twice it still is, for the first of them were lost; where more was, nothing.
  ///
  /// - Parameter doubtFrames: so much may be heard twice.
  mutating func takeReplayFrame(unreadFrame: Int64, blockFrames: Int64, doubtFrames: Int64) -> Int64? {
    guard isCertain, let frame, unreadFrame - frame > max(0, doubtFrames - blockFrames) else { return nil }
    end()
    return unreadFrame - frame <= max(doubtFrames, blockFrames) + blockFrames ? frame : nil
  }
}
