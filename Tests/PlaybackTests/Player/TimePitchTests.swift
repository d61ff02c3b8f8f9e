import MediaTesting
import PlayheadMediaCore
import PlayheadTimeStretch
import RigSupport
import Testing

@testable import PlayheadPlayback

/// Pitch algorithms of a player, as heard.
@Suite struct TimePitchTests {
  private static let stretching = [AudioTimePitchAlgorithm.timeDomain, .spectral].filter(\.isAvailable)

  /// Creates a rig with a tone of 480 Hz, and the algorithm set.
  private func rig(_ algorithm: AudioTimePitchAlgorithm, seconds: Int = 20) async throws -> Rig {
    let rig = try await Rig(streamMilliseconds: 1_000)
    let path = rig.files.file("tone.wav")
    try writeWAV(path, tone(480, frameCount: seconds * 48_000, sampleRateHz: 48_000), sampleRateHz: 48_000)
    try await rig.run { try $0.setAudioTimePitchAlgorithm(algorithm) }
    let item = rig.item(path)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    return rig
  }

  private func heardPitch(_ rig: Rig) -> Double {
    let left = rig.heard.all.map { Float($0.left) }
    return pitch(of: left[...], sampleRateHz: 48_000)
  }

  private func largestStep(_ rig: Rig) -> Int {
    let left = rig.heard.all.map { Int($0.left) }
    return zip(left.dropFirst(), left).lazy.map { abs($0 - $1) }.max() ?? 0
  }

  @Test func itemUsesTheTimeDomainAlgorithmByDefault() async throws {
    let rig = try await Rig(streamMilliseconds: 1_000)
    let item = rig.item("/none.wav")
    #expect(item.audioTimePitchAlgorithm == .timeDomain)
    // In a player it uses the player's algorithm, which is that of the rig.
    try await rig.run { try $0.append([item]) }
    #expect(item.audioTimePitchAlgorithm == .varispeed)
    try item.setAudioTimePitchAlgorithm(.timeDomain)
    #expect(item.audioTimePitchAlgorithm == .timeDomain)
    try item.setAudioTimePitchAlgorithm(nil)
    #expect(item.audioTimePitchAlgorithm == .varispeed)
  }

  @Test func algorithmChangeIsReportedWithTheCauseRequest() async throws {
    let rig = try await Rig(streamMilliseconds: 1_000)
    #expect(await rig.run { $0.state.audioTimePitchAlgorithm } == .varispeed)
    #expect(!rig.dump.contains("audioTimePitchAlgorithm timeDomain"))
    try await rig.run { try $0.setAudioTimePitchAlgorithm(.timeDomain) }
    // Setting the same algorithm again changes nothing.
    try await rig.run { try $0.setAudioTimePitchAlgorithm(.timeDomain) }
    #expect(await rig.run { $0.state.audioTimePitchAlgorithm } == .timeDomain)
    let reported = rig.dump.split(separator: "\n").filter { $0.hasPrefix("audioTimePitchAlgorithm timeDomain") }
    #expect(reported == ["audioTimePitchAlgorithm timeDomain (request)"])
  }

  @Test(arguments: stretching, [0.5, 2.0])
  func pitchIsKeptAndTimeAdvancesExactlyByTheRate(_ algorithm: AudioTimePitchAlgorithm, _ rate: Double) async throws {
    let rig = try await rig(algorithm)
    try await rig.run { try $0.setRate(rate) }
    await rig.advance(milliseconds: 500)
    rig.heard.removeAll()
    let before = await rig.run { $0.currentTime() }
    await rig.advance(milliseconds: 1_000)
    let after = await rig.run { $0.currentTime() }
    #expect(after - before == MediaTime(value: Int64(rate * 2), timescale: 2))
    #expect(abs(heardPitch(rig) - 480) < 2)
  }

