import Glibc
import PlayheadMediaCore
import Synchronization

/// The mixer of one output: turns the streams of any number of inputs into interleaved float32 frames.
///
/// The path of audio: a decode thread fills a `RenderStream`, and the engine posts commands that assign a stream to
/// each input. The sink's callback calls `render`, which mixes the available frames and counts them. Events (a run
/// began, underran or ended) go back to the engine, which derives every position from the events and from `clock`.
///
/// Rendering again: the device buffers about 100 ms of rendered audio. `rewind` goes back to an output frame that has
/// not been heard yet. Pending commands are applied there. Everything else is rendered as before, to the sample,
/// because rings keep their frames until they are heard. An applied command is never undone: a rewind stops at the last
/// applied command.
///
/// Threading: two sides.
/// - The *engine's* side (one thread at a time): `attachInput`, `detachInput`, `set…`, `scheduleStream`,
///   `postCommands`, `nextEvent`, `meterWindow`.
/// - The *sink's* side (one thread at a time, or under the sink's lock): everything under "Sink's side".
///
/// Nothing on the sink's side allocates, locks, retains, throws or logs. The compiler checks that (`@_noAllocation`),
/// and a test with an allocation probe does too.
public final class RenderCore: @unchecked Sendable {
  // `@unchecked Sendable`: `state` belongs to the sink's side; `usedInputs`, `meters` and `lostCommandCount` to the
  // engine's. Queues connect the two sides.
  /// The maximum number of players that are mixed at once.
  package static let maximumInputCount = 64

  /// The format of the output.
  public let format: AudioFormat
  /// The clock of the output, which the sink publishes.
  public let clock: OutputClock
  private let commands = DescriptorQueue<RenderCommand>(capacity: 1_024)
  private let events = RenderEventQueue()
  /// Set by the sink's side when events are pending, cleared by the engine when it reads them.
  private let wakePending = Atomic<Bool>(false)
  private let state: UnsafeMutablePointer<RenderState>
  private let clips: UnsafeMutablePointer<Atomic<Int>>
  /// The meters of all inputs that have ever been measured. Engine's side.
  private var meters: [Int: InputMeter] = [:]
  private var usedInputs: [Bool]
  /// The number of commands that did not fit in the queue, because the sink's side read none for too long. After such a
  /// loss the engine does not know the state of the output, and restarts it. Engine's side.
  package private(set) var lostCommandCount = 0

  /// Creates a mixer for `format`. Every stream must have the channel count of `format`.
  package init(format: AudioFormat) {
    precondition(AudioFormat.supportedChannelCounts.contains(format.channelCount), "channelCount out of range")
    precondition(AudioFormat.supportedSampleRatesHz.contains(format.sampleRateHz), "sampleRateHz out of range")
    self.format = format
    clock = OutputClock(sampleRateHz: format.sampleRateHz)
    state = .allocate(capacity: 1)
    clips = .allocate(capacity: 1)
    clips.initialize(to: Atomic(0))
    state.initialize(
      to: RenderState(channelCount: format.channelCount, clock: clock.storage, clippedSampleCount: clips))
    usedInputs = Array(repeating: false, count: Self.maximumInputCount)
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
    clips.deinitialize(count: 1)
    clips.deallocate()
  }

  // MARK: - Engine's side

  /// Allocates an input; nil when all 64 are in use. The input is stopped, at gain 1, without a stream.
  package func attachInput() -> Int? {
    guard let index = usedInputs.firstIndex(of: false), commands.stage(RenderCommand(kind: .attach, inputIndex: index))
    else { return nil }
    usedInputs[index] = true
    return index
  }

  /// Frees an input. Its streams are retired once they have been heard.
  package func detachInput(_ index: Int) {
    usedInputs[index] = false
    stage(RenderCommand(kind: .detach, inputIndex: index))
  }

  /// Starts the input, or stops it at its current stream frame.
  ///
  /// With `startFrame`, the input is silent before that output frame and keeps its stream frame, and begins there
  /// exactly. Inputs with the same `startFrame` start on the same sample. The device runs meanwhile.
  ///
  /// - `Int64.max` is a frame that is not known yet; another call sets it.
  /// - If the frame can no longer be rendered again, the input begins at once. Inputs whose commands are posted
  ///   together begin together.
  package func setRunning(_ isRunning: Bool, fromFrame startFrame: Int64 = .min, input: Int) {
    stage(RenderCommand(kind: .setRunning, inputIndex: input, flag: isRunning, startFrame: startFrame))
  }

