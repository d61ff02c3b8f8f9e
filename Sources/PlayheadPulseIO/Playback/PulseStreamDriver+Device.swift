import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// The device of the stream: moves, its loss, and servers that hang.
extension PulseStreamDriver {
  /// If the device reads nothing for this duration after all written audio should have been heard, the server is
  /// probed.
  private static let idleMarginNanoseconds: Int64 = 100_000_000
  /// A timer that is later than this was late because this process was not scheduled.
  private static let timerToleranceNanoseconds: Int64 = 5_000_000
  /// The maximum time for the server's reply.
  private static let replyTimeoutNanoseconds: Int64 = 300_000_000
  /// The maximum duration of audio that is replayed because the server may have dropped it.
  private static let maximumReplayMilliseconds: Int64 = 48

  // MARK: - Moves

  /// Handles a move of the stream to another device. If the old device is lost, no audio may be heard on the new one
  /// before the owner has decided. The stream is therefore corked until the server has reported whether the old device
  /// exists.
  func deviceMoved() {
    let old = deviceIndex
    deviceIndex = pa_stream_get_device_index(pointer)
    guard phase != .failed, deviceIndex != old else { return deviceChanged() }
    if isClockRunning { stopClock(at: certainlyHeardFrame) }
    deviceChanged()
    if phase == .running {
      cork()
      hasCommandsAfterCork = true
    }
    queryDevice(old)
  }

  /// Handles the end of the stream or of the server.
  func streamEnded() {
    guard stream.isConnected else { return stream.connectionLost() }
    guard phase != .failed else { return }
    halt()
    queryDevice(deviceIndex)
  }

  /// Queries whether the server still has a device; `deviceStillExists` or `deviceDisappeared` follows.
  private func queryDevice(_ index: UInt32) {
    let isPending = PulseOperation.start(
      pa_context_get_sink_info_by_index(
        context, index,
        { _, _, endOfList, userdata in
          guard let driver = Box.target(userdata), endOfList != 0 else { return }
          if endOfList > 0 { driver.deviceStillExists() } else { driver.deviceDisappeared() }
        }, userdata))
    if !isPending { fail("the device of the stream cannot be queried") }
  }

  /// The device still exists, so another program moved or ended the stream.
  private func deviceStillExists() {
    guard phase != .failed else { return fail("the sound server closed the stream") }
    guard let name = pa_stream_get_device_name(pointer) else { return }
    onNotice(.moved(to: String(cString: name)))
  }

  private func deviceDisappeared() { fail("the device is no longer available", code: .deviceLost) }

  /// Handles the suspension or the resumption of the device.
  func deviceSuspensionChanged() {
    deviceChanged()
    guard phase == .running else { return }
    if pa_stream_is_suspended(pointer) > 0 {
      cancelWatchdog()
      setHanging(true)
    } else {
      serverResponded()
    }
  }

  // MARK: - Responsiveness

  /// Records the device's block size. When a graph ends, it drops up to two such blocks of consumed audio, even if they
  /// count as heard.
  func recordBlockSize(frames count: Int64) {
    blockFrames = count
    guard isGraphNode else { return }
    let frames = Self.possibleLossFrames(count, sampleRateHz)
    counters.possibleLossNanoseconds.store(frames * 1_000_000_000 / Int64(sampleRateHz), ordering: .relaxed)
  }

  /// Returns the number of frames that a graph with such blocks may have dropped: two blocks, but at most as many as
  /// may be heard twice.
  static func possibleLossFrames(_ blockFrames: Int64, _ sampleRateHz: Int) -> Int64 {
    min(maximumReplayMilliseconds * Int64(sampleRateHz) / 1_000, 2 * blockFrames)
  }

  /// Handles a read of the device.
  func deviceDidRead() {
    lastActivity = .now
    serverResponded()
  }

  /// Handles a reply of the server. The output is responsive again if its device is awake and has not stopped reading.
  func serverResponded() {
    isProbing = false
    guard pa_stream_is_suspended(pointer) <= 0, !consumption.isStalled else { return }
    setHanging(false)
    if phase == .running { armWatchdog() }
  }

  private func setHanging(_ hangs: Bool) {
    guard isHanging != hangs else { return }
    isHanging = hangs
    onNotice(hangs ? .stalled : .resumed)
  }

  /// The frame that has certainly been heard: the position of the device at its last read, minus the audio that the
  /// server may drop. Nil while the clock is paused.
  var certainlyHeardFrame: Int64? {
    guard isClockRunning, let frame = heardClock.heardFrame(at: min(lastActivity, .now)) else { return nil }
    let possibleLoss = Double(counters.possibleLossNanoseconds.load(ordering: .relaxed)) * Double(sampleRateHz) / 1e9
    return max(minimumHeardFrame, min(writtenFrame, Int64(frame - possibleLoss)))
  }

  /// Starts the timer for the next read. While the device runs, the read comes long before the timer, so the timer
  /// causes no wakeup.
  func armWatchdog() {
    isWatchingBlocks = blockTimeoutNanoseconds != nil
    armWatchdog(afterNanoseconds: blockTimeoutNanoseconds ?? idleTimeoutNanoseconds)
  }

  private var idleTimeoutNanoseconds: Int64 {
    max(0, Int64(bufferFrameCount) * 1_000_000_000 / Int64(sampleRateHz)) + Self.idleMarginNanoseconds
  }

  /// Handles a late block: the graph stalled, unless this process was not scheduled and the timer itself is late.
  private func blockIsLate() {
    isWatchingBlocks = false
    let lateness = HostTime.now.nanoseconds(since: watchdogTime)
    if phase == .running, lateness < Self.timerToleranceNanoseconds { suspectStall() }
    armWatchdog(afterNanoseconds: max(0, idleTimeoutNanoseconds - (blockTimeoutNanoseconds ?? 0)))
  }

  /// Requests another timing after a duration, instead of waiting for the next late block.
  func probe(afterNanoseconds nanoseconds: Int64) {
    isWatchingBlocks = false
    isProbing = false
    armWatchdog(afterNanoseconds: nanoseconds)
  }

  private func armWatchdog(afterNanoseconds nanoseconds: Int64) {
    watchdogTime = HostTime.now.advanced(byNanoseconds: nanoseconds)
    let duration = UInt64(nanoseconds) / 1_000
    if watchdogEvent?.restart(afterMicroseconds: duration, on: connection) == nil {
      watchdogEvent = LoopEvent(afterMicroseconds: duration, on: connection, userdata) { _, _, _, userdata in
        Box.target(userdata)?.watchdogFired()
      }
    }
  }

  func cancelWatchdog() {
    watchdogEvent = nil
    isProbing = false
  }

  /// Handles the timer: all written samples should have been heard, and the device has not requested more. A timing
  /// determines whether the device still reads (`ConsumptionMonitor`). A server that sends no timing hangs.
  private func watchdogFired() {
    guard phase == .running || phase == .corking else { return cancelWatchdog() }
    if isWatchingBlocks { return blockIsLate() }
    guard isProbing else {
      isProbing = true
      requestTiming()
      return armWatchdog(afterNanoseconds: Self.replyTimeoutNanoseconds)
    }
    stopForDevice()
  }

  /// Stops the clock until the device reads again. The written samples that were not heard are heard then.
  func stopForDevice() {
    cancelWatchdog()
    if isGraphNode, phase == .running { stall.confirm(unreadFrame: unreadFrame) }
    stopClock(at: certainlyHeardFrame)
    setHanging(true)
  }
}
