import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension SilenceCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    let (duration, threshold) = (arguments.duration, arguments.threshold)
    if duration != nil || threshold != nil {
      try target.player.tryOnLoop { player throws(MediaError) in
        var detection = player.silenceDetection
        if let duration { detection.duration = duration.isNumeric ? duration : nil }
        if let threshold { detection.threshold = Float(threshold) }
        try player.setSilenceDetection(detection)
      }
    }
    let detection = target.state.silenceDetection
    return Reply(duration: detection.duration, threshold: Double(detection.threshold))
  }
}
