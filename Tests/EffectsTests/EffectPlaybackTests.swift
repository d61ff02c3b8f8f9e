import Glibc
import PlayheadEffects
import PlayheadTesting
import RigSupport
import Testing

/// Effects of players and items on a virtual clock.
@Suite struct EffectPlaybackTests {
  private let files: TemporaryDirectory

  init() throws { files = try TemporaryDirectory("effects") }

  private static func sample(_ index: Int) -> Double { 0.9 * sin(2 * .pi * 200 * Double(index) / 48_000) }

  /// A tone of 200 Hz: at -0.9 dBFS in the left channel, and inverted at half of that in the right one.
  private func tone(frames: Int = 96_000) throws -> PlayerItem {
    let path = files.file("tone.wav")
    try TimeCode.writeWAV(path: path, frameCount: frames) { index in
      let value = Self.sample(index) * 32_768
      return StereoFrame(left: Int16(value.rounded()), right: Int16((-value / 2).rounded()))
    }
    return PlayerItem(path: path)
  }

  private func equalizer() throws -> AudioProcessorFactory {
    try .parametricEqualizer(
      EqualizerSettings(bands: [EqualizerBand(.lowShelf, frequencyHz: 1_000, gainDecibels: 12)]))
  }

  @Test func effectsOfItemAndPlayerAreHeardInOrderWithoutLatency() async throws {
    let test = try await PlaybackEngine.virtual()
    let item = try tone()
    item.audioProcessors = [try .channelMatrix(.matrix([[1, 0], [0, 0]]))]
    var settings = LimiterSettings()
    settings.ceilingDecibels = -0.5
    let player = try await Player(engine: test.engine, playerItem: item)
    await player.setAudioProcessors([try equalizer(), try .peakLimiter(settings)])
    await player.play()
    try await test.clock.advance(by: .seconds(3))
    let left = Array(test.output.channel(0).prefix(96_000))
    let peak = left.map(abs).max() ?? 0
    print("peak", peak, "ceiling", settings.ceiling)
    #expect(peak <= settings.ceiling && peak > settings.ceiling * 0.99)
    // The limiter's latency is removed: the zeros of the tone stay at their frames, but for the phase of the shelf.
    let rising = (48_000..<48_240).filter { left[$0 - 1] <= 0 && left[$0] > 0 }
    print("rising zero at", rising)
    #expect(rising.count == 1 && rising.allSatisfy { 47_990...48_030 ~= $0 })
    let isSilent =
      test.output.channel(1).allSatisfy { $0 == 0 } && test.output.channel(0).dropFirst(96_000).allSatisfy { $0 == 0 }
    #expect(isSilent)
  }

  @Test func audioAfterASeekEqualsContinuousPlayback() async throws {
    var outputs: [[Float]] = []
    for seeks in [false, true] {
      let test = try await PlaybackEngine.virtual()
      let player = try await Player(engine: test.engine, playerItem: try tone(frames: 192_000))
      await player.setAudioProcessors([
        try equalizer(), try .compressor(CompressorSettings()), try .peakLimiter(LimiterSettings()),
      ])
      await player.play()
      if seeks {
        try await test.clock.advance(by: .seconds(0.1))
        try await player.seek(to: .seconds(3), toleranceBefore: .zero, toleranceAfter: .zero)
        await test.clock.settle()
        test.output.removeAll()
        try await test.clock.advance(by: .seconds(0.5))
        outputs.append(test.output.channel(0))
      } else {
        try await test.clock.advance(by: .seconds(3.5))
        outputs.append(Array(test.output.channel(0).suffix(24_000)))
      }
    }
    let difference = Signals.difference(outputs[0], outputs[1])
    print("frames", outputs[0].count, outputs[1].count, "difference", difference)
    #expect(outputs[0].count == 24_000 && outputs[1].count == 24_000)
    // The first 5 ms may be crossfaded with the audio before the seek.
    #expect(Signals.difference(outputs[0].dropFirst(480), outputs[1].dropFirst(480)) < 1e-6)
  }

  @Test func matrixOfAnotherSizeFailsTheItemWithItsError() async throws {
    let test = try await PlaybackEngine.virtual()
    let item = try tone(frames: 4_800)
    item.audioProcessors = [try .channelMatrix(.gains([1, 1, 1]))]
    let player = try await Player(engine: test.engine, playerItem: item)
    await player.play()
    try await test.clock.advance(by: .seconds(0.1))
    #expect(item.error?.code == .invalidArgument)
    #expect(item.error?.message == "gains must be for 2 channels, as many as the item has (got 3)")
    _ = player
  }
}
