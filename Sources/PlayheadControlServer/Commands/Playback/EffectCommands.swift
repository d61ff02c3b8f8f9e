import PlayheadEffects
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension ChannelMixCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    if let mix = try arguments.requestedMix() {
      try target.effects.change(for: target.player) { $0.channelMix = ChannelMix(mix) }
    }
    return Reply(mix: Mix(target.effects.settings.channelMix))
  }
}

extension EqualizerCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    let change = try arguments.equalizerChange()
    try target.effects.change(for: target.player) { effects in
      switch change {
      case .none: break
      case .off: effects.equalizer = nil
      case .replace(let equalizer): effects.equalizer = EqualizerSettings(equalizer)
      case .preAmp(let gain):
        effects.equalizer = EqualizerSettings(bands: effects.equalizer?.bands ?? [], outputGainDecibels: gain)
      }
    }
    return Reply(equalizer: target.effects.settings.equalizer.map { RequestedEqualizer($0) })
  }
}

extension CompressorCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    if !arguments.isReadWithoutValue {
      let settings = arguments.compressor(changing: target.effects.settings.compressor)
      try target.effects.change(for: target.player) { $0.compressor = settings }
    }
    return Reply(
      values: target.effects.settings.compressor.map {
        Reply.Values(
          threshold: $0.thresholdDecibels, ratio: $0.ratio, knee: $0.kneeDecibels, attack: $0.attack,
          release: $0.release, makeUp: $0.makeUpGainDecibels)
      })
  }
}

extension LimiterCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    if !arguments.isReadWithoutValue {
      let settings = arguments.limiter(changing: target.effects.settings.limiter)
      try target.effects.change(for: target.player) { $0.limiter = settings }
    }
    return Reply(
      values: target.effects.settings.limiter.map {
        Reply.Values(ceiling: $0.ceilingDecibels, release: $0.release, lookAhead: $0.lookAhead)
      })
  }
}

extension Arguments<CompressorCommand> {
  /// The requested compressor. Nil: off. Without `on`, values that the request lacks are the present ones.
  fileprivate func compressor(changing present: CompressorSettings?) -> CompressorSettings? {
    if self.state == false { return nil }
    var settings = self.state == nil ? present ?? CompressorSettings() : CompressorSettings()
    if let threshold = self.threshold { settings.thresholdDecibels = threshold }
    if let ratio = self.ratio { settings.ratio = ratio }
    if let knee = self.knee { settings.kneeDecibels = knee }
    if let attack = self.attack { settings.attack = attack }
    if let release = self.release { settings.release = release }
    if let makeUp = self.makeUp { settings.makeUpGainDecibels = makeUp }
    return settings
  }
}

extension Arguments<LimiterCommand> {
  /// The requested limiter. Nil: off. Without `on`, values that the request lacks are the present ones.
  fileprivate func limiter(changing present: LimiterSettings?) -> LimiterSettings? {
    if self.state == false { return nil }
    var settings = self.state == nil ? present ?? LimiterSettings() : LimiterSettings()
    if let ceiling = self.ceiling { settings.ceilingDecibels = ceiling }
    if let release = self.release { settings.release = release }
    if let lookAhead = self.lookAhead { settings.lookAhead = lookAhead }
    return settings
  }
}

// MARK: - Values of the engine and of the protocol

extension ChannelMix {
  /// Nil: off.
  fileprivate init?(_ mix: ChannelMixCommand.Mix) {
    switch mix {
    case .off: return nil
    case .mono: self = .mono
    case .swap: self = .swapLeftAndRight
    case .left: self = .left
    case .right: self = .right
    case .matrix(let rows): self = .matrix(rows)
    }
  }
}

extension ChannelMixCommand.Mix {
  fileprivate init(_ mix: ChannelMix?) {
    switch mix {
    case nil: self = .off
    case .mono: self = .mono
    case .swapLeftAndRight: self = .swap
    case .left: self = .left
    case .right: self = .right
    case .gains(let gains):
      self = .matrix(gains.indices.map { output in gains.indices.map { $0 == output ? gains[output] : 0 } })
    case .matrix(let rows): self = .matrix(rows)
    }
  }
}

extension EqualizerSettings {
  fileprivate init(_ requested: RequestedEqualizer) {
    self.init(
      bands: requested.bands.map {
        EqualizerBand(.init($0.kind), frequencyHz: $0.frequency, gainDecibels: $0.gain, qFactor: $0.q)
      }, outputGainDecibels: requested.preAmp)
  }
}

extension RequestedEqualizer {
  fileprivate init(_ settings: EqualizerSettings) {
    self.init(
      bands: settings.bands.map {
        EqualizerCommand.Band(.init($0.kind), frequency: $0.frequencyHz, gain: $0.gainDecibels, q: $0.qFactor)
      }, preAmp: settings.outputGainDecibels)
  }
}

extension EqualizerBand.Kind {
  fileprivate init(_ kind: EqualizerCommand.Band.Kind) {
    self =
      switch kind {
      case .peak: .peak
      case .lowShelf: .lowShelf
      case .highShelf: .highShelf
      case .highPass: .highPass
      case .lowPass: .lowPass
      }
  }
}

extension EqualizerCommand.Band.Kind {
  fileprivate init(_ kind: EqualizerBand.Kind) {
    self =
      switch kind {
      case .peak: .peak
      case .lowShelf: .lowShelf
      case .highShelf: .highShelf
      case .highPass: .highPass
      case .lowPass: .lowPass
      }
  }
}
