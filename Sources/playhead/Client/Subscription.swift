import WireProtocol

/// The commands that subscribe. A subscription ends with its connection, so that it needs `playhead watch`.
enum Subscription {
  /// The options of `watch` that correspond to a command, with example values. Nil for another command.
  static func watchOptions(for command: CommandName?) -> String? {
    switch command {
    case .at?: "--at 90 95.25"
    case .atChapters?: "--chapters --seeks"
    case .tick?: "--tick 0.5"
    case .meter?: "--meter 20"
    case .observe?: "--observe player.timeControlStatus queue.version"
    default: nil
    }
  }
}
