import MediaCore
import RealtimeAudio

/// Making commands heard at once: what is queued is rendered again and overwritten.
extension PulseStreamDriver {
  /// A timing older than this does not say where the device reads now.
  private static let freshNanoseconds: Int64 = 4_000_000

  /// Overwrites from just after the device's read position on, applying the commands that wait.
  func splice(_ timing: DeviceTiming) {
    let now = HostTime.now
    guard now.nanoseconds(since: timing.hostTime) <= Self.freshNanoseconds else {
      // The process was held up; ask again.
      return requestTiming()
    }
    isSpliceWanted = false
    let plan = SplicePlan(
      sampleRateHz: sampleRateHz, timing: timing, blockFrames: blockFrames, lastRead: lastRead,
      slowestAnswerNanoseconds: slowestAnswerNanoseconds, now: now)
    let frame = core.rewind(toFrame: min(plan.targetFrame, writtenFrame))
    let isOverwriting = frame < writtenFrame
    renderAndWrite()
    counters.spliceCount.wrappingAdd(1, ordering: .relaxed)
    guard phase == .running else { return }
    if isOverwriting {
      // The server answers this after it has taken the new sound: a read position beyond `frame` then means that
      // the device was faster.
      unverifiedSpliceFrame = frame
      requestTiming()
    }
    corkIfSilent(at: now)
  }

  /// No frame before this one is still to be read, as far as the server has told: it asks for more each time that the
  /// device has read.
  var unreadFrame: Int64 {
    let heldCount = Int64(bufferFrameCount - blocks.owedCount)
    return max(lastReadFrame, min(writtenFrame, writtenFrame - heldCount))
  }

  /// Replaces all that is queued, applying the commands that wait.
  ///
  /// Nothing of what was before goes on, so the new sound need not begin at a frame that is chosen beforehand, which
  /// would have to keep clear of the device: the server puts it where the device reads next. None of it comes late, and
  /// no time is lost. Where it landed is asked; the frames that were counted for it are then moved there.
  func jump() {
    stall.end()
    isSpliceWanted = false
    unverifiedSpliceFrame = nil
    _ = core.rewind(toFrame: unreadFrame)
    renderAndWrite(isJump: true)
    counters.spliceCount.wrappingAdd(1, ordering: .relaxed)
    guard phase == .running else { return }
    requestTiming()
    landingTiming = timingsRequested
    tellControl()
  }

  /// Counts the splice before `timing` as late when the device had read past its first frame.
  func verifySplice(_ timing: DeviceTiming) {
    guard let frame = unverifiedSpliceFrame else { return }
    unverifiedSpliceFrame = nil
    if timing.readFrame > frame { counters.lateSpliceCount.wrappingAdd(1, ordering: .relaxed) }
  }
}
