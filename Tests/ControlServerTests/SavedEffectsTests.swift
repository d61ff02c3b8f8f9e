import Logging
import PlayheadControlLoop
import PlayheadEffects
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import PlayheadSavedState
import RigSupport
import Testing

@testable import PlayheadControlServer

/// Effects from the saved state, whose values may be invalid.
@Suite struct SavedEffectsTests {
  private typealias Stored = StoredPlayer.Effects

  /// Restores effects for a new player. Returns the settings of the player and its number of processors.
  private static func restored(_ stored: StoredPlayer.Effects) -> (settings: EffectSettings, processorCount: Int) {
    let loop = ThreadControlLoop(name: "saved-effects")
    return loop.perform {
      let virtual = VirtualControlLoop(base: loop)
      let engine = PlaybackEngine(
        loop: virtual,
        output: OutputConfiguration(makeSink: {
          VirtualSink(format: AudioFormat(sampleRateHz: 48_000, channelCount: 2), now: { virtual.now })
        }))
      let player = QueuePlayer(engine: engine, name: "main")
      let effects = PlayerEffects()
      effects.restore(stored, for: player)
      return (effects.settings, player.onLoop { $0.audioProcessors.count })
    }
  }

  @Test func settingsSurviveTheSavedForm() throws {
    let mixes: [ChannelMix] = [.mono, .swapLeftAndRight, .left, .right, .matrix([[0.5, 0.5], [0, 1]])]
    for mix in mixes {
      var settings = EffectSettings()
      settings.channelMix = mix
      settings.equalizer = EqualizerSettings(
        bands: EqualizerBand.Kind.allCases.map { EqualizerBand($0, frequencyHz: 100, gainDecibels: 3, qFactor: 2) },
        outputGainDecibels: -4)
      settings.compressor = CompressorSettings()
      settings.compressor?.ratio = 3
      settings.limiter = LimiterSettings()
      settings.limiter?.ceilingDecibels = -3
      let restored = Self.restored(Stored(settings))
      #expect(restored.settings == settings && restored.processorCount == 4)
    }
  }

  @Test func invalidValuesAreIgnored() throws {
    var valid = EffectSettings()
    valid.limiter = LimiterSettings()
    let band = Stored.Band(kind: "peak", frequencyHz: 100, gainDecibels: 3, qFactor: 1)
    var (unknownKind, tooLow, infinite) = (band, band, band)
    unknownKind.kind = "notch"
    tooLow.frequencyHz = 0
    infinite.gainDecibels = .infinity
    let rows: [(name: String, change: (inout Stored) -> Void)] = [
      ("unknown mix", { $0.channelMix = .init(name: "loud", matrix: nil) }),
      ("mix without a name", { $0.channelMix = .init(name: nil, matrix: nil) }),
      ("matrix that is not square", { $0.channelMix = .init(name: nil, matrix: [[1, 0]]) }),
      ("matrix without rows", { $0.channelMix = .init(name: nil, matrix: []) }),
      ("unknown kind of band", { $0.equalizer = .init(bands: [unknownKind], outputGainDecibels: 0) }),
      ("frequency of 0 Hz", { $0.equalizer = .init(bands: [tooLow], outputGainDecibels: 0) }),
      ("infinite gain", { $0.equalizer = .init(bands: [infinite], outputGainDecibels: 0) }),
      ("11 bands", { $0.equalizer = .init(bands: Array(repeating: band, count: 11), outputGainDecibels: 0) }),
      (
        "ratio of 0",
        {
          $0.compressor = .init(
            thresholdDecibels: -20, ratio: 0, kneeDecibels: 0, attack: .zero, release: .seconds(1),
            makeUpGainDecibels: 0)
        }
      ),
      (
        "invalid time",
        {
          $0.compressor = .init(
            thresholdDecibels: -20, ratio: 2, kneeDecibels: 0, attack: .invalid, release: .seconds(1),
            makeUpGainDecibels: 0)
        }
      ),
    ]
    for row in rows {
      var stored = Stored(valid)
      row.change(&stored)
      let restored = Self.restored(stored)
      #expect(restored.settings == valid && restored.processorCount == 1, "\(row.name)")
      print("\(row.name): ignored")
    }
    var stored = Stored(valid)
    stored.limiter?.ceilingDecibels = 3
    #expect(Self.restored(stored).settings == EffectSettings())
  }
}
