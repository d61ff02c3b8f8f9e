// `playhead scan`: has the daemon measure files, and prints a table.
import Glibc
import MediaCore
import WireProtocol

enum Scan {
  /// Sends the request and prints what comes. Answers the exit status: 1 when a file could not be measured at all. Errors: `Unreachable`,
  /// `MediaError`.
  static func run(_ words: [[UInt8]], _ encoder: RequestEncoder, _ socket: String) throws -> Int32 {
    let request = try encoder.words(words)
    try RequestCheck.check(request)
    var connection = try DaemonConnection(path: socket)
    try? connection.send(request)
    let showsProgress = isatty(STDERR_FILENO) == 1
    var rows: [ServerLine.TextFields] = []
    while let line = try connection.waitForLine() {
      switch try ServerLine(parsing: line) {
      case .event(EventName.scanProgress.rawValue, let fields):
        if showsProgress { Terminal.showProgress(progress(fields)) }
      case .event(EventName.closing.rawValue, let fields):
        throw Unreachable(message: fields["message"] ?? "the daemon closed the connection")
      case .row(_, let fields): rows.append(fields)
      case .ok(_, let fields):
        if showsProgress { Terminal.showProgress("") }
        Terminal.print(table(rows, album: fields))
        return fields["failed"] == "0" ? PlayheadClient.Status.done : PlayheadClient.Status.refused
      case .error(_, let error, _):
        if showsProgress { Terminal.showProgress("") }
        Terminal.complain(ReplyPrinter.describe(error))
        return PlayheadClient.Status.of(error.code)
      case .hello, .event: break
      }
    }
    throw Unreachable(message: "the daemon at \(connection.path) closed the connection before it answered")
  }

  /// `2/12 35 % /music/two.flac`.
  private static func progress(_ fields: ServerLine.TextFields) -> String {
    let part = fields["done"].flatMap { Double($0) }.map { "\(Int($0 * 100)) % " } ?? ""
    return "\(fields["file"] ?? "")/\(fields["count"] ?? "") \(part)\(printable(fields["path"] ?? ""))"
  }

  // MARK: - The table

  private static let columns = [
    ("LUFS", "loudness"), ("LU", "range"), ("dBTP", "truePeak"), ("dBFS", "samplePeak"), ("gain", "gain"),
  ]

  /// A line for each file: its values, and its name, with what is wrong behind it.
  static func table(_ rows: [ServerLine.TextFields], album: ServerLine.TextFields) -> String {
    var text = columns.map { padded($0.0) }.joined() + "  file\n"
    for row in rows {
      let values = columns.map { padded(shown(row[$0.1])) }.joined()
      let remark = remark(row).map { "  (\($0))" } ?? ""
      text += "\(values)  \(printable(row["path"] ?? ""))\(remark)\n"
    }
    if album["albumLoudness"] != nil {
      let names = ["albumLoudness", "", "albumTruePeak", "albumSamplePeak", "albumGain"]
      text += names.map { padded($0.isEmpty ? "" : shown(album[$0])) }.joined() + "  album\n"
    }
    return text
  }

  private static func remark(_ row: ServerLine.TextFields) -> String? {
    switch row["status"] {
    case "silence"?: "silence"
    case "too-short"?: "shorter than 400 ms"
    case "failed"?: row["message"].map(printable)
    default: row["fault"] == nil ? nil : row["message"].map(printable)
    }
  }

  /// Two places, always.
  private static func shown(_ value: String?) -> String {
    guard let value, value != "none" else { return "-" }
    let parts = value.split(separator: ".", omittingEmptySubsequences: false)
    let places = parts.count > 1 ? String(parts[1].prefix(2)) : ""
    return "\(parts[0]).\(places)\(String(repeating: "0", count: 2 - places.count))"
  }

  private static func padded(_ text: String) -> String {
    String(repeating: " ", count: max(1, 8 - text.utf8.count)) + text
  }

  /// A file's name cannot make lines of its own, nor move the cursor.
  private static func printable(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
  }
}