  @Test(arguments: stretching)
  func rate1BypassesTheStretcherBitExact(_ algorithm: AudioTimePitchAlgorithm) async throws {
    let rig = try await Rig(streamMilliseconds: 1_000)
    try await rig.run { try $0.setAudioTimePitchAlgorithm(algorithm) }
    let item = try rig.wav(file: 3, frames: 96_000)
    try await rig.run { try $0.append([item]) }
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    // Changes meanwhile have no effect either.
    try await rig.run { try $0.setAudioTimePitchAlgorithm(.varispeed) }
    try item.setAudioTimePitchAlgorithm(algorithm)
    await rig.advance(milliseconds: 2_000)
    #expect(rig.heard.runs.map(\.count) == [96_000])
  }

  @Test(arguments: stretching)
  func algorithmChangeWhilePlayingHasNoClickOrGap(_ algorithm: AudioTimePitchAlgorithm) async throws {
    let rig = try await rig(.varispeed)
    try await rig.run { try $0.setRate(2) }
    await rig.advance(milliseconds: 500)
    #expect(abs(heardPitch(rig) - 960) < 5)
    rig.heard.removeAll()
    let before = await rig.run { $0.currentTime() }
    try await rig.run { try $0.setAudioTimePitchAlgorithm(algorithm) }
    await rig.advance(milliseconds: 500)
    let after = await rig.run { $0.currentTime() }
    // Playback continues at the same time, to within a frame.
    #expect(abs((after - before).seconds - 1) < 2.0 / 48_000)
    // A tone of 960 Hz at half scale changes by at most 2,059 from sample to sample.
    #expect(largestStep(rig) < 2_300)
    rig.heard.removeAll()
    await rig.advance(milliseconds: 500)
    #expect(abs(heardPitch(rig) - 480) < 2)
    #expect(await rig.run { $0.state.timeControlStatus } == .playing)
  }

  private static let changes = AudioTimePitchAlgorithm.allCases.filter(\.isAvailable).flatMap { old in
    AudioTimePitchAlgorithm.allCases.filter { $0.isAvailable && $0 != old }.map { [old, $0] }
  }

  /// Like a rate change: the old audio continues, to the sample, for 60 ms, then it is cross-faded within 5 ms.
  @Test(arguments: changes.prefix(Effort.rounds(changes.count)), [0.5, 2])
  func algorithmChangeIsHeardAfter60MillisecondsWithoutAStep(_ algorithms: [AudioTimePitchAlgorithm], _ rate: Double)
    async throws
  {
    var heard: [[Int]] = []
    for isChanged in [false, true] {
      let rig = try await rig(algorithms[0])
      try await rig.run { try $0.setRate(rate) }
      await rig.advance(milliseconds: 500)
      rig.heard.removeAll()
      if isChanged { try await rig.run { try $0.setAudioTimePitchAlgorithm(algorithms[1]) } }
      await rig.advance(milliseconds: 500)
      heard.append(rig.heard.all.map { Int($0.left) })
      #expect(await rig.run { $0.currentTime() } == MediaTime(value: Int64(rate * 2), timescale: 2))
    }
    let lead = zip(heard[0], heard[1]).prefix { $0 == $1 }.count
    // The first samples that differ may do so by less than a step of 16 bits.
    #expect((2_880..<2_900).contains(lead), "\(lead) frames")
    let step = zip(heard[1].dropFirst(), heard[1]).lazy.map { abs($0 - $1) }.max() ?? .max
    // The largest step of the tone, at its highest pitch if one algorithm does not keep the pitch. A cross-fade of 240
    // frames adds to it.
    let hertz = algorithms.contains(.varispeed) ? max(480, 480 * rate) : 480
    let toneStep = 16_384 * 2 * Double.pi * hertz / 48_000
    print(
      "pitch \(algorithms[0]) to \(algorithms[1]) at \(rate): \(lead) frames ahead, step \(step) of \(Int(toneStep))")
    #expect(Double(step) <= toneStep * 1.02 + 16_384.0 * 2 / 240)
  }

