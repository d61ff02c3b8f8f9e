import PlayheadMediaCore

/// Recovers the audio that a PipeWire graph loses when it stalls: after a stall, PipeWire silently discards the first
/// one or two blocks that it consumes. All audio consumed since the stall is replayed, up to `maximumReplayFrames`.
///
/// A value type without side effects; frames are output frames.
struct GraphStall: Hashable {
  /// A graph cycle that is late by less than this is inaudible.
  private static let slackNanoseconds: Int64 = 15_000_000

  /// The first frame that the device had not read when the stall began; nil while no stall is suspected.
  private(set) var frame: Int64?
  /// Whether the stall is confirmed: the server stalled, and not this process.
  private(set) var isConfirmed = false
  /// The last read of the device, and the timing whose reply decides whether the server stalled.
  private var lastRead = HostTime(nanoseconds: 0)
  private var decidingTiming: UInt64 = 0

  /// Returns the duration after a read within which two more reads must follow.
  static func timeoutNanoseconds(blockNanoseconds: Int64) -> Int64 { 2 * blockNanoseconds + slackNanoseconds }

  /// Records that the device missed a block while this process was scheduled. The reply of timing `timing` decides
  /// whether the device really stalled.
  mutating func suspect(unreadFrame: Int64, lastRead: HostTime, timing: UInt64) {
    guard frame == nil else { return }
    (frame, self.lastRead, decidingTiming) = (unreadFrame, lastRead, timing)
  }

  /// Confirms a stall, because the server does not respond.
  mutating func confirm(unreadFrame: Int64) {
    frame = frame ?? unreadFrame
    isConfirmed = true
  }

  /// Evaluates a timing: the device is at `readFrame` at `hostTime`. Without a stall the device has reached the
  /// expected position, except for the block that it is currently playing.
  mutating func evaluate(timing: UInt64, readFrame: Int64, hostTime: HostTime, blockFrames: Int64, sampleRateHz: Int) {
    guard let frame, !isConfirmed, timing >= decidingTiming else { return }
    let duration = Double(hostTime.nanoseconds(since: lastRead)) / 1e9
    let missingFrames = duration * Double(sampleRateHz) - Double(readFrame - frame)
    if missingFrames > Double(blockFrames) * 1.25 { isConfirmed = true } else { end() }
  }

  /// Ends the stall: the device runs, or other audio is played.
  mutating func end() { self = GraphStall() }

  /// Returns the frame to replay from, when the device has consumed the frames before `unreadFrame`. Nil if the replay
  /// is not due yet, or no stall is confirmed. The replay also happens if one block more than `maximumReplayFrames` was
  /// consumed, because the first blocks were lost. If more was consumed, the stall ends without a replay.
  ///
  /// - Parameter maximumReplayFrames: The maximum number of frames that may be heard twice.
  mutating func popReplayFrame(unreadFrame: Int64, blockFrames: Int64, maximumReplayFrames: Int64) -> Int64? {
    guard isConfirmed, let frame, unreadFrame - frame > max(0, maximumReplayFrames - blockFrames) else { return nil }
    end()
    return unreadFrame - frame <= max(maximumReplayFrames, blockFrames) + blockFrames ? frame : nil
  }
}
