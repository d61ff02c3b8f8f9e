import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayerModel

/// The milestones of the current item's time: its ends, and observations of times.
final class ItemMilestones: PlayerFeature {
  private enum Milestone {
    case observers(ObserverSchedule.Milestone)
    case end(StreamChain.ItemEnd)
  }

  /// The minimum time between two ends of one item, in case an observer resumes playback at each end: 10 ms.
  private static let minimumEndIntervalNanoseconds: Int64 = 10_000_000

  private unowned let player: PlayerCore
  private var next: Milestone?
  /// The earliest time at which the end of the current item is reported again, while the item is at its end.
  private var nextEndTime: HostTime?

  init(_ player: PlayerCore) { self.player = player }

  // MARK: - The next milestone

  func findNextMilestone() -> Int64? {
    let found = determineNext()
    next = found?.milestone
    return found?.frame
  }

  private func determineNext() -> (frame: Int64, milestone: Milestone)? {
    let next = player.timeObservers.next()
    // If the player is paused exactly at its item's end, the end has not been heard. If it became silent after the end,
    // the end has been heard.
    if let end = player.chain.ends.first,
      let frame = player.timeline.outputFrame(streamID: end.streamID, streamFrame: end.streamFrame),
      player.machine.rate != 0
        || player.machine.endedItemID != end.itemID && frame < player.timeline.runs.last?.end?.frame ?? .min
    {
      let rank = ObserverSchedule.Milestone.endRank
      if next.map({ (frame, rank) < ($0.frame, $0.milestone.rank) }) ?? true { return (frame, .end(end)) }
    }
    return next.map { ($0.frame, .observers($0.milestone)) }
  }

  var earliestMilestoneTime: HostTime? {
    guard nextEndTime != nil, case .end(let end)? = next, player.machine.endedItemID == end.itemID else {
      return nil
    }
    return nextEndTime
  }

  func milestoneHeard(at frame: Int64) {
    switch next {
    case .observers(let milestone): player.timeObservers.handle(milestone, at: frame)
    case .end(let end): endHeard(end, at: frame)
    case nil: break
    }
  }

  // MARK: - Ends

  private func endHeard(_ end: StreamChain.ItemEnd, at frame: Int64) {
    player.chain.popHeardEnd()
    if end.error == nil, end.overlapFrameCount == 0, player.machine.endsWithAudio(end.passID),
      let duration = player.machine.entry(end.itemID)?.duration
    {
      player.timeObservers.itemEnded(end.itemID, duration: duration, atFrame: frame)
    }
    let endedPass = player.machine.decodedPasses.first
    let endsItem = endedPass.map { $0.id == end.passID && player.machine.endsItem($0.pass) } ?? true
    let endsRange = endedPass.map { $0.id == end.passID && player.machine.endsRange($0.pass) } ?? false
    // The end of a pass that was split for another rate does not end the overlap.
    if endsItem || player.machine.loop != nil { player.heardOverlap = player.overlap(at: end) }
    if end.error == nil { player.retries.forget(end.itemID) }
    player.run(
      player.machine.endHeard(end.passID, error: end.error, retryTime: player.retries.retryTime(of: end)),
      cause: end.error != nil ? .itemFailed : endsRange ? .rangeEnded : endsItem ? .itemEnded : .looped)
    player.reportTransition()
    nextEndTime = nil
    // A paused item ends again when playback resumes at its end, which an observer may have requested just now.
    if player.machine.endedItemID == end.itemID, player.machine.requestInPreparation == nil {
      player.chain.repeatReportedEnd()
      nextEndTime = player.engine.loop.now.advanced(byNanoseconds: Self.minimumEndIntervalNanoseconds)
    }
    player.startQueuedStreams()
    player.applyRequestedRate()
  }
}
