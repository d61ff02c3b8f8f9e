import PlayheadWireProtocol

/// Replies as lines or tables with one row for each record, for people.
enum ReplyTable {
  /// The table for the rows of a reply. Nil if the command has none.
  static func table(ofCommand command: String, _ rows: [ServerLine.TextFields]) -> Table? {
    guard !rows.isEmpty else { return nil }
    switch CommandName(rawValue: command) {
    case ItemTracksCommand.name?, AssetTracksCommand.name?: return tracks(rows)
    case ItemLogCommand.name?: return log(rows)
    default: return nil
    }
  }

  private static func tracks(_ rows: [ServerLine.TextFields]) -> Table {
    var table = Table(
      columns: ["TRACK", "TYPE", "CODEC", "PROPERTIES"], isRightAligned: [true, false, false, false])
    for row in rows {
      let cells = [row["track"] ?? "-", row["type"] ?? "-", row["codec"] ?? "-"]
      table.append(cells.map { Terminal.printable($0) } + [Terminal.printable(Inspect.properties(ofTrack: row))])
    }
    return table
  }

  private static func log(_ rows: [ServerLine.TextFields]) -> Table {
    var table = Table(columns: ["KIND", "URL", "DETAILS"], isRightAligned: [false, false, false])
    // An entry is opened for its state and for decoding. Both requests often have the same result.
    var shown: Set<[String]> = []
    for row in rows {
      let cells = [row["kind"] ?? "-", row["uri"] ?? "-", row["kind"] == "error" ? error(row) : access(row)]
      guard shown.insert(cells).inserted else { continue }
      table.append(cells.map { Terminal.printable($0) }, mark: row["kind"] == "error" ? .red : .plain)
    }
    return table
  }

  private static func access(_ row: ServerLine.TextFields) -> String {
    var parts: [String] = []
    if let type = row["type"], !type.isEmpty { parts.append(type) }
    if let bytes = row["bytes"] { parts.append("\(bytes) bytes") }
    if let rate = row["observedBitrate"].flatMap({ Int($0) }), rate > 0 { parts.append("\(rate / 1_000) kbit/s") }
    if let startup = row["startup"].flatMap({ Double($0) }), (0..<1e6).contains(startup) {
      parts.append("first byte after \(Int((startup * 1_000).rounded())) ms")
    }
    for name in ["reconnects", "switches", "stalls"] {
      if let count = row[name], count != "0" { parts.append("\(count) \(name)") }
    }
    return parts.joined(separator: ", ")
  }

  private static func error(_ row: ServerLine.TextFields) -> String {
    let status = row["status"].flatMap { $0 == "0" ? nil : "status \($0)" }
    return [row["message"] ?? row["name"], status, row["retried"] == "true" ? "retried" : nil].compactMap { $0 }
      .joined(separator: ", ")
  }

  // MARK: - Lines

  /// The lines for a reply. Nil if the command has none.
  static func lines(ofCommand command: String, _ reply: DaemonReply) -> String? {
    switch CommandName(rawValue: command) {
    case ImageCommand.name?: images(reply)
    case ExplainCommand.name?: steps(reply.fields)
    case ItemStatusCommand.name?: entry(reply.fields)
    default: nil
    }
  }

  /// A line for each written image or sheet.
  private static func images(_ reply: DaemonReply) -> String {
    func line(_ fields: ServerLine.TextFields, _ values: [String]) -> String? {
      guard let file = fields["file"] else { return nil }
      let size = "\(fields["width"] ?? "?")x\(fields["height"] ?? "?")"
      return Terminal.printable("\(file): \((values + [size]).joined(separator: ", "))") + "\n"
    }
    let images = reply.rows.compactMap { line($0, [$0["time"].map(HumanText.clock)].compactMap { $0 }) }
    let sheet = reply.fields["file"] == nil ? nil : line(reply.fields, ["\(reply.rows.count) images"])
    let fault = reply.fields["fault"].map { "Incomplete: \(Terminal.printable($0))\n" }
    return images.joined() + (sheet ?? "") + (fault ?? "")
  }

  /// The main properties of an entry.
  private static func entry(_ fields: ServerLine.TextFields) -> String? {
    guard let item = fields["item"], var status = fields["status"] else { return nil }
    if let message = fields["message"] { status += ": \(message)" }
    var duration = HumanText.clock(fields["duration"] ?? "")
    if fields["providesPreciseDuration"] == "false" { duration = "about \(duration)" }
    let values = [
      ("Entry", item), ("Title", fields["title"]), ("Artist", fields["artist"]), ("Album", fields["album"]),
      ("File", fields["path"]), ("Status", status),
      ("Duration", fields["duration"].flatMap { Double($0) } == nil ? nil : duration),
      ("Ends at", fields["forwardPlaybackEndTime"].flatMap { Double($0) == nil ? nil : HumanText.clock($0) }),
    ]
    let lines = values.compactMap { name, value in value.map { (name, Terminal.printable($0)) } }
    let width = lines.map(\.0.utf8.count).max() ?? 0
    return lines.map { "\(DisplayWidth.padded($0, to: width))  \($1)\n" }.joined()
  }

  /// The steps of a start or a seek, with their durations in milliseconds.
  private static func steps(_ fields: ServerLine.TextFields) -> String? {
    guard let kind = fields["kind"], let item = fields["item"], let reached = fields["reached"] else { return nil }
    let names = ["wait", "open", "index", "demux", "decode", "resample", "commit", "device", "total"]
    let steps = names.map { name in (name, fields[name].flatMap { Int($0) }.map(milliseconds) ?? "-") }
    let widths = (names.map(\.utf8.count).max() ?? 0, steps.map(\.1.utf8.count).max() ?? 0)
    let head = "\(Terminal.printable(kind)) of entry \(Terminal.printable(item)) at \(HumanText.clock(reached))\n"
    return head
      + steps.map { name, duration in
        "  \(DisplayWidth.padded(name, to: widths.0))  "
          + "\(DisplayWidth.padded(duration, to: widths.1, isRightAligned: true)) ms\n"
      }.joined()
  }

  private static func milliseconds(_ microseconds: Int) -> String {
    let fraction = "\(microseconds % 1_000)"
    return "\(microseconds / 1_000).\(String(repeating: "0", count: max(0, 3 - fraction.utf8.count)))\(fraction)"
  }
}
