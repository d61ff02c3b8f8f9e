import Synchronization

/// The state of a `RenderCore` that the sink's side owns: the inputs and the output position.
///
/// Everything here runs in the sink's callback: no allocation, no lock, no reference counting, bounded loops.
struct RenderState: ~Copyable {
  private let channelCount: Int
  private let sides: PanSides
  private var clips: ClipCounter
  private let inputs: UnsafeMutablePointer<RenderInput>
  /// One more than the highest index of an input that has ever been attached.
  private var inputLimit = 0
  private(set) var renderedFrame: Int64 = 0
  private(set) var isActive = false
  private(set) var lastAudibleFrame: Int64 = 0
  /// The first frame to which a rewind is possible: the last applied command, the last released frame, or the end of a
  /// dropped run.
  private var rewindLimitFrame: Int64 = 0

  /// The clock, which publishes the frame after the last rendered one to its readers.
  private let clock: UnsafeMutablePointer<OutputClock.Storage>

  init(
    channelCount: Int, clock: UnsafeMutablePointer<OutputClock.Storage>,
    clippedSampleCount: UnsafeMutablePointer<Atomic<Int>>
  ) {
    self.channelCount = channelCount
    sides = PanSides(channelCount: channelCount)
    clips = ClipCounter(total: clippedSampleCount)
    self.clock = clock
    inputs = .allocate(capacity: RenderCore.maximumInputCount)
    for index in 0..<RenderCore.maximumInputCount { (inputs + index).initialize(to: RenderInput()) }
  }

  deinit {
    inputs.deinitialize(count: RenderCore.maximumInputCount)
    inputs.deallocate()
  }

  // MARK: - Commands

  @_noAllocation
  mutating func applyCommands(
    _ commands: borrowing DescriptorQueue<RenderCommand>, events: borrowing RenderEventQueue
  ) {
    while let command = commands.popCommand() {
      apply(command, input: inputs + command.inputIndex, events: events)
      rewindLimitFrame = renderedFrame
    }
    updateActivity()
  }

  @_noAllocation
  private mutating func apply(
    _ command: RenderCommand, input: UnsafeMutablePointer<RenderInput>, events: borrowing RenderEventQueue
  ) {
    let index = Int32(truncatingIfNeeded: command.inputIndex)
    switch command.kind {
    case .attach:
      inputLimit = max(inputLimit, command.inputIndex &+ 1)
      input.pointee.isAttached = true
      input.pointee.isRunning = false
      input.pointee.phase = .silent
      input.pointee.inputGain = GainRamp()
      input.pointee.stopsAfterRamp = false
      input.pointee.muteGain = GainRamp()
      input.pointee.left = GainRamp()
      input.pointee.right = GainRamp()
    case .detach:
      fallSilent(input, kind: .stopped, phase: .silent, index: index, events: events)
      input.pointee.isAttached = false
      input.pointee.isRunning = false
      input.pointee.meter = nil
      input.pointee.dropAllFades(events: events, index: index)
      input.pointee.schedule(nil, streamFrame: 0, at: 0, events: events, index: index)
      input.pointee.replaceStream(with: nil, events: events, index: index)
    case .setRunning:
      input.pointee.isRunning = command.flag
      input.pointee.startFrame = command.startFrame
      if !command.flag, input.pointee.inputGain.endFrame <= renderedFrame { input.pointee.stopsAfterRamp = false }
      if input.pointee.isIn(.ended) { input.pointee.phase = .silent }
      if !command.flag || command.startFrame > renderedFrame {
        fallSilent(input, kind: .stopped, phase: .silent, index: index, events: events)
        input.pointee.dropAllFades(events: events, index: index)
      }
    case .setStream:
      fallSilent(input, kind: .stopped, phase: .silent, index: index, events: events)
      if !command.switchFade.isNone, input.pointee.isRunning, input.pointee.startFrame <= renderedFrame {
        startFade(
          command.switchFade, input, from: input.pointee.streamFrame, at: renderedFrame, index: index, events: events)
      } else {
        input.pointee.dropAllFades(events: events, index: index)
      }
      // In this order: `command.stream` may be the scheduled stream, which must not be retired in between.
      input.pointee.replaceStream(with: command.stream, events: events, index: index)
      input.pointee.schedule(nil, streamFrame: 0, at: 0, events: events, index: index)
      input.pointee.streamFrame = command.streamFrame
      if command.anchorFrame > .min, let stream = command.stream {
        let passed = min(renderedFrame - command.anchorFrame, stream.pointee.ring.writtenFrame)
        input.pointee.streamFrame = max(command.streamFrame, passed)
      }
      post(.streamSet, input, at: renderedFrame, index: index, events: events)
    case .scheduleStream:
      if command.stream != nil, input.pointee.stream == nil || command.atStreamFrame < input.pointee.streamFrame {
        post(.scheduleMissed, input, at: renderedFrame, index: index, events: events)
      } else {
        input.pointee.schedule(
          command.stream, streamFrame: command.streamFrame, at: command.atStreamFrame,
          switchFade: command.switchFade, events: events, index: index)
        if input.pointee.isIn(.ended) { input.pointee.phase = .silent }
      }
    case .setGain:
      input.pointee.inputGain.move(
        to: command.gain, atFrame: renderedFrame, frameCount: command.rampFrameCount, curve: command.curve)
      input.pointee.stopsAfterRamp = command.flag
      if command.rampID != 0 {
        events.post(
          RenderEvent(kind: .rampBegan, inputIndex: index, streamID: command.rampID, outputFrame: renderedFrame))
      }
    case .setMuted:
      input.pointee.muteGain.move(
        to: command.gain, atFrame: renderedFrame, frameCount: command.rampFrameCount, curve: .linear)
    case .setPan:
      input.pointee.left.move(
        to: command.gain, atFrame: renderedFrame, frameCount: command.rampFrameCount, curve: .linear)
      input.pointee.right.move(
        to: command.rightGain, atFrame: renderedFrame, frameCount: command.rampFrameCount, curve: .linear)
    case .setItemGain:
      input.pointee.moveItemGain(
        streamID: command.streamID, itemID: command.itemID, to: command.gain, atFrame: renderedFrame,
        frameCount: command.rampFrameCount)
    case .setMetering:
      input.pointee.meter = command.meter
      command.meter?.pointee.start(at: renderedFrame)
    }
  }

