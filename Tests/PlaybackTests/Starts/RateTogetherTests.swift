import MediaTesting
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// One rate for several players, which change on the same sample while they play.
@Suite struct RateTogetherTests {
  typealias Result = Swift.Result<SynchronizedRateChange, MediaError>

  final class Results: Sendable {
    private let all = Mutex<[Result]>([])
    var values: [Result] { all.withLock { $0 } }
    var changes: [SynchronizedRateChange] { values.compactMap { try? $0.get() } }
    var errors: [MediaError.Code] {
      values.compactMap { if case .failure(let error) = $0 { error.code } else { nil } }
    }
    func add(_ value: Result) { all.withLock { $0.append(value) } }
  }

  /// The residue of cancelled floating-point sums: far below a sample of 16 bits.
  private static let rounding: Float = 1e-6

  /// Creates players on one output that repeat one file each, started on one frame.
  private func players(_ rig: Rig, _ files: [[Float]], sampleRatesHz: [Int]? = nil) async throws -> [QueuePlayer] {
    var players = [rig.player]
    for number in 1..<files.count { players.append(QueuePlayer(engine: rig.engine, name: "\(number)")) }
    for (number, player) in players.enumerated() {
      let path = rig.files.file("loop-\(number).wav")
      try writeWAV(path, files[number], sampleRateHz: sampleRatesHz?[number] ?? 48_000, channelCount: 2)
      let item = rig.item(path)
      // Each change decodes the buffered audio again, which takes most of the time of these tests.
      try item.setPreferredForwardBufferDuration(MediaTime(value: 1, timescale: 2))
      try await player.setAudioTimePitchAlgorithm(.varispeed)
      try await player.append([item])
      try await player.setRepeatMode(.one)
    }
    await rig.settle()
    return players
  }

  private func start(_ rig: Rig, _ players: [QueuePlayer]) async throws {
    let engine = rig.engine
    try await rig.run { _ in try engine.core.start(players, at: .whenReady) { _ in } }
  }

  private func set(_ rate: Double, _ rig: Rig, _ players: [QueuePlayer], _ results: Results) async throws {
    let engine = rig.engine
    try await rig.run { _ in try engine.core.setRate(rate, of: players) { results.add($0) } }
  }

  /// Noise of `frames` frames, multiplied by `left` and `right` for the channels.
  private func noise(_ frames: Int, _ left: Float, _ right: Float) -> [Float] {
    var random = SeededGenerator(seed: 11)
    return (0..<frames).flatMap { _ -> [Float] in
      let value = Float.random(in: -0.4...0.4, using: &random)
      return [value * left, value * right]
    }
  }

  private let changeCount = Effort.rounds(50)

  private func loudest(_ rig: Rig) -> Float { (rig.heard.left + rig.heard.right).lazy.map(abs).max() ?? 0 }

  /// The second player cancels the first one on the left, and the third cancels it on the right. The residue is silence
  /// if, and only if, all three are on the same sample.
  @Test func threePlayersStaySampleAlignedAcrossFiftyRateChanges() async throws {
    let rig = try await Rig(streamMilliseconds: 1_000)
    let players = try await players(rig, [noise(9_600, 1, 1), noise(9_600, -1, 0), noise(9_600, 0, -1)])
    try await start(rig, players)
    await rig.advance(milliseconds: 300)
    var random = SeededGenerator(seed: 5)
    let results = Results()
    for _ in 0..<changeCount {
      let rate = Double(Int.random(in: 400_000...2_500_000, using: &random)) / 1_000_000
      try await set(rate, rig, players, results)
      // Some come while the previous one is pending.
      await rig.advance(milliseconds: Int64.random(in: 20...300, using: &random))
    }
    await rig.advance(milliseconds: 300)
    #expect(results.changes.allSatisfy { $0.outputFrame != nil && $0.spreadFrameCount == 0 })
    #expect(results.changes.count == changeCount, "\(results.values)")
    var times: Set<MediaTime> = []
    var rates: Set<Double> = []
    for player in players {
      times.insert(await player.currentTime())
      rates.insert(await player.state.timebaseRate)
    }
    #expect(times.count == 1 && rates.count == 1)
    let passes = rig.dump.split(separator: "\n").count { $0.contains("event transition 1 to 1") }
    print(
      "rate-together: \(results.changes.count) changes, \(passes) passes, \(rig.heard.left.count) frames, loudest"
        + " sample left over: \(loudest(rig))")
    #expect(passes > changeCount * 2 / 5)
    #expect(loudest(rig) < Self.rounding)
    // Check that they are audible at all.
    rig.heard.removeAll()
    for player in players[1...] { await player.setMuted(true) }
    await rig.advance(milliseconds: 300)
    #expect(loudest(rig) > 0.2)
    #expect(rig.dump.split(separator: "\n").allSatisfy { !$0.contains("timeJumped") && !$0.contains("stalled") })
  }

