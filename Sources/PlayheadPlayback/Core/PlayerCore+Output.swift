import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The bounds of the reported position.
struct PositionLimits {
  /// The earliest frame of a reported position: the frame of the last committed jump.
  var jumpFrame: Int64 = 0
  /// The position at the loss of the output, until a stream is set on the next output.
  var positionAtOutputLoss: PlayerTimeline.Position?
}

/// The interface to the output: render events and the position.
extension PlayerCore {
  // MARK: - Devices

  func outputDidStart() {
    guard !isClosed, let core = output.core else { return }
    inputIndex = output.attachInput(for: self)
    guard let inputIndex else {
      logger.warning("the mixer is full; the player waits for another output")
      return
    }
    timeline = PlayerTimeline(sampleRateHz: core.format.sampleRateHz)
    positionLimits.jumpFrame = 0
    for feature in features { feature.outputDidStart(core, input: inputIndex) }
    run(machine.outputBecameReady(), cause: .output)
  }

  func outputWillStop() {
    milestones.eventsEnded()
    positionLimits.positionAtOutputLoss = position
    timeObservers.interrupt(at: positionLimits.positionAtOutputLoss)
    for feature in features { feature.outputWillStop() }
    inputIndex = nil
    _ = chain.removeAll()
    heardOverlap = nil
    let time = positionLimits.positionAtOutputLoss.flatMap { $0.itemID == machine.entries.first?.id ? $0.time : nil }
    timeline = PlayerTimeline(sampleRateHz: 48_000)
    run(machine.outputWasLost(at: time), cause: .output)
    for feature in features { feature.outputDidStop() }
  }

  func outputRouteWasLost() {
    guard !isClosed, machine.rate != 0 else { return }
    changeRate(to: 0, cause: .output)
  }

  func outputDidStall(_ isStalled: Bool) {
    guard !isClosed else { return }
    run(machine.outputStalled(isStalled), cause: .output)
  }

  /// Sets in the mixer whether the player is rendered, and from which frame. The caller posts the command.
  func applyRunning() {
    guard let inputIndex else { return }
    output.core?.setRunning(machine.isRunning, fromFrame: jointChanges.startFrame ?? .min, input: inputIndex)
  }

  // MARK: - Render events

  /// Handles one render event of a batch. Milestones are handled after the last event of the batch, in
  /// `didHandleEvents`.
  func handle(_ event: RenderEvent) {
    guard !isClosed else { return }
    milestones.willHandleEvent()
    switch event.kind {
    case .rewound:
      timeline.rewind(to: event.outputFrame)
      for feature in features { feature.rewound(toFrame: event.outputFrame) }
    case .runBegan: runBegan(event)
    case .underrun:
      readSegments()
      timeline.endRun(outputFrame: event.outputFrame, reason: .underrun)
      stalls.underrunOccurred(event)
    case .ended: runEnded(event)
    case .stopped:
      timeline.endRun(outputFrame: event.outputFrame, reason: .stopped)
    case .streamSet: streamSet(event)
    case .scheduleMissed: spliceMissed()
    case .rampBegan: volume.rampBegan(event.streamID, atFrame: event.outputFrame)
    case .streamRetired: timeline.retireStream(event.streamID)
    case .spaceAvailable:
      pipeline.wakeForFreeSpace()
      if chain.sounding?.stream.id == event.streamID { run(machine.decodingResumed(), cause: .buffered) }
    }
  }

  private func runBegan(_ event: RenderEvent) {
    readSegments()
    timeline.beginRun(
      outputFrame: event.outputFrame, streamID: event.streamID, streamFrame: event.streamFrame)
    for feature in features { feature.runBegan(event) }
    run(machine.audioStarted(), cause: .buffered)
    reportTransition()
  }

  /// Handles the end of a stream. If the stream was extended since the mixer read its end, rendering resumes.
  private func runEnded(_ event: RenderEvent) {
    timeline.endRun(outputFrame: event.outputFrame, reason: .ended)
    guard let stream = chain.sounding?.stream, stream.id == event.streamID else { return }
    if stream.endFrame != event.streamFrame { resumeRendering(of: stream) }
  }

  /// Resumes a stream that the mixer regarded as ended.
  func resumeRendering(of stream: RenderStream) {
    guard timeline.runs.last?.end?.reason == .ended else { return }
    applyRunning()
    output.postCommands()
  }

