import MediaCore
import RealtimeAudio

/// The output's side of a player: what the mixer reports, and what the clock brings.
extension PlayerCore {
  // MARK: - Devices

  func outputDidStart() {
    guard !isClosed, let core = output.core else { return }
    inputIndex = output.attachInput(for: self)
    guard inputIndex != nil else {
      logger.warning("the mixer is full; the player waits for another output")
      return
    }
    timeline = PlayerTimeline(sampleRateHz: core.format.sampleRateHz)
    processedFrame = -1
    jumpFrame = 0
    if let inputIndex {
      applyLevels(to: core, input: inputIndex)
      output.commit()
      outputDidStartMeters()
    }
    run(machine.outputBecameReady(), cause: .output)
  }

  func outputWillStop() {
    parkedPosition = position
    timer?.cancel()
    inputIndex = nil
    preparing = nil
    sounding = nil
    outgoing = nil
    waiting = []
    ends = []
    isStarvationVoid = false
    let time = parkedPosition.flatMap { $0.itemID == machine.entries.first?.id ? $0.time : nil }
    timeline = PlayerTimeline(sampleRateHz: 48_000)
    run(machine.outputWasLost(at: time), cause: .output)
  }

  // MARK: - Render events

  func handle(_ event: RenderEvent) {
    guard !isClosed else { return }
    switch event.kind {
    case .rewound:
      timeline.rewind(to: event.outputFrame)
      isStarvationVoid = machine.reasonForWaitingToPlay == .toMinimizeStalls && timeline.runs.last?.end == nil
    case .runBegan: runBegan(event)
    case .starved:
      isStarvationVoid = false
      timeline.endRun(outputFrame: event.outputFrame, reason: .starved)
      run(machine.starved(), cause: .stalled)
    case .ended: runEnded(event)
    case .stopped:
      timeline.endRun(outputFrame: event.outputFrame, reason: .stopped)
      if machine.rate == 0 { notifyPeriodic(.stop, atFrame: event.outputFrame) }
    case .streamSet: streamSet(event)
    case .scheduleMissed: spliceMissed()
    case .streamRetired: timeline.removeStream(event.streamID)
    case .roomInStream: pipeline.roomAppeared()
    }
  }

  private func runBegan(_ event: RenderEvent) {
    takeSpans()
    timeline.beginRun(
      outputFrame: event.outputFrame, streamID: event.streamID, streamFrame: event.streamFrame)
    let wasPlaying = machine.timeControlStatus == .playing
    // The start is told before anything that follows from it.
    isAiming = true
    run(machine.soundBegan(), cause: .buffered)
    if !wasPlaying, machine.timeControlStatus == .playing { notifyPeriodic(.start, atFrame: event.outputFrame) }
    isAiming = false
    aimTimer()
  }

  /// The stream came to its end, as far as the mixer knew then.
  private func runEnded(_ event: RenderEvent) {
    timeline.endRun(outputFrame: event.outputFrame, reason: .ended)
    guard let sounding, sounding.stream.id == event.streamID else { return }
    if sounding.stream.endFrame != event.streamFrame { sound(sounding.stream) }
  }

  /// Lets a stream sound on that the mixer took for ended.
  func sound(_ stream: RenderStream) {
    guard let inputIndex, timeline.runs.last?.end?.reason == .ended else { return }
    output.core?.setRunning(machine.rate != 0, input: inputIndex)
    output.commit()
  }

