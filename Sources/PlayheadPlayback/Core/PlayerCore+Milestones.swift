import PlayheadMediaCore
import PlayheadPlayerModel

/// Milestones of the output clock: ends of items and fades, and observations that are due when their sample is heard.
/// One timer is set to the next milestone, so the loop does not poll.
extension PlayerCore {
  /// The maximum time until the timer fires: 10 s, in which a clock drift of 50 ppm amounts to half a millisecond.
  private static let longestTimerNanoseconds: Int64 = 10_000_000_000

  /// The delay before the loop reads a clock again that is stopped although it should run. Also the minimum time
  /// between two ends of one item, in case an observer resumes playback at each end.
  private static let clockRetryNanoseconds: Int64 = 10_000_000

  private enum Milestone {
    case observers(ObserverSchedule.Milestone)
    case end(ItemEnd)
    /// An underrun is heard.
    case stall
    case meter(ObserverToken, window: Int64?)
    case metadata
    /// The end of a fade.
    case fade
  }

  /// The output frame up to which milestones are due. For a paused player it includes the end of its last run.
  private var heardLimit: Int64 {
    let heard = output.heardFrame
    if machine.rate == 0, let end = timeline.runs.last?.end { return max(heard, end.frame) }
    // A stopped clock has reached the end of a run, but not the start of the next one.
    return !output.isClockRunning && timeline.isAudible(at: heard) ? heard - 1 : heard
  }

  /// Handles all milestones that have been heard, and sets the timer to the next one.
  func scheduleNextMilestone() {
    // A handler may call this method: the loop below handles the new milestones.
    guard !isSchedulingMilestone, !isHandlingEvents else { return }
    timer?.cancel()
    timer = nil
    guard !isClosed, inputIndex != nil else { return }
    isSchedulingMilestone = true
    defer { isSchedulingMilestone = false }
    readSegments()
    while let (frame, milestone) = nextMilestone() {
      guard frame <= heardLimit else {
        setTimer(atFrame: frame)
        break
      }
      // The clock counts frames whose events are not delivered yet and can change this milestone: the audio after a
      // jump may have begun. `didHandleEvents` follows.
      if output.hasPendingEvents { break }
      processedFrame = max(processedFrame, frame)
      if case .end(let end) = milestone, machine.endedItemID == end.itemID, let next = nextEndTime,
        next > engine.loop.now
      {
        setTimer(at: next)
        break
      }
      handle(milestone, at: frame)
    }
    // The run that contains an unreported end must stay, because the end's output frame is computed from it.
    let pendingFrame = chain.ends.first.flatMap {
      timeline.outputFrame(streamID: $0.streamID, streamFrame: $0.streamFrame)
    }
    timeline.removeRuns(before: min(output.heardFrame, pendingFrame.map { $0 - 1 } ?? .max))
  }

  private func setTimer(atFrame frame: Int64) {
    guard let time = output.hostTime(ofFrame: frame) else { return }
    // The clocks of the device and of the host drift, so the time of a distant frame is computed again before it is
    // due.
    let now = engine.loop.now
    let latest = now.advanced(byNanoseconds: Self.longestTimerNanoseconds)
    // If the frame is overdue, the device has stalled. Reading its clock again without a delay would occupy the loop.
    let earliest = engine.isVirtual ? time : now.advanced(byNanoseconds: time <= now ? Self.clockRetryNanoseconds : 0)
    setTimer(at: max(earliest, min(time, latest)))
  }

  private func setTimer(at time: HostTime) {
    timer = engine.loop.schedule(at: time) { [weak self] in self?.scheduleNextMilestone() }
  }

  /// Returns the next milestone and its frame. At the same frame, the end of a fade comes first, because a player that
  /// pauses at an item's end has not heard that end. Milestones of the item's time precede meters.
  private func nextMilestone() -> (frame: Int64, Milestone)? {
    var next = nextItemMilestone()
    if machine.buffering.pendingStall != nil, let end = timeline.runs.last?.end, end.reason == .underrun,
      end.frame < next?.frame ?? .max
    {
      next = (end.frame, .stall)
    }
    if let metadata = nextMetadataFrame, metadata < next?.frame ?? .max { next = (metadata, .metadata) }
    if let end = fade?.endFrame, end <= next?.frame ?? .max { next = (end, .fade) }
    if let meter = nextMeterMilestone(), meter.frame < next?.frame ?? .max {
      return (meter.frame, .meter(meter.token, window: meter.window))
    }
    return next
  }

  private func nextItemMilestone() -> (frame: Int64, Milestone)? {
    let next = observers.next(in: timeline, itemID: machine.entries.first?.id, isPlaying: machine.rate != 0)
    // If the player is paused exactly at its item's end, the end has not been heard. If it became silent after the end,
    // the end has been heard.
    if let end = chain.ends.first,
      let frame = timeline.outputFrame(streamID: end.streamID, streamFrame: end.streamFrame),
      machine.rate != 0
        || machine.endedItemID != end.itemID && frame < timeline.runs.last?.end?.frame ?? .min
    {
      let rank = ObserverSchedule.Milestone.endRank
      if next.map({ (frame, rank) < ($0.frame, $0.milestone.rank) }) ?? true { return (frame, .end(end)) }
    }
    return next.map { ($0.frame, .observers($0.milestone)) }
  }