  /// Loops of other lengths and sample rates end between frames of the output, each at a different position. If a rate
  /// changes after such an end, less than a frame is rounded off.
  @Test func loopsOfDifferentLengthsAndSampleRatesStayAligned() async throws {
    let rig = try await Rig(streamMilliseconds: 1_000)
    let rates = [48_000, 44_100, 32_000, 48_000]
    let frames = [9_600, 13_230, 16_000, 4_801]
    let players = try await players(rig, frames.map { noise($0, 0.1, 0.1) }, sampleRatesHz: rates)
    try await start(rig, players)
    await rig.advance(milliseconds: 300)
    var random = SeededGenerator(seed: 6)
    let results = Results()
    var rate = 1.0
    for _ in 0..<changeCount {
      rate = Double(Int.random(in: 400_000...2_500_000, using: &random)) / 1_000_000
      try await set(rate, rig, players, results)
      await rig.advance(milliseconds: Int64.random(in: 80...300, using: &random))
    }
    await rig.advance(milliseconds: 100)
    #expect(results.changes.count == changeCount && results.changes.allSatisfy { $0.spreadFrameCount == 0 })
    var positions: [Double] = []
    for (number, player) in players.enumerated() {
      positions.append(await player.currentTime().seconds.truncatingRemainder(dividingBy: 0.1))
      #expect(number == 3 || frames[number] * 10 % rates[number] == 0)
    }
    // All lengths except the last one are multiples of 0.1 s, so the first three differ by whole tenths.
    let apart = positions[..<3].map { abs(($0 - positions[0]).remainder(dividingBy: 0.1)) * 48_000 / rate }.max() ?? 1
    print("rate-together: \(changeCount) changes of loops of other lengths and rates: \(apart) frames apart")
    #expect(apart < 12)
  }

  @Test func pausedMembersUseTheRateNextAndLeavingMembersAreExcluded() async throws {
    let rig = try await Rig(streamMilliseconds: 1_000)
    let players = try await players(rig, [noise(9_600, 1, 1), noise(9_600, 1, 1), noise(9_600, 1, 1)])
    let (engine, results) = (rig.engine, Results())
    // None of them plays.
    try await set(2, rig, players, results)
    await rig.settle()
    #expect(results.changes == [SynchronizedRateChange(outputFrame: nil, hostTime: nil, spreadFrameCount: 0)])
    await players[0].play()
    await players[1].play()
    #expect(await players[1].state.rate == 2)
    await rig.advance(milliseconds: 200)
    try await rig.run { _ in try engine.core.setRate(0.5, of: players) { results.add($0) } }
    // Another command before the change is heard.
    await players[1].pause()
    await rig.advance(milliseconds: 200)
    #expect(results.changes.count == 2)
    #expect(await players[0].state.timebaseRate == 0.5)
    #expect(await players[1].state.rate == 0)
    #expect(await players[2].rateForNextPlay == 0.5)
    // All playing members get another command. In one turn of the loop, because the change is complete once the decode
    // thread has delivered the audio of the new rate and the mixer has rendered it, which takes no virtual time.
    try await rig.run { player in
      try engine.core.setRate(3, of: players) { results.add($0) }
      player.pause()
    }
    await rig.settle()
    #expect(results.errors == [.waitEnded])
  }

  @Test func playersReverseTogether() async throws {
    let rig = try await Rig(streamMilliseconds: 1_000)
    let players = try await players(rig, [noise(96_000, 1, 1), noise(96_000, -1, 0), noise(96_000, 0, -1)])
    try await start(rig, players)
    let results = Results()
    await rig.advance(milliseconds: 900)
    for rate in [-1, 1, -2, 0.5] {
      try await set(rate, rig, players, results)
      await rig.advance(milliseconds: 250)
      #expect(await players[2].state.timebaseRate == rate)
    }
    #expect(results.changes.count == 4 && results.changes.allSatisfy { $0.spreadFrameCount == 0 })
    #expect(loudest(rig) < Self.rounding)
  }

  @Test func invalidMembersAndRatesAreErrorsThatChangeNothing() async throws {
    let rig = try await Rig(streamMilliseconds: 1_000)
    let players = try await players(rig, [noise(9_600, 1, 1), noise(9_600, 1, 1)])
    let (engine, results) = (rig.engine, Results())
    try await start(rig, players)
    await rig.advance(milliseconds: 200)
    let closed = QueuePlayer(engine: engine, name: "closed")
    await closed.close()
    let other = try await Rig(streamMilliseconds: 1_000)
    let cases: [(Double, [QueuePlayer], MediaError.Code)] = [
      (2, [], .invalidArgument), (2, [players[0], players[0]], .invalidArgument),
      (2, [players[0], other.player], .invalidArgument), (2, players + [closed], .invalidState),
      (0, players, .unsupportedRate), (.nan, players, .unsupportedRate), (33, players, .unsupportedRate),
    ]
    for (rate, members, code) in cases {
      await expectError(code) { try await set(rate, rig, members, results) }
    }
    await rig.advance(milliseconds: 200)
    for player in players { #expect(await player.state.rate == 1) }
    #expect(results.values.isEmpty)
  }
}
