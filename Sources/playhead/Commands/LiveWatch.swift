// `playhead watch` on a terminal: the screen, redrawn only when an event or the terminal's size changes it, and its
// keys.
import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol

enum LiveWatch {
  /// Runs until interrupted, or until the user quits.
  ///
  /// - Throws: `ErrorReply`, `MediaError` for an invalid player name, or `Unreachable` unless it reconnects.
  static func run(_ options: Invocation.WatchOptions, _ path: String) throws -> Int32 {
    let screen = LiveScreen()
    defer { screen.end() }
    var retryDelay = RetryDelay()
    while true {
      do {
        var player = LivePlayer(try DaemonConnection(path: path), options.player)
        try player.start(entryCount: screen.entryCount)
        retryDelay = RetryDelay()
        while true {
          try player.requestEntries(count: screen.entryCount)
          screen.show(player.pane)
          let (isReadable, actions) = screen.wait(for: player.descriptor, milliseconds: -1)
          for action in actions {
            if action == .leave { return PlayheadClient.Status.done }
            if case .request(let words) = action { try player.request(words) }
          }
          if isReadable { try player.receive() }
          if let message = player.takeKeyError() { screen.report(message) }
        }
      } catch let failure as Unreachable where options.reconnects {
        var pane = LivePane()
        pane.line.message = "\(Terminal.printable(failure.message)); waiting for it"
        screen.show(pane)
        // Wait in short steps, so that signals are handled meanwhile.
        var milliseconds = retryDelay.nextMilliseconds()
        while milliseconds > 0 {
          let step = min(milliseconds, 100)
          let (_, actions) = screen.wait(for: -1, milliseconds: step)
          if actions.contains(.leave) { return PlayheadClient.Status.done }
          if !actions.isEmpty { screen.report("the key has no effect, because no daemon is connected") }
          milliseconds -= step
        }
      }
    }
  }
}

/// A player that is observed over a connection.
private struct LivePlayer: ~Copyable {
  private(set) var pane = LivePane()
  private var connection: DaemonConnection
  private let player: [[UInt8]]
  private let encoder = RequestEncoder()
  /// The number of entries that fit on the screen; 0 without a pane.
  private var entryCount = 0
  /// The rows of the reply in progress.
  private var rows: [ServerLine.TextFields] = []
  /// The error of a key's request, until it is displayed.
  private var keyError: String?
  /// The id of the displayed entry, or `none`. Nil before the first reply.
  private var itemID: String?
  /// Whether a request for the current entry is in progress, and whether another one must follow its reply.
  private var isRequestingEntry = false
  private var mustRequestEntryAgain = false
  /// The id of the entry to which `tagTitle` and `tagArtist` belong.
  private var taggedItemID: String?
  private var tagTitle = ""
  private var tagArtist = ""

  /// The ids of the requests whose replies are processed.
  private enum RequestKind: String {
    case status
    case entry
    case history
    case tags
  }

  /// The start of the ids of the keys' requests. A number follows, because several can wait for their replies.
  private static let keyPrefix = "key-"
  private var keyRequestCount = 0

  var descriptor: Int32 { connection.descriptor }

  init(_ connection: consuming DaemonConnection, _ name: [UInt8]?) {
    self.connection = connection
    player = name.map { [Array("player=".utf8) + $0] } ?? []
    pane.line.title = " "
  }

  /// Requests the displayed values and the events of their changes.
  ///
  /// - Parameter entryCount: The number of entries to display.
  /// - Throws: `Unreachable`, or `MediaError` for an invalid name.
  mutating func start(entryCount: Int) throws {
    self.entryCount = entryCount
    let keys = [
      "player.timeControlStatus", "player.rate", "player.currentItem", "player.isMuted", "player.volume",
      "item.duration", "item.status", "item.title", "item.artist", "item.events", "queue.version",
    ]
    var lines: [UInt8] = []
    for words in [["tick", "0.25"], ["meter", "10"], ["observe"] + keys] {
      lines += try encoder.words(words.map { Array($0.utf8) } + player)
    }
    try connection.send(lines)
    try requestEntry()
  }

  /// Reads and processes the available lines.
  ///
  /// - Throws: `ErrorReply`, or `Unreachable`, also at the end of the stream.
  mutating func receive() throws {
    guard try connection.receive() else {
      throw Unreachable(message: "the daemon at \(connection.path) disconnected")
    }
    while let bytes = connection.nextLine() {
      switch try? ServerLine(parsing: bytes) {
      case .event(let name, let fields)?: try receive(event: name, fields)
      case .row(let id, let fields)?:
        if id == RequestKind.entry.rawValue || id == RequestKind.history.rawValue { rows.append(fields) }
        if id == RequestKind.tags.rawValue { receive(tag: fields) }
      case .ok(let id, let fields)?: try receive(reply: id, fields)
      // An entry that was removed, or cannot be read, has no tags.
      case .error(RequestKind.tags.rawValue?, _, _)?: tagTitle = ""
      case .error(let id, let error, _)?:
        if error.code == .shuttingDown { throw Unreachable(message: error.message) }
        guard id?.hasPrefix(Self.keyPrefix) == true else { throw ErrorReply(error: error) }
        keyError = Terminal.printable(ReplyPrinter.describe(error))
      case .hello?, nil: break
      }
    }
  }

  // MARK: - Requests