  @Test(arguments: stretching, [(1, 2), (2, 0.5), (0.5, 1), (1.5, 1.6)] as [(Double, Double)])
  func rateChangeHasNoStepOrSilence(_ algorithm: AudioTimePitchAlgorithm, _ rates: (Double, Double)) async throws {
    let rig = try await rig(algorithm)
    try await rig.run { try $0.setRate(rates.0) }
    await rig.advance(milliseconds: 500)
    rig.heard.removeAll()
    try await rig.run { try $0.setRate(rates.1) }
    await rig.advance(milliseconds: 500)
    #expect(await rig.run { $0.state.timebaseRate } == rates.1)
    let left = rig.heard.all.map { Int($0.left) }
    try #require(left.count == 24_000)
    // The largest step of the tone. A cross-fade of 240 frames adds to it.
    let toneStep = 16_384 * 2 * Double.pi * 480 / 48_000
    let step = largestStep(rig)
    print("rate \(rates.0) to \(rates.1) with \(algorithm): step \(step) of \(Int(toneStep))")
    #expect(Double(step) <= toneStep * 1.02 + 16_384.0 * 2 / 240)
    // Every interval of two cross-fades contains more than a period of the tone outside a cross-fade.
    for first in stride(from: 0, to: left.count - 480, by: 120) {
      let peak = left[first..<(first + 480)].lazy.map { abs($0) }.max() ?? 0
      #expect(peak > 12_000, "\(algorithm) from \(rates.0) to \(rates.1), at \(first)")
    }
  }

  /// Either of the two is changed first, and the other follows at once or later.
  @Test func changesOfAlgorithmAndRateAreReportedInCallOrder() async throws {
    var dumps: [[String]] = []
    for pitchFirst in [true, false] {
      let rig = try await rig(.varispeed)
      try await rig.run { try $0.setRate(2) }
      await rig.advance(milliseconds: 500)
      rig.log("== change")
      try await rig.run { player in
        if pitchFirst { try player.setAudioTimePitchAlgorithm(.timeDomain) }
        try player.setRate(0.5)
        if !pitchFirst { try player.setAudioTimePitchAlgorithm(.timeDomain) }
      }
      await rig.advance(milliseconds: 500)
      let reported = rig.dump.split(separator: "\n").map(String.init)
      let from = try #require(reported.firstIndex(of: "== change"))
      dumps.append(reported[from...].prefix { $0 != "== heard" }.map { $0 })
      #expect(await rig.run { $0.state.timebaseRate } == 0.5)
      #expect(abs(pitch(of: rig.heard.all.suffix(12_000).map { Float($0.left) }[...], sampleRateHz: 48_000) - 480) < 2)
    }
    let (pitch, rate) = ("audioTimePitchAlgorithm timeDomain (request)", "rate 0.5 (request)")
    #expect(dumps[0] == ["== change", pitch, rate, "-- 500 ms"])
    #expect(dumps[1] == ["== change", rate, pitch, "-- 500 ms"])
  }

  /// The error of a change does not accumulate: bursts are heard at the times that the player reports.
  @Test(arguments: stretching) func audioMatchesTheTimeAfterAHundredRateChanges(
    _ algorithm: AudioTimePitchAlgorithm
  ) async throws {
    let rig = try await Rig(streamMilliseconds: 1_000)
    let train = BurstTrain(sampleRateHz: 48_000, seconds: 60, rate: 1.25)
    let path = rig.files.file("train.wav")
    try writeWAV(path, train.samples(), sampleRateHz: 48_000)
    let item = rig.item(path)
    // Each change decodes the buffered audio again: the stretching takes most of the time of this test.
    try item.setPreferredForwardBufferDuration(MediaTime(value: 1, timescale: 2))
    try await rig.run { player in
      try player.setAudioTimePitchAlgorithm(algorithm)
      try player.append([item])
    }
    await rig.settle()
    var random = SeededGenerator(seed: 5)
    for _ in 0..<100 {
      let rate = Double(Int.random(in: 500_000...2_000_000, using: &random)) / 1_000_000
      try await rig.run { try $0.setRate(rate) }
      await rig.advance(milliseconds: Int64.random(in: 20...300, using: &random))
    }
    try await rig.run { try $0.setRate(train.rate) }
    await rig.advance(milliseconds: 500)
    rig.heard.removeAll()
    let before = await rig.run { $0.currentTime() }.seconds
    await rig.advance(milliseconds: 8_000)
    #expect(before > 15 && before + 10 < Double(train.seconds))
    let displacements = train.displacements(in: rig.heard.left, beginningAt: before * 48_000)
    // The bursts that are completely in the range: one per second, in the middle of it.
    let whole = displacements.enumerated().filter { index, _ in
      (before + 0.2...before + 9.8).contains(Double(index) + 0.5)
    }
    print("a hundred changes with \(algorithm): \(whole.map { $0.element.map { Int($0.rounded()) } })")
    #expect(whole.count >= 9)
    #expect(whole.allSatisfy { abs($0.element ?? .infinity) <= (algorithm == .timeDomain ? 20 : 50) })
  }