  /// Replaces the input's stream at once. The engine must keep `stream` alive until `streamRetired`.
  ///
  /// With `switchFade`, both streams of a running input are heard: the previous stream fades out, as far as it has been
  /// written, while `stream` fades in. Events report the switch at the beginning of the fade.
  ///
  /// With `anchorFrame`, frame 0 of `stream` belongs to that output frame. Reading begins at stream frame
  /// `renderedFrame - anchorFrame`, but not before `fromFrame` and not after the last written frame. Inputs with the
  /// same anchor stay synchronous, even if their commands are applied at different frames.
  package func setStream(
    _ stream: RenderStream?, fromFrame: Int64, anchorFrame: Int64 = .min, switchFade: SwitchFade = .none,
    input: Int
  ) {
    stage(
      RenderCommand(
        kind: .setStream, inputIndex: input, stream: stream?.storage, streamFrame: fromFrame,
        anchorFrame: anchorFrame, switchFade: switchFade))
  }

  /// Switches to `stream`, without a gap, when the input reaches frame `atFrame` of its current stream. A nil `stream`
  /// cancels the switch. `switchFade` works as in `setStream`, from that frame on.
  package func scheduleStream(
    _ stream: RenderStream?, fromFrame: Int64, atFrame: Int64, switchFade: SwitchFade = .none, input: Int
  ) {
    stage(
      RenderCommand(
        kind: .scheduleStream, inputIndex: input, stream: stream?.storage, streamFrame: fromFrame,
        atStreamFrame: atFrame, switchFade: switchFade))
  }

  /// Moves the input's gain (1 = unchanged) to `gain` over `rampFrameCount` frames, from its value at that time.
  ///
  /// With a `rampID` other than 0, the event `rampBegan` reports the output frame at which the ramp begins.
  ///
  /// With `stopsAtEnd`, the input is silent from the end of the ramp on, and keeps its stream frame. It becomes audible
  /// again when its gain is set, or when it has been stopped and started by `setRunning`.
  package func setGain(
    _ gain: Float, rampFrameCount: Int64, curve: RampCurve = .linear, rampID: UInt64 = 0, stopsAtEnd: Bool = false,
    input: Int
  ) {
    stage(
      RenderCommand(
        kind: .setGain, inputIndex: input, flag: stopsAtEnd, gain: gain, rampFrameCount: max(0, rampFrameCount),
        curve: curve, rampID: rampID))
  }

  /// Mutes or unmutes the input over `rampFrameCount` frames, independently of its gain.
  package func setMuted(_ isMuted: Bool, rampFrameCount: Int64, input: Int) {
    stage(
      RenderCommand(
        kind: .setMuted, inputIndex: input, gain: isMuted ? 0 : 1, rampFrameCount: max(0, rampFrameCount)))
  }

  /// Moves the input to `pan`, from -1 (left) to 1 (right), over `rampFrameCount` frames. The near side keeps gain 1,
  /// the far side gets cos(|pan| * pi/2). The sides are the left and right channels of FFmpeg's native order; a single
  /// channel has none.
  package func setPan(_ pan: Float, rampFrameCount: Int64, input: Int) {
    precondition(pan >= -1 && pan <= 1, "pan out of range")
    let far = abs(pan) == 1 ? 0 : Float(cos(abs(Double(pan)) * .pi / 2))
    stage(
      RenderCommand(
        kind: .setPan, inputIndex: input, gain: pan > 0 ? far : 1, rightGain: pan < 0 ? far : 1,
        rampFrameCount: max(0, rampFrameCount)))
  }

  /// Moves the gain of item `itemID` in a current or scheduled stream of the input to `gain` over `rampFrameCount`
  /// frames. The item's gain is multiplied by the input's gain. Nothing changes if the input no longer reads the
  /// stream.
  package func setItemGain(
    _ gain: Float, itemID: UInt64, of stream: RenderStream, rampFrameCount: Int64, input: Int
  ) {
    stage(
      RenderCommand(
        kind: .setItemGain, inputIndex: input, streamID: stream.id, itemID: itemID, gain: gain,
        rampFrameCount: max(0, rampFrameCount)))
  }

  /// Starts or stops measuring the audio that the input adds to the output, from the frame at which the command is
  /// applied. Freeing an input stops its measurement.
  package func setMetering(_ isEnabled: Bool, input: Int) {
    if isEnabled, meters[input] == nil {
      meters[input] = InputMeter(channelCount: format.channelCount, sampleRateHz: format.sampleRateHz)
    }
    stage(
      RenderCommand(kind: .setMetering, inputIndex: input, meter: isEnabled ? meters[input]?.storage : nil))
  }

