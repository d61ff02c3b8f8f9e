import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback

/// The end of a fade of the volume: its action, its completion, and what cancels them.
@Suite struct FadeTests {
  private static let duration = MediaTime(value: 1, timescale: 10)

  /// A rig that has played 100 ms at half of full scale.
  private func playing() async throws -> Rig {
    let rig = try await Rig()
    let item = try rig.level(0.5, frames: 480_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    rig.heard.removeAll()
    return rig
  }

  /// Fades to half of the volume within 100 ms, and logs the outcome.
  private func fade(_ rig: Rig, then endAction: FadeEndAction) async throws {
    try await rig.run { [log = rig.log] player in
      try player.fade(to: 0.5, duration: Self.duration, endAction: endAction) { log("outcome \($0)") }
    }
  }

  private func outcomes(_ rig: Rig) -> [String] { rig.log.lines.filter { $0.hasPrefix("outcome") } }

  @Test func pauseIsHeardAtTheFrameOfTheEndAndTheVolumeStays() async throws {
    let rig = try await playing()
    try await fade(rig, then: .pause)
    #expect(await rig.run { $0.state.isFading })
    await rig.advance(milliseconds: 99)
    #expect(outcomes(rig) == [])
    await rig.advance(milliseconds: 101)
    #expect(outcomes(rig) == ["outcome finished"])
    let state = await rig.run { $0.state }
    #expect(state.rate == 0)
    #expect(state.volume == 0.5)
    #expect(!state.isFading)
    #expect(await rig.run { $0.currentTime() } == MediaTime(value: 9_600, timescale: 48_000))
    let frames = rig.heard.all
    #expect(frames[4_799].left > 8_000)
    #expect(frames[4_800...].allSatisfy { $0.left == 0 && $0.right == 0 })
    rig.heard.removeAll()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 10)
    #expect(abs(Int(rig.heard.all[0].left) - 8_192) <= 1)
    #expect(await rig.run { $0.currentTime() } == MediaTime(value: 10_080, timescale: 48_000))
  }

  @Test func stopReturnsToTheBeginning() async throws {
    let rig = try await playing()
    try await fade(rig, then: .stop)
    await rig.advance(milliseconds: 200)
    #expect(await rig.run { $0.state.rate } == 0)
    #expect(await rig.run { $0.currentTime() } == .zero)
  }

  @Test func anotherVolumeCancelsTheActionWhenItsFrameIsAlreadyRendered() async throws {
    let rig = try await playing()
    try await fade(rig, then: .pause)
    await rig.advance(milliseconds: 95)
    try await rig.run { try $0.setVolume(1) }
    #expect(outcomes(rig) == ["outcome replaced"])
    await rig.advance(milliseconds: 100)
    #expect(await rig.run { $0.state.rate } == 1)
    #expect(await rig.run { $0.currentTime() } == MediaTime(value: 14_160, timescale: 48_000))
    #expect(rig.heard.all.allSatisfy { $0.left > 0 })
  }

  @Test func fadeOfAPausedPlayerCompletesAtOnceAndContinuesWithPlayback() async throws {
    let rig = try await playing()
    await rig.run { $0.pause() }
    await rig.advance(milliseconds: 500)
    let pausedTime = await rig.run { $0.currentTime() }
    try await fade(rig, then: .pause)
    #expect(outcomes(rig) == ["outcome notPlaying"])
    #expect(await rig.run { !$0.state.isFading })
    await rig.run { $0.play() }
    #expect(await rig.run { $0.state.isFading })
    await rig.advance(milliseconds: 300)
    #expect(await rig.run { $0.state.rate } == 0)
    #expect(await rig.run { $0.currentTime() } == pausedTime + Self.duration)
    #expect(outcomes(rig).count == 1)
  }

  @Test func actionHasNoEffectOnAPlayerThatWasPausedDuringTheFade() async throws {
    let rig = try await playing()
    // Another player keeps the output running.
    let other = QueuePlayer(engine: rig.engine)
    let item = try rig.level(0.1, frames: 480_000)
    try await other.append([item])
    await rig.settle()
    await other.play()
    try await fade(rig, then: .pause)
    await rig.advance(milliseconds: 50)
    await rig.run { $0.pause() }
    #expect(outcomes(rig) == ["outcome notPlaying"])
    await rig.advance(milliseconds: 500)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    #expect(await rig.run { $0.state.rate } == 1)
    #expect(await rig.run { $0.currentTime() } == MediaTime(value: 650, timescale: 1_000))
  }

  @Test func actionAtTheEndOfAnItemPausesThere() async throws {
    let rig = try await Rig()
    let items = [try rig.level(0.5, frames: 9_600), try rig.level(0.5, frames: 9_600)]
    try await rig.run { try $0.append(items) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    try await fade(rig, then: .pause)
    await rig.advance(milliseconds: 300)
    #expect(await rig.run { $0.state.rate } == 0)
    #expect(rig.heard.all.dropFirst(9_600).allSatisfy { $0.left == 0 })
    // The second item begins with its first sample.
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 50)
    #expect(await rig.run { $0.state.currentItemID } == items[1].id)
    #expect(await rig.run { $0.currentTime() } == MediaTime(value: 50, timescale: 1_000))
  }

  @Test func closingThePlayerCompletesTheFade() async throws {
    let rig = try await playing()
    try await fade(rig, then: .none)
    await rig.run { $0.close() }
    #expect(outcomes(rig) == ["outcome closed"])
  }
}
