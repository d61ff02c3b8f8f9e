import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Requests timings from the server, and with the replies keeps the output's clock and overwrites buffered audio.
extension PulseStreamDriver {
  /// The number of timings in quick succession after a start, before the interval applies.
  private static let quickTimingCount = 4

  // MARK: - Timings

  func requestTiming() {
    guard phase != .failed else { return }
    let request = stream.requestTiming(userdata) { _, succeeded, userdata in
      Box.target(userdata)?.timingArrived(succeeded: succeeded != 0)
    }
    guard let request else { return fail("the timing of the stream cannot be queried") }
    request.release()
    timings.request(at: .now)
  }

  func requestTimingIfDue(at now: HostTime) {
    let isSettled = clock.isRunning && clock.timingCount >= Self.quickTimingCount
    if phase == .running, timings.isDue(at: now, isSettled: isSettled) { requestTiming() }
  }

  private func timingArrived(succeeded: Bool) {
    timings.receive(at: .now)
    counters.timingCount.wrappingAdd(1, ordering: .relaxed)
    if succeeded, watch.isProbing || watch.isHanging { serverResponded() }
    guard phase != .failed else { return }
    guard succeeded, let timing = deviceTiming() else { return timingFailed() }
    if let expected = splice.jumpTiming {
      // Timings requested before the jump refer to frames that the jump may have renumbered.
      if timings.received == expected { jumpCompleted() }
    } else {
      handle(timing)
    }
  }

  /// Requests another timing, because splices, jumps and corks need a valid one. The state callback reports a lost
  /// server.
  private func timingFailed() {
    guard timings.isIdle, splice.isPending || isCorking || splice.jumpTiming != nil else { return }
    requestTiming()
    if splice.jumpTiming != nil { splice.awaitJump(timing: timings.requested) }
    if case .corking(.some, _) = phase { awaitPosition() }
  }

  private func handle(_ timing: DeviceTiming) {
    clock.lastReadFrame = timing.readFrame
    counters.deviceLatencyMicroseconds.store(
      Int(clamping: timing.deviceLatencyMicroseconds), ordering: .relaxed)
    switch phase {
    case .running:
      if splice.isLate(timing) { counters.lateSpliceCount.wrappingAdd(1, ordering: .relaxed) }
      checkDevice(timing)
      // While a stall is suspected or confirmed, no frame is released and the clock is not updated.
      if watch.isUncertain { return replayIfDue() }
      updateClock(timing)
      if splice.isPending, timings.isIdle { overwrite(timing) }
      if let frame = clock.releasableFrame(at: .now) { core.release(heardFrame: frame) }
      wakeControlIfNeeded()
    case .corking(let expected, let hasCommands):
      if timings.received == expected { corkCompleted(readFrame: timing.readFrame, hasCommands: hasCommands) }
    case .corked, .failed: break
    }
  }

  /// The server's last reply in output frames; nil when libpulse considers it invalid.
  private func deviceTiming() -> DeviceTiming? {
    guard let info = stream.timing, info.read_index_corrupt == 0 else { return nil }
    return DeviceTiming(
      readFrame: clock.frame(ofByte: info.read_index),
      deviceLatencyMicroseconds: Int64(clamping: info.sink_usec),
      hostTime: MonotonicClock.hostTime(ofWallClock: info.timestamp, notBefore: timings.lastRequest),
      isPlaying: info.playing != 0)
  }

  // MARK: - Splices

  /// The first frame that the device may not have read, as far as the server has reported.
  var unreadFrame: Int64 {
    clock.unreadFrame(bufferedCount: splice.bufferedCount(bufferFrameCount: bufferFrameCount))
  }

