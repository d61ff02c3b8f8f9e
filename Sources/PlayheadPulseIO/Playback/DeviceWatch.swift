import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Watches the device of a playback stream: whether it reads, hangs, stalls, moves or is suspended. A value type
/// without side effects.
///
/// The owner runs one timer, which is due when the next read is late. While the device runs, the read comes long before
/// the timer, so the timer causes no wakeup.
struct DeviceWatch: Hashable {
  /// The conclusion when the timer is due.
  enum Timeout: Hashable {
    /// The device missed a block. It has stalled if this process was scheduled; otherwise the timer itself was late.
    case blockIsLate(wasScheduled: Bool)
    /// All written samples should have been heard, and the device has not requested more. A timing determines whether
    /// the device still reads.
    case deviceIsIdle
    /// The server sends no timing.
    case serverHangs
  }

  /// If the device reads nothing for this duration after all written audio should have been heard, the server is
  /// probed.
  private static let idleMarginNanoseconds: Int64 = 100_000_000
  /// A timer that is later than this was late because this process was not scheduled.
  private static let timerToleranceNanoseconds: Int64 = 5_000_000
  /// The maximum time for the server's reply.
  static let replyTimeoutNanoseconds: Int64 = 300_000_000
  /// The maximum duration of audio that is replayed because the server may have dropped it.
  private static let maximumReplayMilliseconds: Int64 = 48

  private let sampleRateHz: Int
  /// See `PulseConnection.DeviceInfo.isGraphNode`.
  private let isGraphNode: Bool
  private(set) var deviceIndex: UInt32 = 0
  /// The size of the last block that the device has read; 0 if it is unknown. It stays valid across a cork.
  private(set) var blockFrames: Int64 = 0
  /// The time of the device's last read; 0 after a start. A request for audio follows directly after a read.
  private(set) var lastRead = HostTime(nanoseconds: 0)
  /// The time of the last request for audio.
  private(set) var lastActivity = HostTime(nanoseconds: 0)
  /// The suspected or confirmed stall of a graph.
  private var stall = GraphStall()
  /// Whether the device reads from the stream.
  private var consumption = ConsumptionMonitor()
  private(set) var isHanging = false
  /// Whether the server is being probed for a reply.
  private(set) var isProbing = false
  private var timerTime = HostTime(nanoseconds: 0)
  /// Whether the timer is due when a block is late; otherwise it is due when all written audio should have been heard.
  private var isWatchingBlocks = false

  init(sampleRateHz: Int, isGraphNode: Bool) { (self.sampleRateHz, self.isGraphNode) = (sampleRateHz, isGraphNode) }

  // MARK: - The device

  /// Records the stream's current device. Returns the index of the previous one if it was another.
  mutating func moved(to index: UInt32) -> UInt32? {
    defer { deviceIndex = index }
    return index == deviceIndex ? nil : deviceIndex
  }

  /// Discards everything that is known about the device, because another one follows or it was suspended or resumed.
  mutating func deviceChanged(at now: HostTime) {
    blockFrames = 0
    stall.end()
    consumption = ConsumptionMonitor()
    consumption.start(at: now)
  }

  /// Records that the stream starts or resumes.
  mutating func streamStarted(at now: HostTime) {
    lastRead = HostTime(nanoseconds: 0)
    stall.end()
    consumption.start(at: now)
  }

  /// Records whether the device hangs. Returns the notice if that is new.
  mutating func setHanging(_ hangs: Bool) -> DeviceNotice? {
    guard isHanging != hangs else { return nil }
    isHanging = hangs
    return hangs ? .stalled : .resumed
  }

  /// Records a reply of the server or a request for audio. Returns whether the output is responsive: its device is
  /// awake and has not stopped reading.
  mutating func serverResponded(isSuspended: Bool) -> Bool {
    isProbing = false
    return !isSuspended && !consumption.isStalled
  }

  // MARK: - Reads

  /// Records a request for audio.
  mutating func audioRequested(at now: HostTime) { lastActivity = now }

  /// Records that the device has read `count` frames; 0 if that is unknown.
  mutating func recordRead(frames count: Int, at now: HostTime) {
    if lastRead.nanoseconds > 0, count > 0 { blockFrames = Int64(count) }
    lastRead = now
  }

  private var blockNanoseconds: Int64 { blockFrames * 1_000_000_000 / Int64(sampleRateHz) }

  /// The duration of consumed audio that a graph may drop when it ends, even if the audio counts as heard; nil if it is
  /// unknown.
  var possibleLossNanoseconds: Int64? {
    guard isGraphNode, blockFrames > 0 else { return nil }
    return Self.possibleLossFrames(blockFrames, sampleRateHz) * 1_000_000_000 / Int64(sampleRateHz)
  }

