import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol

/// `playhead watch`: subscribes, and prints events until interrupted.
enum Watch {
  /// Prints events, or shows the live line, until interrupted.
  ///
  /// - Throws: `ErrorReply`, `MediaError`, or `Unreachable` unless it reconnects.
  static func run(
    _ options: Invocation.WatchOptions, _ encoder: RequestEncoder, outputFormat: Invocation.OutputFormat?,
    _ path: String
  ) throws -> Int32 {
    if let template = options.template { return try FormattedWatch.run(options, template, encoder, path) }
    let isJSON = outputFormat == .json
    if !options.selectsEvents, outputFormat != .raw, HumanText.isSelected(outputFormat), isatty(STDOUT_FILENO) == 1,
      !Style.isDumb
    {
      return try LiveWatch.run(options, path)
    }
    var options = options
    if !options.selectsTimes, options.keys.isEmpty { options.keys = Invocation.WatchOptions.defaultKeys }
    let lines = try lines(options, encoder, isJSON: isJSON)
    return try repeating(options.reconnects, isJSON: isJSON) { onEvent in try follow(lines, path, onEvent: onEvent) }
  }

  /// The lines of the subscriptions.
  ///
  /// - Throws: `MediaError` for an invalid value.
  static func lines(
    _ options: Invocation.WatchOptions, _ encoder: RequestEncoder, isJSON: Bool
  ) throws -> [UInt8] {
    let requests = requests(options)
    var lines: [UInt8] = []
    for (index, words) in requests.enumerated() {
      let line = try isJSON ? encoder.json(words, id: index + 1) : encoder.words(words)
      try RequestCheck.check(line)
      lines += line
    }
    return lines
  }

  /// Calls `follow` until it throws an error other than `Unreachable`, or any error unless `reconnects` is true.
  /// `follow` calls its argument when events have arrived.
  static func repeating(
    _ reconnects: Bool, isJSON: Bool, _ follow: (_ onEvent: () -> Void) throws -> Void
  ) throws -> Int32 {
    var retryDelay = RetryDelay()
    while true {
      do {
        try follow { retryDelay = RetryDelay() }
      } catch let failure as Unreachable where reconnects {
        // Report once, and again after each reconnection.
        if retryDelay.isInitial {
          Failure(Unreachable(message: "\(failure.message); waiting for it")).printDiagnostic(isJSON: isJSON)
        }
        retryDelay.wait()
      }
    }
  }

  /// Prints events until the daemon disconnects. Calls `onEvent` when events have arrived.
  ///
  /// - Throws: `ErrorReply`, or `Unreachable` at the end.
  private static func follow(_ lines: [UInt8], _ path: String, onEvent: () -> Void) throws {
    var connection = try DaemonConnection(path: path)
    try connection.send(lines)
    while true {
      // Lines that arrive together are written together.
      var text: [UInt8] = []
      while let line = connection.nextLine() {
        switch kind(of: line) {
        case .event: text += line + [UInt8(ascii: "\n")]
        case .other: continue
        case .failure(let error):
          Terminal.print(text)
          throw error
        }
      }
      if !text.isEmpty {
        Terminal.print(text)
        onEvent()
      }
      guard try connection.receive() else { throw Unreachable(message: "the daemon at \(path) disconnected") }
    }
  }

  /// Reads the received lines. Returns whether there are events among them.
  ///
  /// - Throws: `ErrorReply`, or `Unreachable` if the daemon ends the connection.
  static func readEvents(_ connection: inout DaemonConnection) throws -> Bool {
    var hasEvents = false
    while let line = connection.nextLine() {
      switch kind(of: line) {
      case .event: hasEvents = true
      case .other: continue
      case .failure(let error): throw error
      }
    }
    return hasEvents
  }

  /// The requests of the subscriptions. Values come last, so that all subscriptions exist when the first value is
  /// printed.
  private static func requests(_ options: Invocation.WatchOptions) -> [[[UInt8]]] {
    let player = options.player.map { [Array("player=".utf8) + $0] } ?? []
    var requests = options.ticks.map { [Array("tick".utf8), $0] + player }
    let item = options.item.map { [Array("item=".utf8) + $0] } ?? []
    let seeks = options.includesSeeks ? [Array("seeks=true".utf8)] : []
    if !options.times.isEmpty { requests.append([Array("at".utf8)] + options.times + item + seeks + player) }
    if options.includesChapters { requests.append([Array("at-chapters".utf8)] + item + seeks + player) }
    requests += options.meters.map { [Array("meter".utf8), $0] + player }
    if !options.keys.isEmpty { requests.append([Array("observe".utf8)] + options.keys + player) }
    return requests
  }

  /// The meaning of a line for a subscriber.
  enum LineKind {
    case event
    /// A greeting or a reply, which is not printed.
    case other
    /// An error reply, or the announced end of the connection.
    case failure(any Error)
  }

  /// The kind of a line from the daemon.
  static func kind(of line: [UInt8]) -> LineKind {
    if line.first == UInt8(ascii: "{") {
      guard let value = try? JSONValue(parsing: line.span) else { return .other }
      if value["method"] != nil { return .event }
      guard value["error"] != nil else { return .other }
      return failure(ReplyPrinter.error(ofJSON: value))
    }
    switch try? ServerLine(parsing: line) {
    case .event(EventName.closing.rawValue, let fields)?:
      return .failure(Unreachable(message: fields["message"] ?? "the daemon closed the connection"))
    case .event?: return .event
    case .error(_, let error, _)?: return failure(error)
    case .hello?, .row?, .ok?, nil: return .other
    }
  }

  /// The kind of an error reply. A daemon that shuts down counts as disconnected.
  private static func failure(_ error: MediaError) -> LineKind {
    error.code == .shuttingDown ? .failure(Unreachable(message: error.message)) : .failure(ErrorReply(error: error))
  }
}
