import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol

extension CrossfadeCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    if arguments.changesCrossfade {
      let crossfade = try arguments.crossfade(changing: target.state.crossfade)
      try target.player.tryOnLoop { player throws(MediaError) in try player.setCrossfade(crossfade) }
    }
    let crossfade = target.state.crossfade
    return Reply(
      duration: crossfade?.duration, curve: crossfade.map { FadeCommand.Curve(sameWordAs: $0.curve) },
      fadeOut: crossfade.map { $0.fadeOutDuration ?? $0.duration },
      fadeIn: crossfade.map { $0.fadeInDuration ?? $0.duration })
  }
}

extension Arguments<CrossfadeCommand> {
  private var hasOptions: Bool { self.curve != nil || self.fadeOut != nil || self.fadeIn != nil }

  /// Whether the request sets a cross-fade, and does not only read it.
  fileprivate var changesCrossfade: Bool { self.duration != nil || hasOptions }

  /// Returns the requested cross-fade. Without a duration it is the present one, with the options of the request.
  fileprivate func crossfade(changing present: Crossfade?) throws(MediaError) -> Crossfade? {
    var crossfade = present
    if let duration = self.duration { crossfade = duration.isValid ? Crossfade(duration: duration) : nil }
    guard hasOptions else { return crossfade }
    guard var changed = crossfade else {
      if self.duration != nil {
        throw MediaError(.badArguments, "`none` has no curve and no fades", operation: "crossfade")
      }
      throw MediaError(
        .invalidState, "there is no cross-fade whose curve or fades could change: set a duration",
        operation: "crossfade")
    }
    if let curve = self.curve { changed.curve = FadeCurve(curve) }
    if let fadeOut = self.fadeOut { changed.fadeOutDuration = fadeOut }
    if let fadeIn = self.fadeIn { changed.fadeInDuration = fadeIn }
    return changed
  }
}
