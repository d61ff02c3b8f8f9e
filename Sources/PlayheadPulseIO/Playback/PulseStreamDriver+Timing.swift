import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Requests timings from the server, and keeps the output's clock with the replies.
extension PulseStreamDriver {
  /// The interval of timings while the clock is settled. Timings are requested together with the server's requests for
  /// audio, so that no extra wakeup occurs.
  private static let timingIntervalNanoseconds: Int64 = 150_000_000
  /// The number of timings in quick succession after a start, before the interval applies.
  private static let quickTimingCount = 4
  /// Frames are released this long after they are heard, because a cork may return consumed audio.
  private static let releaseMarginNanoseconds: Int64 = 20_000_000

  // MARK: - Requests

  func requestTiming() {
    guard phase != .failed else { return }
    let request = stream.requestTiming(userdata) { _, succeeded, userdata in
      Box.target(userdata)?.timingArrived(succeeded: succeeded != 0)
    }
    guard let request else { return fail("the timing of the stream cannot be queried") }
    request.release()
    timingsRequested += 1
    lastTimingRequest = .now
  }

  func requestTimingIfDue(at now: HostTime) {
    guard phase == .running, timingsReceived == timingsRequested else { return }
    let isSettled = isClockRunning && heardClock.observationCount >= Self.quickTimingCount
    if isSettled, now.nanoseconds(since: lastTimingRequest) < Self.timingIntervalNanoseconds {
      return
    }
    requestTiming()
  }

  // MARK: - Replies

  private func timingArrived(succeeded: Bool) {
    timingsReceived += 1
    if timingsReceived == timingsRequested {
      let duration = HostTime.now.nanoseconds(since: lastTimingRequest)
      slowestReplyNanoseconds = max(duration, slowestReplyNanoseconds / 8 * 7)
    }
    counters.timingCount.wrappingAdd(1, ordering: .relaxed)
    if succeeded, isProbing || isHanging { serverResponded() }
    guard phase != .failed else { return }
    guard succeeded, let timing = deviceTiming() else {
      // Splices, jumps and corks need a valid timing, so request another one. The state callback reports a lost server.
      if timingsReceived == timingsRequested, isSplicePending || phase == .corking || jumpTiming != nil {
        requestTiming()
        if jumpTiming != nil { jumpTiming = timingsRequested }
        if corkTiming != nil { corkTiming = timingsRequested }
      }
      return
    }
    if let expected = jumpTiming {
      // Timings requested before the jump refer to frames that the jump may have renumbered.
      guard timingsReceived == expected else { return }
      return jumpCompleted()
    }
    handle(timing)
  }

  private func handle(_ timing: DeviceTiming) {
    lastReadFrame = timing.readFrame
    counters.deviceLatencyMicroseconds.store(
      Int(clamping: timing.deviceLatencyMicroseconds), ordering: .relaxed)
    switch phase {
    case .running:
      verifySplice(timing)
      checkConsumption(timing)
      checkStall(timing)
      // While a stall is suspected or confirmed, no frame is released and the clock is not updated.
      if consumption.isStalled || stall.frame != nil { return replayIfDue() }
      updateClock(timing)
      if isSplicePending, timingsReceived == timingsRequested { splice(timing) }
      releaseHeardFrames()
      wakeControlIfNeeded()
    case .corking:
      if timingsReceived == corkTiming { corkCompleted(readFrame: timing.readFrame) }
    case .corked, .failed: break
    }
  }

  /// Handles the timing after a jump: the server reports the position of the new audio, and the frames are renumbered
  /// accordingly.
  private func jumpCompleted() {
    jumpTiming = nil
    guard let info = stream.timing else { return }
    let movement = writtenFrame - info.write_index / Int64(bytesPerFrame) - baseFrame
    baseFrame += movement
    lastReadFrame += movement
    minimumHeardFrame += movement
    heardClock.renumber(byFrames: movement)
    interruption.renumber(byFrames: movement)
    if let timing = deviceTiming() { handle(timing) }
  }

  /// The server's last reply in output frames; nil when libpulse considers it invalid.
  private func deviceTiming() -> DeviceTiming? {
    guard let info = stream.timing, info.read_index_corrupt == 0 else {
      return nil
    }
    return DeviceTiming(
      readFrame: baseFrame + max(0, info.read_index) / Int64(bytesPerFrame),
      deviceLatencyMicroseconds: Int64(clamping: info.sink_usec),
      hostTime: MonotonicClock.hostTime(ofWallClock: info.timestamp, notBefore: lastTimingRequest),
      isPlaying: info.playing != 0)
  }

