import Glibc
import MediaCore
import Synchronization

/// The mixer of one output: turns the streams of any number of inputs into interleaved float32, frame by frame.
///
/// How a file becomes sound: a decode thread fills a `RenderStream`; the engine posts commands that say which input
/// reads which stream; the sink's callback calls `render`, which mixes what is there and counts frames; what happened
/// (a run began, starved, ended) goes back to the engine as plain events. The engine derives every position from those
/// and from `clock`.
///
/// Rendering again: the device holds about 100 ms of rendered sound. `rewind` goes back to an output frame that has not
/// been heard yet; the commands that wait are applied there, and everything else is rendered as before, to the sample,
/// because rings keep their frames until they are heard. A command that was applied is never undone: a rewind stops at
/// the last one.
///
/// Threading: two sides. The *engine's* side (one thread at a time): `attachInput`, `detachInput`, `set…`,
/// `scheduleStream`, `postCommands`, `nextEvent`. The *sink's* side (one thread at a time, or under the sink's lock):
/// everything under "Sink's side". Nothing on the sink's side allocates, locks, retains, throws or logs; the compiler
/// checks it (`@_noAllocation`), and so does a test with an allocation probe.
public final class RenderCore: @unchecked Sendable {
  // `@unchecked Sendable`: `state` belongs to the sink's side, `freeInputs` to the engine's; queues join the two.
  public static let maximumInputCount = 64

  public let format: AudioFormat
  public let clock: OutputClock
  private let commands = DescriptorQueue<RenderCommand>(capacity: 1_024)
  private let events = RenderEventQueue()
  /// Set by the sink's side when events wait, taken by the engine when it reads them.
  private let wakePending = Atomic<Bool>(false)
  private let state: UnsafeMutablePointer<RenderState>
  private let clips: UnsafeMutablePointer<Atomic<Int>>
  /// The meters of inputs that were ever measured. Engine's side.
  private var meters: [Int: InputMeter] = [:]
  private var usedInputs: [Bool]
  /// Commands that found no room because the sink's side took none for so long. The engine then no longer knows what
  /// will sound, and starts anew. Engine's side.
  public private(set) var lostCommandCount = 0

