import Glibc
import PlayheadEffects
import PlayheadMediaCore
import Testing

/// The frequency response of the equalizer.
@Suite struct EqualizerResponseTests {
  /// The response of a band according to the transfer function H(s) of the *Audio EQ Cookbook*, which is independent of
  /// the coefficients. The bilinear transform maps a frequency to the tangent of half of its angle.
  private func prototypeDecibels(_ band: EqualizerBand, atHz frequencyHz: Double, sampleRateHz: Int) -> Double {
    let unit = Double.pi / Double(sampleRateHz)
    let s = tan(frequencyHz * unit) / tan(band.frequencyHz * unit)
    let (gain, q) = (pow(10, band.gainDecibels / 40), band.qFactor)
    let root = gain.squareRoot()
    // The real and the imaginary part of `c2 s² + c1 s + c0` on the imaginary axis.
    func magnitude(_ c2: Double, _ c1: Double, _ c0: Double) -> Double { hypot(c0 - c2 * s * s, c1 * s) }
    let value =
      switch band.kind {
      case .peak: magnitude(1, gain / q, 1) / magnitude(1, 1 / (gain * q), 1)
      case .lowShelf: gain * magnitude(1, root / q, gain) / magnitude(gain, root / q, 1)
      case .highShelf: gain * magnitude(gain, root / q, 1) / magnitude(1, root / q, gain)
      case .highPass: magnitude(1, 0, 0) / magnitude(1, 1 / q, 1)
      case .lowPass: magnitude(0, 0, 1) / magnitude(1, 1 / q, 1)
      }
    return 20 * log10(value)
  }

  /// Frequencies below half of the sample rate, a third of an octave apart.
  private func frequencies(_ sampleRateHz: Int) -> [Double] {
    (0...40).map { 10 * pow(2, Double($0) / 3) }.filter { $0 < 0.49 * Double(sampleRateHz) }
  }

  static let bands = [
    EqualizerBand(.peak, frequencyHz: 1_000, gainDecibels: 12, qFactor: 2),
    EqualizerBand(.peak, frequencyHz: 31.25, gainDecibels: -15, qFactor: 1.414),
    EqualizerBand(.peak, frequencyHz: 7_900, gainDecibels: 6, qFactor: 10),
    EqualizerBand(.peak, frequencyHz: 100, gainDecibels: 40, qFactor: 0.1),
    EqualizerBand(.lowShelf, frequencyHz: 100, gainDecibels: 9),
    EqualizerBand(.lowShelf, frequencyHz: 20, gainDecibels: -24, qFactor: 0.4),
    EqualizerBand(.highShelf, frequencyHz: 6_000, gainDecibels: -9),
    EqualizerBand(.highShelf, frequencyHz: 2_000, gainDecibels: 18, qFactor: 1.5),
    EqualizerBand(.highPass, frequencyHz: 80),
    EqualizerBand(.highPass, frequencyHz: 3_000, qFactor: 5),
    EqualizerBand(.lowPass, frequencyHz: 5_000),
    EqualizerBand(.lowPass, frequencyHz: 200, qFactor: 0.5),
  ]

  private static let formats = [(16_000, 1), (44_100, 2), (48_000, 6), (96_000, 1)].map {
    AudioFormat(sampleRateHz: $0.0, channelCount: $0.1)
  }

  @Test(arguments: bands, formats)
  func processedAudioHasTheAnalyticResponse(band: EqualizerBand, format: AudioFormat) throws {
    let settings = EqualizerSettings(bands: [band], outputGainDecibels: -1.5)
    let equalizer = try Effect.equalizer(settings).processor(format)
    let (channelCount, rate) = (format.channelCount, format.sampleRateHz)
    let impulse = Signals.impulse(
      frames: equalizer.historyFrameCount + 16, channelCount: channelCount, channel: channelCount - 1)
    let output = equalizer.output(of: impulse, channelCount: channelCount)
    let response = Signals.channel(channelCount - 1, of: output, channelCount: channelCount)
    var (measuredError, formulaError) = (0.0, 0.0)
    for frequency in frequencies(rate) {
      let expected = settings.responseDecibels(atHz: frequency, sampleRateHz: rate)
      let prototype = prototypeDecibels(band, atHz: frequency, sampleRateHz: rate) - 1.5
      guard prototype > -90 else { continue }
      let measured = Signals.decibels(of: response, atHz: frequency, sampleRateHz: rate)
      measuredError = max(measuredError, abs(measured - expected))
      formulaError = max(formulaError, abs(prototype - expected))
    }
    print(
      band.kind, band.frequencyHz, "Hz", band.gainDecibels, "dB Q", band.qFactor, "at", rate, "Hz,", channelCount,
      "channels: measured", measuredError, "dB, formula", formulaError, "dB")
    #expect(measuredError < 0.1 && formulaError < 1e-6)
    let others = output.indices.filter { $0 % channelCount != channelCount - 1 }
    let isSilent = others.allSatisfy { output[$0] == 0 }
    #expect(isSilent)
  }