  private func streamSet(_ event: RenderEvent) {
    let known = [sounding, outgoing].compactMap { $0 }
    guard event.streamID != 0, let committed = known.first(where: { $0.stream.id == event.streamID }) else {
      if event.streamID == 0 { timeline.endRun(outputFrame: event.outputFrame, reason: .stopped) }
      return
    }
    takeSpans()
    timeline.beginRun(
      outputFrame: event.outputFrame, streamID: event.streamID, streamFrame: event.streamFrame, isStill: true)
    jumpFrame = event.outputFrame
    processedFrame = event.outputFrame - 1
    parkedPosition = nil
    let isSeek = committed.isSeek
    if let position = timeline.position(atOutputFrame: event.outputFrame) {
      timeObservers.aim(itemID: position.itemID, at: position.time, inclusive: isSeek ? .boundaries : .all)
    }
    run(machine.committed(generation: committed.number), cause: .buffered)
    if isSeek, let position {
      send(.timeJumped(position.itemID, position.time))
      notifyPeriodic(.jump, atFrame: event.outputFrame)
    }
  }

  /// What was to follow came too late: it follows as soon as it can.
  private func spliceMissed() {
    guard let sounding, let core = output.core, let inputIndex else { return }
    core.setStream(sounding.stream, fromFrame: 0, input: inputIndex)
    core.setRunning(machine.rate != 0, input: inputIndex)
    output.commit()
  }

  func didHandleEvents() {
    guard !isClosed else { return }
    if isStarvationVoid {
      isStarvationVoid = false
      run(machine.soundBegan(), cause: .buffered)
    }
    aimTimer()
  }

  // MARK: - Position

  /// The output frame that counts as heard: not before a jump that was committed, and at its end when all is silent.
  private var presentFrame: Int64 {
    let frame = max(output.heardFrame, jumpFrame)
    guard machine.rate == 0, let end = timeline.runs.last?.end else { return frame }
    return max(frame, end.frame)
  }

  /// Where the player is: as heard.
  var position: PlayerTimeline.Position? {
    parkedPosition ?? timeline.position(atOutputFrame: presentFrame)
  }

  func currentTime() -> MediaTime {
    guard let current = machine.entries.first else { return .zero }
    if let start = machine.preparedStart, start.itemID == current.id, sounding == nil { return start.time }
    guard let position, position.itemID == current.id else {
      // Exactly at its end the current item is where it ends, though the next one's sound stands there already; one
      // that has not begun is at its beginning.
      guard let end = timeline.time(of: current.id, endingAt: presentFrame) else { return .zero }
      return current.duration.isNumeric ? min(end, current.duration) : end
    }
    return position.time
  }

  // MARK: - What the clock brings

  /// How far ahead timers are aimed: 50 parts in a million of it are half a millisecond.
  private static let aimHorizonNanoseconds: Int64 = 10_000_000_000

  /// How long to wait for a clock that stands although it should run.
  private static let stallNanoseconds: Int64 = 10_000_000

  private enum Milestone {
    case observers(MediaTime)
    case end(ItemEnd)
    case meter(ObserverToken, window: Int64?)
  }

  /// Handles everything that has been heard, and sets the timer for what comes next.
  func aimTimer() {
    // What is handled below may ask for this again: the loop looks at what it changed.
    guard !isAiming else { return }
    timer?.cancel()
    timer = nil
    guard !isClosed, inputIndex != nil else { return }
    isAiming = true
    defer { isAiming = false }
    aimObservers()
    let heard = output.heardFrame
    while let (frame, milestone) = nextMilestone() {
      guard frame <= heard else {
        if let time = output.hostTime(ofFrame: frame) {
          // The device's clock and the host's drift apart: what lies far ahead is aimed at again on the way.
          let now = engine.loop.now
          let latest = now.advanced(byNanoseconds: Self.aimHorizonNanoseconds)
          // A device that hangs should have played what it has not: asking it without a pause would starve everybody else.
          let earliest = engine.isVirtual ? time : now.advanced(byNanoseconds: time <= now ? Self.stallNanoseconds : 0)
          timer = engine.loop.schedule(at: max(earliest, min(time, latest))) { [weak self] in self?.aimTimer() }
        }
        break
      }
      processedFrame = max(processedFrame, frame)
      handle(milestone, at: frame)
    }
    // An end that is still to be told is looked up in the run that it ends.
    let untold = ends.first.flatMap { timeline.outputFrame(streamID: $0.streamID, streamFrame: $0.streamFrame) }
    timeline.forget(before: min(heard, untold.map { $0 - 1 } ?? heard))
  }