  /// Returns the number of frames that a graph with such blocks may have dropped: two blocks, but at most as many as
  /// may be heard twice.
  static func possibleLossFrames(_ blockFrames: Int64, _ sampleRateHz: Int) -> Int64 {
    min(maximumReplayMilliseconds * Int64(sampleRateHz) / 1_000, 2 * blockFrames)
  }

  // MARK: - Timer

  /// Begins to wait for the next read. Returns the duration of the timer.
  mutating func waitForRead(bufferFrameCount: Int) -> Int64 {
    isWatchingBlocks = blockTimeoutNanoseconds != nil
    return blockTimeoutNanoseconds ?? idleTimeoutNanoseconds(bufferFrameCount)
  }

  /// Returns the duration of the timer after a late block.
  func remainingNanoseconds(bufferFrameCount: Int) -> Int64 {
    max(0, idleTimeoutNanoseconds(bufferFrameCount) - (blockTimeoutNanoseconds ?? 0))
  }

  /// Begins to wait for the next timing, which is requested when the timer is due.
  mutating func waitForProbe() { (isWatchingBlocks, isProbing) = (false, false) }

  /// Records that the timer is due at `time`.
  mutating func timerStarted(until time: HostTime) { timerTime = time }

  /// Records that no timer runs.
  mutating func timerCancelled() { isProbing = false }

  /// Evaluates the due timer.
  mutating func timerFired(at now: HostTime) -> Timeout {
    if isWatchingBlocks {
      isWatchingBlocks = false
      return .blockIsLate(wasScheduled: now.nanoseconds(since: timerTime) < Self.timerToleranceNanoseconds)
    }
    if isProbing { return .serverHangs }
    isProbing = true
    return .deviceIsIdle
  }

  /// The duration without a read after which a graph may have stalled; nil if missing reads prove nothing.
  private var blockTimeoutNanoseconds: Int64? {
    guard isGraphNode, blockFrames > 0, lastRead.nanoseconds > 0 else { return nil }
    return GraphStall.timeoutNanoseconds(blockNanoseconds: blockNanoseconds)
  }

  private func idleTimeoutNanoseconds(_ bufferFrameCount: Int) -> Int64 {
    max(0, Int64(bufferFrameCount) * 1_000_000_000 / Int64(sampleRateHz)) + Self.idleMarginNanoseconds
  }

  // MARK: - Stalls

  /// Whether a stall of the graph is suspected or confirmed (`GraphStall`).
  var mayHaveStalled: Bool { stall.frame != nil }

  /// Whether the frames that the server has read may not have been heard: the device stopped reading, or may have.
  var isUncertain: Bool { consumption.isStalled || mayHaveStalled }

  /// Ends the stall: the stream is corked, or other audio is played.
  mutating func endStall() { stall.end() }

  /// Suspects a stall after a late block. The reply of timing `timing` decides.
  mutating func suspectStall(unreadFrame: Int64, timing: UInt64) {
    stall.suspect(unreadFrame: unreadFrame, lastRead: lastRead, timing: timing)
  }

  /// Confirms a stall of a graph, because the server does not respond.
  mutating func confirmStall(unreadFrame: Int64) {
    if isGraphNode { stall.confirm(unreadFrame: unreadFrame) }
  }

  /// Evaluates timing `number` for a suspected stall. Returns the first frame of the stall if the timing confirms it.
  mutating func evaluateStall(_ timing: DeviceTiming, number: UInt64) -> Int64? {
    guard mayHaveStalled, !stall.isConfirmed else { return nil }
    stall.evaluate(
      timing: number, readFrame: timing.readFrame, hostTime: timing.hostTime, blockFrames: blockFrames,
      sampleRateHz: sampleRateHz)
    return stall.isConfirmed ? stall.frame : nil
  }

  /// Evaluates whether the device reads, at a timing of the running stream; see `ConsumptionMonitor.observe`.
  mutating func evaluateConsumption(
    _ timing: DeviceTiming, readPosition: Int64, isEmpty: Bool
  ) -> ConsumptionMonitor.Verdict {
    consumption.observe(
      readPosition: readPosition, isEmpty: isEmpty, latencyMicroseconds: timing.deviceLatencyMicroseconds,
      blockNanoseconds: blockNanoseconds, at: timing.hostTime)
  }

  /// Returns the frame to replay from after a stall, once; see `GraphStall.popReplayFrame`.
  mutating func popReplayFrame(unreadFrame: Int64) -> Int64? {
    stall.popReplayFrame(
      unreadFrame: unreadFrame, blockFrames: blockFrames,
      maximumReplayFrames: Self.possibleLossFrames(blockFrames, sampleRateHz))
  }
}