  private static let knownValues: [(EqualizerBand, Double, Double)] = [
    (EqualizerBand(.peak, frequencyHz: 1_000, gainDecibels: 7, qFactor: 3), 1_000, 7),
    (EqualizerBand(.peak, frequencyHz: 1_000, gainDecibels: 7, qFactor: 3), 0, 0),
    (EqualizerBand(.lowShelf, frequencyHz: 200, gainDecibels: 8), 200, 4),
    (EqualizerBand(.lowShelf, frequencyHz: 200, gainDecibels: 8), 0, 8),
    (EqualizerBand(.highShelf, frequencyHz: 5_000, gainDecibels: -8), 5_000, -4),
    (EqualizerBand(.highShelf, frequencyHz: 5_000, gainDecibels: -8), 24_000, -8),
    (EqualizerBand(.highPass, frequencyHz: 100), 100, -3.0103),
    (EqualizerBand(.highPass, frequencyHz: 100), 0, -.infinity),
    (EqualizerBand(.lowPass, frequencyHz: 9_000, qFactor: 2), 9_000, 6.0206),
    (EqualizerBand(.lowPass, frequencyHz: 1, qFactor: 0.5), 0, 0),
  ]

  @Test(arguments: knownValues)
  func responseHasKnownValues(band: EqualizerBand, frequencyHz: Double, expected: Double) {
    let value = EqualizerSettings(bands: [band]).responseDecibels(atHz: frequencyHz, sampleRateHz: 48_000)
    print(band.kind, "at", frequencyHz, "Hz:", value, "dB")
    #expect(value == expected || abs(value - expected) < 1e-4)
  }

  /// The 10 bands of a graphic equalizer, measured together.
  @Test func bandsInSeriesAddTheirGains() throws {
    let bands = (0..<10).map { index in
      EqualizerBand(
        .peak, frequencyHz: 31.25 * pow(2, Double(index)), gainDecibels: index.isMultiple(of: 2) ? 6 : -6,
        qFactor: 1.414)
    }
    let settings = EqualizerSettings(bands: bands)
    let equalizer = try Effect.equalizer(settings).processor(AudioFormat(sampleRateHz: 48_000, channelCount: 1))
    let response = equalizer.output(
      of: Signals.impulse(frames: 48_000, channelCount: 1, channel: 0), channelCount: 1)
    for frequency in frequencies(48_000) {
      let expected = settings.responseDecibels(atHz: frequency, sampleRateHz: 48_000)
      let sum = bands.reduce(0) { $0 + prototypeDecibels($1, atHz: frequency, sampleRateHz: 48_000) }
      let measured = Signals.decibels(of: response, atHz: frequency, sampleRateHz: 48_000)
      print(frequency, "Hz:", measured, "dB")
      #expect(abs(measured - expected) < 0.01 && abs(sum - expected) < 1e-6)
    }
  }

  /// The filters converge to these gains when their frequency approaches half of the sample rate.
  private static let limits: [(EqualizerBand.Kind, Double)] = [
    (.peak, 0), (.lowShelf, 9), (.highShelf, 0), (.highPass, -.infinity), (.lowPass, 0),
  ]

  @Test(arguments: limits)
  func bandsFromHalfOfTheSampleRateOnHaveTheirLimit(kind: EqualizerBand.Kind, expected: Double) throws {
    for frequency in [4_000.0, 4_001, 20_000] {
      let settings = EqualizerSettings(bands: [EqualizerBand(kind, frequencyHz: frequency, gainDecibels: 9)])
      let equalizer = try Effect.equalizer(settings).processor(AudioFormat(sampleRateHz: 8_000, channelCount: 2))
      let input = Signals.noise(frames: 1_000, channelCount: 2, amplitude: 0.1)
      let factor = Float(pow(10, expected / 20))
      let difference = Signals.difference(equalizer.output(of: input, channelCount: 2), input.map { $0 * factor })
      print(kind, frequency, "Hz at 8000 Hz: difference", difference)
      #expect(difference < 1e-7)
      #expect(equalizer.historyFrameCount == 0)
      #expect(abs(settings.responseDecibels(atHz: 440, sampleRateHz: 8_000) - expected) < 1e-9 || expected.isInfinite)
    }
    // Slightly below half of the sample rate, the response is close to the limit.
    let settings = EqualizerSettings(bands: [EqualizerBand(kind, frequencyHz: 3_999.99, gainDecibels: 9)])
    let value = settings.responseDecibels(atHz: 440, sampleRateHz: 8_000)
    #expect(expected.isInfinite ? value < -100 : abs(value - expected) < 0.001)
  }
}
