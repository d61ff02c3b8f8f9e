import CPulse
import MediaCore
import RealtimeAudio

/// Asking the server where the stream stands, and keeping the output's clock by the answers.
extension PulseStreamDriver {
  /// Between two timings while the clock is settled. They ride on the requests for sound: nothing wakes for them alone.
  private static let timingIntervalNanoseconds: Int64 = 150_000_000
  /// As many timings at once after a start before the interval holds.
  private static let quickTimingCount = 4
  /// Released frames stay this long behind what is heard, because a cork may give sound back.
  private static let releaseMarginNanoseconds: Int64 = 20_000_000

  // MARK: - Asking

  func requestTiming() {
    guard phase != .failed else { return }
    let operation = pa_stream_update_timing_info(
      stream,
      { _, succeeded, own in PulseStreamDriver.from(own)?.timingArrived(succeeded: succeeded != 0)
      }, own)
    guard let operation else { return fail("the stream's timing cannot be asked") }
    pa_operation_unref(operation)
    timingsRequested += 1
    lastTimingRequest = .now
  }

  func requestTimingIfDue(at now: HostTime) {
    guard phase == .running, timingsAnswered == timingsRequested else { return }
    let isSettled = isClockRunning && heard.confidence >= Self.quickTimingCount
    if isSettled, now.nanoseconds(since: lastTimingRequest) < Self.timingIntervalNanoseconds {
      return
    }
    requestTiming()
  }

  // MARK: - Answers

  private func timingArrived(succeeded: Bool) {
    timingsAnswered += 1
    if timingsAnswered == timingsRequested {
      let duration = HostTime.now.nanoseconds(since: lastTimingRequest)
      slowestAnswerNanoseconds = max(duration, slowestAnswerNanoseconds / 8 * 7)
    }
    counters.timingCount.wrappingAdd(1, ordering: .relaxed)
    if succeeded, isProbing || isHanging { answered() }
    guard phase != .failed else { return }
    guard succeeded, let timing = deviceTiming() else {
      // Without an answer there is no splice, no landing and no end of a cork; the state callback tells of a lost server.
      if timingsAnswered == timingsRequested, isSpliceWanted || phase == .corking || landingTiming != nil {
        requestTiming()
        if landingTiming != nil { landingTiming = timingsRequested }
        if corkTiming != nil { corkTiming = timingsRequested }
      }
      return
    }
    if let landing = landingTiming {
      // What was asked before the jump counts in frames that the jump may have moved.
      guard timingsAnswered == landing else { return }
      return landed()
    }
    handle(timing)
  }

  private func handle(_ timing: DeviceTiming) {
    lastReadFrame = timing.readFrame
    counters.deviceLatencyMicroseconds.store(
      Int(clamping: timing.deviceMicroseconds), ordering: .relaxed)
    switch phase {
    case .running:
      verifySplice(timing)
      checkConsumption(timing)
      checkStall(timing)
      // While that is not known nothing is released, and the clock is not believed.
      if consumption.isStalled || stall.frame != nil { return replayIfDue() }
      keepClock(timing)
      if isSpliceWanted, timingsAnswered == timingsRequested { splice(timing) }
      release()
      tellControl()
    case .corking:
      if timingsAnswered == corkTiming { settle(readFrame: timing.readFrame) }
    case .corked, .failed: break
    }
  }

  /// The server has taken the jump, and says where: that is where the core's frame stands from now on.
  private func landed() {
    landingTiming = nil
    guard let info = pa_stream_get_timing_info(stream)?.pointee else { return }
    let movement = writtenFrame - info.write_index / Int64(bytesPerFrame) - baseFrame
    baseFrame += movement
    lastReadFrame += movement
    floorFrame += movement
    heard.move(byFrames: movement)
    hold.move(byFrames: movement)
    if let timing = deviceTiming() { handle(timing) }
  }

  /// The server's last answer in output frames; nil when libpulse holds it for void.
  private func deviceTiming() -> DeviceTiming? {
    guard let info = pa_stream_get_timing_info(stream)?.pointee, info.read_index_corrupt == 0 else {
      return nil
    }
    return DeviceTiming(
      readFrame: baseFrame + max(0, info.read_index) / Int64(bytesPerFrame),
      deviceMicroseconds: Int64(clamping: info.sink_usec),
      hostTime: MonotonicClock.hostTime(ofWallClock: info.timestamp, notBefore: lastTimingRequest),
      isPlaying: info.playing != 0)
  }

