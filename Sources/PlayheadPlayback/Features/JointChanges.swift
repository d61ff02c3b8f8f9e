import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Changes at a known output frame: starts, of this player alone or together with others, and joint rate changes.
final class JointChanges: PlayerFeature {
  /// What the generation of a rate change inherits from the split pass.
  struct Split {
    /// The rounding error.
    var startError = MediaTime.zero
    /// The output frame at which the generation replaces the current one, together with other players; nil: not
    /// together.
    var sharedFrame: Int64?
  }

  private unowned let player: PlayerCore
  /// The output frame of a pending start: the player is silent until this frame, although its rate is not 0.
  /// `Int64.max` while the frame is unknown; nil without a pending start.
  private(set) var startFrame: Int64?
  /// The pending start, of this player or together with other players.
  private(set) var start: JointStart?
  /// The pending change of rate together with other players.
  private(set) var rateChange: JointRateChange?
  /// The split whose generation is being prepared.
  private(set) var split = Split()

  init(_ player: PlayerCore) { self.player = player }

  // MARK: - Groups

  func contains(_ group: AnyObject) -> Bool { start === group || rateChange === group }

  /// Waits for a start instead of the pending one.
  func join(_ group: JointStart) {
    start?.leave(player)
    start = group
  }

  /// Called by a group that the player leaves.
  func remove(_ group: AnyObject) {
    if start === group { start = nil }
    if rateChange === group { rateChange = nil }
  }

  /// Leaves pending changes because of another request, which may be a joint rate change. With `playsAtOnce` a player
  /// that waits for its start is heard immediately.
  func leaveAll(joining group: JointRateChange?, playsAtOnce: Bool) {
    rateChange?.leave(player)
    rateChange = group
    leaveStart(playsAtOnce: playsAtOnce)
  }

  private func leaveStart(playsAtOnce: Bool = false) {
    start?.leave(player)
    guard startFrame != nil else { return }
    startFrame = nil
    // The machine already has this rate, so setting it again would not start the player.
    if playsAtOnce, player.machine.rate != 0, player.machine.intent.isWaitingForStartTime {
      player.machine.setWaitingForStartTime(false)
      player.applyRunning()
      player.output.postCommands()
      player.publish(.request)
    }
    player.machine.setWaitingForStartTime(false)
  }

  /// Calls `body`, which prepares the generation of a rate change.
  func withSplit(_ split: Split, _ body: () -> Void) {
    self.split = split
    body()
    self.split = Split()
  }

  // MARK: - The player

  func stateDidPublish() {
    start?.scheduleCheck()
    rateChange?.scheduleCheck()
  }

  func runBegan(_ event: RenderEvent) {
    let rate = player.timeline.rate(streamID: event.streamID, streamFrame: event.streamFrame)
    start?.runBegan(player, atFrame: event.outputFrame, rate: rate)
    rateChange?.runBegan(player, atFrame: event.outputFrame, rate: rate)
  }

  func rewound(toFrame frame: Int64) {
    start?.rewound(player, toFrame: frame)
    rateChange?.rewound(player, toFrame: frame)
  }

  func clockMayHaveChanged() { start?.clockMayHaveChanged() }

  func outputWillStop() {
    start?.outputWillStop()
    rateChange?.outputWillStop()
    // A frame number is only valid on the device that counts it.
    if startFrame != .max { startFrame = nil }
  }

  func playerWillClose() { leaveAll(joining: nil, playsAtOnce: false) }

  // MARK: - Starts

  /// Whether the mixer has the first samples, so that playback can begin at any output frame.
  var isPrimed: Bool {
    !player.isClosed && player.inputIndex != nil && player.chain.sounding != nil && player.machine.progress.hasStream
      && player.machine.pendingRequest == nil && player.machine.seeks.current == nil
      && !player.machine.needsRateChange
  }

  /// Decodes the first samples for the rate of a start; nil: the rate of the next `play`.
  func prepareRate(_ rate: Double? = nil) {
    player.machine.setTargetRate(rate.flatMap { PlaybackRate($0) } ?? player.rates.next)
    if player.machine.needsRateChange {
      player.run(player.machine.changeDecodedRate(from: player.currentTime()), cause: .request)
    }
    player.prerolls.completeReady()
  }

  /// Changes the rate of a player that waits for its start, without changing the start time.
  func changePendingStartRate(to rate: PlaybackRate) {
    if player.machine.rate != 0 { player.run(player.machine.setRate(rate.value), cause: .request) }
    prepareRate(rate.value)
  }

  /// Starts playback at an output frame; nil: at once. With `Int64.max` the player stays silent until a later call sets
  /// the frame.
  func scheduleStart(atFrame frame: Int64?) {
    player.volume.settleFade()
    if frame != nil { player.engine.session.playbackRequested() }
    startFrame = frame
    player.machine.setWaitingForStartTime(frame != nil)
    let rate = player.machine.targetRate.value
    if player.machine.rate == 0 {
      player.prerolls.end()
      player.rates.stored = nil
      player.run(player.machine.setRate(rate, isBufferEmpty: false, immediately: false), cause: .request)
    } else {
      player.run(player.machine.setRate(rate), cause: .request)
      player.applyRunning()
      player.output.postCommands()
      player.publish(.request)
      player.milestones.schedule()
    }
  }

