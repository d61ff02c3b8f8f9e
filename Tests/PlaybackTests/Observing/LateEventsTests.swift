import MediaTesting
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Synchronization
import Testing

@testable import PlayheadControlLoop
@testable import PlayheadPlayerModel
@testable import PlayheadRealtimeAudio

/// Milestones at frames that the clock counts as heard before the engine knows the events of those frames.
@Suite struct LateEventsTests {
  /// A device whose side the test calls, on the control loop. It applies commands at once, and renders on request.
  private final class SteppedSink: AudioSink, @unchecked Sendable {
    // `@unchecked Sendable`: confined to the control loop.
    let label = "stepped"
    private let now: @Sendable () -> HostTime
    private var core: RenderCore?
    private var wakeControl: @Sendable () -> Void = {}

    init(now: @escaping @Sendable () -> HostTime) { self.now = now }

    func open() throws(MediaError) -> AudioFormat { Rig.format }
    func start(
      core: RenderCore, wakeControl: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (MediaError) -> Void
    ) { (self.core, self.wakeControl) = (core, wakeControl) }
    func close() { (core, wakeControl) = (nil, {}) }

    func commandsPosted() {
      core?.applyCommands()
      wake()
    }

    /// Renders frames that begin to be heard now. Their events stay undelivered until `wake`.
    func render(frameCount: Int) {
      guard let core else { return }
      core.clock.publish(heardFrame: core.renderedFrame, at: now(), isRunning: true)
      withUnsafeTemporaryAllocation(of: Float.self, capacity: frameCount * Rig.format.channelCount) { block in
        if let base = block.baseAddress { core.render(into: base, frameCount: frameCount) }
      }
    }

    /// Wakes the engine, which then reads the events.
    func wake() { if core?.consumeWakeRequest() == true { wakeControl() } }
  }

  /// The frames after a seek are rendered and counted by the clock, and their events are not delivered. The timer of
  /// the stop that is due one frame after the jump fires in that moment.
  @Test func audioThatContinuesAfterAJumpReportsNoStopBeforeItsEventsAreDelivered() async throws {
    let loop = BusyLoop()
    let sink = SteppedSink(now: { [unowned loop] in loop.now })
    let engine = PlaybackEngine(loop: loop, output: OutputConfiguration(makeSink: { sink }))
    await loop.inJob { engine.open() }
    let files = try TemporaryDirectory()
    try TimeCode.writeWAV(path: files.file("1.wav"), file: 1, frameCount: 480_000, sampleRateHz: 48_000)
    let player = QueuePlayer(engine: engine)
    let reasons = TextLog()
    try await player.append([PlayerItem(asset: Asset(path: files.file("1.wav")), id: 1)])
    try await player.addTicks(to: reasons)
    await player.play()
    _ = try await player.seek(to: .zero)
    await loop.inJob {
      sink.render(frameCount: 4_800)
      sink.wake()
    }
    await loop.advance(milliseconds: 100)
    #expect(reasons.lines == ["jump", "start"])
    _ = try await player.seek(to: MediaTime(value: 5, timescale: 1))
    await loop.inJob { sink.render(frameCount: 4_800) }
    await loop.advance(milliseconds: 50)
    #expect(reasons.lines == ["jump", "start", "jump"])
    await loop.inJob { sink.wake() }
    await loop.advance(milliseconds: 25)
    #expect(reasons.lines == ["jump", "start", "jump"])
    #expect(await player.currentTime() > MediaTime(value: 5, timescale: 1))
    await withCheckedContinuation { continuation in loop.execute { engine.close { continuation.resume() } } }
  }
}

extension QueuePlayer {
  /// Logs the reasons of a periodic observer's calls.
  fileprivate func addTicks(to log: TextLog) throws {
    _ = try addPeriodicTimeObserver(forInterval: MediaTime(value: 100, timescale: 1)) { log($0.reason.rawValue) }
  }
}
