import CPlayheadPulse
import PlayheadMediaCore

/// A stalled graph silently loses the audio that its first cycles consume (`GraphStall`).
extension PulseStreamDriver {
  /// The duration without a read after which the graph may have stalled; nil if missing reads prove nothing.
  var blockTimeoutNanoseconds: Int64? {
    guard isGraphNode, blockFrames > 0, lastRead.nanoseconds > 0 else { return nil }
    return GraphStall.timeoutNanoseconds(blockNanoseconds: blockFrames * 1_000_000_000 / Int64(sampleRateHz))
  }

  /// Handles a late block while this process was scheduled.
  func suspectStall() {
    guard stall.frame == nil, jumpTiming == nil else { return }
    let frame = unreadFrame
    requestTiming()
    stall.suspect(unreadFrame: frame, lastRead: lastRead, timing: timingsRequested)
  }

  /// Evaluates a timing for a suspected stall.
  func checkStall(_ timing: DeviceTiming) {
    guard stall.frame != nil, !stall.isConfirmed else { return }
    stall.evaluate(
      timing: timingsReceived, readFrame: timing.readFrame, hostTime: timing.hostTime, blockFrames: blockFrames,
      sampleRateHz: sampleRateHz)
    guard let frame = stall.frame, stall.isConfirmed else { return }
    // The clock continued to run, but no later frame has certainly been heard.
    stopClock(at: frame)
  }

  /// Evaluates whether the device reads, at each timing of the running stream.
  func checkConsumption(_ timing: DeviceTiming) {
    guard pa_stream_is_suspended(pointer) <= 0, let info = stream.timing else { return }
    let verdict = consumption.observe(
      readPosition: info.read_index, isEmpty: info.write_index <= info.read_index,
      latencyMicroseconds: timing.deviceLatencyMicroseconds,
      blockNanoseconds: blockFrames * 1_000_000_000 / Int64(sampleRateHz), at: timing.hostTime)
    switch verdict {
    case .consuming: if isHanging { serverResponded() }
    case .undecided: break
    case .suspected(let nanoseconds): probe(afterNanoseconds: nanoseconds)
    case .stalled: stopForDevice()
    }
  }

  /// Replays the audio that the first cycles after a stall consumed, as soon as the replay is due. The device's next
  /// read then begins with that audio.
  func replayIfDue() {
    guard phase == .running, jumpTiming == nil,
      let frame = stall.popReplayFrame(
        unreadFrame: unreadFrame, blockFrames: blockFrames,
        maximumReplayFrames: Self.possibleLossFrames(blockFrames, sampleRateHz))
    else { return }
    renumber(byFrames: min(0, core.rewind(toFrame: frame) - unreadFrame))
    jump()
  }
}
