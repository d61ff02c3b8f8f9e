import PlayheadEffects
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadSavedState

/// The settings of the effects of a player. Nil values are off.
struct EffectSettings: Sendable, Hashable {
  var channelMix: ChannelMix?
  var equalizer: EqualizerSettings?
  var compressor: CompressorSettings?
  var limiter: LimiterSettings?
}

/// The effects of one player: their settings, and the audio processors that apply them.
///
/// Threading: confined to the control loop.
final class PlayerEffects {
  private(set) var settings = EffectSettings()
  private var channelMix: AudioProcessorFactory?
  private var equalizer: AudioProcessorFactory?
  private var compressor: AudioProcessorFactory?
  private var limiter: AudioProcessorFactory?

  /// Changes settings of the effects. Without a difference, the player is not changed.
  ///
  /// - Throws: `invalidArgument` for a value out of range. The settings then stay.
  func change(for player: QueuePlayer, _ body: (inout EffectSettings) -> Void) throws(MediaError) {
    var new = settings
    body(&new)
    let old = settings
    guard new != old else { return }
    // The factories of unchanged effects are kept, and all settings are checked before the first change.
    let newMix =
      new.channelMix == old.channelMix
      ? channelMix : try Self.factory(new.channelMix, AudioProcessorFactory.channelMatrix)
    let newEqualizer =
      new.equalizer == old.equalizer
      ? equalizer : try Self.factory(new.equalizer, AudioProcessorFactory.parametricEqualizer)
    let newCompressor =
      new.compressor == old.compressor
      ? compressor : try Self.factory(new.compressor, AudioProcessorFactory.compressor)
    let newLimiter =
      new.limiter == old.limiter ? limiter : try Self.factory(new.limiter, AudioProcessorFactory.peakLimiter)
    (channelMix, equalizer, compressor, limiter) = (newMix, newEqualizer, newCompressor, newLimiter)
    settings = new
    let processors = [newMix, newEqualizer, newCompressor, newLimiter].compactMap(\.self)
    player.onLoop {
      $0.setAudioProcessors(processors)
      $0.reportChange(of: [])
    }
  }

  private static func factory<Settings>(
    _ settings: Settings?, _ make: (Settings) throws(MediaError) -> AudioProcessorFactory
  ) throws(MediaError) -> AudioProcessorFactory? {
    guard let settings else { return nil }
    return try make(settings)
  }

  /// Restores the saved effects of a new player. Ignores effects that are no longer valid.
  func restore(_ stored: StoredPlayer.Effects, for player: QueuePlayer) {
    if let mix = stored.channelMix.flatMap({ ChannelMix($0) }) { try? change(for: player) { $0.channelMix = mix } }
    if let equalizer = stored.equalizer.flatMap({ EqualizerSettings($0) }) {
      try? change(for: player) { $0.equalizer = equalizer }
    }
    if let compressor = stored.compressor {
      try? change(for: player) { $0.compressor = CompressorSettings(compressor) }
    }
    if let limiter = stored.limiter { try? change(for: player) { $0.limiter = LimiterSettings(limiter) } }
  }
}

// MARK: - Saved form

extension StoredPlayer.Effects {
  /// Creates the saved form of effects.
  init(_ settings: EffectSettings) {
    self.init()
    channelMix = settings.channelMix.map { ChannelMix($0) }
    equalizer = settings.equalizer.map { equalizer in
      Equalizer(
        bands: equalizer.bands.map {
          Band(
            kind: $0.kind.rawValue, frequencyHz: $0.frequencyHz, gainDecibels: $0.gainDecibels, qFactor: $0.qFactor)
        }, outputGainDecibels: equalizer.outputGainDecibels)
    }
    compressor = settings.compressor.map {
      Compressor(
        thresholdDecibels: $0.thresholdDecibels, ratio: $0.ratio, kneeDecibels: $0.kneeDecibels, attack: $0.attack,
        release: $0.release, makeUpGainDecibels: $0.makeUpGainDecibels)
    }
    limiter = settings.limiter.map {
      Limiter(ceilingDecibels: $0.ceilingDecibels, lookAhead: $0.lookAhead, release: $0.release)
    }
  }
}

extension StoredPlayer.Effects.ChannelMix {
  fileprivate init(_ mix: ChannelMix) {
    switch mix {
    case .mono: self.init(name: "mono", matrix: nil)
    case .swapLeftAndRight: self.init(name: "swapLeftAndRight", matrix: nil)
    case .left: self.init(name: "left", matrix: nil)
    case .right: self.init(name: "right", matrix: nil)
    case .gains(let gains):
      self.init(
        name: nil,
        matrix: gains.indices.map { output in gains.indices.map { $0 == output ? gains[output] : 0 } })
    case .matrix(let rows): self.init(name: nil, matrix: rows)
    }
  }
}

extension ChannelMix {
  fileprivate init?(_ stored: StoredPlayer.Effects.ChannelMix) {
    if let matrix = stored.matrix {
      self = .matrix(matrix)
      return
    }
    switch stored.name {
    case "mono": self = .mono
    case "swapLeftAndRight": self = .swapLeftAndRight
    case "left": self = .left
    case "right": self = .right
    default: return nil
    }
  }
}

extension EqualizerSettings {
  /// Nil for a band of an unknown kind.
  fileprivate init?(_ stored: StoredPlayer.Effects.Equalizer) {
    var bands: [EqualizerBand] = []
    for band in stored.bands {
      guard let kind = EqualizerBand.Kind(rawValue: band.kind) else { return nil }
      bands.append(
        EqualizerBand(
          kind, frequencyHz: band.frequencyHz, gainDecibels: band.gainDecibels, qFactor: band.qFactor))
    }
    self.init(bands: bands, outputGainDecibels: stored.outputGainDecibels)
  }
}

extension CompressorSettings {
  fileprivate init(_ stored: StoredPlayer.Effects.Compressor) {
    self.init()
    (thresholdDecibels, ratio, kneeDecibels) = (stored.thresholdDecibels, stored.ratio, stored.kneeDecibels)
    (attack, release, makeUpGainDecibels) = (stored.attack, stored.release, stored.makeUpGainDecibels)
  }
}

extension LimiterSettings {
  fileprivate init(_ stored: StoredPlayer.Effects.Limiter) {
    self.init()
    (ceilingDecibels, lookAhead, release) = (stored.ceilingDecibels, stored.lookAhead, stored.release)
  }
}
