import Synchronization

/// The state of one input of the mixer: its stream, its position, its gains, and a record of the audio that it has
/// rendered after the last heard frame. Used only on the sink's side.
///
/// The *runs* make rendering again possible: each maps frames of one stream to output frames. A rewind finds its frame
/// in the runs and continues from it.
struct RenderInput: ~Copyable {
  typealias Stream = UnsafeMutablePointer<RenderStream.Storage>

  /// A contiguous range of one stream in the output.
  struct Run: BitwiseCopyable {
    var outputFrame: Int64
    var stream: Stream
    var streamFrame: Int64
    var frameCount: Int64
    /// Whether a scheduled switch started this run, and the frame of the previous stream at which it did.
    var wasScheduled: Bool
    var scheduledAtFrame: Int64
    var switchFade: SwitchFade

    var outputEnd: Int64 { outputFrame &+ frameCount }
  }

  /// Whether the input is audible, or the reason for its silence.
  enum Phase: BitwiseCopyable { case silent, audible, underrun, ended }

  static let runCapacity = 64

  var isAttached = false
  var isRunning = false
  /// While running: the output frame before which the input is silent and keeps its stream frame.
  var startFrame = Int64.min
  var phase = Phase.silent
  /// The output frame at which the input underran or ended. Valid while `phase` is `underrun` or `ended`.
  var phaseFrame: Int64 = 0
  var stream: Stream?
  /// The next frame of `stream` to render.
  var streamFrame: Int64 = 0
  /// The stream to switch to when `streamFrame` reaches `scheduledAtFrame`.
  var scheduled: Stream?
  var scheduledAtFrame: Int64 = 0
  var scheduledStreamFrame: Int64 = 0
  var scheduledSwitchFade = SwitchFade.none

  // The gains of the samples.
  var inputGain = GainRamp()
  /// Whether the input is silent from the end of the ramp of `inputGain` on, and keeps its stream frame.
  var stopsAfterRamp = false
  var muteGain = GainRamp()
  var left = GainRamp()
  var right = GainRamp()

  /// The streams that are fading out, oldest first; see `RenderInput+Fade.swift`.
  let fades: UnsafeMutablePointer<Fade>
  var fadeCount = 0

  /// The meter of the input, while metering is enabled.
  var meter: UnsafeMutablePointer<InputMeter.Storage>?

  private let runs: UnsafeMutablePointer<Run>
  private(set) var runCount = 0
  private var firstRun = 0

  init() {
    runs = .allocate(capacity: Self.runCapacity)
    fades = .allocate(capacity: Self.fadeCapacity)
  }

  deinit {
    runs.deallocate()
    fades.deallocate()
  }

  /// Whether the device must run for this input: it plays, or waits for frames of its stream.
  var needsDevice: Bool {
    @_noAllocation get { isAttached && isRunning && stream != nil && !isIn(.ended) }
  }

  /// Returns how many of the `frameCount` frames from output frame `frame` on come before `startFrame`.
  @_noAllocation
  func waitingFrameCount(from frame: Int64, atMost frameCount: Int) -> Int {
    guard isRunning, startFrame > frame else { return 0 }
    let (count, overflow) = startFrame.subtractingReportingOverflow(frame)
    return overflow ? frameCount : Int(min(count, Int64(frameCount)))
  }

  /// Returns how many of the `frameCount` frames from output frame `frame` on come before the end of a ramp that stops
  /// the input.
  @_noAllocation
  func frameCountBeforeStop(from frame: Int64, atMost frameCount: Int) -> Int {
    guard stopsAfterRamp else { return frameCount }
    return Int(max(0, min(inputGain.endFrame &- frame, Int64(frameCount))))
  }

  @_noAllocation
  func isIn(_ phase: Phase) -> Bool {
    switch (self.phase, phase) {
    case (.silent, .silent), (.audible, .audible), (.underrun, .underrun), (.ended, .ended): true
    default: false
    }
  }

  // MARK: - Runs

  @_noAllocation
  func run(_ index: Int) -> UnsafeMutablePointer<Run> { runs + ((firstRun &+ index) & (Self.runCapacity &- 1)) }

