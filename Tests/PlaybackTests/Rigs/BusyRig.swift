import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization

@testable import PlayheadControlLoop
@testable import PlayheadPlayback
@testable import PlayheadPlayerModel
@testable import PlayheadRealtimeAudio

/// A loop whose clock the test moves: between jobs, or within a job to simulate its duration.
final class BusyLoop: ControlLoop, @unchecked Sendable {
  // `@unchecked Sendable`: `timers` and `sink` are confined to the loop; the others are atomic.
  private let base = ThreadControlLoop(name: "busy")
  private let time = Atomic<Int64>(1_000_000_000)
  private let scheduled = Atomic<Int>(0)
  private var timers = TimerHeap()
  private var sink: VirtualSink?

  var now: HostTime { HostTime(nanoseconds: time.load(ordering: .acquiring)) }
  /// The number of timers that were scheduled.
  var scheduledCount: Int { scheduled.load(ordering: .acquiring) }

  func execute(_ body: @escaping @Sendable () -> Void) { base.execute(body) }
  func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ControlTimer {
    scheduled.wrappingAdd(1, ordering: .acquiringAndReleasing)
    return timers.add(at: time, body)
  }
  func enqueue(_ job: consuming ExecutorJob) { base.enqueue(job) }
  func asUnownedSerialExecutor() -> UnownedSerialExecutor { base.asUnownedSerialExecutor() }
  func checkIsolated() { base.checkIsolated() }
  func isIsolatingCurrentContext() -> Bool? { base.isIsolatingCurrentContext() }
  func attach(_ sink: VirtualSink) { self.sink = sink }

  /// Simulates another thread that takes this long while nothing plays. Any thread.
  func wait(milliseconds: Int64) { time.wrappingAdd(milliseconds * 1_000_000, ordering: .acquiringAndReleasing) }

  /// Simulates that the present job takes this long: the device continues to play, and no other job runs.
  func beBusy(milliseconds: Int64) {
    assertIsolated()
    move(to: now.advanced(byNanoseconds: milliseconds * 1_000_000))
  }

  private func move(to target: HostTime) {
    time.store(target.nanoseconds, ordering: .releasing)
    if let sink, sink.isAudible { _ = sink.advance(frameCount: sink.frameCount(until: target)) }
  }

  /// Lets time pass up to the next timer, but not beyond `target`, and calls the due timers. Returns true at `target`.
  private func step(to target: HostTime) -> Bool {
    if let timer = timers.popDue(at: now) {
      timer.fire()
      return false
    }
    guard now < target else { return true }
    move(to: min(target, max(now, timers.nextTime() ?? target)))
    return false
  }

  /// Lets time pass. Each step is a separate job after all effects of the previous one.
  func advance(milliseconds: Int64) async {
    let target = now.advanced(byNanoseconds: milliseconds * 1_000_000)
    while await !inJob({ self.step(to: target) }) {}
  }

  func inJob<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in execute { continuation.resume(returning: body()) } }
  }
}

/// A player on a `BusyLoop`. The rig closes its engine when the test releases it.
final class BusyRig: Sendable {
  let loop = BusyLoop()
  let engine: PlaybackEngine
  let player: QueuePlayer
  let files: TemporaryDirectory

  /// - Parameters:
  ///   - latencyMilliseconds: the time from the start of the device to its first audible frame.
  ///   - makeDecoder: opens items.
  init(
    latencyMilliseconds: Int64 = 0,
    makeDecoder: (@Sendable (BusyLoop, DecodePipeline.Source) throws(MediaError) -> ItemDecoder)? = nil
  ) async throws {
    let loop = loop
    let sink = VirtualSink(
      format: AudioFormat(sampleRateHz: 48_000, channelCount: 2), lookAheadFrames: 4_800,
      now: { [unowned loop] in loop.now.advanced(byNanoseconds: latencyMilliseconds * 1_000_000) })
    let engine = PlaybackEngine(loop: loop, output: OutputConfiguration(makeSink: { sink }))
    await withCheckedContinuation { continuation in
      loop.execute {
        loop.attach(sink)
        if let makeDecoder {
          engine.core.openDecoder = { source throws(MediaError) in try makeDecoder(loop, source) }
        }
        engine.open { _ in continuation.resume() }
      }
    }
    player = QueuePlayer(engine: engine)
    files = try TemporaryDirectory("busy")
    self.engine = engine
  }

  deinit { loop.execute { [engine] in engine.close {} } }

  /// Creates item 1: one second of audio.
  func oneSecondItem(sampleRateHz: Int = 48_000) throws -> PlayerItem {
    let path = files.file("1.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: sampleRateHz, sampleRateHz: sampleRateHz)
    return PlayerItem(asset: Asset(path: path), id: 1)
  }

  /// Appends such an item and waits until all of it is decoded.
  func load() async throws {
    try await player.append([try oneSecondItem()])
    await wait { $0.isPlaybackBufferFull }
  }

  /// Waits, without time passing, until the player's state fulfils `isWanted`.
  func wait(until isWanted: @Sendable (PlayerState) -> Bool) async {
    for await state in await player.states() where isWanted(state) { return }
  }

  /// Runs `body` on the loop, in the player's isolation.
  @discardableResult
  func run<Result: Sendable>(_ body: @Sendable (isolated QueuePlayer) throws -> Result) async rethrows -> Result {
    try await body(player)
  }
}