  /// Returns the effect of the commands on the output from `frame` on. An input counts as audible there when it needs
  /// the device or its last run extends beyond `frame`.
  @_noAllocation
  func effect(of commands: borrowing DescriptorQueue<RenderCommand>, fromFrame frame: Int64) -> PendingEffect {
    // One bit per input.
    var audible: UInt64 = 0
    var running: UInt64 = 0
    var withStream: UInt64 = 0
    // The inputs that begin at a later frame, known or pending: that frame must not be renumbered.
    var waiting: UInt64 = 0
    for index in 0..<inputLimit {
      let bit = UInt64(1) &<< UInt64(truncatingIfNeeded: index)
      let input = inputs + index
      if input.pointee.needsDevice || input.pointee.lastRunEnd > frame { audible |= bit }
      if input.pointee.isRunning, !input.pointee.isIn(.ended) { running |= bit }
      if input.pointee.stream != nil { withStream |= bit }
      if input.pointee.isRunning, input.pointee.startFrame > frame { waiting |= bit }
    }
    var replaced: UInt64 = 0
    var stopped: UInt64 = 0
    var count = 0
    while let command = commands.peek(count) {
      count &+= 1
      let bit = UInt64(1) &<< UInt64(truncatingIfNeeded: command.inputIndex)
      switch command.kind {
      case .attach: running &= ~bit
      case .detach:
        running &= ~bit
        stopped |= bit
      case .setRunning:
        running = command.flag ? running | bit : running & ~bit
        waiting = command.flag && command.startFrame > frame ? waiting | bit : waiting & ~bit
        stopped = command.flag ? stopped & ~bit : stopped | bit
      case .setStream:
        // The outgoing stream stays audible.
        if !command.switchFade.isNone { return .mixes }
        withStream = command.stream == nil ? withStream & ~bit : withStream | bit
        replaced |= bit
      case .scheduleStream: return .mixes
      case .setGain, .setMuted, .setPan, .setItemGain, .setMetering: break
      }
    }
    if running & withStream & waiting != 0 { return .mixes }
    if running & withStream != 0 { return audible & ~replaced == 0 ? .replaces : .mixes }
    return audible != 0 && audible & ~(replaced | stopped) == 0 ? .silences : .mixes
  }

  // MARK: - Rendering

