import PlayheadMediaCore
import PlayheadTimeStretch
import RigSupport
import Testing

@Suite struct StretcherTests {
  private static let algorithms = TimeStretchAlgorithm.allCases.filter(\.isAvailable)

  @Test(arguments: algorithms, [(1, 2), (2, 1), (1_234_567, 1_000_000), (7, 3), (32, 1), (1, 32)] as [(Int64, Int64)])
  func outputCountIsExactForEveryChunkSize(_ algorithm: TimeStretchAlgorithm, _ rate: (Int64, Int64)) throws {
    let rate = try StretchRate(rate.0, over: rate.1)
    let long = rate.value < 0.1 ? 2_003 : 30_011
    for frameCount in [0, 1, 31, 997, long] {
      let input = tone(441, frameCount: frameCount)
      for chunkSizes in [[1_024], [1, 977, 64, 2_500]] {
        let output = try stretched(input, algorithm, rate, chunkSizes: chunkSizes)
        #expect(Int64(output.count) == rate.outputCount(of: Int64(frameCount)))
      }
    }
  }

  /// The package trait decides whether the spectral stretcher exists (`scripts/without-gpl`).
  @Test func unavailableAlgorithmIsRejectedAsUnsupportedRate() throws {
    #if RubberBand
      #expect(Self.algorithms == TimeStretchAlgorithm.allCases)
    #else
      #expect(Self.algorithms == [.timeDomain])
    #endif
    for algorithm in TimeStretchAlgorithm.allCases {
      var code: MediaError.Code?
      do throws(MediaError) {
        _ = try algorithm.makeStretcher(
          format: AudioFormat(sampleRateHz: 48_000, channelCount: 2), rate: StretchRate(3, over: 2))
      } catch { code = error.code }
      #expect(code == (algorithm.isAvailable ? nil : .unsupportedRate), "\(algorithm)")
    }
  }

  @Test(
    arguments: algorithms, [(1, 2), (3, 4), (3, 2), (2, 1), (4, 1), (8, 1)] as [(Int64, Int64)])
  func pitchIsPreserved(_ algorithm: TimeStretchAlgorithm, _ rate: (Int64, Int64)) throws {
    let rate = try StretchRate(rate.0, over: rate.1)
    let input = tone(441, frameCount: rate.value > 4 ? 80_000 : 40_000)
    let output = try stretched(input, algorithm, rate)
    let measuredPitch = pitch(of: output[(output.count / 4)..<(output.count * 3 / 4)])
    #expect(abs(measuredPitch - 441) < 4.41, "\(algorithm) at \(rate.value): \(measuredPitch) Hz")
  }

  /// Slowed audio of a low sample rate passes through Sonic at a higher one.
  @Test(arguments: [8_000, 11_025, 22_050])
  func pitchLevelAndCountArePreservedAtLowSampleRates(_ sampleRate: Int) throws {
    let rate = try StretchRate(1, over: 8)
    let input = tone(441, frameCount: 4_001, channelCount: 2, sampleRateHz: sampleRate)
    let format = AudioFormat(sampleRateHz: sampleRate, channelCount: 2)
    for chunkSizes in [[1_024], [1, 977, 64, 2_500]] {
      let output = try stretched(input, .timeDomain, rate, format: format, chunkSizes: chunkSizes)
      #expect(Int64(output.count) == 2 * rate.outputCount(of: 4_001))
      let (left, right) = (
        stride(from: 0, to: output.count, by: 2).map { output[$0] },
        stride(from: 1, to: output.count, by: 2).map { output[$0] }
      )
      #expect(left == right)
      let measuredPitch = pitch(of: left[4_000..<28_000], sampleRateHz: sampleRate)
      #expect(abs(measuredPitch - 441) < 4.41, "\(measuredPitch) Hz")
      // From the first period on.
      for first in stride(from: 0, to: 28_000, by: 100) {
        let peak = left[first..<(first + 100)].lazy.map(abs).max() ?? 0
        #expect(peak > 0.45 && peak < 0.55, "\(first): \(peak)")
      }
    }
  }

