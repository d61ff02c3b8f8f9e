import PlayheadMediaCore
import PlayheadTimeStretch
import RigSupport
import Testing

/// The stretcher's displacement, measured with a train of clicks, never accumulates and stays within 20 ms
/// (time domain) or 50 ms (spectral).
@Suite struct StretchDisplacementTests {
  private static func seconds(_ rate: Double, atMost maximum: Int) -> Int {
    // At a rate of 32, a burst comes every 4 s of input; slow rates turn a short input into a long output.
    rate < 0.5 ? max(3, min(maximum, Int(rate * 24))) : maximum
  }

  /// Checks the displacement, and returns its largest value, in ms.
  @discardableResult
  private func expectWithin(
    _ limit: Double, _ algorithm: TimeStretchAlgorithm, _ numerator: Int64, _ denominator: Int64, seconds: Int,
    sampleRateHz: Int = 44_100
  ) throws -> Double {
    let rate = try StretchRate(numerator, over: denominator)
    let train = BurstTrain(sampleRateHz: sampleRateHz, seconds: seconds, rate: rate.value)
    let input = train.samples()
    let output = try stretched(
      input, algorithm, rate, format: AudioFormat(sampleRateHz: sampleRateHz, channelCount: 1))
    #expect(Int64(output.count) == rate.outputCount(of: Int64(input.count)))
    let displacements = train.displacements(in: output)
    let worst = displacements.map { $0.map(abs) ?? .infinity }.max() ?? .infinity
    #expect(worst <= limit, "\(algorithm) at \(rate.value): \(displacements.map { $0.map { Int($0.rounded()) } })")
    if let first = displacements.first ?? nil, let last = displacements.last ?? nil {
      // An accumulating displacement is larger at the end than at the beginning.
      #expect(abs(last - first) <= limit)
    }
    return worst
  }

  @Test(
    arguments: [
      (1, 2), (3, 4), (99, 100), (1_001, 1_000), (11, 10), (5, 4), (3, 2), (2, 1), (3, 1), (4, 1), (8, 1), (16, 1),
      (32, 1),
      (1, 4), (1, 8), (1, 32),
    ] as [(Int64, Int64)])
  func timeDomainDisplacementStaysWithin20Milliseconds(_ rate: (Int64, Int64)) throws {
    let value = Double(rate.0) / Double(rate.1)
    try expectWithin(20, .timeDomain, rate.0, rate.1, seconds: Self.seconds(value, atMost: 24))
  }

  @Test(arguments: [8_000, 48_000, 96_000], [(1, 8), (1, 2), (3, 2), (2, 1), (32, 1)] as [(Int64, Int64)])
  func timeDomainDisplacementStaysWithin20MillisecondsAtOtherSampleRates(
    _ sampleRate: Int, _ rate: (Int64, Int64)
  ) throws {
    let value = Double(rate.0) / Double(rate.1)
    try expectWithin(
      20, .timeDomain, rate.0, rate.1, seconds: Self.seconds(value, atMost: value > 8 ? 24 : 8),
      sampleRateHz: sampleRate)
  }

  /// Low sample rates, where one sample of slowed audio lasts long.
  @Test(
    arguments: [8_000, 11_025, 16_000, 22_050],
    [
      (1, 32), (1, 16), (1, 12), (1, 8), (1, 5), (1, 4), (1, 2), (3, 4), (3, 2), (2, 1), (4, 1), (8, 1), (16, 1),
      (32, 1),
    ] as [(Int64, Int64)])
  func timeDomainDisplacementStaysWithin20MillisecondsAtLowSampleRates(
    _ sampleRate: Int, _ rate: (Int64, Int64)
  ) throws {
    let value = Double(rate.0) / Double(rate.1)
    let worst = try expectWithin(
      20, .timeDomain, rate.0, rate.1, seconds: Self.seconds(value, atMost: value > 8 ? 24 : 8),
      sampleRateHz: sampleRate)
    print("displacement: \(sampleRate) Hz at \(rate.0)/\(rate.1): \((worst * 10).rounded() / 10) ms")
  }

  @Test func fifteenMinutesInTheTimeDomainDoNotDrift() throws {
    // Without correction, Sonic is seconds off by then.
    try expectWithin(20, .timeDomain, 7, 2, seconds: 900, sampleRateHz: 8_000)
  }

  @Test(.enabled(if: SpectralStretcher.isAvailable), arguments: [(3, 4), (3, 2)] as [(Int64, Int64)])
  func fiveMinutesOfSpectralStretchingDoNotDrift(_ rate: (Int64, Int64)) throws {
    let worst = try expectWithin(50, .spectral, rate.0, rate.1, seconds: 300, sampleRateHz: 8_000)
    print("displacement: spectral, 300 s at \(rate.0)/\(rate.1): \((worst * 10).rounded() / 10) ms")
  }

  @Test(
    .enabled(if: SpectralStretcher.isAvailable),
    arguments: [
      (1, 2), (3, 4), (5, 4), (3, 2), (2, 1), (3, 1), (4, 1), (8, 1), (16, 1), (32, 1), (1, 4), (1, 8), (1, 32),
    ] as [(Int64, Int64)])
  func spectralDisplacementStaysWithin50Milliseconds(_ rate: (Int64, Int64)) throws {
    let value = Double(rate.0) / Double(rate.1)
    let seconds = value > 8 ? 16 : value == 2 || value == 0.75 ? 24 : 6
    try expectWithin(50, .spectral, rate.0, rate.1, seconds: value < 0.2 ? 2 : seconds)
  }
}
