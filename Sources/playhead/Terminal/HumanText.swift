import Glibc
import PlayheadWireProtocol

/// A reply in human-readable form: sentences, tables and clock times. Omits values that only programs need, unless all
/// fields are requested.
struct HumanText {
  let text: String

  /// Whether results have the human-readable form: when requested, or by default on a terminal.
  static func isSelected(_ format: Invocation.OutputFormat?) -> Bool {
    format == .human || (format == nil && isatty(STDOUT_FILENO) == 1)
  }

  /// The text of a reply.
  ///
  /// - Parameters:
  ///   - context: The reply to the request of `ReplyContext`.
  ///   - isVerbose: Whether to print all fields.
  init(
    ofCommand command: String, _ reply: DaemonReply, context: DaemonReply? = nil, _ style: Style,
    isVerbose: Bool = false
  ) {
    let columnCount = Self.columnCount
    guard !isVerbose else {
      text = Self.generic(reply, style, columnCount)
      return
    }
    switch command {
    case "status": text = Self.status(reply.fields, entry: context?.rows.first, style)
    case "list", "history": text = Self.entries(reply, isQueue: command == "list", style, columnCount)
    case "load", "append", "insert":
      text =
        Self.generic(DaemonReply(rows: reply.rows), style, columnCount)
        + Self.additions(command == "load" ? "Loaded" : "Added", reply.fields)
    default:
      text =
        ReplySentence.text(ofCommand: command, reply, context: context)
        ?? ReplyTable.lines(ofCommand: command, reply)
        ?? Self.generic(reply, table: ReplyTable.table(ofCommand: command, reply.rows), style, columnCount)
    }
  }

  /// The maximum width of a table; nil without a terminal.
  private static var columnCount: Int? {
    // The last column remains free, because some terminals would begin another line.
    isatty(STDOUT_FILENO) == 1 ? max(1, Keyboard.columnCount - 1) : nil
  }

  /// The number of added entries: `Loaded 200 entries`.
  static func additions(_ verb: String, _ fields: ServerLine.TextFields) -> String {
    let count = fields.list("items")?.count ?? 0
    let skipped = fields["skipped"].map { ", omitted \($0) playlist entries" } ?? ""
    return "\(verb) \(count) \(count == 1 ? "entry" : "entries")\(skipped)\n"
  }

  // MARK: - Generic replies

  /// The rows as a table, and the fields below it. Each row is printed separately if the table is too wide.
  private static func generic(
    _ reply: DaemonReply, table: Table? = nil, _ style: Style, _ columnCount: Int?
  ) -> String {
    var table = table ?? Table(rows: reply.rows)
    if let columnCount { table.fit(to: columnCount) }
    if let columnCount, table.width > columnCount { table = Table(rows: []) }
    var text = table.text(style)
    if table.isEmpty {
      // The table is too wide: print each row separately.
      text = reply.rows.map { fields($0.entries, style) + "\n" }.joined()
    } else if !reply.fields.entries.isEmpty {
      text += "\n"
    }
    // `count` is omitted, because the number of rows is visible. `next` is omitted at the end of the list.
    let visibleFields = reply.fields.entries.filter { field in
      reply.rows.isEmpty || !(field.name == "count" || (field.name == "next" && field.value == "none"))
    }
    return (reply.rows.isEmpty ? "" : text) + fields(visibleFields, style)
  }

  private static func fields(_ fields: [ServerLine.TextFields.Field], _ style: Style) -> String {
    let width = fields.map { DisplayWidth.of($0.name) }.max() ?? 0
    return fields.map { field in
      "\(style.dim(DisplayWidth.padded(Terminal.printable(field.name), to: width)))  \(value(field))\n"
    }.joined()
  }

  /// The names of fields with times in seconds.
  private static let timeFieldNames: Set<String> = ["time", "duration", "start", "end", "reached", "requested"]

  /// A value: times as clock times, without terminal control characters.
  static func value(_ field: ServerLine.TextFields.Field) -> String {
    if timeFieldNames.contains(field.name), Double(field.value) != nil { return clock(field.value) }
    if field.name == "saved", let date = LocalDate.text(ofSeconds: field.value) { return date }
    return Terminal.printable(field.value)
  }

  /// Formats seconds as a clock time; also for negative times.
  static func clock(_ seconds: String) -> String {
    guard Double(seconds) != nil, !seconds.contains("e") else { return Terminal.printable(seconds) }
    return seconds.hasPrefix("-") ? "-\(ClockTime.precise(String(seconds.dropFirst())))" : ClockTime.precise(seconds)
  }

  /// Formats seconds as a clock time without fractions, for tables.
  static func shortClock(_ seconds: String?) -> String {
    guard let seconds, Double(seconds) != nil else { return "-" }
    return seconds.hasPrefix("-") ? "-\(ClockTime.whole(String(seconds.dropFirst())))" : ClockTime.whole(seconds)
  }

  /// Formats a range of seconds, `40-inf`, as clock times: `0:40-`.
  private static func shortRange(_ range: String) -> String {
    let ends = range.split(separator: "-", maxSplits: 1).map(String.init)
    guard ends.count == 2 else { return Terminal.printable(range) }
    return "\(shortClock(ends[0]))-\(ends[1] == "inf" ? "" : shortClock(ends[1]))"
  }