  @Test(arguments: algorithms, [2, 6])
  func channelsAreNotMixed(_ algorithm: TimeStretchAlgorithm, _ channelCount: Int) throws {
    // The odd channels are silent, the even ones have a tone.
    var input = tone(441, frameCount: 12_000, channelCount: channelCount)
    for index in input.indices where index % channelCount % 2 == 1 { input[index] = 0 }
    let rate = try StretchRate(3, over: 2)
    let output = try stretched(
      input, algorithm, rate, format: AudioFormat(sampleRateHz: 44_100, channelCount: channelCount), chunkSizes: [700])
    #expect(output.count == 8_000 * channelCount)
    for channel in 0..<channelCount {
      let samples = stride(from: channel, to: output.count, by: channelCount).map { output[$0] }
      let peak = samples[2_000..<6_000].lazy.map(abs).max() ?? 0
      if channel % 2 == 1 { #expect(peak < 0.001) } else { #expect(peak > 0.4 && peak < 0.6) }
    }
  }

  @Test(arguments: algorithms)
  func startInTheMiddleIsAudibleAtOnce(_ algorithm: TimeStretchAlgorithm) throws {
    let rate = try StretchRate(2)
    let all = tone(441, frameCount: 20_000)
    let stretcher = try algorithm.makeStretcher(
      format: AudioFormat(sampleRateHz: 44_100, channelCount: 1), rate: rate)
    let history = stretcher.historyFrameCount
    let output = try stretched(
      Array(all[10_000...]), algorithm, rate, history: Array(all[(10_000 - history)..<10_000]))
    #expect(output.count == 5_000)
    // Neither silence nor a fade: the first two periods are as loud as the rest.
    let peak = output[..<200].lazy.map(abs).max() ?? 0
    #expect(peak > 0.4 && peak < 0.6)
  }

  /// The last input frames are audible in the output.
  @Test(
    arguments: algorithms, [(1, 8), (1, 2), (3, 4), (1_234_567, 1_000_000), (2, 1), (5, 2), (8, 1)] as [(Int64, Int64)])
  func audioIsAudibleUpToTheEnd(_ algorithm: TimeStretchAlgorithm, _ rate: (Int64, Int64)) throws {
    let rate = try StretchRate(rate.0, over: rate.1)
    let output = try stretched(tone(441, frameCount: rate.value > 4 ? 80_000 : 20_000), algorithm, rate)
    // Except for a fade of some milliseconds: at most 10 ms are silent, and the last 30 ms are as loud as the rest.
    let silent = output.count - 1 - (output.lastIndex { abs($0) > 0.05 } ?? 0)
    let peak = output.suffix(1_323).lazy.map(abs).max() ?? 0
    print("\(algorithm) at \(rate.value): \(silent) frames of silence at the end, peak before it \(peak)")
    #expect(silent < 441 && peak > 0.4)
  }

  @Test func samplesBeyondFullScaleAreClippedAndNonFiniteOnesSilenced() throws {
    var input = tone(441, frameCount: 8_000).map { $0 * 4 }
    input[100] = .nan
    input[101] = .infinity
    let output = try stretched(input, .timeDomain, try StretchRate(2))
    #expect(output.allSatisfy { $0 >= -1 && $0 <= 1 })
    #expect(output.lazy.map(abs).max() ?? 0 > 0.99)
  }

  @Test(arguments: [(0, 1), (1, 0), (-1, 1), (33, 1), (1, 33), (.max, 1), (1, .max), (.min, .min)] as [(Int64, Int64)])
  func rateOutOfRangeIsRejected(_ rate: (Int64, Int64)) {
    expectError(.unsupportedRate) { try StretchRate(rate.0, over: rate.1) }
  }

  @Test func ratesAreReducedAndCountExactly() throws {
    #expect(try StretchRate(4, over: 8) == StretchRate(1, over: 2))
    #expect(try StretchRate(1, over: 32).value == StretchRate.slowest)
    #expect(try StretchRate(32).value == StretchRate.fastest)
    #expect(try StretchRate(3, over: 2).outputCount(of: 10) == 7)
    #expect(try StretchRate(1, over: 32).outputCount(of: .max) == .max)
  }

  @Test func sampleRateTooLowForTheRateIsRejected() throws {
    let rate = try StretchRate(32)
    expectError(.unsupportedRate) {
      try TimeDomainStretcher(format: AudioFormat(sampleRateHz: 2_000, channelCount: 1), rate: rate)
    }
  }

  #if !RubberBand
    @Test func spectralStretchingIsRejectedWithoutRubberBand() throws {
      let rate = try StretchRate(2)
      #expect(!TimeStretchAlgorithm.spectral.isAvailable)
      expectError(.unsupportedRate) {
        try TimeStretchAlgorithm.spectral.makeStretcher(
          format: AudioFormat(sampleRateHz: 44_100, channelCount: 1), rate: rate)
      }
    }
  #endif
}