  /// What is heard next, and when.
  private func nextMilestone() -> (frame: Int64, Milestone)? {
    var next: (frame: Int64, milestone: Milestone)?
    // A player that is paused at the end of its item is there without having played to it; one that fell silent
    // behind it has.
    if let end = ends.first,
      let frame = timeline.outputFrame(streamID: end.streamID, streamFrame: end.streamFrame),
      machine.rate != 0
        || machine.endedItem != end.itemID && frame < timeline.runs.last?.end?.frame ?? .min
    {
      next = (frame, .end(end))
    }
    if let current = machine.entries.first, let time = timeObservers.nextTime(),
      let frame = timeline.outputFrame(of: time, itemID: current.id, from: max(jumpFrame, processedFrame)),
      frame <= next?.frame ?? .max
    {
      next = (frame, .observers(time))
    }
    if let meter = nextMeterMilestone(), meter.frame < next?.frame ?? .max {
      next = (meter.frame, .meter(meter.token, window: meter.window))
    }
    return next.map { ($0.frame, $0.milestone) }
  }

  private func handle(_ milestone: Milestone, at frame: Int64) {
    switch milestone {
    case .observers(let time):
      let late = lateness(ofFrame: frame)
      guard let itemID = machine.entries.first?.id else { return }
      let rate = machine.rate
      for (token, handler, reason) in timeObservers.popDue(at: time) {
        let observation = TimeObservation(
          itemID: itemID, time: time, rate: rate, reason: reason, lateNanoseconds: late)
        enqueue(.time(token, handler, observation))
      }
    case .meter(let token, let window): tellMeter(token, window: window, atFrame: frame, late: lateness(ofFrame: frame))
    case .end(let end):
      ends.removeFirst()
      run(machine.endHeard(end.itemID, error: end.error), cause: .itemEnded)
      // Paused at its end, the item ends again when it is played on, be it by who was just told.
      if machine.endedItem == end.itemID, machine.preparedStart == nil { ends.insert(end, at: 0) }
      joinWaiting()
      aimObservers()
    }
  }

  /// Aims observers at the beginning of an item that followed the one before.
  private func aimObservers() {
    guard let current = machine.entries.first?.id, timeObservers.aimedItemID != current else { return }
    takeSpans()
    guard let position = timeline.position(atOutputFrame: processedFrame), position.itemID == current else { return }
    timeObservers.aim(itemID: current, at: position.time, inclusive: .all)
  }

  /// How long ago a frame was heard, in nanoseconds.
  private func lateness(ofFrame frame: Int64) -> Int64 {
    output.hostTime(ofFrame: frame).map { max(0, engine.loop.now.nanoseconds(since: $0)) } ?? 0
  }

  /// Tells periodic observers where the player is at `frame`, for another reason than a multiple of their interval.
  func notifyPeriodic(_ reason: TimeObservation.Reason, atFrame frame: Int64) {
    guard !timeObservers.isEmpty, let position = timeline.position(atOutputFrame: frame),
      position.itemID == machine.entries.first?.id
    else { return }
    if reason == .start, frame == jumpFrame {
      // The multiple at which playback starts is told by this call; boundaries there are crossed by starting. Where it
      // goes on after a pause, what is still to be heard before is due as it was.
      timeObservers.aim(itemID: position.itemID, at: position.time, inclusive: .boundaries)
    }
    let observation = TimeObservation(
      itemID: position.itemID, time: position.time, rate: machine.rate, reason: reason, lateNanoseconds: 0)
    for (token, handler) in timeObservers.periodicHandlers { enqueue(.time(token, handler, observation)) }
  }
}