  /// Nothing is decoded again for an unaffected entry, and the next affected one plays with the new algorithm.
  @Test func algorithmOfAnItemOverridesThatOfThePlayer() async throws {
    let rig = try await rig(.varispeed)
    try await rig.run { try $0.setRate(2) }
    await rig.advance(milliseconds: 300)
    let current = await rig.run { $0.currentItem }
    let item = try #require(current)
    try item.setAudioTimePitchAlgorithm(.timeDomain)
    await rig.advance(milliseconds: 200)
    rig.heard.removeAll()
    await rig.advance(milliseconds: 500)
    #expect(abs(heardPitch(rig) - 480) < 2)
    #expect(await rig.run { $0.currentTime() } == MediaTime(value: 2, timescale: 1))
  }

  @Test func itemsWithDifferentAlgorithmsPlayWithoutAStall() async throws {
    let rig = try await Rig(streamMilliseconds: 1_000)
    var items: [PlayerItem] = []
    for algorithm in [AudioTimePitchAlgorithm.timeDomain, .varispeed, .timeDomain] {
      let path = rig.files.file("tone-\(items.count).wav")
      try writeWAV(path, tone(480, frameCount: 48_001, sampleRateHz: 48_000), sampleRateHz: 48_000)
      items.append(rig.item(path))
      try items.last?.setAudioTimePitchAlgorithm(algorithm)
    }
    let all = items
    try await rig.run { try $0.append(all) }
    try await rig.run { try $0.setRate(2) }
    await rig.advance(milliseconds: 3_000)
    let text = rig.dump
    for id in 1...3 { #expect(text.contains("playedToEnd item \(id) ")) }
    #expect(!text.contains("stalled"))
  }

  /// AVFoundation: a rate that the algorithm does not support plays silence without an error, and `lowQuality` snaps to
  /// the nearest supported rate. Here every algorithm plays every accepted rate, and unsupported requests are errors.
  @Test func statement31_unsupportedRatesAndAlgorithmsAreErrors() async throws {
    for algorithm in AudioTimePitchAlgorithm.allCases {
      guard algorithm.isAvailable else {
        let rig = try await Rig(streamMilliseconds: 1_000)
        await expectError(.unsupportedRate) { try await rig.run { try $0.setAudioTimePitchAlgorithm(algorithm) } }
        #expect(await rig.run { $0.audioTimePitchAlgorithm } == .varispeed)
        continue
      }
      for rate in [1.0 / 32, 0.51, 1.9, 32] {
        let rig = try await rig(algorithm)
        try await rig.run { try $0.setRate(rate) }
        await rig.advance(milliseconds: 300)
        #expect(await rig.run { $0.state.timebaseRate } == rate)
        #expect(rig.heard.all.lazy.map { abs(Int($0.left)) }.max() ?? 0 > 12_000, "\(algorithm) at \(rate)")
      }
      let rig = try await rig(algorithm)
      for rate in [1.0 / 33, 33, .nan] {
        await expectError(.unsupportedRate) { try await rig.run { try $0.setRate(rate) } }
      }
      #expect(await rig.run { $0.state.rate } == 0)
    }
  }
}