  @_noAllocation
  mutating func render(
    into output: UnsafeMutablePointer<Float>, frameCount: Int, events: borrowing RenderEventQueue
  ) {
    // Each input is audible from the start of the block, or from its `startFrame`, up to some frame. Frames before
    // `filled` already contain audio, so samples are added to them. Later frames are overwritten, because adding -0 to
    // 0 would give 0.
    var filled = 0
    for index in 0..<inputLimit {
      let input = inputs + index
      let inputIndex = Int32(truncatingIfNeeded: index)
      // An input that begins within the block plays from that frame on; unfilled frames before it are silent.
      let first = input.pointee.waitingFrameCount(from: renderedFrame, atMost: frameCount)
      let part = output + first &* channelCount
      var end = 0
      if let meter = input.pointee.meter {
        if first > 0 { meter.pointee.appendSilence(frameCount: first) }
        end = renderMetered(
          input, meter, index: inputIndex, into: part, frameCount: frameCount &- first, filled: max(0, filled &- first),
          at: renderedFrame &+ Int64(first), events: events)
      } else if first < frameCount, input.pointee.isRunning,
        input.pointee.stream != nil || input.pointee.fadeCount > 0
      {
        end = render(
          input, index: inputIndex, into: part, frameCount: frameCount &- first, filled: max(0, filled &- first),
          at: renderedFrame &+ Int64(first), events: events)
      }
      if end == 0 { continue }
      if filled < first {
        (output + filled &* channelCount).update(repeating: 0, count: (first &- filled) &* channelCount)
      }
      filled = max(filled, first &+ end)
    }
    (output + filled &* channelCount).update(repeating: 0, count: (frameCount &- filled) &* channelCount)
    clips.add(output, frameCount: frameCount, channelCount: channelCount, at: renderedFrame)
    // Before the clock may count these frames as heard: `RenderCore.hasPendingEvents` depends on this order.
    events.publish()
    move(toFrame: renderedFrame &+ Int64(frameCount))
    updateActivity()
  }

  /// Renders an input with a meter: its audio passes through the meter's buffer and is otherwise unchanged.
  @_noAllocation
  private mutating func renderMetered(
    _ input: UnsafeMutablePointer<RenderInput>, _ meter: UnsafeMutablePointer<InputMeter.Storage>, index: Int32,
    into output: UnsafeMutablePointer<Float>, frameCount: Int, filled: Int, at firstFrame: Int64,
    events: borrowing RenderEventQueue
  ) -> Int {
    var done = 0
    var end = 0
    while done < frameCount {
      let region = meter.pointee.writableRegion(atMost: frameCount &- done)
      var renderedCount = 0
      if end == done, input.pointee.isRunning, input.pointee.stream != nil || input.pointee.fadeCount > 0 {
        renderedCount = render(
          input, index: index, into: region.samples, frameCount: region.count, filled: 0,
          at: firstFrame &+ Int64(done), events: events)
      }
      (region.samples + renderedCount &* channelCount).update(
        repeating: 0, count: (region.count &- renderedCount) &* channelCount)
      let target = output + done &* channelCount
      let count = renderedCount &* channelCount
      let middle = min(max(0, filled &- done), renderedCount) &* channelCount
      for sample in 0..<middle { target[sample] += region.samples[sample] }
      for sample in middle..<count { target[sample] = region.samples[sample] }
      meter.pointee.commit(frameCount: region.count)
      if renderedCount > 0 { end = done &+ renderedCount }
      done &+= region.count
    }
    return end
  }

  /// Mixes one input into `output`, across the ends and switches within the block. `output` begins at `firstFrame`, and
  /// its first `filled` frames contain audio. Returns the frame of the block at which the input becomes silent.
  @_noAllocation
  private mutating func render(
    _ input: UnsafeMutablePointer<RenderInput>, index: Int32, into output: UnsafeMutablePointer<Float>,
    frameCount: Int, filled: Int, at firstFrame: Int64, events: borrowing RenderEventQueue
  ) -> Int {
    let stopCount = input.pointee.frameCountBeforeStop(from: firstFrame, atMost: frameCount)
    let renderedCount = renderStreams(
      input, index: index, into: output, frameCount: stopCount, filled: filled, at: firstFrame, events: events)
    if stopCount < frameCount, input.pointee.isIn(.audible) {
      silence(
        input, kind: .stopped, phase: .silent, at: firstFrame &+ Int64(stopCount), index: index, events: events)
    }
    var end = renderedCount
    if input.pointee.fadeCount > 0 {
      end = input.pointee.mixFades(
        into: output, frameCount: stopCount, filled: filled, renderedCount: renderedCount, channelCount: channelCount,
        sides: sides, at: firstFrame)
    }
    if end > 0 { lastAudibleFrame = max(lastAudibleFrame, firstFrame &+ Int64(end)) }
    return end
  }

