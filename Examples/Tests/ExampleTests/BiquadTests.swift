import Foundation
import PlayheadTesting
import Testing
import equalizer

/// The processor of the example `equalizer`, on a virtual clock: without a device, and faster than real time.
@Suite struct BiquadTests {
  /// Plays two seconds of a tone of 1 kHz, and returns the peak of the second second.
  private func peak(_ processors: [AudioProcessorFactory]) async throws -> Float {
    let folder = try Folder()
    let test = try await PlaybackEngine.virtual()
    let item = PlayerItem(path: try folder.tone("tone.wav", seconds: 2))
    let player = try await Player(engine: test.engine, playerItem: item)
    await player.setAudioProcessors(processors)
    await player.play()
    try await test.clock.advance(by: .seconds(2))
    #expect(test.output.frameCount == 96_000)
    return test.output.channel(0).suffix(48_000).map(abs).max() ?? 0
  }

  private func band(_ frequencyHz: Double, _ gainDecibels: Double) -> AudioProcessorFactory {
    AudioProcessorFactory { Biquad(frequencyHz: frequencyHz, gainDecibels: gainDecibels) }
  }

  @Test func gainAppliesToTheBandOnly() async throws {
    #expect(try await peak([]) == 0.25)
    #expect(abs(try await peak([band(1_000, 6.0206)]) - 0.5) < 0.001)
    #expect(abs(try await peak([band(1_000, -6.0206)]) - 0.125) < 0.001)
    #expect(abs(try await peak([band(15_000, 12)]) - 0.25) < 0.01)
    // Bands that cancel each other.
    #expect(abs(try await peak([band(1_000, 9), band(1_000, -9)]) - 0.25) < 0.001)
  }

  @Test func invalidFrequencyFailsTheItem() async throws {
    let folder = try Folder()
    let test = try await PlaybackEngine.virtual()
    let item = PlayerItem(path: try folder.tone("tone.wav", seconds: 0.1))
    item.audioProcessors = [band(24_000, 6)]
    let player = try await Player(engine: test.engine, playerItem: item)
    await player.play()
    try await test.clock.advance(by: .seconds(0.1))
    #expect(item.error?.code == .invalidArgument)
    _ = player
  }
}