  /// The output frame after the last one that this input rendered, as far as the runs are kept.
  var lastRunEnd: Int64 {
    @_noAllocation get { runCount == 0 ? .min : run(runCount &- 1).pointee.outputEnd }
  }

  /// Begins a run at `outputFrame`. If the oldest run had to be dropped to make room, returns the first frame to which
  /// a rewind is still possible; otherwise nil.
  @_noAllocation
  mutating func appendRun(
    at outputFrame: Int64, stream: Stream, scheduledAtFrame: Int64?, switchFade: SwitchFade,
    events: borrowing RenderEventQueue, index: Int32
  ) -> Int64? {
    var rewindLimit: Int64?
    if runCount == Self.runCapacity {
      rewindLimit = run(0).pointee.outputEnd
      dropOldestRun(events: events, index: index)
    }
    run(runCount).initialize(
      to: Run(
        outputFrame: outputFrame, stream: stream, streamFrame: streamFrame, frameCount: 0,
        wasScheduled: scheduledAtFrame != nil, scheduledAtFrame: scheduledAtFrame ?? 0,
        switchFade: switchFade))
    runCount &+= 1
    retain(stream)
    return rewindLimit
  }

  /// Adds `frameCount` frames to the newest run.
  @_noAllocation
  mutating func extendRun(by frameCount: Int) {
    run(runCount &- 1).pointee.frameCount &+= Int64(frameCount)
    streamFrame &+= Int64(frameCount)
  }

  /// Discards the audio rendered from `frame` on and restores the state at that frame.
  @_noAllocation
  mutating func rewind(toFrame frame: Int64, events: borrowing RenderEventQueue, index: Int32) {
    dropFades(startingAfter: frame, events: events, index: index)
    meter?.pointee.rewind(toFrame: frame)
    while runCount > 0 {
      let last = run(runCount &- 1)
      if last.pointee.outputFrame < frame {
        if last.pointee.outputEnd > frame {
          last.pointee.frameCount = frame &- last.pointee.outputFrame
          streamFrame = last.pointee.streamFrame &+ last.pointee.frameCount
          phase = .audible
        } else if last.pointee.outputEnd == frame {
          // The run ended at `frame` itself. Its end is evaluated again: samples may have been written meanwhile.
          phase = .silent
        } else {
          clearSilence(from: frame)
        }
        return
      }
      if last.pointee.wasScheduled, last.pointee.outputFrame == frame {
        // A switch at `frame` itself stays: the audio is the same, and the previous run may have been dropped.
        // The empty run represents the switch for a rewind that goes further back.
        last.pointee.frameCount = 0
        streamFrame = last.pointee.streamFrame
        phase = .silent
        return
      }
      if last.pointee.wasScheduled, runCount > 1 {
        // The switch is scheduled again, in the stream of the previous run.
        schedule(
          last.pointee.stream, streamFrame: last.pointee.streamFrame, at: last.pointee.scheduledAtFrame,
          switchFade: last.pointee.switchFade, events: events, index: index)
        replaceStream(with: run(runCount &- 2).pointee.stream, events: events, index: index)
        streamFrame = last.pointee.scheduledAtFrame
      } else {
        streamFrame = last.pointee.streamFrame
      }
      phase = .silent
      let dropped = last.pointee.stream
      runCount &-= 1
      release(dropped, events: events, index: index)
    }
    clearSilence(from: frame)
  }

  /// Clears an underrun or an end at or after `frame`, which is then evaluated again.
  @_noAllocation
  private mutating func clearSilence(from frame: Int64) {
    guard phaseFrame >= frame, isIn(.underrun) || isIn(.ended) else { return }
    phase = .silent
  }