  /// Mixes the input's current stream, without the outgoing streams.
  @_noAllocation
  private mutating func renderStreams(
    _ input: UnsafeMutablePointer<RenderInput>, index: Int32, into output: UnsafeMutablePointer<Float>,
    frameCount: Int, filled: Int, at firstFrame: Int64, events: borrowing RenderEventQueue
  ) -> Int {
    var done = 0
    while done < frameCount, let stream = input.pointee.stream {
      let outputFrame = firstFrame &+ Int64(done)
      let position = input.pointee.streamFrame
      if let next = input.pointee.scheduled, position == input.pointee.scheduledAtFrame {
        switchToScheduledStream(next, from: position, input, at: outputFrame, index: index, events: events)
        continue
      }
      let end = stream.pointee.end
      var limit = min(stream.pointee.readyFrame, end)
      if input.pointee.scheduled != nil { limit = min(limit, input.pointee.scheduledAtFrame) }
      let available = limit &- position
      if available <= 0 {
        let hasEnded = position >= end
        silence(
          input, kind: hasEnded ? .ended : .underrun, phase: hasEnded ? .ended : .underrun, at: outputFrame,
          index: index, events: events)
        return done
      }
      if !input.pointee.isIn(.audible) {
        startRun(
          input, stream: stream, at: outputFrame, scheduledAtFrame: nil, switchFade: .none, index: index,
          events: events)
      }
      let gainRange = stream.pointee.gains.gainRange(atFrame: position)
      let region = stream.pointee.ring.readableRegion(
        from: position, atMost: Int(min(min(available, gainRange.endFrame &- position), Int64(frameCount &- done))))
      input.pointee.mix(
        region.samples, frameCount: region.count, filled: max(0, filled &- done), channelCount: channelCount,
        itemGain: gainRange.gain, fade: input.pointee.incomingFade, sides: sides, into: output + done &* channelCount,
        at: outputFrame)
      input.pointee.extendRun(by: region.count)
      done &+= region.count
    }
    return done
  }

  @_noAllocation
  private mutating func startFade(
    _ switchFade: SwitchFade, _ input: UnsafeMutablePointer<RenderInput>, from streamFrame: Int64,
    at outputFrame: Int64,
    index: Int32, events: borrowing RenderEventQueue
  ) {
    let rewindLimit = input.pointee.startFade(
      switchFade, at: outputFrame, from: streamFrame, events: events, index: index)
    if let rewindLimit { rewindLimitFrame = max(rewindLimitFrame, rewindLimit) }
  }

  @_noAllocation
  private mutating func startRun(
    _ input: UnsafeMutablePointer<RenderInput>, stream: RenderInput.Stream, at outputFrame: Int64,
    scheduledAtFrame: Int64?, switchFade: SwitchFade, index: Int32, events: borrowing RenderEventQueue
  ) {
    let rewindLimit = input.pointee.appendRun(
      at: outputFrame, stream: stream, scheduledAtFrame: scheduledAtFrame, switchFade: switchFade,
      events: events, index: index)
    if let rewindLimit { rewindLimitFrame = max(rewindLimitFrame, rewindLimit) }
    input.pointee.phase = .audible
    post(.runBegan, input, at: outputFrame, index: index, events: events)
  }

  /// Switches to the scheduled stream.
  @_noAllocation
  private mutating func switchToScheduledStream(
    _ next: RenderInput.Stream, from position: Int64, _ input: UnsafeMutablePointer<RenderInput>,
    at outputFrame: Int64, index: Int32, events: borrowing RenderEventQueue
  ) {
    let switchFade = input.pointee.scheduledSwitchFade
    if !switchFade.isNone {
      startFade(switchFade, input, from: position, at: outputFrame, index: index, events: events)
    }
    input.pointee.streamFrame = input.pointee.scheduledStreamFrame
    // The run's reference keeps `next` alive across the two changes.
    startRun(
      input, stream: next, at: outputFrame, scheduledAtFrame: position, switchFade: switchFade, index: index,
      events: events)
    input.pointee.replaceStream(with: next, events: events, index: index)
    input.pointee.schedule(nil, streamFrame: 0, at: 0, events: events, index: index)
  }