  private func releaseHeardFrames() {
    guard isClockRunning, let frame = heardClock.heardFrame(at: .now) else { return }
    let margin = Double(Self.releaseMarginNanoseconds) * Double(sampleRateHz) / 1e9
    core.release(heardFrame: max(minimumHeardFrame, min(lastReadFrame, Int64(frame - margin))))
  }

  // MARK: - Clock

  private func updateClock(_ timing: DeviceTiming) {
    guard timing.isPlaying else { return }
    let isNew = heardClock.observe(
      frame: timing.heardFrame(sampleRateHz: sampleRateHz), at: timing.hostTime)
    guard let point = heardClock.publishedPoint() else { return }
    if isClockRunning {
      core.clock.publish(heardFrame: point.frame, at: point.hostTime, isRunning: true)
      if isNew { notifyClockChange() }
    } else {
      startClock()
    }
  }

  /// Starts the clock when the device reaches `minimumHeardFrame`. Until then the device plays its earlier buffer, and
  /// the clock is paused.
  private func startClock() {
    cancelClockEvent()
    guard let startTime = heardClock.hostTime(ofFrame: Double(minimumHeardFrame)) else { return }
    let delay = startTime.nanoseconds(since: .now)
    if delay > 200_000 {
      clockEvent = LoopEvent(afterMicroseconds: UInt64(delay / 1_000), on: connection, userdata) { _, _, _, userdata in
        Box.target(userdata)?.startClock()
      }
      return
    }
    guard phase == .running, let point = heardClock.publishedPoint() else { return }
    isClockRunning = true
    if point.frame < minimumHeardFrame {
      core.clock.publish(heardFrame: minimumHeardFrame, at: startTime, isRunning: true)
    } else {
      core.clock.publish(heardFrame: point.frame, at: point.hostTime, isRunning: true)
    }
    notifyClockChange()
  }

  /// Pauses the clock at `frame` once the device has reached it. Audio in the device's buffer cannot be recalled.
  func stopClockWhenHeard(_ frame: Int64) {
    cancelClockEvent()
    guard isClockRunning, let end = heardClock.hostTime(ofFrame: Double(frame)), end > .now else {
      return stopClock(at: frame)
    }
    let duration = UInt64(end.nanoseconds(since: .now) / 1_000 + 1)
    clockEvent = LoopEvent(afterMicroseconds: duration, on: connection, userdata) { _, _, _, userdata in
      Box.target(userdata)?.clockReachedEnd()
    }
  }

  private func clockReachedEnd() {
    if case .corked(let readFrame) = phase { stopClock(at: readFrame) }
  }

  func cancelClockEvent() { clockEvent = nil }

  /// Pauses the clock at `frame`, or at its current frame if nil.
  func stopClock(at frame: Int64?) {
    cancelClockEvent()
    let now = HostTime.now
    let wasRunning = isClockRunning
    var pausedFrame = frame
    if pausedFrame == nil, wasRunning, let heardFrame = heardClock.heardFrame(at: now) {
      pausedFrame = max(minimumHeardFrame, min(writtenFrame, Int64(heardFrame)))
    }
    isClockRunning = false
    heardClock.restart()
    guard let pausedFrame else { return }
    minimumHeardFrame = pausedFrame
    core.clock.publish(heardFrame: pausedFrame, at: now, isRunning: false)
    notifyClockChange()
  }

  // MARK: - Events of the device

  /// Handles an underrun. The stream continues at the same frame when more audio is written: no frame is lost.
  func deviceUnderran() {
    guard phase == .running else { return }
    counters.underrunCount.wrappingAdd(1, ordering: .relaxed)
    let index = pa_stream_get_underflow_index(pointer)
    guard isClockRunning, index >= 0 else { return }
    // The device still plays its buffer: the frames up to this one are heard.
    stopClock(at: baseFrame + index / Int64(bytesPerFrame))
  }

  /// Handles the start, or restart, of playback by the server.
  func deviceStarted() {
    if phase == .running { requestTiming() }
  }

  /// Handles a change of the stream's device, or the suspension or resumption of the device.
  func deviceChanged() {
    blockFrames = 0
    blocks.reset()
    stall.end()
    consumption = ConsumptionMonitor()
    consumption.start(at: .now)
    guard phase == .running else { return }
    stopClock(at: nil)
    requestTiming()
  }
}
