import Testing

@testable import PlayheadRealtimeAudio

/// The effect of pending commands that a sink can query before it applies them: whether some of the buffered audio
/// continues.
@Suite struct PendingEffectTests {
  private func stream(_ count: Int = 1_000, isEnded: Bool = false) -> RenderStream {
    RenderStream(ramp(count), isEnded: isEnded)
  }

  /// A mixer that has rendered 100 frames of one input.
  private func playingRig() throws -> (RenderRig, Int) {
    let rig = RenderRig()
    let input = try rig.play(stream())
    _ = rig.render(100)
    return (rig, input)
  }

  @Test func withoutPendingCommandsTheEffectMixes() throws {
    let (rig, _) = try playingRig()
    #expect(rig.core.pendingEffect(fromFrame: 50) == .mixes)
  }

  @Test func otherStreamForTheOnlyInputReplaces() throws {
    let (rig, input) = try playingRig()
    let next = rig.keep(stream())
    rig.post {
      $0.setStream(next, fromFrame: 0, input: input)
      $0.setRunning(true, input: input)
    }
    #expect(rig.core.pendingEffect(fromFrame: 50) == .replaces)
    // The query does not apply the commands.
    #expect(rig.core.pendingEffect(fromFrame: 50) == .replaces)
    #expect(rig.events().isEmpty == false)
    _ = rig.render(1)
    #expect(rig.core.pendingEffect(fromFrame: 50) == .mixes)
  }

  @Test func stoppingTheOnlyInputSilences() throws {
    let (rig, input) = try playingRig()
    rig.post { $0.setRunning(false, input: input) }
    #expect(rig.core.pendingEffect(fromFrame: 50) == .silences)
  }

  @Test func removingTheOnlyStreamSilences() throws {
    let (rig, input) = try playingRig()
    rig.post {
      $0.setRunning(false, input: input)
      $0.setStream(nil, fromFrame: 0, input: input)
    }
    #expect(rig.core.pendingEffect(fromFrame: 50) == .silences)
  }

  @Test func effectMixesWhileAnotherInputIsAudible() throws {
    let (rig, input) = try playingRig()
    let other = try rig.play(stream())
    _ = rig.render(100)
    let next = rig.keep(stream())
    rig.post { $0.setStream(next, fromFrame: 0, input: input) }
    #expect(rig.core.pendingEffect(fromFrame: 150) == .mixes)
    _ = rig.render(10)
    rig.post { $0.setRunning(false, input: other) }
    #expect(rig.core.pendingEffect(fromFrame: 150) == .mixes)
  }

  @Test func effectMixesUntilTheEndOfAnotherInputIsHeard() throws {
    let (rig, input) = try playingRig()
    let short = try rig.play(stream(20, isEnded: true))
    _ = rig.render(100)
    let next = rig.keep(stream())
    rig.post { $0.setStream(next, fromFrame: 0, input: input) }
    // The other input played from 100 to 120.
    #expect(rig.core.pendingEffect(fromFrame: 119) == .mixes)
    #expect(rig.core.pendingEffect(fromFrame: 120) == .replaces)
    _ = rig.render(10)
    rig.post { $0.setRunning(false, input: input) }
    #expect(rig.core.pendingEffect(fromFrame: 119) == .mixes)
    #expect(rig.core.pendingEffect(fromFrame: 120) == .silences)
    _ = short
  }

  @Test func gainAndScheduleChangesMix() throws {
    let (rig, input) = try playingRig()
    rig.post { $0.setGain(0.5, rampFrameCount: 0, input: input) }
    #expect(rig.core.pendingEffect(fromFrame: 50) == .mixes)
    let next = rig.keep(stream())
    rig.post { $0.scheduleStream(next, fromFrame: 0, atFrame: 500, input: input) }
    #expect(rig.core.pendingEffect(fromFrame: 50) == .mixes)
  }

  @Test func startDuringSilenceReplaces() throws {
    let rig = RenderRig()
    _ = rig.render(100)
    _ = try rig.play(stream())
    #expect(rig.core.pendingEffect(fromFrame: 50) == .replaces)
  }
}
