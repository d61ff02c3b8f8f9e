import MediaCore

/// A graph that stood still loses what its first cycles take, and says nothing of it (`GraphStall`).
extension PulseStreamDriver {
  /// Was there a time in which the device took nothing? Asked when it takes something again, or, where nothing came, by who was awake.
  func suspectStall(at now: HostTime, isAwake: Bool = false) {
    guard isGraphNode, stall.frame == nil, landingTiming == nil, lastRead.nanoseconds > 0,
      GraphStall.isLate(
        nanoseconds: now.nanoseconds(since: lastRead),
        blockNanoseconds: blockFrames * 1_000_000_000 / Int64(sampleRateHz))
    else { return }
    let frame = unreadFrame
    requestTiming()
    stall.suspect(unreadFrame: frame, lastRead: lastRead, timing: timingsRequested, isAwake: isAwake)
  }

  /// The server has told where the device is.
  func checkStall(_ timing: DeviceTiming) {
    guard stall.frame != nil, !stall.isCertain else { return }
    stall.answered(
      timing: timingsAnswered, readFrame: timing.readFrame, hostTime: timing.hostTime, blockFrames: blockFrames,
      sampleRateHz: sampleRateHz)
    guard let frame = stall.frame, stall.isCertain else { return }
    // Nothing behind it has been heard for sure, and the clock ran on.
    stopClock(at: frame)
  }

  /// Plays again what the first cycles have taken, as soon as they have: what the device takes next is the first of it.
  func replayIfDue() {
    guard phase == .running, landingTiming == nil,
      let frame = stall.takeReplayFrame(
        unreadFrame: unreadFrame, blockFrames: blockFrames, doubtFrames: Self.doubtFrames(blockFrames, sampleRateHz))
    else { return }
    let movement = min(0, core.rewind(toFrame: frame) - unreadFrame)
    renumber(byFrames: movement)
    jump()
  }
}