  /// Applies the pending commands and overwrites the buffered audio from just after the device's read position on.
  private func overwrite(_ timing: DeviceTiming) {
    let now = HostTime.now
    let plan = SplicePlan(
      sampleRateHz: clock.sampleRateHz, timing: timing, blockFrames: watch.blockFrames, lastRead: watch.lastRead,
      slowestReplyNanoseconds: timings.slowestReplyNanoseconds, now: now)
    guard let target = splice.begin(plan, writtenFrame: clock.writtenFrame) else { return requestTiming() }
    let frame = core.rewind(toFrame: target)
    let isOverwriting = frame < clock.writtenFrame
    renderAndWrite()
    counters.spliceCount.wrappingAdd(1, ordering: .relaxed)
    guard phase == .running else { return }
    if isOverwriting {
      splice.overwrote(fromFrame: frame)
      requestTiming()
    }
    corkIfSilent(at: now)
  }

  /// Applies the pending commands and replaces all buffered audio.
  ///
  /// No old audio continues, so the new audio need not begin at a chosen frame that is clear of the device. The server
  /// inserts it at the device's next read, so no frame is late and no time is lost. A timing then reports the position,
  /// and the frames are renumbered accordingly.
  func jump() {
    watch.endStall()
    splice.beginJump()
    _ = core.rewind(toFrame: unreadFrame)
    renderAndWrite(isJump: true)
    counters.spliceCount.wrappingAdd(1, ordering: .relaxed)
    guard phase == .running else { return }
    requestTiming()
    splice.awaitJump(timing: timings.requested)
    wakeControlIfNeeded()
  }

  /// Handles the timing after a jump: the server reports the position of the new audio.
  private func jumpCompleted() {
    splice.jumpCompleted()
    guard let info = stream.timing else { return }
    interruption.renumber(byFrames: clock.jumpCompleted(writeIndex: info.write_index))
    if let timing = deviceTiming() { handle(timing) }
  }

  // MARK: - Clock

  private func updateClock(_ timing: DeviceTiming) {
    switch clock.update(timing) {
    case .unchanged: break
    case .advanced(let point, let isNew):
      core.clock.publish(heardFrame: point.frame, at: point.hostTime, isRunning: true)
      if isNew { notifyClockChange() }
    case .ready: startClock()
    }
  }

  private func startClock() {
    clockTimer = nil
    guard phase == .running else { return }
    switch clock.start(at: .now) {
    case .later(let delay):
      clockTimer = LoopEvent(afterMicroseconds: UInt64(delay / 1_000), on: connection, userdata) { _, _, _, userdata in
        Box.target(userdata)?.startClock()
      }
    case .started(let point):
      core.clock.publish(heardFrame: point.frame, at: point.hostTime, isRunning: true)
      notifyClockChange()
    case nil: break
    }
  }

  /// Pauses the clock at `frame` once the device has reached it. Audio in the device's buffer cannot be recalled.
  func stopClockWhenHeard(_ frame: Int64) {
    clockTimer = nil
    guard let end = clock.time(ofFrame: frame, after: .now) else { return stopClock(at: frame) }
    let duration = UInt64(max(0, end.nanoseconds(since: .now)) / 1_000 + 1)
    clockTimer = LoopEvent(afterMicroseconds: duration, on: connection, userdata) { _, _, _, userdata in
      Box.target(userdata)?.clockReachedEnd()
    }
  }

  private func clockReachedEnd() {
    if case .corked(let readFrame) = phase { stopClock(at: readFrame) }
  }

  /// Pauses the clock at `frame`, or at its current frame if nil.
  func stopClock(at frame: Int64?) {
    clockTimer = nil
    let now = HostTime.now
    guard let stopFrame = clock.stop(at: frame, now: now) else { return }
    core.clock.publish(heardFrame: stopFrame, at: now, isRunning: false)
    notifyClockChange()
  }

  // MARK: - Events of the device

  /// Handles an underrun. The stream continues at the same frame when more audio is written: no frame is lost.
  func deviceUnderran() {
    guard phase == .running else { return }
    counters.underrunCount.wrappingAdd(1, ordering: .relaxed)
    let index = pa_stream_get_underflow_index(pointer)
    guard clock.isRunning, index >= 0 else { return }
    // The device still plays its buffer: the frames up to this one are heard.
    stopClock(at: clock.frame(ofByte: index))
  }

  /// Handles the start, or restart, of playback by the server.
  func deviceStarted() {
    if phase == .running { requestTiming() }
  }
}
