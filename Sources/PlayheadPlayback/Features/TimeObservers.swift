import PlayheadMediaCore
import PlayheadPlayerModel

/// The observers of a player's time.
final class TimeObservers: PlayerFeature {
  private unowned let player: PlayerCore
  /// The observers, and their next calls.
  private(set) var schedule = ObserverSchedule()

  init(_ player: PlayerCore) { self.player = player }

  // MARK: - Observers

  func addPeriodic(
    interval: MediaTime, onEnd: TimeObserverTable.EndHandler? = nil, _ handler: @escaping TimeObserverTable.Handler
  ) throws(MediaError) -> ObserverToken {
    guard interval.isNumeric, interval >= MediaTime(value: 1, timescale: 1_000) else {
      throw MediaError(
        .invalidTime, "interval must be at least 1 ms (got \(interval) s)", operation: "addPeriodicTimeObserver")
    }
    try player.checkOpen("addPeriodicTimeObserver")
    let token = player.engine.makeToken()
    updatePosition()
    schedule.table.addPeriodic(token, interval: interval, onEnd: onEnd, handler)
    player.milestones.schedule()
    return token
  }

  func addBoundary(
    times: BoundaryTimes, itemID: PlayerItem.ID?, includesSeeks: Bool, onEnd: TimeObserverTable.EndHandler? = nil,
    _ handler: @escaping TimeObserverTable.Handler
  ) throws(MediaError) -> ObserverToken {
    // Non-numeric times are sorted to both ends, so checking the first and the last time is enough.
    guard let first = times.ordered.first, let last = times.ordered.last else {
      throw MediaError(
        .invalidArgument, "a boundary observer needs at least one time", operation: "addBoundaryTimeObserver")
    }
    for time in [first, last] where !time.isNumeric {
      throw MediaError(
        .invalidTime, "boundary times must be numeric (got \(time))", operation: "addBoundaryTimeObserver")
    }
    if let itemID, player.items[itemID] == nil {
      throw MediaError(.noSuchItem, "there is no item \(itemID) in the queue", operation: "addBoundaryTimeObserver")
    }
    try player.checkOpen("addBoundaryTimeObserver")
    let token = player.engine.makeToken()
    updatePosition()
    schedule.table.addBoundary(
      token, times: times, itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, handler)
    player.milestones.schedule()
    return token
  }

  func addChapters(
    itemID: PlayerItem.ID?, includesSeeks: Bool, onEnd: TimeObserverTable.EndHandler? = nil,
    _ handler: @escaping TimeObserverTable.Handler
  ) throws(MediaError) -> ObserverToken {
    if let itemID, player.items[itemID] == nil {
      throw MediaError(.noSuchItem, "there is no item \(itemID) in the queue", operation: "addChapterTimeObserver")
    }
    try player.checkOpen("addChapterTimeObserver")
    let token = player.engine.makeToken()
    updatePosition()
    schedule.table.addChapters(token, itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, handler)
    player.milestones.schedule()
    return token
  }

  func remove(_ token: ObserverToken) throws(MediaError) {
    guard schedule.table.remove(token) else {
      throw MediaError(.noSuchObserver, "unknown observer \(token)", operation: "removeTimeObserver")
    }
  }

  /// Removes an observer, unless it has ended.
  func removeIfPresent(_ token: ObserverToken) { _ = schedule.table.remove(token) }

  /// Observes times of an item for the player itself. The caller removes the observer.
  func addBoundary(
    times: [MediaTime], itemID: PlayerItem.ID, _ handler: @escaping TimeObserverTable.Handler
  ) -> ObserverToken {
    let token = player.engine.makeToken()
    updatePosition()
    schedule.table.addBoundary(token, times: times, itemID: itemID, handler)
    return token
  }

  /// Sets the chapters of the current item, for observers of chapters.
  func setChapters(_ chapters: ChapterStarts, of itemID: PlayerItem.ID) {
    updatePosition()
    schedule.table.setChapters(chapters, of: itemID)
  }

  /// Ends the observers that are bound to items, in the order of `ids`.
  func endObservers(boundTo ids: [PlayerItem.ID]) {
    let bound = schedule.table.boundItemIDs
    guard !bound.isEmpty else { return }
    for id in ids where bound.contains(id) { callEndHandlers(schedule.table.removeObservers(boundTo: id)) }
  }

  /// Ends the observers that are bound to those items of `order` for which `hasLeft` is true, in that order.
  func endObservers(boundToItemsOf order: QueueOrder, where hasLeft: (PlayerItem.ID) -> Bool = { _ in true }) {
    let ids = schedule.table.boundItemIDs.filter { order.contains($0) && hasLeft($0) }
    endObservers(boundTo: ids.sorted { (order.index(of: $0) ?? 0) < (order.index(of: $1) ?? 0) })
  }

  /// Updates the observers' position to the current one, so that a new observer is not called for times before it.
  func updatePosition() {
    guard let position = player.position, position.itemID == schedule.table.position?.itemID else { return }
    schedule.table.move(to: position.time)
  }

