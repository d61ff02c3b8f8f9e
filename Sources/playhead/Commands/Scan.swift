// `playhead scan`: the daemon measures files, and the client prints a table.
import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol

enum Scan {
  /// Sends a request line and prints the reply.
  ///
  /// - Parameter displayName: Converts a path to its display name.
  /// - Returns: The exit status: 1 if a file could not be measured.
  /// - Throws: `ErrorReply`, `Unreachable`.
  static func run(_ line: [UInt8], _ socket: String, displayName: (String) -> String) throws -> Int32 {
    var connection = try DaemonConnection(path: socket)
    // A daemon that rejects the connection may have closed it already, after sending the reason.
    try connection.sendIgnoringDisconnection(line)
    let showsProgress = isatty(STDERR_FILENO) == 1
    let reply: DaemonReply
    do {
      defer { if showsProgress { Terminal.showProgress("") } }
      reply = try connection.waitForReply { name, fields in
        if showsProgress, name == EventName.scanProgress.rawValue {
          Terminal.showProgress(progress(fields, displayName))
        }
      }
    }
    Terminal.print(table(reply.rows, album: reply.fields, displayName: displayName))
    return reply.fields["failed"] == "0" ? PlayheadClient.Status.done : PlayheadClient.Status.failure
  }

  /// A progress text such as `2/12 35 % /music/two.flac`.
  private static func progress(_ fields: ServerLine.TextFields, _ displayName: (String) -> String) -> String {
    let part = fields["done"].flatMap { Double($0) }.map { "\(Int($0 * 100)) % " } ?? ""
    let name = Terminal.printable(displayName(fields["path"] ?? ""))
    return "\(fields["file"] ?? "")/\(fields["count"] ?? "") \(part)\(name)"
  }

  // MARK: - Table

  private static let columns = [
    ("LUFS", "loudness"), ("LU", "range"), ("dBTP", "truePeak"), ("dBFS", "samplePeak"), ("gain", "gain"),
  ]

  /// A header, one line per file (values, path, note), and a line for the album.
  private static func table(
    _ rows: [ServerLine.TextFields], album: ServerLine.TextFields, displayName: (String) -> String
  ) -> String {
    var text = columns.map { padded($0.0) }.joined() + "  file\n"
    for row in rows {
      let values = columns.map { padded(displayText(row[$0.1])) }.joined()
      let note = note(row).map { "  (\($0))" } ?? ""
      text += "\(values)  \(Terminal.printable(displayName(row["path"] ?? "")))\(note)\n"
    }
    if album["albumLoudness"] != nil {
      let names = ["albumLoudness", "", "albumTruePeak", "albumSamplePeak", "albumGain"]
      text += names.map { padded($0.isEmpty ? "" : displayText(album[$0])) }.joined() + "  album\n"
    }
    return text
  }

  private static func note(_ row: ServerLine.TextFields) -> String? {
    switch row["status"] {
    case "silence"?: "silence"
    case "too-short"?: "shorter than 400 ms"
    case "failed"?: row["message"].map { Terminal.printable($0) }
    default: row["fault"] == nil ? nil : row["message"].map { Terminal.printable($0) }
    }
  }

  /// Truncates a number to two decimals; returns `-` if there is none.
  private static func displayText(_ value: String?) -> String {
    guard let value, value != "none" else { return "-" }
    let parts = value.split(separator: ".", omittingEmptySubsequences: false)
    let decimals = parts.count > 1 ? String(parts[1].prefix(2)) : ""
    return "\(parts[0]).\(decimals)\(String(repeating: "0", count: 2 - decimals.count))"
  }

  private static func padded(_ text: String) -> String {
    String(repeating: " ", count: max(1, 8 - text.utf8.count)) + text
  }
}
