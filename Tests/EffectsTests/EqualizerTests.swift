import PlayheadEffects
import PlayheadMediaCore
import Testing

/// The equalizer, apart from its frequency response.
@Suite struct EqualizerTests {
  @Test(arguments: [
    EqualizerSettings(),
    EqualizerSettings(bands: [EqualizerBand(.peak, frequencyHz: 1_000), EqualizerBand(.lowShelf, frequencyHz: 50)]),
  ])
  func bandsWithoutGainLeaveEverySampleUnchanged(settings: EqualizerSettings) throws {
    let equalizer = try Effect.equalizer(settings).processor(AudioFormat(sampleRateHz: 48_000, channelCount: 2))
    let input = Signals.noise(frames: 1_000, channelCount: 2)
    let isEqual = equalizer.output(of: input, channelCount: 2) == input
    #expect(isEqual)
    #expect(equalizer.historyFrameCount == 0 && equalizer.latencyFrameCount == 0)
  }

  /// A slow filter has a long history, but no filter has one above the limit of the engine.
  @Test(arguments: [
    (EqualizerBand(.peak, frequencyHz: 1_000, gainDecibels: -6, qFactor: 1), 0.001...0.02),
    (EqualizerBand(.highPass, frequencyHz: 20), 0.1...0.3),
    (EqualizerBand(.peak, frequencyHz: 30, gainDecibels: 12, qFactor: 4), 1.0...2.0),
    (EqualizerBand(.peak, frequencyHz: 1, gainDecibels: 40, qFactor: 40), 10.0...10.0),
  ])
  func historyIsThatOfTheSlowestFilter(band: EqualizerBand, seconds: ClosedRange<Double>) throws {
    for rate in [8_000, 48_000, 768_000] {
      let format = AudioFormat(sampleRateHz: rate, channelCount: 1)
      let equalizer = try Effect.equalizer(EqualizerSettings(bands: [band])).processor(format)
      let history = Double(equalizer.historyFrameCount) / Double(rate)
      print(band.kind, band.frequencyHz, "Hz Q", band.qFactor, "at", rate, "Hz:", history, "s")
      #expect(seconds.contains(history))
    }
  }

  @Test func tenBandsAreAcceptedAndStayFiniteWithTheHighestGains() throws {
    let bands = Array(repeating: EqualizerBand(.lowShelf, frequencyHz: 1_000, gainDecibels: 40), count: 10)
    let settings = EqualizerSettings(bands: bands, outputGainDecibels: 40)
    let equalizer = try Effect.equalizer(settings).processor(AudioFormat(sampleRateHz: 48_000, channelCount: 1))
    let isFinite = equalizer.output(of: Signals.constant(1, frames: 48_000, channelCount: 1), channelCount: 1)
      .allSatisfy(\.isFinite)
    #expect(isFinite)
  }
}