  func playerDidClose() {
    callEndHandlers(schedule.table.removeAll())
    schedule = ObserverSchedule()
  }

  // MARK: - Streams

  /// Handles a jump to `position` in a new stream. Returns the calls for times that were skipped.
  func jump(
    to position: PlayerTimeline.Position, at frame: Int64, isReverse: Bool
  ) -> [TimeObserverTable.Call] {
    schedule.jump(to: position, at: frame, isReverse: isReverse)
  }

  /// Handles a new stream that continues at `position`.
  func startStream(at position: PlayerTimeline.Position, at frame: Int64, isReverse: Bool) {
    schedule.startStream(at: position, at: frame, isReverse: isReverse)
  }

  /// Calls the observers of times that were skipped by a jump, and the periodic ones.
  func notifyJump(to position: PlayerTimeline.Position, skipped: [TimeObserverTable.Call]) {
    notify(skipped, itemID: position.itemID)
    notify(schedule.table.periodicCalls(.jump, at: position.time), itemID: position.itemID)
  }

  /// Handles the end of all streams.
  func streamsEnded() {
    interrupt(at: player.position)
    schedule.table.leave()
  }

  /// Calls the observers of the last times of an item whose end was heard.
  func itemEnded(_ id: PlayerItem.ID, duration: MediaTime, atFrame frame: Int64) {
    notify(schedule.end(of: id, duration: duration), itemID: id, atFrame: frame)
  }

  /// Returns the next milestone of the current item, and its output frame.
  func next() -> (frame: Int64, milestone: ObserverSchedule.Milestone)? {
    schedule.next(
      in: player.timeline, itemID: player.machine.entries.first?.id, isPlaying: player.machine.rate != 0)
  }

  // MARK: - Calls

  func handle(_ milestone: ObserverSchedule.Milestone, at frame: Int64) {
    let itemID: PlayerItem.ID? =
      switch milestone {
      case .visit(let position, _), .start(let position), .stop(let position): position.itemID
      case .times, .loop, .directionChange: schedule.table.position?.itemID
      }
    notify(schedule.handle(milestone, at: frame), itemID: itemID ?? 0, atFrame: frame)
    // At a loop point the item time jumps without crossing a boundary, so the chapter is determined from the new time.
    if let itemID, case .loop(let time, let isReverse) = milestone {
      player.chapters.report(at: time, in: itemID, isBackward: isReverse)
    }
  }

  /// Calls the time observers that are due up to `frame`, for the current item. A stop at exactly `frame` is not
  /// reported yet, because new audio may begin at that frame.
  func notify(through frame: Int64) {
    while let itemID = schedule.table.position?.itemID,
      let next = schedule.next(in: player.timeline, itemID: itemID, isPlaying: player.machine.rate != 0),
      next.frame <= frame
    {
      if case .stop = next.milestone, next.frame == frame { break }
      handle(next.milestone, at: next.frame)
    }
  }

  /// Notifies the time observers that the audio ends at `position`.
  func interrupt(at position: PlayerTimeline.Position?) {
    notify(through: player.milestones.heardLimit)
    notify(schedule.interrupt(at: position), itemID: position?.itemID ?? 0, atFrame: player.milestones.heardLimit)
  }

  /// Delivers calls of time observers.
  ///
  /// - Parameter frame: The output frame that was heard; lateness counts from it.
  func notify(_ calls: [TimeObserverTable.Call], itemID: PlayerItem.ID, atFrame frame: Int64? = nil) {
    guard !calls.isEmpty else { return }
    let heardAt = frame.flatMap { player.output.hostTime(ofFrame: $0) }
    for call in calls {
      let rate = rate(of: call.reason, atFrame: frame)
      let hostTime =
        rate == 0
        ? nil : call.reason == .jump ? player.output.hostTime(ofFrame: player.positionLimits.jumpFrame) : heardAt
      let observation = TimeObservation(
        itemID: itemID, time: call.time, rate: rate, reason: call.reason, lateNanoseconds: 0, hostTime: hostTime,
        isBackward: call.isBackward, chapter: call.chapter)
      player.calls.add(heardAt: heardAt) { [self] lateNanoseconds in
        guard schedule.table.contains(call.token) else { return }
        var observation = observation
        observation.lateNanoseconds = lateNanoseconds
        call.handler(observation)
      }
    }
  }

  /// Calls the end handlers of time observers, after all pending deliveries.
  func callEndHandlers(_ handlers: [TimeObserverTable.EndHandler]) {
    for handler in handlers { player.calls.add { _ in handler() } }
  }

  /// The rate that an observation reports.
  private func rate(of reason: TimeObservation.Reason, atFrame frame: Int64?) -> Double {
    switch reason {
    case .periodic, .crossed, .start:
      (player.timeline.rate(atOutputFrame: frame ?? player.presentFrame) ?? player.machine.decodedRate).value
    case .jump, .skipped: schedule.isAudible ? player.machine.rate : 0
    case .stop: 0
    }
  }
}