  /// Drops the runs and fades before `frame`, which have been heard.
  @_noAllocation
  mutating func discardHeardFrames(before frame: Int64, events: borrowing RenderEventQueue, index: Int32) {
    dropFades(endingBefore: frame, events: events, index: index)
    while runCount > 0 {
      let oldest = run(0)
      let stream = oldest.pointee.stream
      let heard = max(0, min(frame &- oldest.pointee.outputFrame, oldest.pointee.frameCount))
      let first = min(oldest.pointee.streamFrame &+ heard, firstFadingFrame(of: stream, heardFrame: frame))
      stream.pointee.ring.release(before: first)
      stream.pointee.gains.release(before: first)
      // Pairs with the fence in `RenderStream.requestSpaceWakeup`: either this thread sees the request, or the writer
      // sees the space.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      if stream.pointee.isSpaceRequested.load(ordering: .relaxed) {
        postSpaceIfRequested(in: stream, events: events, index: index)
      }
      let isOpen = runCount == 1 && isIn(.audible)
      if isOpen || oldest.pointee.outputEnd > frame { return }
      dropOldestRun(events: events, index: index)
    }
  }

  @_noAllocation
  private mutating func dropOldestRun(events: borrowing RenderEventQueue, index: Int32) {
    let stream = run(0).pointee.stream
    firstRun = (firstRun &+ 1) & (Self.runCapacity &- 1)
    runCount &-= 1
    release(stream, events: events, index: index)
  }

  /// Requests a wakeup of the decode thread of `stream`, if that thread has requested space and half of the ring is
  /// free.
  @_noAllocation
  private func postSpaceIfRequested(in stream: Stream, events: borrowing RenderEventQueue, index: Int32) {
    guard stream.pointee.ring.writableFrameCount &* 2 >= stream.pointee.ring.capacityFrames else { return }
    guard stream.pointee.isSpaceRequested.exchange(false, ordering: .sequentiallyConsistent) else { return }
    events.post(RenderEvent(kind: .spaceAvailable, inputIndex: index, streamID: stream.pointee.id))
  }

  // MARK: - Streams

  /// Reads `newStream` from now on, and releases the reference to the old stream.
  @_noAllocation
  mutating func replaceStream(with newStream: Stream?, events: borrowing RenderEventQueue, index: Int32) {
    if let newStream { retain(newStream) }
    let old = stream
    stream = newStream
    if let old { release(old, events: events, index: index) }
  }

  /// Schedules a switch to `newStream` at `frame` of the current stream; nil cancels the switch.
  @_noAllocation
  mutating func schedule(
    _ newStream: Stream?, streamFrame: Int64, at frame: Int64, switchFade: SwitchFade = .none,
    events: borrowing RenderEventQueue, index: Int32
  ) {
    if let newStream { retain(newStream) }
    let old = scheduled
    scheduled = newStream
    scheduledStreamFrame = streamFrame
    scheduledAtFrame = frame
    scheduledSwitchFade = switchFade
    if let old { release(old, events: events, index: index) }
  }

  /// Moves the gain of an item in a stream, if the input still reads that stream.
  @_noAllocation
  func moveItemGain(streamID: UInt64, itemID: UInt64, to gain: Float, atFrame frame: Int64, frameCount: Int64) {
    referencedStream(streamID)?.pointee.gains.move(itemID: itemID, to: gain, atFrame: frame, frameCount: frameCount)
  }

  /// Returns the stream with the given ID if the input still reads it.
  @_noAllocation
  private func referencedStream(_ streamID: UInt64) -> Stream? {
    if let stream, stream.pointee.id == streamID { return stream }
    if let scheduled, scheduled.pointee.id == streamID { return scheduled }
    for index in 0..<fadeCount where fades[index].stream.pointee.id == streamID { return fades[index].stream }
    return nil
  }

  @_noAllocation
  func retain(_ stream: Stream) { stream.pointee.renderReferenceCount &+= 1 }

  /// Releases one reference. After the last one, an event reports to the engine that the sink's side no longer uses the
  /// stream.
  @_noAllocation
  func release(_ stream: Stream, events: borrowing RenderEventQueue, index: Int32) {
    stream.pointee.renderReferenceCount &-= 1
    guard stream.pointee.renderReferenceCount == 0 else { return }
    events.post(RenderEvent(kind: .streamRetired, inputIndex: index, streamID: stream.pointee.id))
  }
}