  // MARK: - Queue

  private static func entries(
    _ reply: DaemonReply, isQueue: Bool, _ style: Style, _ columnCount: Int?
  ) -> String {
    guard !reply.rows.isEmpty else { return isQueue ? "The queue is empty.\n" : "The history is empty.\n" }
    var table = Table(columns: ["", "#", "ID", "TIME", "TITLE"], isRightAligned: [false, true, true, true, false])
    for (number, row) in reply.rows.enumerated() {
      let isCurrent = row["current"] == "true"
      // The forms in which commands accept an entry: `#1` is the current one, and `-1` was played before it.
      let position = isQueue ? row["index"].flatMap { Int($0) }.map { $0 + 1 } : -(number + 1)
      var title = EntryTitle.withArtist(row)
      if let range = row["range"] { title += " (\(shortRange(range)))" }
      if let error = row["error"] { title += " (\(Terminal.printable(error)))" }
      table.append(
        [
          isCurrent ? ">" : "", position.map { "\($0)" } ?? "", Terminal.printable(row["item"] ?? ""),
          shortClock(row["duration"]), title,
        ],
        mark: isCurrent ? .bold : row["status"] == "failed" ? .red : .plain)
    }
    if let columnCount { table.fit(to: columnCount) }
    var text = table.text(style)
    let (count, shown) = (reply.fields["count"] ?? "\(reply.rows.count)", reply.rows.count)
    if count != "\(shown)" {
      let more = reply.fields["next"].map { $0 == "none" ? "" : "; continue with: list offset=\($0)" } ?? ""
      text += style.dim("\(shown) of \(count) entries\(more)") + "\n"
    }
    return text
  }

  // MARK: - Player

  private static func status(_ fields: ServerLine.TextFields, entry: ServerLine.TextFields?, _ style: Style) -> String {
    func shownValue(_ name: String) -> String? {
      fields[name].flatMap { ["none", "indefinite", ""].contains($0) ? nil : Terminal.printable($0) }
    }
    var lines: [(String, String)] = []
    func add(_ name: String, _ value: String?) { if let value { lines.append((name, value)) } }
    var state = Self.state(fields["timeControlStatus"] ?? "", style)
    if let reason = shownValue("reasonForWaitingToPlay") { state += " (\(reason))" }
    if let player = shownValue("player"), player != "main" { add("Player", player) }
    add("State", state)
    add("Title", shownValue("streamTitle") ?? shownValue("title") ?? entry.map { EntryTitle.of($0) })
    add("Artist", shownValue("artist"))
    add("Album", shownValue("album"))
    if let chapter = shownValue("chapter") {
      add("Chapter", shownValue("chapterTitle").map { "\(chapter), \($0)" } ?? chapter)
    }
    if let time = shownValue("time") {
      let isEstimate = fields["providesPreciseDuration"] == "false"
      add("Time", clock(time) + (shownValue("duration").map { " of \(isEstimate ? "about " : "")\(clock($0))" } ?? ""))
    }
    if let item = shownValue("item") {
      add("Entry", "\(item), the first of \(fields["count"] ?? "?")")
    } else {
      add("Queue", fields["count"] == "0" ? "empty" : "\(fields["count"] ?? "?") entries")
    }
    if let status = shownValue("itemStatus"), status != "readyToPlay" {
      add("File", status + (shownValue("message").map { ": \($0)" } ?? ""))
    }
    add("Volume", shownValue("volume").map { Self.volume($0) + (fields["isMuted"] == "true" ? ", muted" : "") })
    // Omit settings with their usual value.
    let settings = [
      ("rate", "Rate", ["0", "1"]), ("pan", "Pan", ["0"]), ("repeat", "Repeat", ["off"]), ("loop", "Loop", []),
      ("shuffle", "Shuffle", []), ("actionAtItemEnd", "At the end", ["advance"]),
      ("audioTimePitchAlgorithm", "Pitch", ["timeDomain"]),
      ("replayGain", "Replay gain", ["off"]),
    ]
    for (name, title, defaultValues) in settings where !defaultValues.contains(fields[name] ?? "") {
      add(title, shownValue(name))
    }
    let width = lines.map(\.0.count).max() ?? 0
    return lines.map { "\(style.dim(DisplayWidth.padded($0.0, to: width)))  \($0.1)\n" }.joined()
  }

  /// A volume with at most three decimals.
  static func volume(_ text: String) -> String {
    guard let volume = Double(text) else { return Terminal.printable(text) }
    let rounded = "\((volume * 1_000).rounded() / 1_000)"
    return rounded.hasSuffix(".0") ? String(rounded.dropLast(2)) : rounded
  }

  /// The state of a player as one word.
  static func state(_ timeControlStatus: String, _ style: Style) -> String {
    switch timeControlStatus {
    case "playing": style.green("playing")
    case "waitingToPlayAtSpecifiedRate": style.yellow("waiting")
    default: style.bold(Terminal.printable(timeControlStatus))
    }
  }
}
