import PlayheadWireProtocol

/// The commands that subscribe. A subscription ends with its connection, so that it needs `playhead watch`.
enum Subscription {
  /// The options of `watch` that correspond to a command, with example values. Nil for another command.
  static func watchOptions(for command: CommandName?) -> String? {
    switch command {
    case AtCommand.name?: "--at 90 95.25"
    case AtChaptersCommand.name?: "--chapters --seeks"
    case TickCommand.name?: "--tick 0.5"
    case MeterCommand.name?: "--meter 20"
    case ObserveCommand.name?: "--observe player.timeControlStatus queue.version"
    default: nil
    }
  }
}
