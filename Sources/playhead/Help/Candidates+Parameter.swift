import PlayheadWireProtocol

extension Candidates {
  /// Creates the candidates for a parameter of a daemon command.
  init(of parameter: ParameterSpec) {
    switch parameter.kind {
    case .path, .localPath, .outputPath: self = .files
    case .playerName, .playerNameOrAll: self = .players
    case .commandName: self = .commands
    case .key: self = .keys
    case .entry: self = .entries
    case .word(let words): self = .words(words)
    case .toggle: self = .words(["on", "off", "toggle"])
    case .onOff: self = .words(["on", "off"])
    case .flag, .boolean: self = .words(["true", "false"])
    case .track: self = .words(["auto", "none"])
    case .timeExpression: self = .words(["end", "live"])
    case .timeOrNone: self = .words(["none"])
    case .tolerance: self = .words(["inf"])
    case .startMoment, .startDate, .startTime: self = .words(["now"])
    case .condition:
      self = .words([
        "ended", "ready", "status=playing", "status=paused", "status=waiting", "time>=", "time<=", "item=", "silence>=",
      ])
    case .edit:
      // A command as one argument: offer its name.
      self = .words(QueueEdits.names)
    case .time, .duration, .integer, .number, .volume, .text, .texts, .requestID, .range, .selection: self = .nothing
    }
  }

  /// The commands that `queue.edit` accepts.
  private enum QueueEdits {
    static let names = ["append", "clear", "insert", "load", "move", "remove", "replace"]
  }
}