  /// Sends the request of a key.
  ///
  /// - Throws: `Unreachable`, or `MediaError` for an invalid player name.
  mutating func request(_ words: [String]) throws {
    keyRequestCount += 1
    let id = "\(Self.keyPrefix)\(keyRequestCount)"
    try connection.send(encoder.words(words.map { Array($0.utf8) } + player, id: id))
  }

  /// Returns the message of a key's request that failed, once.
  mutating func takeKeyError() -> String? {
    defer { keyError = nil }
    return keyError
  }

  /// Requests the entries again if another number of them is displayed.
  mutating func requestEntries(count: Int) throws {
    guard count != entryCount else { return }
    entryCount = count
    try requestEntry()
  }

  /// Requests the displayed entries and the status, because no event contains the titles. Sends one group of requests
  /// at a time, so that many changes of the queue do not cause as many requests.
  private mutating func requestEntry() throws {
    guard !isRequestingEntry else {
      mustRequestEntryAgain = true
      return
    }
    (isRequestingEntry, mustRequestEntryAgain) = (true, false)
    var lines: [UInt8] = []
    if entryCount > 0 { lines += try entryRequest("history", limit: entryCount, .history) }
    lines += try entryRequest("list", limit: max(1, entryCount), .entry)
    lines += try encoder.words([Array("status".utf8)] + player, id: RequestKind.status.rawValue)
    try connection.send(lines)
  }

  private func entryRequest(_ command: String, limit: Int, _ kind: RequestKind) throws -> [UInt8] {
    try encoder.words([Array(command.utf8), Array("limit=\(limit)".utf8)] + player, id: kind.rawValue)
  }

  /// Displays the rows of the queue.
  private mutating func receive(queue fields: ServerLine.TextFields) {
    pane.entries = rows.enumerated().map { LivePane.Entry(position: $0.offset + 1, row: $0.element) }
    pane.count = fields["count"].flatMap { Int($0) } ?? rows.count
    pane.hasCurrentEntry = rows.first?["current"] == "true"
    pane.line.title = rows.first.map(EntryTitle.withArtist) ?? ""
    rows = []
  }

  private mutating func receive(tag row: ServerLine.TextFields) {
    switch row["commonKey"] {
    case "title"? where tagTitle.isEmpty: tagTitle = Terminal.printable(row["value"] ?? "")
    case "artist"? where tagArtist.isEmpty: tagArtist = Terminal.printable(row["value"] ?? "")
    default: break
    }
  }

  /// Requests the tags of a readable entry, once. Shows them if they are already known.
  private mutating func requestTags(_ id: String) throws {
    guard id != taggedItemID else { return showTags() }
    (taggedItemID, tagTitle, tagArtist) = (id, "", "")
    let words = ["item.metadata", id, "common"].map { Array($0.utf8) }
    try connection.send(encoder.words(words + player, id: RequestKind.tags.rawValue))
  }

  /// Uses the title and artist of the tags as the title of the line, if they belong to the displayed entry.
  private mutating func showTags() {
    guard !tagTitle.isEmpty, taggedItemID == itemID else { return }
    pane.line.title = tagArtist.isEmpty ? tagTitle : "\(tagArtist) - \(tagTitle)"
  }

  private mutating func receive(reply id: String?, _ fields: ServerLine.TextFields) throws {
    switch id.flatMap({ RequestKind(rawValue: $0) }) {
    case .entry?: receive(queue: fields)
    case .history?:
      pane.history = rows.enumerated().map { LivePane.Entry(position: -($0.offset + 1), row: $0.element) }
      rows = []
    case .status?:
      isRequestingEntry = false
      itemID = fields["item"]
      if itemID == "none" { pane.line.title = "" }
      pane.line.time = itemID == "none" ? nil : fields["time"].flatMap { Double($0) }
      pane.line.duration = fields["duration"].flatMap { Double($0) }
      if let title = fields["streamTitle"], !title.isEmpty {
        pane.line.title = Terminal.printable(title)
      } else if let title = fields["title"], !title.isEmpty {
        let texts = [fields["artist"], title].compactMap { $0 }
        pane.line.title = texts.map { Terminal.printable($0) }.joined(separator: " - ")
      } else if let itemID, fields["itemStatus"] == "readyToPlay" {
        try requestTags(itemID)
      }
      if mustRequestEntryAgain { try requestEntry() }
    case .tags?: showTags()
    case nil: break
    }
  }

  // MARK: - Events

  private mutating func receive(event name: String, _ fields: ServerLine.TextFields) throws {
    switch EventName(rawValue: name) {
    case .closing?: throw Unreachable(message: fields["message"] ?? "the daemon closed the connection")
    case .removed?:
      throw ErrorReply(error: MediaError(.noSuchPlayer, "the player was closed"))
    case .tick?: pane.line.time = fields["time"].flatMap { Double($0) } ?? pane.line.time
    case .meter?: pane.line.levels = (fields.list("averageScale") ?? []).compactMap { Double($0) }
    case .changed?: try applyChange(fields["key"] ?? "", fields["new"] ?? "")
    case .overflow?, .streamTitle?, .timeJumped?: try requestEntry()
    default: break
    }
  }

  private mutating func applyChange(_ key: String, _ value: String) throws {
    switch ObservableKey(rawValue: key) {
    case .playerTimeControlStatus?:
      pane.line.state = value
      if value == "paused" { pane.line.levels = pane.line.levels.map { _ in 0 } }
    case .playerRate?: pane.line.rate = Double(value) ?? 1
    case .playerVolume?: pane.line.volume = Double(value) ?? 1
    case .playerIsMuted?: pane.line.isMuted = value == "true"
    default: try requestEntry()
    }
  }
}
