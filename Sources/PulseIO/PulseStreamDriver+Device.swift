import CPulse
import MediaCore
import RealtimeAudio

/// The device beneath the stream: moves, its disappearance, and servers that hang.
extension PulseStreamDriver {
  /// Where the device takes nothing for so long after all that was written is over, the server is asked whether it is there.
  private static let patienceNanoseconds: Int64 = 100_000_000
  /// A timer that is later than this did not come because this process stood.
  private static let punctualNanoseconds: Int64 = 5_000_000
  /// So long it may take to answer.
  private static let answerNanoseconds: Int64 = 300_000_000
  /// No more than so much is heard twice because of what the server may have dropped.
  private static let longestDoubtMilliseconds: Int64 = 48

  // MARK: - Moves

  /// The stream is on another device. Where the server had to put it there, because the old one is gone, nothing of it is to
  /// be heard there before it is known what is wanted then: so it stands until the server has told.
  func deviceMoved() {
    let old = deviceIndex
    deviceIndex = pa_stream_get_device_index(stream)
    guard phase != .failed, deviceIndex != old else { return deviceChanged() }
    if isClockRunning { stopClock(at: frameHeardForSure) }
    deviceChanged()
    if phase == .running {
      cork()
      hasCommandsAfterCork = true
    }
    askForDevice(old)
  }

  /// The server ended the stream, or itself.
  func streamEnded() {
    guard pa_context_get_state(context) == PA_CONTEXT_READY else {
      return fail("the connection to the sound server was lost")
    }
    guard phase != .failed else { return }
    halt()
    askForDevice(deviceIndex)
  }

  /// Asks whether the server still has a device; `deviceIsKnown` or `deviceIsGone` follows.
  private func askForDevice(_ index: UInt32) {
    let operation = pa_context_get_sink_info_by_index(
      context, index,
      { _, _, endOfList, own in
        guard let driver = PulseStreamDriver.from(own), endOfList != 0 else { return }
        if endOfList > 0 { driver.deviceIsThere() } else { driver.deviceIsGone() }
      }, own)
    guard let operation else { return fail("the sound server cannot be asked for its device") }
    pa_operation_unref(operation)
  }

  /// Somebody moved the stream, or ended it.
  private func deviceIsThere() {
    guard phase != .failed else { return fail("the sound server closed the stream") }
    guard let name = pa_stream_get_device_name(stream) else { return }
    onNotice(.moved(to: String(cString: name)))
  }

  private func deviceIsGone() { fail("the device went away", code: .deviceLost) }

  /// The device was suspended, or woken.
  func deviceSuspended() {
    deviceChanged()
    guard phase == .running else { return }
    if pa_stream_is_suspended(stream) > 0 {
      endWatch()
      tellHanging(true)
    } else {
      answered()
    }
  }

  // MARK: - Signs of life

  /// The device takes so much at once. A graph drops up to two such blocks of what it took when it ends, whatever the clock says.
  func deviceTook(blockFrames count: Int64) {
    blockFrames = count
    guard isGraphNode else { return }
    let frames = Self.doubtFrames(count, sampleRateHz)
    counters.doubtNanoseconds.store(frames * 1_000_000_000 / Int64(sampleRateHz), ordering: .relaxed)
  }

  /// What a graph with such blocks may have dropped: two of them, or as much as may be heard twice.
  static func doubtFrames(_ blockFrames: Int64, _ sampleRateHz: Int) -> Int64 {
    min(longestDoubtMilliseconds * Int64(sampleRateHz) / 1_000, 2 * blockFrames)
  }

  /// The device has taken sound.
  func soundWasTaken() {
    lastSign = .now
    answered()
  }

  /// The server has answered. The output is responsive again if its device is awake and has not stopped reading.
  func answered() {
    isProbing = false
    guard pa_stream_is_suspended(stream) <= 0, !consumption.isStalled else { return }
    tellHanging(false)
    if phase == .running { watch() }
  }

  private func tellHanging(_ hangs: Bool) {
    guard isHanging != hangs else { return }
    isHanging = hangs
    onNotice(hangs ? .stoppedAnswering : .answersAgain)
  }

  /// What has been heard for sure: as far as the device was when it last took sound. Nil where the clock stands.
  var frameHeardForSure: Int64? {
    guard isClockRunning, let frame = heard.heardFrame(at: min(lastSign, .now)) else { return nil }
    let doubt = Double(counters.doubtNanoseconds.load(ordering: .relaxed)) * Double(sampleRateHz) / 1e9
    return max(floorFrame, min(writtenFrame, Int64(frame - doubt)))
  }

  /// Waits for the next sign, which comes long before this is over as long as the device runs: nothing wakes for it then.
  func watch() {
    isWatchingBlocks = blockPatienceNanoseconds != nil
    wake(afterNanoseconds: blockPatienceNanoseconds ?? longPatienceNanoseconds)
  }

  private var longPatienceNanoseconds: Int64 {
    max(0, Int64(bufferFrameCount) * 1_000_000_000 / Int64(sampleRateHz)) + Self.patienceNanoseconds
  }

  /// The next block is late: the graph stands, unless this process did and the timer is late itself.
  private func blockIsLate() {
    isWatchingBlocks = false
    let lateness = HostTime.now.nanoseconds(since: watchTime)
    if phase == .running, lateness < Self.punctualNanoseconds { suspectStall() }
    wake(afterNanoseconds: max(0, longPatienceNanoseconds - (blockPatienceNanoseconds ?? 0)))
  }

  /// Asks for another timing after a duration, instead of waiting for the next late block.
  func probe(afterNanoseconds nanoseconds: Int64) {
    isWatchingBlocks = false
    isProbing = false
    wake(afterNanoseconds: nanoseconds)
  }

  private func wake(afterNanoseconds nanoseconds: Int64) {
    let time = pa_rtclock_now() + UInt64(nanoseconds) / 1_000
    watchTime = HostTime.now.advanced(byNanoseconds: nanoseconds)
    if let watchEvent {
      pa_context_rttime_restart(context, watchEvent, time)
    } else {
      watchEvent = pa_context_rttime_new(
        context, time, { _, _, _, own in PulseStreamDriver.from(own)?.nothingCame() }, own)
    }
  }

  func endWatch() {
    if let watchEvent { api.pointee.time_free(watchEvent) }
    watchEvent = nil
    isProbing = false
  }

  /// All written samples should be over, and the device has not asked for more. A timing tells whether it still reads
  /// (`ConsumptionMonitor`). A server that sends no timing hangs.
  private func nothingCame() {
    guard phase == .running || phase == .corking else { return endWatch() }
    if isWatchingBlocks { return blockIsLate() }
    guard isProbing else {
      isProbing = true
      requestTiming()
      return wake(afterNanoseconds: Self.answerNanoseconds)
    }
    stopForDevice()
  }

  /// Stops the clock until the device reads again. The samples that were written and not heard will be heard then.
  func stopForDevice() {
    endWatch()
    if isGraphNode, phase == .running { stall.begin(unreadFrame: unreadFrame) }
    stopClock(at: frameHeardForSure)
    tellHanging(true)
  }
}
