import MediaCore
import Playback
import WireProtocol

/// The command for loudness normalization (ReplayGain).
extension Connection {
  /// Changes the given settings. Returns all settings, and the gain that is applied to the current item.
  func setReplayGain(_ change: PlaybackCommand.ReplayGainChange, on target: NamedPlayer) throws(MediaError) -> Fields {
    let (settings, itemID, gain) = try target.player.tryOnLoop { player throws(MediaError) in
      var settings = player.replayGain
      if let mode = change.mode { settings.mode = ReplayGainMode(mode) }
      if let decibels = change.preampDecibels { settings.preampDecibels = decibels }
      if let decibels = change.fallbackDecibels { settings.fallbackDecibels = decibels }
      if let preventsClipping = change.preventsClipping { settings.preventsClipping = preventsClipping }
      try player.setReplayGain(settings)
      let itemID = player.state.currentItemID
      let gain: AppliedGain? = if let itemID { try player.appliedGain(of: itemID) } else { nil }
      return (settings, itemID, gain)
    }
    return [
      "mode": .string(settings.mode.rawValue), "preAmp": .float(settings.preampDecibels),
      "fallback": .float(settings.fallbackDecibels), "protect": .bool(settings.preventsClipping),
      "item": itemID.map { .int($0) } ?? FieldValue.none, "gain": Self.decibels(gain),
      "source": gain?.source.map { .string($0.rawValue) } ?? FieldValue.none,
      "limited": gain.map { .bool($0.isLimitedByPeak) } ?? FieldValue.none,
    ]
  }

  /// A gain in dB, rounded to two decimals.
  static func decibels(_ gain: AppliedGain?) -> FieldValue { rounded(gain?.decibels) }
}

extension ReplayGainMode {
  fileprivate init(_ mode: PlaybackCommand.ReplayGainMode) {
    switch mode {
    case .off: self = .off
    case .track: self = .track
    case .album: self = .album
    case .auto: self = .auto
    }
  }
}