  /// Ends the input's run, if it is audible, at `renderedFrame`, and sets its phase.
  @_noAllocation
  private mutating func fallSilent(
    _ input: UnsafeMutablePointer<RenderInput>, kind: RenderEvent.Kind, phase: RenderInput.Phase, index: Int32,
    events: borrowing RenderEventQueue
  ) {
    if input.pointee.isIn(.audible) {
      silence(input, kind: kind, phase: phase, at: renderedFrame, index: index, events: events)
    }
    input.pointee.phase = phase
  }

  /// Posts the end of the input's run at `outputFrame`, unless the input already is in `phase`.
  @_noAllocation
  private mutating func silence(
    _ input: UnsafeMutablePointer<RenderInput>, kind: RenderEvent.Kind, phase: RenderInput.Phase,
    at outputFrame: Int64, index: Int32, events: borrowing RenderEventQueue
  ) {
    if input.pointee.isIn(phase) { return }
    input.pointee.phase = phase
    input.pointee.phaseFrame = outputFrame
    post(kind, input, at: outputFrame, index: index, events: events)
  }

  @_noAllocation
  private func post(
    _ kind: RenderEvent.Kind, _ input: UnsafeMutablePointer<RenderInput>, at outputFrame: Int64, index: Int32,
    events: borrowing RenderEventQueue
  ) {
    var streamID: UInt64 = 0
    if let stream = input.pointee.stream { streamID = stream.pointee.id }
    if case .runBegan = kind { streamID = input.pointee.run(input.pointee.runCount &- 1).pointee.stream.pointee.id }
    events.post(
      RenderEvent(
        kind: kind, inputIndex: index, streamID: streamID, outputFrame: outputFrame,
        streamFrame: input.pointee.streamFrame))
  }

  // MARK: - Rewinding and releasing

  @_noAllocation
  mutating func rewind(toFrame frame: Int64, events: borrowing RenderEventQueue) -> Int64 {
    let reached = min(max(frame, rewindLimitFrame), renderedFrame)
    guard reached < renderedFrame else { return renderedFrame }
    events.post(RenderEvent(kind: .rewound, outputFrame: reached))
    for index in 0..<inputLimit {
      (inputs + index).pointee.rewind(
        toFrame: reached, events: events, index: Int32(truncatingIfNeeded: index))
    }
    move(toFrame: reached)
    lastAudibleFrame = min(lastAudibleFrame, reached)
    updateActivity()
    return reached
  }

  @_noAllocation
  mutating func release(heardFrame: Int64, events: borrowing RenderEventQueue) {
    let frame = min(heardFrame, renderedFrame)
    rewindLimitFrame = max(rewindLimitFrame, frame)
    clips.release(heardFrame: frame)
    for index in 0..<inputLimit {
      (inputs + index).pointee.discardHeardFrames(
        before: frame, events: events, index: Int32(truncatingIfNeeded: index))
    }
  }

  @_noAllocation
  func readyFrameCount(atMost frameCount: Int) -> Int {
    var ready = Int64(frameCount)
    for index in 0..<inputLimit {
      let input = inputs + index
      guard input.pointee.needsDevice, let stream = input.pointee.stream else { continue }
      let waiting = Int64(input.pointee.waitingFrameCount(from: renderedFrame, atMost: frameCount))
      if waiting == Int64(frameCount) { continue }
      let position = input.pointee.streamFrame
      let end = stream.pointee.end
      let written = stream.pointee.readyFrame
      if let next = input.pointee.scheduled, input.pointee.scheduledAtFrame <= min(written, end) {
        // The input will switch within the written frames. Frames of the next stream count only after the switch.
        if position < input.pointee.scheduledAtFrame {
          ready = min(ready, waiting &+ input.pointee.scheduledAtFrame &- position)
        } else if next.pointee.readyFrame < next.pointee.end {
          ready = min(
            ready, waiting &+ max(0, next.pointee.readyFrame &- input.pointee.scheduledStreamFrame))
        }
      } else if written < end {
        ready = min(ready, waiting &+ max(0, written &- position))
      }
    }
    return Int(ready)
  }

  @_noAllocation
  private mutating func move(toFrame frame: Int64) {
    renderedFrame = frame
    clock.pointee.renderedFrame.store(frame, ordering: .releasing)
  }

  @_noAllocation
  private mutating func updateActivity() {
    var active = false
    for index in 0..<inputLimit where (inputs + index).pointee.needsDevice { active = true }
    isActive = active
  }
}