  private func handle(_ milestone: Milestone, at frame: Int64) {
    switch milestone {
    case .observers(let milestone): handle(milestone, at: frame)
    case .meter(let token, let window): reportMeter(token, window: window, atFrame: frame)
    case .metadata:
      reportNextMetadata()
      deliver()
    case .fade: fadeEndHeard()
    case .stall: run(machine.stallHeard(), cause: .stalled)
    case .end(let end):
      chain.popHeardEnd()
      if end.error == nil, machine.endsWithAudio(end.passID), let duration = machine.entry(end.itemID)?.duration {
        notify(observers.end(of: end.itemID, duration: duration), itemID: end.itemID, atFrame: frame)
      }
      let endedPass = machine.decodedPasses.first
      let endsItem = endedPass.map { $0.id == end.passID && machine.endsItem($0.pass) } ?? true
      let endsRange = endedPass.map { $0.id == end.passID && machine.endsRange($0.pass) } ?? false
      if end.error == nil { retries.schedules[end.itemID] = nil }
      run(
        machine.endHeard(end.passID, error: end.error, retryTime: retryTime(of: end)),
        cause: end.error != nil ? .itemFailed : endsRange ? .rangeEnded : endsItem ? .itemEnded : .looped)
      reportTransition()
      nextEndTime = nil
      // A paused item ends again when playback resumes at its end, which an observer may have requested just now.
      if machine.endedItemID == end.itemID, machine.requestInPreparation == nil {
        chain.repeatReportedEnd()
        nextEndTime = engine.loop.now.advanced(byNanoseconds: Self.clockRetryNanoseconds)
      }
      startQueuedStreams()
      applyRequestedRate()
    }
  }

  // MARK: - Time observers

  private func handle(_ milestone: ObserverSchedule.Milestone, at frame: Int64) {
    let itemID: PlayerItem.ID? =
      switch milestone {
      case .visit(let position, _), .start(let position), .stop(let position): position.itemID
      case .times, .loop, .directionChange: observers.table.position?.itemID
      }
    notify(observers.handle(milestone, at: frame), itemID: itemID ?? 0, atFrame: frame)
    // At a loop point the item time jumps without crossing a boundary, so the chapter is determined from the new time.
    if let itemID, case .loop(let time, let isReverse) = milestone {
      reportChapter(at: time, in: itemID, isBackward: isReverse)
    }
  }

  /// Calls the time observers that are due up to `frame`, for the current item. A stop at exactly `frame` is not
  /// reported yet, because new audio may begin at that frame.
  func notifyObservers(through frame: Int64) {
    while let itemID = observers.table.position?.itemID,
      let next = observers.next(in: timeline, itemID: itemID, isPlaying: machine.rate != 0), next.frame <= frame
    {
      if case .stop = next.milestone, next.frame == frame { break }
      handle(next.milestone, at: next.frame)
    }
  }

  /// Notifies the time observers that the audio ends at `position`.
  func interruptObservers(at position: PlayerTimeline.Position?) {
    notifyObservers(through: heardLimit)
    notify(observers.interrupt(at: position), itemID: position?.itemID ?? 0, atFrame: heardLimit)
  }

  /// Delivers calls of time observers.
  ///
  /// - Parameter frame: The output frame that was heard; lateness counts from it.
  func notify(_ calls: [TimeObserverTable.Call], itemID: PlayerItem.ID, atFrame frame: Int64? = nil) {
    guard !calls.isEmpty else { return }
    let heardAt = frame.flatMap { output.hostTime(ofFrame: $0) }
    for call in calls {
      let rate = rate(of: call.reason, atFrame: frame)
      let hostTime = rate == 0 ? nil : call.reason == .jump ? output.hostTime(ofFrame: jumpFrame) : heardAt
      let observation = TimeObservation(
        itemID: itemID, time: call.time, rate: rate, reason: call.reason, lateNanoseconds: 0, hostTime: hostTime,
        isBackward: call.isBackward, chapter: call.chapter)
      enqueue(.time(call.token, call.handler, observation), heardAt: heardAt)
    }
  }

  /// Calls the end handlers of time observers, after all pending deliveries.
  func callEndHandlers(_ handlers: [TimeObserverTable.EndHandler]) {
    for handler in handlers { enqueue(.end(handler)) }
  }

  /// The rate that an observation reports.
  private func rate(of reason: TimeObservation.Reason, atFrame frame: Int64?) -> Double {
    switch reason {
    case .periodic, .crossed, .start:
      (timeline.rate(atOutputFrame: frame ?? presentFrame) ?? machine.decodedRate).value
    case .jump, .skipped: observers.isAudible ? machine.rate : 0
    case .stop: 0
    }
  }
}
