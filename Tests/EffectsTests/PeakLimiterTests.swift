import Glibc
import MediaTesting
import PlayheadEffects
import PlayheadMediaCore
import Testing

/// The ceiling, the gain and the latency of the limiter.
@Suite struct PeakLimiterTests {
  private static func settings(
    ceiling: Double = -1, lookAhead: MediaTime = .milliseconds(5), release: MediaTime = .milliseconds(100)
  ) -> LimiterSettings {
    var settings = LimiterSettings()
    (settings.ceilingDecibels, settings.lookAhead, settings.release) = (ceiling, lookAhead, release)
    return settings
  }

  /// Signals that exceed full scale, and signals that are not finite.
  private static func signals(frames: Int, channelCount: Int) -> [(name: String, samples: [Float])] {
    let noise = Signals.noise(frames: frames, channelCount: channelCount)
    let count = noise.count
    let broken = noise.enumerated().map { index, sample in
      index % 97 == 5 ? Float.nan : index % 89 == 7 ? -.infinity : index % 83 == 3 ? .greatestFiniteMagnitude : sample
    }
    return [
      ("noise", noise),
      ("noise of full scale x 8", noise.map { $0 * 8 }),
      ("square waves x 8", (0..<count).map { ($0 / (31 * channelCount)) % 2 == 0 ? 8 : -8 }),
      ("square waves of full scale", (0..<count).map { ($0 / (450 * channelCount)) % 2 == 0 ? 1 : -1 }),
      ("impulses", (0..<count).map { $0 % 777 == 0 ? 3 : 0 }),
      ("impulses of all sizes", noise.enumerated().map { $0 % 53 == 0 ? exp($1 * 20) : $1 * 0.01 }),
      ("increasing", (0..<count).map { Float($0) / Float(count) * 8 }),
      ("decreasing", (0..<count).map { 8 - Float($0) / Float(count) * 8 }),
      ("slightly above the ceiling", noise.map { $0 * 1.000001 }),
      ("not finite", broken),
    ]
  }

  @Test(arguments: [
    settings(), settings(ceiling: 0), settings(ceiling: -60), settings(ceiling: -0.1, lookAhead: .seconds(0.0001)),
    settings(lookAhead: .milliseconds(100), release: .milliseconds(1)), settings(release: .seconds(5)),
  ])
  func noSampleExceedsTheCeiling(settings: LimiterSettings) throws {
    for (name, samples) in Self.signals(frames: 20_000, channelCount: 2) {
      let limiter = try Effect.limiter(settings).processor(AudioFormat(sampleRateHz: 48_000, channelCount: 2))
      let output = limiter.output(of: samples, channelCount: 2)
      let peak = output.map(abs).max() ?? 0
      print("ceiling", settings.ceilingDecibels, "dBFS,", name, "peak", 20 * log10(Double(peak)), "dBFS")
      #expect(peak <= settings.ceiling)
      let isFinite = output.allSatisfy(\.isFinite)
      #expect(isFinite)
    }
  }

  @Test func noSampleExceedsTheCeilingWithRandomParameters() throws {
    var generator = SeededGenerator(seed: 28)
    for number in 0..<200 {
      let settings = Self.settings(
        ceiling: .random(in: -60...0, using: &generator),
        lookAhead: .seconds(Double.random(in: 0.0001...0.1, using: &generator)),
        release: .seconds(exp(Double.random(in: log(0.001)...log(5), using: &generator))))
      let rate = [1, 8_000, 44_100, 192_000][Int.random(in: 0..<4, using: &generator)]
      let channelCount = Int.random(in: 1...8, using: &generator)
      let amplitude = exp(Float.random(in: -3...20, using: &generator))
      let limiter = try Effect.limiter(settings).processor(AudioFormat(sampleRateHz: rate, channelCount: channelCount))
      var samples = Signals.noise(
        frames: 3_000, channelCount: channelCount, amplitude: amplitude, seed: UInt64(number))
      // Loud and quiet parts, so that the gain falls and rises.
      for index in samples.indices where (index / 1_000) % 3 != 0 { samples[index] *= 0.001 }
      let output = limiter.output(of: samples, channelCount: channelCount)
      let peak = output.map(abs).max() ?? 0
      print(
        number, "ceiling", settings.ceiling, "peak", peak, "input", amplitude, "at", rate, "Hz, look-ahead",
        settings.lookAhead.seconds, "s, release", settings.release.seconds, "s")
      #expect(peak <= settings.ceiling)
    }
  }

