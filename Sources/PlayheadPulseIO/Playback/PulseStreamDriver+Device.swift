import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// The device of the stream: moves, its loss, and servers that hang (`DeviceWatch`).
extension PulseStreamDriver {
  // MARK: - Moves

  /// Handles a move of the stream to another device. If the old device is lost, no audio may be heard on the new one
  /// before the owner has decided. The stream is therefore corked until the server has reported whether the old device
  /// exists.
  func deviceMoved() {
    let old = watch.moved(to: pa_stream_get_device_index(pointer))
    guard phase != .failed, let old else { return deviceChanged() }
    if clock.isRunning { stopClock(at: certainlyHeardFrame) }
    deviceChanged()
    if phase == .running { cork(hasCommands: true) }
    queryDevice(old)
  }

  /// Handles the end of the stream or of the server.
  func streamEnded() {
    guard stream.isConnected else { return stream.connectionLost() }
    guard phase != .failed else { return }
    halt()
    queryDevice(watch.deviceIndex)
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
    if isSuspended {
      cancelWatchTimer()
      setHanging(true)
    } else {
      serverResponded()
    }
  }

  /// Handles a change of the stream's device, or the suspension or resumption of the device.
  private func deviceChanged() {
    splice.blocks.reset()
    watch.deviceChanged(at: .now)
    guard phase == .running else { return }
    stopClock(at: nil)
    requestTiming()
  }

  // MARK: - Responsiveness

  /// Handles a read of the device.
  func deviceDidRead() {
    watch.audioRequested(at: .now)
    serverResponded()
  }

  /// Handles a reply of the server.
  func serverResponded() {
    guard watch.serverResponded(isSuspended: isSuspended) else { return }
    setHanging(false)
    if phase == .running { waitForRead() }
  }

  private func setHanging(_ hangs: Bool) {
    if let notice = watch.setHanging(hangs) { onNotice(notice) }
  }

  /// The frame that has certainly been heard: the position of the device at its last read, minus the audio that the
  /// server may drop. Nil while the clock is paused.
  var certainlyHeardFrame: Int64? {
    clock.certainlyHeardFrame(
      at: min(watch.lastActivity, .now),
      possibleLossNanoseconds: counters.possibleLossNanoseconds.load(ordering: .relaxed))
  }

  /// Starts the timer for the next read.
  func waitForRead() { startWatchTimer(afterNanoseconds: watch.waitForRead(bufferFrameCount: bufferFrameCount)) }

  private func startWatchTimer(afterNanoseconds nanoseconds: Int64) {
    watch.timerStarted(until: HostTime.now.advanced(byNanoseconds: nanoseconds))
    let duration = UInt64(nanoseconds) / 1_000
    if watchTimer?.restart(afterMicroseconds: duration, on: connection) == nil {
      watchTimer = LoopEvent(afterMicroseconds: duration, on: connection, userdata) { _, _, _, userdata in
        Box.target(userdata)?.watchTimerFired()
      }
    }
  }

  func cancelWatchTimer() {
    watchTimer = nil
    watch.timerCancelled()
  }

  private func watchTimerFired() {
    guard phase == .running || isCorking else { return cancelWatchTimer() }
    switch watch.timerFired(at: .now) {
    case .blockIsLate(let wasScheduled):
      if phase == .running, wasScheduled { suspectStall() }
      startWatchTimer(afterNanoseconds: watch.remainingNanoseconds(bufferFrameCount: bufferFrameCount))
    case .deviceIsIdle:
      requestTiming()
      startWatchTimer(afterNanoseconds: DeviceWatch.replyTimeoutNanoseconds)
    case .serverHangs: stopForDevice()
    }
  }

  /// Stops the clock until the device reads again. The written samples that were not heard are heard then.
  private func stopForDevice() {
    cancelWatchTimer()
    if phase == .running { watch.confirmStall(unreadFrame: unreadFrame) }
    stopClock(at: certainlyHeardFrame)
    setHanging(true)
  }

  // MARK: - Stalls

  private func suspectStall() {
    guard !watch.mayHaveStalled, splice.jumpTiming == nil else { return }
    let frame = unreadFrame
    requestTiming()
    watch.suspectStall(unreadFrame: frame, timing: timings.requested)
  }

  /// Evaluates a timing of the running stream: whether the device reads, and whether it has stalled.
  func checkDevice(_ timing: DeviceTiming) {
    if !isSuspended, let info = stream.timing {
      switch watch.evaluateConsumption(
        timing, readPosition: info.read_index, isEmpty: info.write_index <= info.read_index)
      {
      case .consuming: if watch.isHanging { serverResponded() }
      case .undecided: break
      case .suspected(let nanoseconds):
        watch.waitForProbe()
        startWatchTimer(afterNanoseconds: nanoseconds)
      case .stalled: stopForDevice()
      }
    }
    if let frame = watch.evaluateStall(timing, number: timings.received) {
      // The clock continued to run, but no later frame has certainly been heard.
      stopClock(at: frame)
    }
  }

  /// Replays the audio that the first cycles after a stall consumed, as soon as the replay is due. The device's next
  /// read then begins with that audio.
  func replayIfDue() {
    guard phase == .running, splice.jumpTiming == nil, let frame = watch.popReplayFrame(unreadFrame: unreadFrame)
    else { return }
    clock.renumber(byFrames: min(0, core.rewind(toFrame: frame) - unreadFrame))
    jump()
  }
}
