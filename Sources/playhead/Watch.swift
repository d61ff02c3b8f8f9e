import MediaCore
import WireProtocol

/// `playhead watch`: subscribes, and prints events until it is interrupted.
enum Watch {
  static func run(
    _ options: Invocation.WatchOptions, _ encoder: RequestEncoder, isJSON: Bool, _ path: String
  ) throws -> Int32 {
    let requests = requests(options)
    var lines: [UInt8] = []
    for (index, words) in requests.enumerated() {
      let line = try isJSON ? encoder.json(words, id: index + 1) : encoder.words(words)
      try RequestCheck.check(line)
      lines += line
    }
    var connection = try DaemonConnection(path: path)
    try connection.send(lines)
    while true {
      // All lines that came together are written together.
      var text: [UInt8] = []
      while let line = connection.nextLine() {
        switch meaning(of: line) {
        case .event: text += line + [UInt8(ascii: "\n")]
        case .other: continue
        case .failure(let message, let status):
          Terminal.print(text)
          Terminal.complain(message)
          return status
        }
      }
      if !text.isEmpty { Terminal.print(text) }
      guard try connection.receive() else { throw Unreachable(message: "the daemon at \(path) went away") }
    }
  }

  /// Times first, values last: when the first value is printed, everything is being watched.
  private static func requests(_ options: Invocation.WatchOptions) -> [[[UInt8]]] {
    let player = options.player.map { [Array("player=".utf8) + $0] } ?? []
    var requests = options.ticks.map { [Array("tick".utf8), $0] + player }
    if !options.times.isEmpty {
      let item = options.item.map { [Array("item=".utf8) + $0] } ?? []
      let seeks = options.includesSeeks ? [Array("seeks=true".utf8)] : []
      requests.append([Array("at".utf8)] + options.times + item + seeks + player)
    }
    requests += options.meters.map { [Array("meter".utf8), $0] + player }
    if !options.keys.isEmpty { requests.append([Array("observe".utf8)] + options.keys + player) }
    return requests
  }

  private enum Meaning {
    case event
    /// A greeting, an answer: nothing to show.
    case other
    case failure(String, status: Int32)
  }

  private static func meaning(of line: [UInt8]) -> Meaning {
    if line.first == UInt8(ascii: "{") {
      guard let value = try? JSONValue(parsing: line.span) else { return .other }
      if value["method"] != nil { return .event }
      guard case .string(let message)? = value["error"]?["message"] else { return .other }
      return .failure(message, status: PlayheadClient.Status.of(ReplyPrinter.code(ofJSONError: value)))
    }
    switch try? ServerLine(parsing: line) {
    case .event(EventName.closing.rawValue, let fields)?:
      return .failure(
        fields["message"] ?? "the daemon closed the connection", status: PlayheadClient.Status.unreachable)
    case .event?: return .event
    case .error(_, let error, _)?:
      return .failure(ReplyPrinter.describe(error), status: PlayheadClient.Status.of(error.code))
    case .hello?, .row?, .ok?, nil: return .other
    }
  }
}
