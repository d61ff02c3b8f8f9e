import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// `AudioPlayer`s that start together stay together, to the sample, when a program changes each in turn.
@Suite struct AudioPlayerSynchronizationTests {
  /// Far below the noise level: the stretcher may round a sample and its negative differently.
  private static let roundingTolerance: Float = 0.005

  private func milliseconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1_000) }

  /// Three looping players: the second cancels the first on the left, and the third cancels it on the right.
  private func players(_ rig: Rig) async throws -> [AudioPlayer] {
    // The calls are apart in time, which the test lets pass on the virtual clock.
    rig.engine.core.coalescingNanoseconds = 20_000_000
    var random = SeededGenerator(seed: 3)
    let noise = (0..<96_000).map { _ in Int16.random(in: -12_000...12_000, using: &random) }
    return try [(1, 0), (-1, -1), (-1, 1)].enumerated().map { number, signAndPan in
      let path = rig.files.file("\(number).wav")
      try TimeCode.writeWAV(path: path, frameCount: noise.count) { index in
        let sample = noise[index] * Int16(signAndPan.0)
        return StereoFrame(left: sample, right: sample)
      }
      let player = try AudioPlayer(path: path, engine: rig.engine)
      player.enableRate = true
      player.numberOfLoops = -1
      try player.setPan(Float(signAndPan.1))
      player.prepareToPlay()
      return player
    }
  }

  private func forEachInTurn(_ players: [AudioPlayer], _ rig: Rig, _ body: (AudioPlayer) throws -> Void) async throws {
    for player in players {
      try body(player)
      await rig.advance(milliseconds: 3)
    }
  }

  private func expectSynchronized(_ players: [AudioPlayer], _ rig: Rig, _ rate: Double) {
    #expect(Set(players.map(\.currentTime)).count == 1, "at rate \(rate): \(players.map(\.currentTime))")
    let loudest = (rig.heard.left + rig.heard.right).lazy.map(abs).max() ?? 1
    #expect(loudest < Self.roundingTolerance, "at rate \(rate)")
  }

  @Test func playersStaySynchronizedWhenTheirRatesAreSetInTurn() async throws {
    let rig = try await Rig()
    let players = try await players(rig)
    await rig.settle()
    let time = players[0].deviceCurrentTime + milliseconds(10)
    try await forEachInTurn(players, rig) { #expect($0.play(atTime: time)) }
    await rig.advance(milliseconds: 300)
    for rate in [1.5, 0.7, 2, 1, 0.5, 1.2] {
      try await forEachInTurn(players, rig) { try $0.setRate(rate) }
      await rig.advance(milliseconds: 300)
      expectSynchronized(players, rig, rate)
    }
    // Overlapping changes.
    for rate in [0.8, 1.7, 1.1] { try await forEachInTurn(players, rig) { try $0.setRate(rate) } }
    await rig.advance(milliseconds: 400)
    expectSynchronized(players, rig, 1.1)
  }

  @Test func playersPausedInTurnAreSynchronizedAfterTheNextStart() async throws {
    let rig = try await Rig()
    let players = try await players(rig)
    await rig.settle()
    try await forEachInTurn(players, rig) { #expect($0.play(atTime: milliseconds(10))) }
    await rig.advance(milliseconds: 300)
    try await forEachInTurn(players, rig) { $0.pause() }
    #expect(players.allSatisfy { !$0.isPlaying })
    await rig.advance(milliseconds: 100)
    expectSynchronized(players, rig, 1)
    try await forEachInTurn(players, rig) { try $0.setRate(1.3) }
    let time = players[0].deviceCurrentTime + milliseconds(10)
    try await forEachInTurn(players, rig) { #expect($0.play(atTime: time)) }
    await rig.advance(milliseconds: 400)
    expectSynchronized(players, rig, 1.3)
    #expect(players.allSatisfy { $0.isPlaying })
  }

  @Test func rateSetBeforeAScheduledStartKeepsTheStartTime() async throws {
    let rig = try await Rig()
    let players = try await players(rig)
    await rig.settle()
    for player in players {
      #expect(player.play(atTime: milliseconds(500)))
      try player.setRate(2)
    }
    await rig.advance(milliseconds: 400)
    #expect(players.map(\.currentTime) == [.zero, .zero, .zero])
    try await forEachInTurn(players, rig) { try $0.setRate(0.5) }
    await rig.advance(milliseconds: 400)
    expectSynchronized(players, rig, 0.5)
    #expect(abs(players[0].currentTime.seconds - 0.15) < 0.02)
  }
}