  /// The length of a meter window, in frames: 10 ms. Window `n` begins at output frame `n * meterWindowFrameCount`.
  package var meterWindowFrameCount: Int { max(1, format.sampleRateHz / InputMeter.windowsPerSecond) }

  /// Returns the levels of the input in window `number`; nil when the window has not been rendered, or was rendered
  /// more than five seconds ago. The levels are final once the window has been heard; before that the window may be
  /// rendered again.
  package func meterWindow(_ number: Int64, input: Int) -> MeterWindow? { meters[input]?.window(number) }

  /// The number of heard samples beyond ±1, which a device without headroom clipped. Any thread.
  package var clippedSampleCount: Int { clips.pointee.load(ordering: .relaxed) }

  private func stage(_ command: RenderCommand) {
    // The sink's side reads all commands each time; a sink that hangs (a FIFO without a reader) reads none.
    if !commands.stage(command) { lostCommandCount += 1 }
  }

  /// Publishes the commands since the last call, all to be applied at the same output frame. The caller must then call
  /// `AudioSink.commandsPosted`.
  package func postCommands() { commands.publish() }

  /// Returns the next event, in order; nil when all have been read.
  package func nextEvent() -> RenderEvent? {
    // An exchange instead of a store: the side whose exchange is second sees the earlier writes of the other side.
    _ = wakePending.exchange(false, ordering: .sequentiallyConsistent)
    return events.queue.pop()
  }

  /// Whether there are events that `nextEvent` has not returned. If not, the engine knows every event of the frames
  /// that it has read from `clock` before.
  package var hasPendingEvents: Bool { events.queue.positions.slotToRead() >= 0 }

  /// The number of events that did not fit in the queue. After such a loss the engine does not know the state of the
  /// output, and restarts it.
  package var lostEventCount: Int { events.lostCount.load(ordering: .relaxed) }

  // MARK: - Sink's side

  /// The number of output frames rendered so far: the frame at which the next `render` begins.
  public var renderedFrame: Int64 {
    @_noAllocation get { state.pointee.renderedFrame }
  }

  /// Whether some input plays or waits for samples, so that the device must run. The value is as of the last
  /// `applyCommands`, `render` or `rewind`.
  public var isActive: Bool {
    @_noAllocation get { state.pointee.isActive }
  }

  /// The output frame after the last audible one. Once it has been heard, an inactive device may stop.
  public var lastAudibleFrame: Int64 {
    @_noAllocation get { state.pointee.lastAudibleFrame }
  }

  /// Returns the effect that the pending commands would have on the output from `frame` on. Applies nothing.
  @_noAllocation
  public func pendingEffect(fromFrame frame: Int64) -> PendingEffect {
    state.pointee.effect(of: commands, fromFrame: frame)
  }

  /// Applies the pending commands at `renderedFrame`, and renders nothing.
  @_noAllocation
  public func applyCommands() {
    state.pointee.applyCommands(commands, events: events)
    events.publish()
  }

  /// Renders the next `frameCount` frames, interleaved, into `output`, whose previous content is overwritten.
  @_noAllocation
  public func render(into output: UnsafeMutablePointer<Float>, frameCount: Int) {
    state.pointee.applyCommands(commands, events: events)
    state.pointee.render(into: output, frameCount: frameCount, events: events)
  }

  /// Rewinds, so that the next `render` begins at `frame` again.
  ///
  /// - Returns: The frame that was reached: not before the last applied command or the released frames, and not after
  ///   `renderedFrame`.
  @_noAllocation
  public func rewind(toFrame frame: Int64) -> Int64 {
    defer { events.publish() }
    return state.pointee.rewind(toFrame: frame, events: events)
  }

  /// Releases the frames before `heardFrame`, which have been heard and will not be rendered again.
  @_noAllocation
  public func release(heardFrame: Int64) {
    state.pointee.release(heardFrame: heardFrame, events: events)
    events.publish()
  }

  /// Returns true once when events are pending and the engine has not been notified yet.
  @_noAllocation
  public func consumeWakeRequest() -> Bool {
    if events.queue.positions.isDrained() { return false }
    return wakePending.exchange(true, ordering: .sequentiallyConsistent) == false
  }

  /// Returns how many of the next `frameCount` frames all running inputs can deliver: `frameCount` when no input lacks
  /// samples. For sinks that wait for decoders instead of underrunning.
  @_noAllocation
  public func readyFrameCount(atMost frameCount: Int) -> Int {
    applyCommands()
    return state.pointee.readyFrameCount(atMost: frameCount)
  }
}