  private func release() {
    guard isClockRunning, let frame = heard.heardFrame(at: .now) else { return }
    let margin = Double(Self.releaseMarginNanoseconds) * Double(sampleRateHz) / 1e9
    core.release(heardFrame: max(floorFrame, min(lastReadFrame, Int64(frame - margin))))
  }

  // MARK: - Clock

  private func keepClock(_ timing: DeviceTiming) {
    guard timing.isPlaying else { return }
    let isNew = heard.observe(
      frame: timing.heardFrame(sampleRateHz: sampleRateHz), at: timing.hostTime)
    guard let point = heard.publishedPoint() else { return }
    if isClockRunning {
      core.clock.publish(heardFrame: point.frame, at: point.hostTime, isRunning: true)
      if isNew { tellControlOfClock() }
    } else {
      startClock()
    }
  }

  /// Lets the clock run from the moment at which the device gets to `floorFrame`; until then it plays what it held
  /// before, and the clock stands.
  private func startClock() {
    cancelClockEvent()
    guard let begin = heard.hostTime(ofFrame: Double(floorFrame)) else { return }
    let delay = begin.nanoseconds(since: .now)
    if delay > 200_000 {
      clockEvent = pa_context_rttime_new(
        context, pa_rtclock_now() + UInt64(delay / 1_000),
        { _, _, _, own in PulseStreamDriver.from(own)?.startClock() }, own)
      return
    }
    guard phase == .running, let point = heard.publishedPoint() else { return }
    isClockRunning = true
    if point.frame < floorFrame {
      core.clock.publish(heardFrame: floorFrame, at: begin, isRunning: true)
    } else {
      core.clock.publish(heardFrame: point.frame, at: point.hostTime, isRunning: true)
    }
    tellControlOfClock()
  }

  /// Lets the clock stand at `frame` once the device, which holds sound that cannot be taken back, has got there.
  func stopClockWhenHeard(_ frame: Int64) {
    cancelClockEvent()
    guard isClockRunning, let end = heard.hostTime(ofFrame: Double(frame)), end > .now else {
      return stopClock(at: frame)
    }
    clockEvent = pa_context_rttime_new(
      context, pa_rtclock_now() + UInt64(end.nanoseconds(since: .now) / 1_000 + 1),
      { _, _, _, own in PulseStreamDriver.from(own)?.clockReachedEnd() }, own)
  }

  private func clockReachedEnd() {
    if case .corked(let readFrame) = phase { stopClock(at: readFrame) }
  }

  func cancelClockEvent() {
    if let clockEvent { api.pointee.time_free(clockEvent) }
    clockEvent = nil
  }

  /// Lets the clock stand: at `frame`, or where it is.
  func stopClock(at frame: Int64?) {
    cancelClockEvent()
    let now = HostTime.now
    let wasRunning = isClockRunning
    var standing = frame
    if standing == nil, wasRunning, let heardFrame = heard.heardFrame(at: now) {
      standing = max(floorFrame, min(writtenFrame, Int64(heardFrame)))
    }
    isClockRunning = false
    heard.restart()
    guard let standing else { return }
    floorFrame = standing
    core.clock.publish(heardFrame: standing, at: now, isRunning: false)
    tellControlOfClock()
  }

  // MARK: - What the device does by itself

  /// The server has played all that it had. It goes on where it was as soon as there is more: no frame is lost.
  func deviceStarved() {
    guard phase == .running else { return }
    counters.starvationCount.wrappingAdd(1, ordering: .relaxed)
    let index = pa_stream_get_underflow_index(stream)
    guard isClockRunning, index >= 0 else { return }
    // What the device still holds is heard yet; but nothing later than this.
    stopClock(at: baseFrame + index / Int64(bytesPerFrame))
  }

  /// The server plays (again).
  func deviceStarted() {
    if phase == .running { requestTiming() }
  }

  /// The stream has another device, or its device was suspended or woken.
  func deviceChanged() {
    blockFrames = 0
    blocks.forget()
    stall.end()
    consumption = ConsumptionMonitor()
    consumption.begin(at: .now)
    guard phase == .running else { return }
    stopClock(at: nil)
    requestTiming()
  }
}
