import PlayheadTesting
import RigSupport
import Synchronization
import Testing

/// Playback on a virtual clock, with the public library only.
@Suite struct VirtualEngineTests {
  private let files: TemporaryDirectory

  init() throws { files = try TemporaryDirectory("virtual") }

  private func file(_ number: Int, frames: Int) throws -> String {
    let path = files.file("\(number).wav")
    try TimeCode.writeWAV(path: path, file: number, frameCount: frames)
    return path
  }

  @Test func everyFrameIsHeardAtItsTime() async throws {
    let test = try await PlaybackEngine.virtual()
    let items = [PlayerItem(path: try file(1, frames: 24_000)), PlayerItem(path: try file(2, frames: 48_000))]
    let player = try await QueuePlayer(engine: test.engine, items: items)
    await player.play()
    try await test.clock.advance(by: .seconds(1))
    #expect(test.clock.now == .seconds(1))
    #expect(test.output.frameCount == 48_000)
    #expect(
      test.output.timeCodeRuns == [
        TimeCode.Run(file: 1, firstIndex: 0, count: 24_000, position: 0),
        TimeCode.Run(file: 2, firstIndex: 0, count: 24_000, position: 24_000),
      ])
    #expect(await player.currentTime() == .seconds(0.5))
    try await player.seek(to: .seconds(0.25), toleranceBefore: .zero, toleranceAfter: .zero)
    test.output.removeAll()
    try await test.clock.advance(by: .milliseconds(10))
    #expect(test.output.timeCodeRuns.map(\.firstIndex) == [12_000])
    #expect(test.output.channel(0).count == 480)
    #expect(test.output.channel(2) == [] && test.output.channel(-1) == [])
  }

  @Test func observersAreCalledAtExactTimes() async throws {
    let test = try await PlaybackEngine.virtual(format: AudioFormat(sampleRateHz: 44_100, channelCount: 1))
    let player = try await Player(engine: test.engine, playerItem: PlayerItem(path: try file(3, frames: 96_000)))
    let times = Mutex<[MediaTime]>([])
    _ = try await player.addPeriodicTimeObserver(forInterval: .seconds(0.5)) { observation in
      times.withLock { $0.append(observation.time) }
    }
    await player.play()
    try await test.clock.advance(by: .seconds(1.75))
    #expect(times.withLock { $0 } == [.zero, .seconds(0.5), .seconds(1), .seconds(1.5)])
    #expect(test.output.format == AudioFormat(sampleRateHz: 44_100, channelCount: 1))
    #expect(test.output.timeCodeRuns == [])
  }

  @Test func invalidTimesAreRefused() async throws {
    let test = try await PlaybackEngine.virtual()
    for time in [MediaTime.seconds(-1), .indefinite, .positiveInfinity, .invalid, .seconds(4_000_000_000)] {
      await expectError(.invalidTime) { try await test.clock.advance(by: time) }
    }
    for lookAhead in [MediaTime.seconds(-1), .seconds(11), .indefinite] {
      await expectError(.invalidTime) { _ = try await PlaybackEngine.virtual(lookAhead: lookAhead) }
    }
    #expect(test.clock.now == .zero)
  }

  @Test(.timeLimit(.minutes(1))) func releasedEnginesLeaveNoThread() async throws {
    let before = threadCount(named: "virtual")
    for _ in 0..<20 {
      let test = try await PlaybackEngine.virtual()
      let player = try await Player(engine: test.engine, playerItem: PlayerItem(path: try file(4, frames: 4_800)))
      await player.play()
      try await test.clock.advance(by: .milliseconds(50))
    }
    while threadCount(named: "virtual") > before { await Task.yield() }
  }
}
