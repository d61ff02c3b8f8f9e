import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension ReplayGainCommand: ImmediateHandler {
  /// Changes the given settings. Returns all settings, and the gain that is applied to the current item.
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    return try target.player.tryOnLoop { player throws(MediaError) in
      var settings = player.replayGain
      if let mode = arguments.mode { settings.mode = ReplayGainMode(mode) }
      if let decibels = arguments.preAmp { settings.preampDecibels = decibels }
      if let decibels = arguments.fallback { settings.fallbackDecibels = decibels }
      if let preventsClipping = arguments.protect { settings.preventsClipping = preventsClipping }
      try player.setReplayGain(settings)
      let itemID = player.state.currentItemID
      let gain: AppliedGain? = if let itemID { try player.appliedGain(of: itemID) } else { nil }
      return Reply(
        mode: settings.mode.rawValue, preampDecibels: settings.preampDecibels,
        fallbackDecibels: settings.fallbackDecibels, preventsClipping: settings.preventsClipping, item: itemID,
        gain: gain.map {
          .init(decibels: $0.roundedDecibels, source: $0.source?.rawValue, isLimited: $0.isLimitedByPeak)
        })
    }
  }
}

extension AppliedGain {
  /// The gain in dB, rounded to two decimals.
  var roundedDecibels: Double { decibels.roundedToHundredths }
}

extension ReplayGainMode {
  fileprivate init(_ mode: ReplayGainCommand.Mode) {
    switch mode {
    case .off: self = .off
    case .track: self = .track
    case .album: self = .album
    case .auto: self = .auto
    }
  }
}
