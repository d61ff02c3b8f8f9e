// `playhead watch --format`: one line for each change of the formatted text, for status bars.
import PlayheadWireProtocol

struct FormattedWatch {
  private let template: ValueTemplate
  private let player: [UInt8]?
  private let encoder: RequestEncoder
  private let path: String
  /// The text printed last, also before a reconnection.
  private var printedText: String?

  /// Prints lines until interrupted.
  ///
  /// - Throws: `ErrorReply`, `MediaError`, or `Unreachable` unless it reconnects.
  static func run(
    _ options: Invocation.WatchOptions, _ template: ValueTemplate, _ encoder: RequestEncoder, _ path: String
  ) throws -> Int32 {
    var options = options
    options.keys = Invocation.WatchOptions.defaultKeys
    if options.ticks.isEmpty, template.names.contains(where: Get.continuousNames.contains) {
      options.ticks = [Array("1".utf8)]
    }
    let lines = try Watch.lines(options, encoder, isJSON: false)
    var watch = FormattedWatch(template: template, player: options.player, encoder: encoder, path: path)
    return try Watch.repeating(options.reconnects, isJSON: false) { onEvent in
      try watch.follow(lines, onEvent: onEvent)
    }
  }

  private init(template: ValueTemplate, player: [UInt8]?, encoder: RequestEncoder, path: String) {
    (self.template, self.player, self.encoder, self.path) = (template, player, encoder, path)
  }

  /// Prints lines until the daemon disconnects. Events trigger a request for the values, which uses another connection.
  ///
  /// - Throws: `ErrorReply`, or `Unreachable` at the end.
  private mutating func follow(_ lines: [UInt8], onEvent: () -> Void) throws {
    var connection = try DaemonConnection(path: path)
    let client = JSONClient(try DaemonConnection(path: path)) { [encoder] in try encoder.json($0, id: 1) }
    try connection.send(lines)
    while true {
      if try Watch.readEvents(&connection) {
        onEvent()
        let values = try Get.values(template.names, player: player, client)
        let text = template.line { values[$0] ?? .null }
        if text != printedText { Terminal.print(text) }
        printedText = text
      }
      guard try connection.receive() else { throw Unreachable(message: "the daemon at \(path) disconnected") }
    }
  }
}
