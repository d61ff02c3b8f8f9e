import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// The behaviour of players when their session is interrupted, changed or deactivated.
@Suite struct AudioSessionTests {
  /// Runs `body` with the session, on the loop.
  private func session<Result: Sendable>(
    _ rig: Rig, _ body: @escaping @Sendable (SessionCore) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      rig.loop.execute {
        continuation.resume(with: Swift.Result { try body(rig.engine.core.session) })
      }
    }
  }

  /// Creates a rig that plays a second of file 1 and logs all events.
  private func playingRig(fade: MediaTime = .zero) async throws -> Rig {
    let rig = try await Rig()
    try await session(rig) { session in
      var policy = AudioSession.InterruptionPolicy()
      policy.fadeDuration = fade
      try session.setPolicy(policy)
      _ = session.addEventObserver { [log = rig.log] in log("session \($0)") }
    }
    let item = try rig.wav(file: 1, frames: 48_000)
    try await rig.run { player in
      try player.append([item])
      player.play()
    }
    await rig.advance(milliseconds: 250)
    return rig
  }

  private func status(_ rig: Rig) async -> String {
    let state = await rig.run { $0.state }
    return "\(state.timeControlStatus) \(state.reasonForWaitingToPlay.map { "\($0)" } ?? "-") \(state.rate)"
  }

  @Test func interruptedPlaybackWaitsAndResumesWithoutLosingSamples() async throws {
    let rig = try await playingRig()
    try await session(rig) { $0.handle(.interruptionBegan) }
    #expect(await status(rig) == "waiting interrupted 1.0")
    await rig.advance(milliseconds: 500)
    let time = await rig.run { $0.currentTime() }
    await rig.advance(milliseconds: 500)
    #expect(await rig.run { $0.currentTime() } == time)
    try await session(rig) { $0.handle(.interruptionEnded) }
    await rig.advance(milliseconds: 1_500)
    let runs = rig.heard.runs
    #expect(runs.count == 2)
    #expect(runs.first?.firstIndex == 0)
    #expect(runs.last?.firstIndex == runs.first?.endIndex)
    #expect(runs.last?.endIndex == 48_000)
    #expect(rig.dump.contains("session interruptionBegan"))
  }

  @Test func playbackFadesInAfterAnInterruptionAndKeepsItsVolume() async throws {
    let rig = try await playingRig(fade: MediaTime(value: 1, timescale: 10))
    try await session(rig) { $0.handle(.interruptionBegan) }
    await rig.advance(milliseconds: 500)
    try await session(rig) { $0.handle(.interruptionEnded) }
    await rig.advance(milliseconds: 1_500)
    // Faded samples cannot be decoded. The other samples include all those after the fade, at their positions.
    let runs = rig.heard.runs.filter { $0.count > 100 }
    let (first, last) = (try #require(runs.first), try #require(runs.last))
    #expect(
      runs.count >= 2 && last.firstIndex - first.endIndex >= 4_790 && last.firstIndex - first.endIndex <= 4_810,
      "\(runs)")
    #expect(last.endIndex == 48_000)
    #expect(await rig.run { $0.state.volume } == 1)
  }

  @Test func playersPausedBeforeOrDuringAnInterruptionStayPaused() async throws {
    let rig = try await playingRig()
    await rig.run { $0.pause() }
    try await session(rig) { $0.handle(.interruptionBegan) }
    #expect(await status(rig) == "paused - 0.0")
    try await session(rig) { $0.handle(.interruptionEnded) }
    #expect(await status(rig) == "paused - 0.0")
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    try await session(rig) { $0.handle(.interruptionBegan) }
    await rig.run { $0.pause() }
    try await session(rig) { $0.handle(.interruptionEnded) }
    await rig.advance(milliseconds: 500)
    #expect(await status(rig) == "paused - 0.0")
    let (first, last) = (try #require(rig.heard.runs.first), try #require(rig.heard.runs.last))
    #expect(last.endIndex < 48_000 && first.firstIndex == 0)
  }

  @Test func statement41_pausePolicyPausesPlayersAtTheEndOfAnInterruption() async throws {
    let rig = try await playingRig()
    try await session(rig) { session in
      var policy = session.state.policy
      policy.atEnd = .pause
      try session.setPolicy(policy)
      session.handle(.interruptionBegan)
      session.handle(.interruptionEnded)
    }
    #expect(await status(rig) == "paused - 0.0")
    #expect(
      rig.dump.contains(
        "session interruptionEnded(PlayheadPlayback.AudioSession.Event.End.server, shouldResume: false)")
    )
  }

  @Test func playDuringAnInterruptionEndsItForAllPlayers() async throws {
    let rig = try await playingRig()
    let other = Player(engine: rig.engine, name: "other")
    try await other.replaceCurrentItem(with: try rig.wav(file: 2, frames: 48_000))
    await rig.settle()
    try await session(rig) { $0.handle(.interruptionBegan) }
    await other.play()
    #expect(try await session(rig) { $0.state.isInterrupted } == false)
    await rig.advance(milliseconds: 200)
    #expect(await status(rig) == "playing - 1.0")
    #expect(await other.state.timeControlStatus == .playing)
  }

  @Test func seekDuringAnInterruptionCompletesAndPlaybackResumesThere() async throws {
    let rig = try await playingRig()
    try await session(rig) { $0.handle(.interruptionBegan) }
    let finished = Mutex(false)
    try await rig.run { player in
      try player.seek(
        to: MediaTime(value: 36_000, timescale: 48_000), toleranceBefore: .zero, toleranceAfter: .zero
      ) { result in finished.withLock { $0 = result.finished } }
    }
    await rig.advance(milliseconds: 300)
    #expect(finished.withLock { $0 })
    #expect(await status(rig) == "waiting interrupted 1.0")
    try await session(rig) { $0.handle(.interruptionEnded) }
    await rig.advance(milliseconds: 500)
    #expect(rig.heard.runs.last?.firstIndex == 36_000)
    #expect(rig.heard.runs.last?.endIndex == 48_000)
  }

  @Test func timeOutOfAnInterruptionPausesPlayers() async throws {
    let rig = try await playingRig()
    try await session(rig) { session in
      var policy = session.state.policy
      policy.timeOut = MediaTime(value: 3, timescale: 1)
      try session.setPolicy(policy)
      session.handle(.interruptionBegan)
    }
    await rig.advance(milliseconds: 2_900)
    #expect(await status(rig) == "waiting interrupted 1.0")
    await rig.advance(milliseconds: 200)
    #expect(await status(rig) == "paused - 0.0")
  }

  @Test func categoryWithoutPlaybackMakesExistingAndNewPlayersWait() async throws {
    let rig = try await playingRig()
    try await session(rig) { try $0.setCategory(.record) }
    #expect(await status(rig) == "waiting categoryForbidsPlayback 1.0")
    let other = Player(engine: rig.engine, name: "other")
    try await other.replaceCurrentItem(with: try rig.wav(file: 2, frames: 4_800))
    await other.play()
    await rig.advance(milliseconds: 300)
    #expect(await other.state.reasonForWaitingToPlay == .categoryForbidsPlayback)
    try await session(rig) { try $0.setCategory(.playback) }
    await rig.advance(milliseconds: 1_500)
    let runs = rig.heard.runs.filter { $0.file == 1 }
    #expect(runs.last?.endIndex == 48_000)
    #expect(await other.state.timeControlStatus == .paused)
  }

  @Test func statement42_deactivationWhilePlayingPausesAndThrowsSessionBusy() async throws {
    let rig = try await playingRig()
    let code = try await session(rig) { session in
      do throws(MediaError) {
        try session.setActive(false)
        return MediaError.Code?.none
      } catch { return error.code }
    }
    #expect(code == .sessionBusy)
    #expect(try await session(rig) { $0.state.isActive } == false)
    #expect(await status(rig) == "paused - 0.0")
    try await session(rig) { try $0.setActive(false) }
    await rig.run { $0.play() }
    #expect(try await session(rig) { $0.state.isActive })
  }

  @Test func recordingNeedsAnAllowingCategoryAndNoInterruption() async throws {
    let rig = try await Rig()
    func recordingError() async throws -> MediaError.Code? {
      try await session(rig) { session in
        do throws(MediaError) {
          try session.checkRecording()
          return nil
        } catch { return error.code }
      }
    }
    #expect(try await recordingError() == .sessionForbidsRecording)
    try await session(rig) { try $0.setCategory(.playAndRecord) }
    #expect(try await recordingError() == nil)
    try await session(rig) { $0.handle(.interruptionBegan) }
    #expect(try await recordingError() == .sessionInterrupted)
  }
}
