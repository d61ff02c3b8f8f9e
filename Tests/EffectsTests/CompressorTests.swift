import Glibc
import PlayheadEffects
import PlayheadMediaCore
import Testing

/// The static curve and the times of the compressor.
@Suite struct CompressorTests {
  private static func settings(
    threshold: Double = -20, ratio: Double = 4, knee: Double = 6, makeUp: Double = 0
  ) -> CompressorSettings {
    var settings = CompressorSettings()
    settings.thresholdDecibels = threshold
    settings.ratio = ratio
    settings.kneeDecibels = knee
    settings.makeUpGainDecibels = makeUp
    return settings
  }

  private let format = AudioFormat(sampleRateHz: 48_000, channelCount: 2)

  /// Values of the formula, computed by hand.
  @Test(arguments: [
    (settings(), -60.0, -60.0), (settings(), -23, -23), (settings(), -20, -20.5625), (settings(), -17, -19.25),
    (settings(), 0, -15), (settings(knee: 0), -20, -20), (settings(knee: 0), -12, -18),
    (settings(ratio: 1), 0, 0), (settings(threshold: -40, ratio: 2, knee: 0, makeUp: 6), -20, -24),
    (settings(threshold: 0, ratio: 100, knee: 0), 20, 0.2),
  ])
  func staticCurveHasKnownValues(settings: CompressorSettings, input: Double, expected: Double) {
    let output = settings.outputDecibels(forInputDecibels: input)
    print("input", input, "dB: output", output, "dB")
    #expect(abs(output - expected) < 1e-9)
  }

  @Test(
    arguments: [
      settings(), settings(knee: 0), settings(ratio: 100), settings(threshold: -50, ratio: 2, knee: 20, makeUp: 12),
      settings(ratio: 1),
    ], [-70.0, -40, -25, -21, -20, -18, -10, 0, 12])
  func constantLevelsFollowTheStaticCurve(settings: CompressorSettings, input: Double) throws {
    let compressor = try Effect.compressor(settings).processor(format)
    let amplitude = pow(10, input / 20)
    let expected = settings.outputDecibels(forInputDecibels: input)
    for (name, samples) in [
      ("constant", Signals.constant(Float(amplitude), frames: 48_000, channelCount: 2)),
      (
        "1 kHz",
        Signals.sine(frequencyHz: 1_000, amplitude: amplitude, frames: 48_000, channelCount: 2, sampleRateHz: 48_000)
      ),
    ] {
      compressor.reset()
      let output = compressor.output(of: samples, channelCount: 2)
      let measured = 20 * log10(Double(output.suffix(9_600).map(abs).max() ?? 0))
      print(name, "input", input, "dB: output", measured, "dB, curve", expected, "dB")
      #expect(abs(measured - expected) < 0.1)
    }
  }

  /// After the attack time, 63 % of the attenuation; after the release time, 37 % of it.
  @Test(arguments: [(1, 50), (10, 100), (100, 1_000)])
  func attenuationHasItsTimeConstants(attackMilliseconds: Int, releaseMilliseconds: Int) throws {
    var settings = Self.settings(threshold: -40, ratio: 2, knee: 0)
    settings.attack = .milliseconds(attackMilliseconds)
    settings.release = .milliseconds(releaseMilliseconds)
    let compressor = try Effect.compressor(settings).processor(format)
    let (loud, quiet) = (Float(0.5), Float(0.001))
    let (attack, release) = (48 * attackMilliseconds, 48 * releaseMilliseconds)
    let loudFrames = 48_000 * 2
    let samples =
      Signals.constant(loud, frames: loudFrames, channelCount: 2)
      + Signals.constant(quiet, frames: release * 4, channelCount: 2)
    let output = compressor.output(of: samples, channelCount: 2)
    func attenuation(_ frame: Int) -> Double { -20 * log10(Double(output[2 * frame] / samples[2 * frame])) }
    let full = attenuation(loudFrames - 1)
    let (attacked, released) = (attenuation(attack - 1) / full, attenuation(loudFrames + release - 1) / full)
    print("attack", attackMilliseconds, "ms:", attacked, "release", releaseMilliseconds, "ms:", released)
    #expect(abs(attacked - (1 - exp(-1))) < 0.01)
    // The filter with the attack time adds to the release.
    #expect(released > exp(-1) - 0.01 && released < exp(-1) + 0.06)
  }

  @Test func channelsAreLinked() throws {
    let compressor = try Effect.compressor(Self.settings()).processor(format)
    let samples = (0..<48_000).map { $0 % 2 == 0 ? Float(0.9) : 0.01 }
    let output = compressor.output(of: samples, channelCount: 2)
    let wrong = stride(from: 0, to: output.count, by: 2).first {
      abs(output[$0] / output[$0 + 1] - 90) > 0.001
    }
    #expect(wrong == nil && output[output.count - 2] < 0.3)
  }

  @Test func audioBelowTheThresholdStaysUnchanged() throws {
    let compressor = try Effect.compressor(Self.settings()).processor(format)
    let samples = Signals.noise(frames: 10_000, channelCount: 2, amplitude: 0.05)
    let isEqual = compressor.output(of: samples, channelCount: 2) == samples
    #expect(isEqual)
  }

  @Test(arguments: [(1, 0.132), (100, 1.32), (1_000, 10)])
  func historyFollowsFromAttackAndRelease(releaseMilliseconds: Int, expected: Double) throws {
    var settings = CompressorSettings()
    settings.release = .milliseconds(releaseMilliseconds)
    let compressor = try Effect.compressor(settings).processor(format)
    print("release", releaseMilliseconds, "ms:", compressor.historyFrameCount, "frames")
    #expect(abs(compressor.historyFrameCount - Int(expected * 48_000)) <= 1)
    #expect(compressor.latencyFrameCount == 0)
  }
}
