import MediaCore

/// What the clock brings: ends of items, and what time observers are told when its sample is heard. Nothing polls: one
/// timer is aimed at what is heard next.
extension PlayerCore {
  /// How far ahead timers are aimed: 50 parts in a million of it are half a millisecond.
  private static let aimHorizonNanoseconds: Int64 = 10_000_000_000

  /// How long to wait for a clock that stands although it should run; and between two ends of one item, should whoever is
  /// told of its end play on there again and again.
  private static let stallNanoseconds: Int64 = 10_000_000

  private enum Milestone {
    case observers(ObserverSchedule.Milestone)
    case end(ItemEnd)
    /// The place where samples ran out.
    case stall
    case meter(ObserverToken, window: Int64?)
    case title
  }

  /// What is to be told at this output frame or before may be told. Where a player is silent by its own wish, that is all it
  /// had.
  private var heardLimit: Int64 {
    let heard = output.heardFrame
    if machine.rate == 0, let end = timeline.runs.last?.end { return max(heard, end.frame) }
    // A clock that stands has come to what ended there, but not to what is to sound next.
    return !output.isClockRunning && timeline.isSounding(at: heard) ? heard - 1 : heard
  }

  /// Handles everything that has been heard, and sets the timer for what comes next.
  func aimTimer() {
    // What is handled below may ask for this again: the loop looks at what it changed.
    guard !isAiming, !isHandlingEvents else { return }
    timer?.cancel()
    timer = nil
    guard !isClosed, inputIndex != nil else { return }
    isAiming = true
    defer { isAiming = false }
    takeSpans()
    while let (frame, milestone) = nextMilestone() {
      guard frame <= heardLimit else {
        aimTimer(at: frame)
        break
      }
      processedFrame = max(processedFrame, frame)
      if case .end(let end) = milestone, machine.endedItem == end.itemID, let next = nextEndTime,
        next > engine.loop.now
      {
        setTimer(at: next)
        break
      }
      handle(milestone, at: frame)
    }
    // An end that is still to be told is looked up in the run that it ends.
    let untold = ends.first.flatMap { timeline.outputFrame(streamID: $0.streamID, streamFrame: $0.streamFrame) }
    timeline.forget(before: min(output.heardFrame, untold.map { $0 - 1 } ?? .max))
  }

  private func aimTimer(at frame: Int64) {
    guard let time = output.hostTime(ofFrame: frame) else { return }
    // The device's clock and the host's drift apart: what lies far ahead is aimed at again on the way.
    let now = engine.loop.now
    let latest = now.advanced(byNanoseconds: Self.aimHorizonNanoseconds)
    // A device that hangs should have played what it has not: asking it without a pause would starve everybody else.
    let earliest = engine.isVirtual ? time : now.advanced(byNanoseconds: time <= now ? Self.stallNanoseconds : 0)
    setTimer(at: max(earliest, min(time, latest)))
  }

  private func setTimer(at time: HostTime) {
    timer = engine.loop.schedule(at: time) { [weak self] in self?.aimTimer() }
  }

  /// What is heard next, and when; of several at one frame what an item's time brings comes before its levels.
  private func nextMilestone() -> (frame: Int64, Milestone)? {
    var next = nextItemMilestone()
    if machine.untoldStall != nil, let end = timeline.runs.last?.end, end.reason == .starved,
      end.frame < next?.frame ?? .max
    {
      next = (end.frame, .stall)
    }
    if let title = nextTitleFrame, title < next?.frame ?? .max { next = (title, .title) }
    if let meter = nextMeterMilestone(), meter.frame < next?.frame ?? .max {
      return (meter.frame, .meter(meter.token, window: meter.window))
    }
    return next
  }

  private func nextItemMilestone() -> (frame: Int64, Milestone)? {
    let next = observers.next(in: timeline, itemID: machine.entries.first?.id, isPlaying: machine.rate != 0)
    // A player that is paused at the end of its item is there without having played to it; one that fell silent
    // behind it has.
    if let end = ends.first,
      let frame = timeline.outputFrame(streamID: end.streamID, streamFrame: end.streamFrame),
      machine.rate != 0
        || machine.endedItem != end.itemID && frame < timeline.runs.last?.end?.frame ?? .min
    {
      let rank = ObserverSchedule.Milestone.endRank
      if next.map({ (frame, rank) < ($0.frame, $0.milestone.rank) }) ?? true { return (frame, .end(end)) }
    }
    return next.map { ($0.frame, .observers($0.milestone)) }
  }

