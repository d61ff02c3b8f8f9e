import Glibc
import MediaTesting
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadControlLoop
@testable import PlayheadPlayback

/// Engines that a program releases without `close`, and engines and sessions that are used from any task.
@Suite struct EngineLifetimeTests {
  private static let engineCount = 30
  private static let format = AudioFormat(sampleRateHz: 48_000, channelCount: 2)

  /// Counts the objects that were released.
  private final class ReleaseCounter: Sendable {
    private let count: ConditionMutex<Int>
    init(_ count: ConditionMutex<Int>) { self.count = count }
    deinit { count.update { $0 += 1 } }
  }

  @Test(.timeLimit(.minutes(2)), arguments: [false, true])
  func releasedEnginesEndTheirThreadsAndReleaseTheirSinks(_ plays: Bool) async throws {
    let files = try TemporaryDirectory("released")
    let path = files.file("a.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 48_000)
    let name = plays ? "released-play" : "released-idle"
    let released = ConditionMutex(0)
    for _ in 0..<Self.engineCount {
      // The configuration, and with it the counter, lives as long as the engine's state.
      let counter = ReleaseCounter(released)
      let engine = PlaybackEngine(
        loop: ThreadControlLoop(name: name),
        output: OutputConfiguration(makeSink: { withExtendedLifetime(counter) { TimedSink.null(format: Self.format) } })
      )
      await withCheckedContinuation { continuation in engine.open { _ in continuation.resume() } }
      guard plays else { continue }
      let player = Player(engine: engine)
      try await player.replaceCurrentItem(with: PlayerItem(asset: Asset(path: path)))
      let hasStarted = ConditionMutex(false)
      _ = try await player.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 1)) { _ in
        hasStarted.update { $0 = true }
      }
      await player.play()
      _ = hasStarted.wait { $0 ? true : nil }
    }
    _ = released.wait { $0 == Self.engineCount ? true : nil }
    // A loop's thread ends right after the loop is released.
    while threadCount(named: name) > 0 { await Task.yield() }
  }

  /// The configuration keeps the sink, and the sink keeps the output's handler of interruptions.
  @Test(.timeLimit(.minutes(2))) func engineIsReleasedAlthoughItsSinkIsRetained() async {
    let released = ConditionMutex(0)
    do {
      let counter = ReleaseCounter(released)
      let sink = InterruptibleSink()
      let engine = PlaybackEngine(
        loop: ThreadControlLoop(name: "kept-sink"),
        output: OutputConfiguration(makeSink: { withExtendedLifetime(counter) { sink } }))
      await withCheckedContinuation { continuation in engine.open { _ in continuation.resume() } }
      await engine.close()
    }
    _ = released.wait { $0 == 1 ? true : nil }
  }

  @Test func engineLivesAsLongAsItsPlayers() async throws {
    let files = try TemporaryDirectory("released")
    let path = files.file("a.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 48_000)
    let player: AudioPlayer
    do {
      let sink = TimedSink.null(format: Self.format)
      let engine = PlaybackEngine(
        loop: ThreadControlLoop(name: "kept"), output: OutputConfiguration(makeSink: { sink }))
      engine.open()
      player = try AudioPlayer(path: path, engine: engine)
    }
    #expect(player.play() && player.isPlaying && player.duration == MediaTime(value: 1, timescale: 1))
  }

  /// Without isolation this crashed in two of thirteen runs.
  @Test func sessionAndOutputStateAreUsableFromConcurrentTasks() async throws {
    let engine = PlaybackEngine(
      loop: ThreadControlLoop(name: "tasks"),
      output: OutputConfiguration(makeSink: { TimedSink.null(format: Self.format) }))
    engine.open()
    let session = engine.session
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          for _ in 0..<500 {
            try await session.setCategory(number % 2 == 0 ? .playback : .ambient)
            let token = await session.addStateObserver { _ in }
            try await session.removeObserver(token)
            _ = await engine.outputState
          }
        }
      }
      try await group.waitForAll()
    }
    let category = await session.state.setting.category
    #expect(category == .playback || category == .ambient)
    await engine.close()
  }
}
