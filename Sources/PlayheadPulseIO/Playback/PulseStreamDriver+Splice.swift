import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Applying commands without delay: buffered audio is rendered again and overwritten.
extension PulseStreamDriver {
  /// The maximum age of a timing that determines the current read position of the device.
  private static let freshNanoseconds: Int64 = 4_000_000

  /// Applies the pending commands and overwrites the buffered audio from just after the device's read position on.
  func splice(_ timing: DeviceTiming) {
    let now = HostTime.now
    guard now.nanoseconds(since: timing.hostTime) <= Self.freshNanoseconds else {
      // The process was delayed; request another timing.
      return requestTiming()
    }
    isSplicePending = false
    let plan = SplicePlan(
      sampleRateHz: sampleRateHz, timing: timing, blockFrames: blockFrames, lastRead: lastRead,
      slowestReplyNanoseconds: slowestReplyNanoseconds, now: now)
    let frame = core.rewind(toFrame: min(plan.targetFrame, writtenFrame))
    let isOverwriting = frame < writtenFrame
    renderAndWrite()
    counters.spliceCount.wrappingAdd(1, ordering: .relaxed)
    guard phase == .running else { return }
    if isOverwriting {
      // The server replies after it has received the new audio. A read position beyond `frame` then means that the
      // device was faster.
      unverifiedSpliceFrame = frame
      requestTiming()
    }
    corkIfSilent(at: now)
  }

  /// The first frame that the device may not have read, as far as the server has reported: it requests more audio after
  /// each read of the device.
  var unreadFrame: Int64 {
    let bufferedCount = Int64(bufferFrameCount - blocks.outstandingCount)
    return max(lastReadFrame, min(writtenFrame, writtenFrame - bufferedCount))
  }

  /// Applies the pending commands and replaces all buffered audio.
  ///
  /// No old audio continues, so the new audio need not begin at a chosen frame that is clear of the device. The server
  /// inserts it at the device's next read, so no frame is late and no time is lost. A timing then reports the position,
  /// and the frames are renumbered accordingly.
  func jump() {
    stall.end()
    isSplicePending = false
    unverifiedSpliceFrame = nil
    _ = core.rewind(toFrame: unreadFrame)
    renderAndWrite(isJump: true)
    counters.spliceCount.wrappingAdd(1, ordering: .relaxed)
    guard phase == .running else { return }
    requestTiming()
    jumpTiming = timingsRequested
    wakeControlIfNeeded()
  }

  /// Counts the splice before `timing` as late when the device had read past its first frame.
  func verifySplice(_ timing: DeviceTiming) {
    guard let frame = unverifiedSpliceFrame else { return }
    unverifiedSpliceFrame = nil
    if timing.readFrame > frame { counters.lateSpliceCount.wrappingAdd(1, ordering: .relaxed) }
  }
}