  private func handle(_ milestone: Milestone, at frame: Int64) {
    switch milestone {
    case .observers(let milestone): handle(milestone, at: frame)
    case .meter(let token, let window): tellMeter(token, window: window, atFrame: frame)
    case .title:
      tellNextTitle()
      deliver()
    case .stall: run(machine.stallHeard(), cause: .stalled)
    case .end(let end):
      ends.removeFirst()
      if end.error == nil, machine.endsWithSound(end.passID), let duration = machine.entry(end.itemID)?.duration {
        tell(observers.end(of: end.itemID, duration: duration), itemID: end.itemID, atFrame: frame)
      }
      toldEnd = end
      let endsItem = machine.decoded.first.map { $0.id == end.passID && machine.endsItem($0.pass) } ?? true
      run(
        machine.endHeard(end.passID, error: end.error),
        cause: end.error != nil ? .itemFailed : endsItem ? .itemEnded : .looped)
      tellSeam()
      nextEndTime = nil
      // Paused at its end, the item ends again when it is played on, be it by who was just told.
      if machine.endedItem == end.itemID, machine.preparedStart == nil {
        ends.insert(end, at: 0)
        nextEndTime = engine.loop.now.advanced(byNanoseconds: Self.stallNanoseconds)
      }
      joinWaiting()
      followSpeed()
    }
  }

  // MARK: - Time observers

  private func handle(_ milestone: ObserverSchedule.Milestone, at frame: Int64) {
    let itemID: PlayerItem.ID? =
      switch milestone {
      case .visit(let position, _), .start(let position), .stop(let position): position.itemID
      case .times, .loop, .turn: observers.table.place?.itemID
      }
    tell(observers.pass(milestone, at: frame), itemID: itemID ?? 0, atFrame: frame)
    // The time of the item goes on elsewhere, and nothing was crossed on the way.
    if let itemID, case .loop(let time, let isReverse) = milestone {
      chapterMoved(to: time, in: itemID, isBackward: isReverse)
    }
  }

  /// Handles what time observers are told up to `frame`, of the item that they are in; a silence at `frame` itself may be
  /// about to be filled.
  func settleObservers(through frame: Int64) {
    while let itemID = observers.table.place?.itemID,
      let next = observers.next(in: timeline, itemID: itemID, isPlaying: machine.rate != 0), next.frame <= frame
    {
      if case .stop = next.milestone, next.frame == frame { break }
      handle(next.milestone, at: next.frame)
    }
  }

  /// What sounds is taken away; the player was heard up to `position`.
  func interruptObservers(at position: PlayerTimeline.Position?) {
    settleObservers(through: heardLimit)
    tell(observers.interrupt(at: position), itemID: position?.itemID ?? 0, atFrame: heardLimit)
  }

  /// Tells observers of times what they are called for. `frame` is what was heard: how late it is told is counted from it.
  func tell(_ calls: [TimeObserverTable.Call], itemID: PlayerItem.ID, atFrame frame: Int64? = nil) {
    guard !calls.isEmpty else { return }
    let heardAt = frame.flatMap { output.hostTime(ofFrame: $0) }
    for call in calls {
      let observation = TimeObservation(
        itemID: itemID, time: call.time, rate: rate(of: call.reason, atFrame: frame), reason: call.reason,
        lateNanoseconds: 0, isBackward: call.isBackward, chapter: call.chapter)
      enqueue(.time(call.token, call.handler, observation), heardAt: heardAt)
    }
  }

  /// Calls the end handlers of time observers, after all calls that are pending.
  func end(_ handlers: [TimeObserverTable.EndHandler]) {
    for handler in handlers { enqueue(.end(handler)) }
  }

  /// The rate at which time passes when this is told.
  private func rate(of reason: TimeObservation.Reason, atFrame frame: Int64?) -> Double {
    switch reason {
    case .periodic, .crossed, .start:
      (timeline.rate(atOutputFrame: frame ?? presentFrame) ?? machine.decodedSpeed).value
    case .jump, .skipped: observers.isSounding ? machine.rate : 0
    case .stop: 0
    }
  }
}
