import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Prerolling for a rate.
@Suite struct PrerollTests {
  private final class Completions: Sendable {
    private let all = Mutex<[String]>([])
    var values: [String] { all.withLock { $0 } }
    func add(_ value: String) { all.withLock { $0.append(value) } }
  }

  /// Creates a rig with a circling item, paused, with the decode thread at rest.
  private func rig() async throws -> SlowRig {
    let rig = try await SlowRig()
    let item = try rig.circle(frames: 480_000)
    try await rig.run { player in
      try player.setAudioTimePitchAlgorithm(.varispeed)
      try player.append([item])
    }
    await rig.wait { $0.isPlaybackBufferFull }
    return rig
  }

  private func generation(_ rig: SlowRig) async -> UInt64 { await rig.run { $0.control.core.machine.generation } }

  private func preroll(_ rig: SlowRig, _ rate: Double, _ completions: Completions) async throws {
    try await rig.run { player in
      try player.preroll(atRate: rate) { completions.add("\(rate) \($0)") }
    }
  }

  /// The distances between successive heard positions.
  private func steps(_ rig: SlowRig) -> [Double] {
    let positions = rig.heard.positions
    return zip(positions.dropFirst(), positions).map { Circle.difference($0, $1) }
  }

  @Test(arguments: [2, 0.5, -1] as [Double])
  func playbackStartsWithTheAudioPrerolledForItsRate(_ rate: Double) async throws {
    let rig = try await rig()
    try await rig.run { player in
      try player.seek(to: MediaTime(value: 2, timescale: 1), toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
    }
    let completions = Completions()
    try await preroll(rig, rate, completions)
    await rig.wait { $0.isPlaybackBufferFull }
    #expect(completions.values == ["\(rate) true"])
    // From here on nothing can be decoded.
    rig.gate.open(upTo: 0)
    let ready = await generation(rig)
    try await rig.run { try $0.setRate(rate) }
    await rig.advance(milliseconds: 100)
    #expect(await generation(rig) == ready)
    #expect(rig.heard.all.count == 4_800)
    let steps = steps(rig)
    #expect(steps.allSatisfy { abs($0 - rate) < 0.01 }, "\(steps.first ?? 0)")
    #expect(await rig.run { $0.state.timebaseRate } == rate)
    let time = await rig.time.seconds
    #expect(abs(time - (2 + rate / 10)) < 2.0 / 48_000)
    #expect(rig.events.allSatisfy { !$0.hasPrefix("stalled") })
  }

  @Test func playAtAnotherRateThanPrerolledDecodesAgain() async throws {
    let rig = try await rig()
    let completions = Completions()
    try await preroll(rig, 2, completions)
    await rig.wait { $0.isPlaybackBufferFull }
    let ready = await generation(rig)
    // `play` uses the default rate, whatever rate was prerolled.
    await rig.run { $0.play() }
    #expect(await generation(rig) == ready + 1)
    await rig.wait { $0.isPlaybackBufferFull }
    await rig.advance(milliseconds: 100)
    #expect(steps(rig).allSatisfy { abs($0 - 1) < 0.01 })
    #expect(await rig.run { $0.state.timebaseRate } == 1)
    #expect(await rig.time == MediaTime(value: 1, timescale: 10))
    #expect(completions.values == ["2.0 true"])
  }

  @Test func prerollForAnotherRateInterruptsThePreviousOne() async throws {
    let rig = try await SlowRig()
    rig.gate.close()
    let (item, completions) = (try rig.circle(frames: 240_000), Completions())
    try await rig.run { try $0.append([item]) }
    try await rig.block()
    try await preroll(rig, 2, completions)
    try await preroll(rig, 3, completions)
    try await preroll(rig, 3, completions)
    #expect(completions.values == ["2.0 false"])
    rig.gate.open()
    await rig.wait { $0.isPlaybackBufferFull }
    #expect(completions.values == ["2.0 false", "3.0 true", "3.0 true"])
    // A cancelled preroll is not reported again.
    rig.gate.open(upTo: 0)
    try await preroll(rig, 4, completions)
    try await rig.block()
    await rig.run { $0.cancelPendingPrerolls() }
    rig.gate.open()
    await rig.wait { $0.isPlaybackBufferFull }
    #expect(completions.values.dropFirst(3) == ["4.0 false"])
  }

  @Test func prerollAtAnInvalidRateIsAnErrorAndChangesNothing() async throws {
    let rig = try await rig()
    let completions = Completions()
    let (state, ready) = (await rig.state, await generation(rig))
    for rate in [0, .nan, .infinity, 33, -33, 0.03] as [Double] {
      await expectError(.unsupportedRate) { try await preroll(rig, rate, completions) }
    }
    #expect(await rig.state == state)
    #expect(await generation(rig) == ready)
    // A player in a synchronised start uses the rate of that start.
    let (engine, player) = (rig.engine, rig.player)
    try await rig.run { _ in
      try engine.core.start([player], at: .after(MediaTime(value: 1, timescale: 1))) { _ in }
    }
    await expectError(.invalidState) { try await preroll(rig, 2, completions) }
    #expect(completions.values == [])
  }
}
