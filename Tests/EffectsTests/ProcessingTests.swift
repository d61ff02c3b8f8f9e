import MediaTesting
import PlayheadEffects
import PlayheadMediaCore
import PlayheadPlayback
import Testing

/// Properties that all effects share.
@Suite struct ProcessingTests {
  private let format = AudioFormat(sampleRateHz: 48_000, channelCount: 2)

  /// Loud and quiet noise, so that the gains of the dynamic effects change.
  private func samples(frames: Int) -> [Float] {
    Signals.noise(frames: frames, channelCount: 2).enumerated().map { index, sample in
      sample * ((index / 2_000) % 2 == 0 ? 1.5 : 0.05)
    }
  }

  @Test(arguments: Effect.all, [1, 7, 64, 1_000])
  func outputDoesNotDependOnTheSizesOfChunks(effect: Effect, chunkFrames: Int) throws {
    let samples = samples(frames: 9_999)
    let expected = try effect.processor(format).output(of: samples, channelCount: 2, chunkFrames: 9_999)
    let output = try effect.processor(format).output(of: samples, channelCount: 2, chunkFrames: chunkFrames)
    print(effect, "in chunks of", chunkFrames)
    let (isEqual, isProcessed) = (output == expected, output != samples)
    #expect(isEqual && isProcessed)
  }

  @Test(arguments: Effect.all)
  func resetRestoresTheFirstState(effect: Effect) throws {
    let processor = try effect.processor(format)
    let samples = samples(frames: 5_000)
    let first = processor.output(of: samples, channelCount: 2)
    processor.reset()
    let second = processor.output(of: samples, channelCount: 2)
    print(effect)
    let isEqual = first == second
    #expect(isEqual)
  }

  private static let historyCases: [Effect] =
    Effect.all + [
      .equalizer(
        EqualizerSettings(bands: [
          EqualizerBand(.peak, frequencyHz: 30, gainDecibels: 18, qFactor: 3),
          EqualizerBand(.peak, frequencyHz: 30, gainDecibels: -12, qFactor: 3),
          EqualizerBand(.highPass, frequencyHz: 20, qFactor: 0.5),
        ])),
      .equalizer(
        EqualizerSettings(
          bands: Array(repeating: EqualizerBand(.lowPass, frequencyHz: 40, qFactor: 0.5), count: 10))),
      .compressor(
        {
          var settings = CompressorSettings()
          (settings.thresholdDecibels, settings.ratio) = (-60, 20)
          (settings.attack, settings.release) = (.milliseconds(50), .milliseconds(400))
          return settings
        }()),
      .limiter(
        {
          var settings = LimiterSettings()
          (settings.lookAhead, settings.release) = (.milliseconds(50), .milliseconds(500))
          return settings
        }()),
    ]

  /// The state before the history is extreme: loud audio and a constant, then audio that is almost silent.
  @Test(arguments: historyCases.indices)
  func historyMakesAudioEqualToContinuousProcessing(index: Int) throws {
    let effect = Self.historyCases[index]
    let continuous = try effect.processor(format)
    let history = continuous.historyFrameCount
    let loudFrames = 24_000
    let loud = Signals.noise(frames: loudFrames, channelCount: 2, amplitude: 3).map { $0 + 1 }
    let quiet = Signals.noise(frames: history + 4_800, channelCount: 2, amplitude: 0.01, seed: 2)
    let expected = continuous.output(of: loud + quiet, channelCount: 2).suffix(2 * 4_800)
    let output = try effect.processor(format).output(of: quiet, channelCount: 2).suffix(2 * 4_800)
    let difference = Signals.difference(expected, output)
    print(effect, "history", history, "frames: difference", difference)
    #expect(difference < 1e-6)
  }

  @Test(.enabled(if: AllocationProbe.isAvailable), arguments: Effect.all)
  func processingAllocatesNothing(effect: Effect) throws {
    let processor = try effect.processor(format)
    var samples = samples(frames: 4_096)
    samples.withUnsafeMutableBufferPointer { buffer in
      let counts = AllocationProbe.count {
        for _ in 0..<10 {
          var span = buffer.mutableSpan
          processor.process(&span, at: .zero)
        }
      }
      print(effect, counts)
      #expect(counts.allocationCount == 0 && counts.lockCount == 0)
    }
  }

  /// A filter that keeps NaN would stay silent indefinitely.
  @Test(arguments: Effect.all, [Float.nan, .infinity, -.infinity])
  func samplesThatAreNotFiniteAreProcessedAsZero(effect: Effect, value: Float) throws {
    var (broken, zero) = (samples(frames: 3_000), samples(frames: 3_000))
    for index in [0, 1, 501, 502, 503, 4_000] { (broken[index], zero[index]) = (value, 0) }
    let output = try effect.processor(format).output(of: broken, channelCount: 2)
    let expected = try effect.processor(format).output(of: zero, channelCount: 2)
    print(effect, value)
    let (isEqual, isFinite) = (output == expected, output.allSatisfy(\.isFinite))
    #expect(isEqual && isFinite)
  }

  @Test(arguments: Effect.all)
  func audioWithoutFramesIsAccepted(effect: Effect) throws {
    let output = try effect.processor(format).output(of: [], channelCount: 2)
    #expect(output.isEmpty)
  }

  @Test(arguments: [1, 8_000, 768_000], [1, 64])
  func everySupportedFormatIsAccepted(sampleRateHz: Int, channelCount: Int) throws {
    let format = AudioFormat(sampleRateHz: sampleRateHz, channelCount: channelCount)
    for effect in Effect.all {
      if case .channelMatrix = effect { continue }
      let processor = try effect.processor(format)
      let samples = Signals.noise(frames: 300, channelCount: channelCount)
      let isFinite = processor.output(of: samples, channelCount: channelCount).allSatisfy(\.isFinite)
      print(effect, sampleRateHz, "Hz,", channelCount, "channels, history", processor.historyFrameCount)
      #expect(isFinite)
      #expect(0...10 * sampleRateHz ~= processor.historyFrameCount)
      #expect(0...10 * sampleRateHz ~= processor.latencyFrameCount)
    }
  }
}