  @Test(arguments: [0, -0.1, -0.3, -1, -3, -6, -20, -59.9, -60])
  func ceilingIsTheGreatestSampleThatTheDecibelsAllow(decibels: Double) {
    let ceiling = Self.settings(ceiling: decibels).ceiling
    let exact = pow(10, decibels / 20)
    print(decibels, "dBFS:", ceiling)
    #expect(Double(ceiling) <= exact * (1 + 1e-15) && Double(ceiling.nextUp) > exact)
  }

  /// A limiter that attenuates more than necessary would also fulfil the ceiling.
  @Test func peaksReachTheCeiling() throws {
    let settings = Self.settings()
    let limiter = try Effect.limiter(settings).processor(AudioFormat(sampleRateHz: 48_000, channelCount: 1))
    let samples = Signals.constant(1.5, frames: 4_800, channelCount: 1)
    let last = limiter.output(of: samples, channelCount: 1).last ?? 0
    #expect(last <= settings.ceiling && last > settings.ceiling * 0.999999)
  }

  @Test(arguments: [1, 2, 6])
  func audioBelowTheCeilingIsDelayedBitForBit(channelCount: Int) throws {
    let settings = Self.settings(ceiling: 0)
    let limiter = try Effect.limiter(settings).processor(
      AudioFormat(sampleRateHz: 44_100, channelCount: channelCount))
    let latency = limiter.latencyFrameCount
    #expect(latency == 221)
    let samples = Signals.noise(frames: 10_000, channelCount: channelCount)
    let output = limiter.output(of: samples, channelCount: channelCount)
    let isEqual = output.dropFirst(latency * channelCount) == samples.dropLast(latency * channelCount)
    let isSilent = output.prefix(latency * channelCount).allSatisfy { $0 == 0 }
    #expect(isEqual && isSilent)
  }

  @Test func gainReturnsToExactlyOneAfterAPeak() throws {
    let settings = Self.settings(release: .milliseconds(10))
    let limiter = try Effect.limiter(settings).processor(AudioFormat(sampleRateHz: 48_000, channelCount: 1))
    var samples = Signals.noise(frames: 48_000, channelCount: 1, amplitude: 0.5)
    samples[1_000] = 8
    let output = limiter.output(of: samples, channelCount: 1)
    let latency = limiter.latencyFrameCount
    let changed = (latency..<48_000).filter { output[$0] != samples[$0 - latency] }
    print("frames changed:", changed.first ?? -1, "to", changed.last ?? -1)
    // The gain falls as soon as the peak enters the limiter, and rises for about 20 times the release.
    #expect(changed.first.map { 1_000...1_010 ~= $0 } == true)
    #expect(changed.last.map { 8_000...12_000 ~= $0 } == true)
  }

  /// The gain is linear before a peak, and rises at most as fast: it never jumps.
  @Test(arguments: [1, 5, 50])
  func gainChangesByAtMostOnePartOfTheLookAheadInAFrame(lookAheadMilliseconds: Int) throws {
    let settings = Self.settings(lookAhead: .milliseconds(lookAheadMilliseconds), release: .milliseconds(1))
    let limiter = try Effect.limiter(settings).processor(AudioFormat(sampleRateHz: 48_000, channelCount: 2))
    // The second channel shows the gain.
    let quiet: Float = 0.001
    var samples = Signals.constant(quiet, frames: 48_000, channelCount: 2)
    for frame in [10_000, 10_001, 15_000, 15_020, 30_000] { samples[2 * frame] = Float(frame) / 2_000 }
    let output = limiter.output(of: samples, channelCount: 2)
    let latency = limiter.latencyFrameCount
    let gains = Signals.channel(1, of: output, channelCount: 2).dropFirst(latency).map { $0 / quiet }
    let step = zip(gains, gains.dropFirst()).reduce(0) { max($0, abs($1.0 - $1.1)) }
    print("look-ahead", lookAheadMilliseconds, "ms: greatest step", step, "of", 1 / Float(latency + 1))
    #expect(step <= 1 / Float(latency + 1) * 1.001)
  }
}
