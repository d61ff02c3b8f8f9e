import PlayheadMediaCore
import PlayheadPulseIO
import PlayheadRealtimeAudio
import RigSupport

/// A sink on a private server, with a mixer whose inputs the test controls.
final class OutputRig {
  /// Counts the sink's callbacks, and can block the sink's thread.
  struct Signals {
    var wakeCount = 0
    var failures: [MediaError] = []
    /// Whether the next wakeup blocks the sink's thread until this is false again.
    var blocksSink = false
    var isSinkBlocked = false
  }

  let server: PulseServer
  let sink: PulseSink
  let core: RenderCore
  let signals = ConditionMutex(Signals())
  private var streams: [RenderStream] = []

  init(
    server: PulseServer, configuration change: (inout PulseSink.Configuration) -> Void = { _ in },
    prepare: (PulseSink) -> Void = { _ in }
  ) throws {
    self.server = server
    var configuration = PulseSink.Configuration(server: server.address)
    // Twice the default, so that fewer delays of a busy machine are heard.
    configuration.latencyMilliseconds = 200
    change(&configuration)
    sink = PulseSink(configuration)
    prepare(sink)
    core = RenderCore(format: try sink.open())
    sink.start(
      core: core,
      wakeControl: { [signals] in
        signals.update { $0.wakeCount += 1 }
        if signals.withState({ $0.blocksSink }) {
          signals.update { $0.isSinkBlocked = true }
          _ = signals.wait { $0.blocksSink ? nil : true }
          signals.update { $0.isSinkBlocked = false }
        }
      },
      onFailure: { [signals] error in signals.update { $0.failures.append(error) } })
  }

  deinit { sink.close() }

  /// Posts the commands that `body` stages, all for one output frame.
  func post(_ body: (RenderCore) -> Void) {
    body(core)
    core.postCommands()
    sink.commandsPosted()
    drainEvents()
  }

  /// Reads the events so that the next one wakes again.
  func drainEvents() { while core.nextEvent() != nil {} }

  /// A stream with `frameCount` frames of `content`.
  func makeStream(frameCount: Int, content: (Int) -> StereoFrame) -> RenderStream {
    let stream = RenderStream(capacityFrames: frameCount, channelCount: 2)
    var samples: [Float] = []
    samples.reserveCapacity(frameCount * 2)
    for index in 0..<frameCount {
      let frame = content(index)
      samples.append(Float(frame.left) / 32_768)
      samples.append(Float(frame.right) / 32_768)
    }
    _ = stream.write(samples, frameCount: frameCount)
    stream.end()
    streams.append(stream)
    return stream
  }

  /// A stream of time code.
  func makeCodedStream(file: Int, frameCount: Int, firstIndex: Int = 0) -> RenderStream {
    makeStream(frameCount: frameCount) { TimeCode.frame(file: file, index: firstIndex + $0) }
  }

  /// Waits for a condition on the clock, which is checked at each wakeup of the engine.
  func waitForClock(_ condition: @escaping (OutputClock.Snapshot) -> Bool) throws {
    let deadline = HostTime.now.advanced(byNanoseconds: 30_000_000_000)
    let met = signals.wait(until: deadline) { [core] _ in
      while core.nextEvent() != nil {}
      return condition(core.clock.snapshot()) ? true : nil
    }
    if met == nil { throw RigError.timedOut("the clock: \(core.clock.snapshot())") }
  }

  /// Attaches an input that runs `stream` from its frame 0.
  func play(_ stream: RenderStream) throws -> Int {
    guard let input = core.attachInput() else { throw RigError.programFailed("the mixer is full") }
    post {
      $0.setStream(stream, fromFrame: 0, input: input)
      $0.setRunning(true, input: input)
    }
    return input
  }
}

/// A channel that counts from 1 to 32,749 repeatedly. It is never silent, and every discontinuity is detectable.
enum Sawtooth {
  static let period = 32_749

  /// The value at `index` of a sequence that begins at `start`.
  static func value(_ index: Int, start: Int = 0) -> Int16 { Int16((start + index) % period + 1) }

  /// The value after `value`.
  static func next(after value: Int16) -> Int16 { value == Int16(period) ? 1 : value + 1 }

  /// The values that do not follow their predecessor. Silence is ignored: on a busy machine the server waits, which
  /// loses no sample.
  static func breaks(in samples: some Sequence<Int16>) -> [Int16] {
    var last: Int16 = 0
    var breaks: [Int16] = []
    for value in samples where value != 0 {
      if last != 0, value != next(after: last) { breaks.append(value) }
      last = value
    }
    return breaks
  }
}