  /// Makes a mixer for `format`, whose channel count is that of every stream that it will be given.
  public init(format: AudioFormat) {
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

  /// Takes a place at the mixer; nil when all 64 are taken. The input is stopped, at gain 1, without a stream.
  public func attachInput() -> Int? {
    guard let index = usedInputs.firstIndex(of: false), commands.stage(RenderCommand(kind: .attach, inputIndex: index))
    else { return nil }
    usedInputs[index] = true
    return index
  }

  /// Gives a place back. Its streams are retired once they have been heard.
  public func detachInput(_ index: Int) {
    usedInputs[index] = false
    stage(RenderCommand(kind: .detach, inputIndex: index))
  }

  /// Lets the input sound its stream, or holds it where it is.
  ///
  /// With `beginFrame` it is silent before that output frame, holds its stream where it is until then, and begins there
  /// exactly: inputs that are given the same one start on the same sample. The device runs meanwhile. `Int64.max` is a frame
  /// that is not known yet, to be said by another call. One that has been rendered for good already is as good as none: the
  /// input begins at once, and all begin together whose commands are posted together.
  public func setRunning(_ isRunning: Bool, fromFrame beginFrame: Int64 = .min, input: Int) {
    stage(RenderCommand(kind: .setRunning, inputIndex: input, flag: isRunning, beginFrame: beginFrame))
  }

  /// Replaces what the input reads, at once. The engine keeps `stream` alive until `streamRetired`.
  ///
  /// With `fadeFrameCount`, a running input is not cut off: over so many frames what it read is faded out, in a straight
  /// line, as far as it has been written, while `stream` is faded in. The take-over counts at the fade's beginning.
  ///
  /// With `anchorFrame`, frame 0 of `stream` belongs to that output frame: reading begins as many frames later as the output
  /// is beyond `anchorFrame`, as far as the stream has been written. Inputs with one anchor stay in step, though their
  /// commands are applied at different frames.
  public func setStream(
    _ stream: RenderStream?, fromFrame: Int64, anchorFrame: Int64 = .min, fadeFrameCount: Int64 = 0, input: Int
  ) {
    stage(
      RenderCommand(
        kind: .setStream, inputIndex: input, stream: stream?.storage, streamFrame: fromFrame,
        anchorFrame: anchorFrame, fadeFrameCount: max(0, fadeFrameCount)))
  }

  /// Lets `stream` take over, without a gap, when the input reaches frame `atFrame` of the one that it reads now; nil
  /// takes that back. `fadeFrameCount` as in `setStream`, from that frame on.
  public func scheduleStream(
    _ stream: RenderStream?, fromFrame: Int64, atFrame: Int64, fadeFrameCount: Int64 = 0, input: Int
  ) {
    stage(
      RenderCommand(
        kind: .scheduleStream, inputIndex: input, stream: stream?.storage, streamFrame: fromFrame,
        atStreamFrame: atFrame, fadeFrameCount: max(0, fadeFrameCount)))
  }

  /// Moves the input's gain (1 = as it is) to `gain` over `rampFrameCount` frames, from what it is then.
  public func setGain(_ gain: Float, rampFrameCount: Int64, curve: RampCurve = .linear, input: Int) {
    stage(
      RenderCommand(
        kind: .setVolume, inputIndex: input, gain: gain, rampFrameCount: max(0, rampFrameCount), curve: curve))
  }

  /// Silences the input, or lets it be heard, over `rampFrameCount` frames; its gain goes its own way.
  public func setMuted(_ isMuted: Bool, rampFrameCount: Int64, input: Int) {
    stage(
      RenderCommand(
        kind: .setMute, inputIndex: input, gain: isMuted ? 0 : 1, rampFrameCount: max(0, rampFrameCount)))
  }

  /// Moves the input to `pan`, from -1 (left) to 1 (right), over `rampFrameCount` frames: the near side keeps gain 1, the
  /// far side gets cos(|pan| * pi/2). Sides are the left and right channels of FFmpeg's native order; a single channel has
  /// none.
  public func setPan(_ pan: Float, rampFrameCount: Int64, input: Int) {
    precondition(pan >= -1 && pan <= 1, "pan out of range")
    let far = abs(pan) == 1 ? 0 : Float(cos(abs(Double(pan)) * .pi / 2))
    stage(
      RenderCommand(
        kind: .setPan, inputIndex: input, gain: pan > 0 ? far : 1, rightGain: pan < 0 ? far : 1,
        rampFrameCount: max(0, rampFrameCount)))
  }

  /// Moves the gain of item `itemID` in a stream that the input reads, or is to read, to `gain` over `rampFrameCount` frames.
  /// It is multiplied with the input's own. Of a stream that the input does not read any more nothing changes.
  public func setLevel(
    _ gain: Float, itemID: UInt64, of stream: RenderStream, rampFrameCount: Int64, input: Int
  ) {
    stage(
      RenderCommand(
        kind: .setLevel, inputIndex: input, streamID: stream.id, itemID: itemID, gain: gain,
        rampFrameCount: max(0, rampFrameCount)))
  }

  /// Measures what the input adds to the output from the next command's frame on, or no more. A place that is given back is
  /// not measured.
  public func setMetering(_ isEnabled: Bool, input: Int) {
    if isEnabled, meters[input] == nil {
      meters[input] = InputMeter(channelCount: format.channelCount, sampleRateHz: format.sampleRateHz)
    }
    stage(
      RenderCommand(kind: .setMeter, inputIndex: input, meter: isEnabled ? meters[input]?.storage : nil))
  }

  /// Frames of a meter's window: 10 ms. Window `n` begins at output frame `n * meterWindowFrameCount`.
  public var meterWindowFrameCount: Int { max(1, format.sampleRateHz / InputMeter.windowsPerSecond) }

  /// What was rendered of the input in window `number`; nil when it has not been, or more than five seconds ago. It holds
  /// once the window has been heard; before, it may be rendered again.
  public func meterWindow(_ number: Int64, input: Int) -> MeterWindow? { meters[input]?.window(number) }

  /// Samples beyond ±1 that were heard: a device without headroom cut them off. Any thread.
  public var clippedSampleCount: Int { clips.pointee.load(ordering: .relaxed) }

  private func stage(_ command: RenderCommand) {
    // The sink's side takes all of them each time; a sink that hangs (a FIFO that nobody reads) takes none.
    if !commands.stage(command) { lostCommandCount += 1 }
  }

  /// Publishes the commands since the last call, all to be applied at the same output frame. Then tell the sink.
  public func postCommands() { commands.publish() }

  /// The next thing that happened, in order; nil when all has been read.
  public func nextEvent() -> RenderEvent? {
    // An exchange, not a store: whichever of the two sides comes second sees what the first did before.
    _ = wakePending.exchange(false, ordering: .sequentiallyConsistent)
    return events.queue.pop()
  }

  /// How many events were lost because nobody read them. The engine then no longer knows what sounds, and starts anew.
  public var lostEventCount: Int { events.lostCount.load(ordering: .relaxed) }

  // MARK: - Sink's side

  /// Output frames rendered so far: where the next `render` begins.
  public var renderedFrame: Int64 {
    @_noAllocation get { state.pointee.renderedFrame }
  }

  /// Whether some input sounds or waits for samples, so that the device has to run. True or false as of the last
  /// `applyCommands`, `render` or `rewind`.
  public var isActive: Bool {
    @_noAllocation get { state.pointee.isActive }
  }

  /// The output frame after the last one that carried sound; once it has been heard an inactive device may stop.
  public var lastAudibleFrame: Int64 {
    @_noAllocation get { state.pointee.lastAudibleFrame }
  }

  /// What the commands that wait would do to the output from `frame` on, were they applied there. Applies nothing.
  @_noAllocation
  public func pendingEffect(fromFrame frame: Int64) -> PendingEffect {
    state.pointee.effect(of: commands, fromFrame: frame)
  }

  /// Applies the commands that wait, at `renderedFrame`, and renders nothing.
  @_noAllocation
  public func applyCommands() {
    state.pointee.applyCommands(commands, events: events)
    events.publish()
  }

  /// Renders the next `frameCount` frames, interleaved, into `output` (its former content does not matter).
  @_noAllocation
  public func render(into output: UnsafeMutablePointer<Float>, frameCount: Int) {
    state.pointee.applyCommands(commands, events: events)
    state.pointee.render(into: output, frameCount: frameCount, events: events)
    events.publish()
  }

  /// Goes back, so that the next `render` begins at `frame` again; answers the frame really reached: not before the
  /// last applied command or what was released, not after `renderedFrame`.
  @_noAllocation
  public func rewind(toFrame frame: Int64) -> Int64 {
    defer { events.publish() }
    return state.pointee.rewind(toFrame: frame, events: events)
  }

  /// Frames before `heardFrame` have been heard and will not be rendered again.
  @_noAllocation
  public func release(heardFrame: Int64) {
    state.pointee.release(heardFrame: heardFrame, events: events)
    events.publish()
  }

  /// True once when events wait and the engine has not been told yet.
  @_noAllocation
  public func takeWakeRequest() -> Bool {
    if events.queue.positions.isDrained() { return false }
    return wakePending.exchange(true, ordering: .sequentiallyConsistent) == false
  }

  /// How many of the next `frameCount` frames every running input can deliver: the smallest count, `frameCount` when
  /// none lacks samples. For sinks that wait for decoders instead of starving.
  @_noAllocation
  public func readyFrameCount(atMost frameCount: Int) -> Int {
    applyCommands()
    return state.pointee.readyFrameCount(atMost: frameCount)
  }
}