  private func streamSet(_ event: RenderEvent) {
    guard event.streamID != 0, let committed = chain.mixedGeneration(ofStream: event.streamID) else {
      if event.streamID == 0 { timeline.endRun(outputFrame: event.outputFrame, reason: .stopped) }
      return
    }
    readSegments()
    // Milestones before the new stream are reported first.
    timeObservers.notify(through: event.outputFrame)
    timeline.beginRun(
      outputFrame: event.outputFrame, streamID: event.streamID, streamFrame: event.streamFrame, isPositionOnly: true)
    positionLimits.jumpFrame = event.outputFrame
    milestones.jumped(at: event.outputFrame)
    positionLimits.positionAtOutputLoss = nil
    // After a seek to the item's end, the stream has no frame of the item: the following item begins at that frame.
    let itemID = committed.trace.itemID
    let time = timeline.time(of: itemID, streamID: event.streamID, endingAt: event.streamFrame)
    let position = time.map { PlayerTimeline.Position(itemID: itemID, time: $0) }
    let isReverse =
      timeline.rate(streamID: event.streamID, streamFrame: event.streamFrame)?.isReverse ?? false
    var skipped: [TimeObserverTable.Call] = []
    if let position {
      if committed.jumpCause != nil {
        skipped = timeObservers.jump(to: position, at: event.outputFrame, isReverse: isReverse)
      } else {
        timeObservers.startStream(at: position, at: event.outputFrame, isReverse: isReverse)
      }
    }
    seeks.latency.committed(committed, at: time)
    run(machine.committed(generation: committed.number), cause: .buffered)
    if committed.jumpCause != nil { chain.endTransition() }
    if let cause = committed.jumpCause, let position {
      items[position.itemID]?.removeTimedMetadata()
      send(.timeJumped(position.itemID, position.time, cause, hostTime: jumpHostTime))
      chapters.report(at: position.time, in: position.itemID, isBackward: isReverse)
      timeObservers.notifyJump(to: position, skipped: skipped)
    }
  }

  func didHandleEvents() {
    milestones.eventsEnded()
    guard !isClosed else { return }
    for feature in features { feature.clockMayHaveChanged() }
    applyRequestedRate()
    reportTransition()
    milestones.schedule()
  }

  // MARK: - Position

  /// The output frame of the reported position: the heard frame, but not before a committed jump. For a silent player
  /// also not before the end of its last run.
  var presentFrame: Int64 {
    let frame = max(output.heardFrame, positionLimits.jumpFrame)
    guard !machine.isRunning, let end = timeline.runs.last?.end else { return frame }
    return max(frame, end.frame)
  }

  /// The next frame of a stream to be heard; nil if another stream is heard.
  func heardStreamFrame(of streamID: UInt64, at frame: Int64? = nil) -> Int64? {
    let frame = frame ?? presentFrame
    guard let run = timeline.run(at: frame), run.streamID == streamID else { return nil }
    return run.streamFrame + max(0, min(frame, run.end?.frame ?? .max) - run.outputFrame)
  }

  /// The position that is heard.
  var position: PlayerTimeline.Position? { position(atFrame: presentFrame) }

  private func position(atFrame frame: Int64) -> PlayerTimeline.Position? {
    positionLimits.positionAtOutputLoss ?? timeline.position(atOutputFrame: frame)
  }

  func currentTime() -> MediaTime { currentTime(atFrame: presentFrame) }

  /// The position that is heard, with its rate and the instant at which it is heard.
  var timebaseAnchor: TimebaseAnchor {
    let frame = presentFrame
    let rate = timebaseRate(atFrame: frame)
    return TimebaseAnchor(
      time: currentTime(atFrame: frame), rate: rate,
      hostTime: rate == 0 ? nil : timeline.advancingFrame(from: frame).flatMap { output.hostTime(ofFrame: $0) })
  }

  /// The instant at which the position of the last jump is heard; nil while the time does not advance.
  var jumpHostTime: HostTime? {
    timebaseRate(atFrame: positionLimits.jumpFrame) == 0 ? nil : output.hostTime(ofFrame: positionLimits.jumpFrame)
  }

  private func currentTime(atFrame frame: Int64) -> MediaTime {
    guard let current = machine.entries.first else { return .zero }
    if let request = machine.requestInPreparation, request.itemID == current.id, chain.sounding == nil {
      return request.time
    }
    guard let position = position(atFrame: frame), position.itemID == current.id else {
      // At the frame where the current item ends, the next item begins in the timeline: the end time is reported.
      // Before an item has begun, its start position is reported.
      guard let end = timeline.time(of: current.id, atOutputFrame: frame) else {
        return machine.pendingRequest.flatMap { $0.itemID == current.id ? $0.time : nil } ?? .zero
      }
      return current.duration.isNumeric ? min(end, current.duration) : end
    }
    return position.time
  }
}
