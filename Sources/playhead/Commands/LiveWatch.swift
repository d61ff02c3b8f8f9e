// `playhead watch` on a terminal: one line, redrawn only when an event changes it or the terminal's width changes.
import Glibc
import MediaCore
import WireProtocol

enum LiveWatch {
  /// Runs until interrupted.
  ///
  /// - Throws: `ErrorReply`, `MediaError` for an invalid player name, or `Unreachable` unless it reconnects.
  static func run(_ options: Invocation.WatchOptions, _ path: String) throws -> Int32 {
    let screen = LiveScreen()
    defer { screen.end() }
    var retryDelay = RetryDelay()
    while true {
      do {
        var player = LivePlayer(try DaemonConnection(path: path), options.player)
        try player.start()
        retryDelay = RetryDelay()
        while true {
          screen.show(player.line)
          if screen.wait(for: player.descriptor, milliseconds: -1) { try player.receive() }
        }
      } catch let failure as Unreachable where options.reconnects {
        screen.show(LiveLine(message: "\(Terminal.printable(failure.message)); waiting for it"))
        // Wait in short steps, so that signals are handled meanwhile.
        var milliseconds = retryDelay.nextMilliseconds()
        while milliseconds > 0 {
          let step = min(milliseconds, 100)
          _ = screen.wait(for: -1, milliseconds: step)
          milliseconds -= step
        }
      }
    }
  }
}

/// A player that is observed over a connection.
private struct LivePlayer: ~Copyable {
  private(set) var line = LiveLine()
  private var connection: DaemonConnection
  private let player: [[UInt8]]
  private let encoder = RequestEncoder()
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
    case tags
  }

  var descriptor: Int32 { connection.descriptor }

  init(_ connection: consuming DaemonConnection, _ name: [UInt8]?) {
    self.connection = connection
    player = name.map { [Array("player=".utf8) + $0] } ?? []
    line.title = " "
  }

  /// Requests the displayed values and the events of their changes.
  ///
  /// - Throws: `Unreachable`, or `MediaError` for an invalid name.
  mutating func start() throws {
    let keys = [
      "player.timeControlStatus", "player.rate", "player.currentItem", "player.isMuted", "item.duration", "item.status",
      "item.events",
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
        if id == RequestKind.entry.rawValue { receive(entry: fields) }
        if id == RequestKind.tags.rawValue { receive(tag: fields) }
      case .ok(let id, let fields)?: try receive(reply: id, fields)
      // An entry that was removed, or cannot be read, has no tags.
      case .error(RequestKind.tags.rawValue?, _, _)?: tagTitle = ""
      case .error(_, let error, _)?:
        throw error.code == .shuttingDown ? Unreachable(message: error.message) : ErrorReply(error: error)
      case .hello?, nil: break
      }
    }
  }

  // MARK: - Requests

  /// Requests the current entry and the status, because no event contains the titles. Sends one pair of requests at a
  /// time.
  private mutating func requestEntry() throws {
    guard !isRequestingEntry else {
      mustRequestEntryAgain = true
      return
    }
    (isRequestingEntry, mustRequestEntryAgain) = (true, false)
    try connection.send(
      encoder.words([Array("list".utf8), Array("limit=1".utf8)] + player, id: RequestKind.entry.rawValue)
        + encoder.words([Array("status".utf8)] + player, id: RequestKind.status.rawValue))
  }

  private mutating func receive(entry row: ServerLine.TextFields) {
    let title = EntryTitle.of(row)
    line.title = row["artist"].map { "\(Terminal.printable($0)) - \(title)" } ?? title
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
    line.title = tagArtist.isEmpty ? tagTitle : "\(tagArtist) - \(tagTitle)"
  }

  private mutating func receive(reply id: String?, _ fields: ServerLine.TextFields) throws {
    switch id.flatMap({ RequestKind(rawValue: $0) }) {
    case .entry?: if fields["count"] == "0" { line.title = "" }
    case .status?:
      isRequestingEntry = false
      itemID = fields["item"]
      if itemID == "none" { line.title = "" }
      line.time = itemID == "none" ? nil : fields["time"].flatMap { Double($0) }
      line.duration = fields["duration"].flatMap { Double($0) }
      if let title = fields["streamTitle"], !title.isEmpty {
        line.title = Terminal.printable(title)
      } else if let title = fields["title"], !title.isEmpty {
        line.title = [fields["artist"], title].compactMap { $0 }.map { Terminal.printable($0) }.joined(separator: " - ")
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
    case .tick?: line.time = fields["time"].flatMap { Double($0) } ?? line.time
    case .meter?: line.levels = (fields.list("averageScale") ?? []).compactMap { Double($0) }
    case .changed?: try applyChange(fields["key"] ?? "", fields["new"] ?? "")
    case .overflow?, .streamTitle?, .timeJumped?: try requestEntry()
    default: break
    }
  }

  private mutating func applyChange(_ key: String, _ value: String) throws {
    switch ObservableKey(rawValue: key) {
    case .playerTimeControlStatus?:
      line.state = value
      if value == "paused" { line.levels = line.levels.map { _ in 0 } }
    case .playerRate?: line.rate = Double(value) ?? 1
    case .playerIsMuted?: line.isMuted = value == "true"
    default: try requestEntry()
    }
  }
}
