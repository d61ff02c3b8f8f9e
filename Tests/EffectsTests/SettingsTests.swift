import Foundation
import PlayheadEffects
import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Testing

/// The ranges of all settings, and their encoding.
@Suite struct SettingsTests {
  private static func equalizer(_ band: EqualizerBand) -> Effect { .equalizer(EqualizerSettings(bands: [band])) }

  private static func compressor(_ change: (inout CompressorSettings) -> Void) -> Effect {
    var settings = CompressorSettings()
    change(&settings)
    return .compressor(settings)
  }

  private static func limiter(_ change: (inout LimiterSettings) -> Void) -> Effect {
    var settings = LimiterSettings()
    change(&settings)
    return .limiter(settings)
  }

  private static let band = EqualizerBand(.peak, frequencyHz: 1_000)

  private static let invalid: [(effect: Effect, message: String)] = [
    (
      equalizer(EqualizerBand(.peak, frequencyHz: 0.5)),
      "bands[0].frequencyHz must be between 1 and 384000 Hz (got 0.5)"
    ),
    (
      equalizer(EqualizerBand(.lowPass, frequencyHz: .nan)),
      "bands[0].frequencyHz must be between 1 and 384000 Hz (got nan)"
    ),
    (
      .equalizer(EqualizerSettings(bands: [band, EqualizerBand(.peak, frequencyHz: 400_000)])),
      "bands[1].frequencyHz must be between 1 and 384000 Hz (got 400000)"
    ),
    (
      equalizer(EqualizerBand(.peak, frequencyHz: 1_000, gainDecibels: 41)),
      "bands[0].gainDecibels must be between -40 and 40 dB (got 41)"
    ),
    (
      equalizer(EqualizerBand(.peak, frequencyHz: 1_000, qFactor: 0)),
      "bands[0].qFactor must be between 0.1 and 40 (got 0)"
    ),
    (
      .equalizer(EqualizerSettings(bands: Array(repeating: band, count: 11))),
      "bands must have at most 10 elements (got 11)"
    ),
    (
      .equalizer(EqualizerSettings(bands: [], outputGainDecibels: -.infinity)),
      "outputGainDecibels must be between -40 and 40 dB (got -inf)"
    ),
    (.channelMatrix(.gains([])), "gains must be for 1 to 64 channels (got 0)"),
    (.channelMatrix(.gains(Array(repeating: 1, count: 65))), "gains must be for 1 to 64 channels (got 65)"),
    (.channelMatrix(.gains([1, 16.5])), "gains[1] must be between -16 and 16 (got 16.5)"),
    (.channelMatrix(.matrix([])), "matrix must be for 1 to 64 channels (got 0)"),
    (.channelMatrix(.matrix([[1, 0], [1]])), "matrix[1] must have 2 gains, as many as rows (got 1)"),
    (.channelMatrix(.matrix([[1, .nan], [0, 1]])), "matrix[0][1] must be between -16 and 16 (got nan)"),
    (compressor { $0.thresholdDecibels = 1 }, "thresholdDecibels must be between -100 and 0 dBFS (got 1)"),
    (compressor { $0.ratio = 0.5 }, "ratio must be between 1 and 100 (got 0.5)"),
    (compressor { $0.ratio = .infinity }, "ratio must be between 1 and 100 (got inf)"),
    (compressor { $0.kneeDecibels = -1 }, "kneeDecibels must be between 0 and 40 dB (got -1)"),
    (compressor { $0.attack = .seconds(2) }, "attack must be between 0 and 1 s (got 2)"),
    (compressor { $0.attack = .milliseconds(-1) }, "attack must be between 0 and 1 s (got -0.001)"),
    (compressor { $0.release = .zero }, "release must be between 0.001 and 5 s (got 0)"),
    (compressor { $0.release = .indefinite }, "release must be between 0.001 and 5 s (got indefinite)"),
    (compressor { $0.makeUpGainDecibels = 50 }, "makeUpGainDecibels must be between -40 and 40 dB (got 50)"),
    (limiter { $0.ceilingDecibels = 0.5 }, "ceilingDecibels must be between -60 and 0 dBFS (got 0.5)"),
    (limiter { $0.lookAhead = .seconds(1) }, "lookAhead must be between 0.0001 and 0.1 s (got 1)"),
    (limiter { $0.lookAhead = .invalid }, "lookAhead must be between 0.0001 and 0.1 s (got invalid)"),
    (limiter { $0.release = .seconds(6) }, "release must be between 0.001 and 5 s (got 6)"),
  ]

  @Test(arguments: invalid.indices)
  func invalidValueIsRefusedWithItsNameAndRange(index: Int) {
    let (effect, message) = Self.invalid[index]
    print(message)
    let format = AudioFormat(sampleRateHz: 48_000, channelCount: 2)
    let error = expectError(.invalidArgument, "\(message)") { try effect.processor(format) }
    #expect(error?.message == message)
    #expect(error?.operation != nil)
    let factoryError = expectError(.invalidArgument, "\(message)") { () throws(MediaError) -> AudioProcessorFactory in
      switch effect {
      case .equalizer(let settings): try .parametricEqualizer(settings)
      case .channelMatrix(let mix): try .channelMatrix(mix)
      case .compressor(let settings): try .compressor(settings)
      case .limiter(let settings): try .peakLimiter(settings)
      }
    }
    #expect(factoryError == error)
  }

  @Test func limitsAreAccepted() throws {
    var (compressor, limiter) = (CompressorSettings(), LimiterSettings())
    compressor.attack = .zero
    (compressor.ratio, compressor.release, compressor.kneeDecibels) = (100, .milliseconds(1), 40)
    (limiter.ceilingDecibels, limiter.lookAhead, limiter.release) = (0, .seconds(0.0001), .seconds(5))
    try compressor.check()
    try limiter.check()
    #expect(limiter.ceiling == 1)
    try EqualizerSettings(bands: [
      EqualizerBand(.peak, frequencyHz: 1, gainDecibels: -40, qFactor: 0.1),
      EqualizerBand(.peak, frequencyHz: 384_000, gainDecibels: 40, qFactor: 40),
    ]).check()
    try ChannelMix.gains([-16, 16]).check()
  }

  @Test func settingsAreEncodedAndDecoded() throws {
    func copy<Value: Codable>(_ value: Value) throws -> Value {
      try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }
    for effect in Effect.all {
      print(effect)
      switch effect {
      case .equalizer(let settings): #expect(try copy(settings) == settings)
      case .channelMatrix(let mix): #expect(try copy(mix) == mix)
      case .compressor(let settings): #expect(try copy(settings) == settings)
      case .limiter(let settings): #expect(try copy(settings) == settings)
      }
    }
    #expect(try copy(ChannelMix.mono) == .mono)
  }
}
