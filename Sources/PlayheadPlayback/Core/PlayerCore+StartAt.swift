import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Starts at an output frame, or at an instant of the host's clock.
extension PlayerCore {
  /// Whether the mixer has the first samples, so that playback can begin at any output frame.
  var isPrimed: Bool {
    !isClosed && inputIndex != nil && chain.sounding != nil && machine.progress.hasStream
      && machine.pendingRequest == nil
      && machine.seeks.current == nil && !machine.needsRateChange
  }

  /// Decodes the first samples for the rate of a start; nil: the rate of the next `play`.
  func prepareRate(_ rate: Double? = nil) {
    machine.setTargetRate(rate.flatMap { PlaybackRate($0) } ?? rates.next)
    if machine.needsRateChange { run(machine.changeDecodedRate(from: currentTime()), cause: .request) }
    prerolls.completeReady()
  }

  /// Changes the rate of a player that waits for its start, without changing the start time.
  func changePendingStartRate(to rate: PlaybackRate) {
    if machine.rate != 0 { run(machine.setRate(rate.value), cause: .request) }
    prepareRate(rate.value)
  }

  /// Sets in the mixer whether the player is rendered, and from which frame. The caller posts the command.
  func applyRunning() {
    guard let inputIndex else { return }
    output.core?.setRunning(machine.isRunning, fromFrame: pendingStartFrame ?? .min, input: inputIndex)
  }

  /// Starts playback at an output frame; nil: at once. With `Int64.max` the player stays silent until a later call sets
  /// the frame.
  func scheduleStart(atFrame frame: Int64?) {
    volume.settleFade()
    if frame != nil { engine.session.playbackRequested() }
    pendingStartFrame = frame
    machine.setWaitingForStartTime(frame != nil)
    if machine.rate == 0 {
      prerolls.end()
      rates.once = nil
      run(machine.setRate(machine.targetRate.value, isBufferEmpty: false, immediately: false), cause: .request)
    } else {
      run(machine.setRate(machine.targetRate.value), cause: .request)
      applyRunning()
      output.postCommands()
      publish(.request)
      milestones.schedule()
    }
  }

  /// Leaves a pending start because of another request. With `playsAtOnce` a waiting player is heard immediately.
  func leaveStartGroup(playsAtOnce: Bool = false) {
    startGroup?.leave(self)
    guard pendingStartFrame != nil else { return }
    pendingStartFrame = nil
    // The machine already has this rate, so setting it again would not start the player.
    if playsAtOnce, machine.rate != 0, machine.intent.isWaitingForStartTime {
      machine.setWaitingForStartTime(false)
      applyRunning()
      output.postCommands()
      publish(.request)
    }
    machine.setWaitingForStartTime(false)
  }

  // MARK: - At a host time

  /// The minimum and maximum lead of a start that compensates for a past instant. In this time the target is opened and
  /// decoded.
  private static let shortestLeadNanoseconds: Int64 = 250_000_000
  private static let longestLeadNanoseconds: Int64 = 8_000_000_000

  /// Implements `PlayerControl.setRate(_:time:atHostTime:)`.
  func setRate(_ newRate: Double, time: MediaTime?, atHostTime hostTime: HostTime?) throws(MediaError) {
    try checkOpen("setRate")
    try checkRate(newRate)
    guard !machine.automaticallyWaits else {
      throw MediaError(
        .invalidState,
        "automaticallyWaitsToMinimizeStalling must be false for a start at a host time",
        operation: "setRate")
    }
    if let time, !time.isNumeric, !time.isPositiveInfinity, !time.isNegativeInfinity {
      throw MediaError(.invalidTime, "time must be numeric (got \(time))", operation: "setRate")
    }
    guard let entry = machine.entries.first else {
      throw MediaError(.noCurrentItem, "there is no current item to start", operation: "setRate")
    }
    if let error = entry.status.error { throw error }
    guard newRate != 0 else {
      pause()
      return seek(to: time, ifCurrent: entry.id)
    }
    guard let hostTime, hostTime <= engine.loop.now else {
      let moment = hostTime.map { StartMoment.hostTime($0) } ?? .whenReady
      let group = try StartGroup([self], at: moment, setsRatesAtOnce: true, engine: engine) { _ in }
      leaveStartGroup()
      group.beginPreparation(atRate: newRate)
      return seek(to: time, ifCurrent: entry.id)
    }
    compensate(for: hostTime, at: time ?? currentTime(), rate: newRate, leadNanoseconds: Self.shortestLeadNanoseconds)
  }

  /// Seeks to `time` if item `id` is still current: observers may have replaced it since the caller checked.
  private func seek(to time: MediaTime?, ifCurrent id: PlayerItem.ID) {
    guard let time, !isClosed, let entry = machine.entries.first, entry.id == id else { return }
    seeks.start(to: .time(time), PlayerSeeks.Options(), in: entry) { _ in }
  }

  /// Starts playback after `leadNanoseconds`. The start position is the one that playback would have reached by then
  /// if `time` had been heard at the past instant `hostTime`.
  private func compensate(for hostTime: HostTime, at time: MediaTime, rate: Double, leadNanoseconds: Int64) {
    guard let entry = machine.entries.first, entry.status.error == nil else { return }
    let instant = engine.loop.now.advanced(byNanoseconds: leadNanoseconds)
    let target = MediaTime(
      time, advancedByFrames: instant.nanoseconds(since: hostTime), rate: 1_000_000_000,
      playbackRate: PlaybackRate(rate) ?? .normal)
    let itemID = entry.id
    let group = try? StartGroup([self], at: .hostTime(instant), setsRatesAtOnce: true, engine: engine) {
      [weak self] result in
      // The player was not ready in time: retry with twice the lead.
      guard let self, case .success(let start) = result, start.lateFrameCount > 0,
        leadNanoseconds < Self.longestLeadNanoseconds,
        self.machine.entries.first?.id == itemID, self.machine.rate != 0, self.startGroup == nil
      else { return }
      self.compensate(for: hostTime, at: time, rate: rate, leadNanoseconds: leadNanoseconds * 2)
    }
    guard let group else { return }
    leaveStartGroup()
    group.beginPreparation(atRate: rate)
    seek(to: target, ifCurrent: itemID)
  }
}