  /// Keeps a waiting player silent until another frame is set.
  func suspendStart() { startFrame = .max }

  // MARK: - At a host time

  /// The minimum and maximum lead of a start that compensates for a past instant. In this time the target is opened and
  /// decoded.
  private static let shortestLeadNanoseconds: Int64 = 250_000_000
  private static let longestLeadNanoseconds: Int64 = 8_000_000_000

  /// Implements `PlayerControl.setRate(_:time:atHostTime:)`.
  func setRate(_ newRate: Double, time: MediaTime?, atHostTime hostTime: HostTime?) throws(MediaError) {
    let entry = try checkedItem(forRate: newRate, time: time)
    guard newRate != 0 else {
      player.pause()
      return seek(to: time, ifCurrent: entry.id)
    }
    guard let hostTime, hostTime <= player.engine.loop.now else {
      let target = try JointStart.target(hostTime.map { .hostTime($0) } ?? .whenReady, player.engine)
      return try start(at: target, rate: newRate, time: time, itemID: entry.id)
    }
    compensate(
      for: hostTime, at: time ?? player.currentTime(), rate: newRate, leadNanoseconds: Self.shortestLeadNanoseconds)
  }

  /// Implements `PlayerControl.setRate(_:time:atDate:)`.
  func setRate(_ newRate: Double, time: MediaTime?, atDate date: DateExpression) throws(MediaError) {
    let entry = try checkedItem(forRate: newRate, time: time)
    let target = try JointStart.target(.date(date), player.engine)
    guard newRate != 0 else {
      player.pause()
      return seek(to: time, ifCurrent: entry.id)
    }
    try start(at: target, rate: newRate, time: time, itemID: entry.id)
  }

  /// Starts the player at `target`, with the item time `time`.
  private func start(
    at target: JointStart.Target, rate: Double, time: MediaTime?, itemID: PlayerItem.ID
  ) throws(MediaError) {
    let group = try JointStart([player], at: target, setsRatesAtOnce: true, engine: player.engine) { _ in }
    leaveStart()
    if group.isAtDistantDate {
      player.pause()
      group.keepMembersPaused()
    }
    group.beginPreparation(atRate: rate)
    seek(to: time, ifCurrent: itemID)
  }

  /// Checks a request for a rate at an instant, and returns the current item.
  private func checkedItem(forRate newRate: Double, time: MediaTime?) throws(MediaError) -> PlayerStateMachine.Entry {
    try player.checkOpen("setRate")
    try player.checkRate(newRate)
    guard !player.machine.automaticallyWaits else {
      throw MediaError(
        .invalidState,
        "automaticallyWaitsToMinimizeStalling must be false for a start at a host time",
        operation: "setRate")
    }
    if let time, !time.isNumeric, !time.isPositiveInfinity, !time.isNegativeInfinity {
      throw MediaError(.invalidTime, "time must be numeric (got \(time))", operation: "setRate")
    }
    guard let entry = player.machine.entries.first else {
      throw MediaError(.noCurrentItem, "there is no current item to start", operation: "setRate")
    }
    if let error = entry.status.error { throw error }
    return entry
  }

  /// Seeks to `time` if item `id` is still current: observers may have replaced it since the caller checked.
  private func seek(to time: MediaTime?, ifCurrent id: PlayerItem.ID) {
    guard let time, !player.isClosed, let entry = player.machine.entries.first, entry.id == id else { return }
    player.seeks.start(to: .time(time), PlayerSeeks.Options(), in: entry) { _ in }
  }

  /// Starts playback after `leadNanoseconds`. The start position is the one that playback would have reached by then
  /// if `time` had been heard at the past instant `hostTime`.
  private func compensate(for hostTime: HostTime, at time: MediaTime, rate: Double, leadNanoseconds: Int64) {
    guard let entry = player.machine.entries.first, entry.status.error == nil else { return }
    let instant = player.engine.loop.now.advanced(byNanoseconds: leadNanoseconds)
    let target = MediaTime(
      time, advancedByFrames: instant.nanoseconds(since: hostTime), rate: 1_000_000_000,
      playbackRate: PlaybackRate(rate) ?? .normal)
    let itemID = entry.id
    let group = try? JointStart([player], at: .instant(instant), setsRatesAtOnce: true, engine: player.engine) {
      [weak player] result in
      // The player was not ready in time: retry with twice the lead.
      guard let player, case .success(let start) = result, start.lateFrameCount > 0,
        leadNanoseconds < Self.longestLeadNanoseconds,
        player.machine.entries.first?.id == itemID, player.machine.rate != 0, player.jointChanges.start == nil
      else { return }
      player.jointChanges.compensate(for: hostTime, at: time, rate: rate, leadNanoseconds: leadNanoseconds * 2)
    }
    guard let group else { return }
    leaveStart()
    group.beginPreparation(atRate: rate)
    seek(to: target, ifCurrent: itemID)
  }
}
