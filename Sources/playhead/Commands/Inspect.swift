// `playhead info` and `playhead tags`: the properties of files and their tags, in human-readable form. The daemon
// reads the files; nothing is played.
import PlayheadMediaCore
import PlayheadWireProtocol

enum Inspect {
  /// Prints the properties of files, or only their tags. `encode` encodes the words of a request. Returns the exit
  /// status: 1 when a file could not be read, 3 when the daemon is shutting down.
  ///
  /// - Throws: `Unreachable`, `Misuse` for standard input, or the errors of `encode` for the options.
  static func run(
    _ options: Invocation.InspectOptions, _ socket: String, isJSON: Bool,
    encode: @escaping ([[UInt8]]) throws -> [UInt8]
  ) throws -> Int32 {
    try StandardInput.check(options.files)
    // Check the options first, because an error in them is not an error of a file.
    _ = try encode(opening(Array("/".utf8), options))
    if isJSON || options.template != nil {
      return try InspectLines(try DaemonConnection(path: socket), encode: encode).run(options, opening)
    }
    let daemon = RequestClient(try DaemonConnection(path: socket), encode: encode)
    var status = PlayheadClient.Status.done
    for (index, file) in options.files.enumerated() {
      do {
        let text = try describe(file, options, daemon)
        Terminal.print((index > 0 ? "\n" : "") + text)
      } catch {
        // A request that no daemon accepts is also an error of one file; continue with the others.
        guard let reply = error as? ErrorReply ?? (error as? MediaError).map({ ErrorReply(error: $0) }) else {
          throw error
        }
        Terminal.printDiagnostic(ReplyPrinter.describe(reply.error))
        status = reply.status
        if status == PlayheadClient.Status.unreachable { return status }
      }
    }
    return status
  }

  /// The words that open a file. After `--`, every word is a path.
  private static func opening(_ file: [UInt8], _ options: Invocation.InspectOptions) -> [[UInt8]] {
    [Array("asset.open".utf8)] + options.words + [Array("--".utf8), file]
  }

  private static func describe(
    _ file: [UInt8], _ options: Invocation.InspectOptions, _ daemon: RequestClient
  ) throws -> String {
    let opened = try daemon.send(opening(file, options))
    guard let id = opened.fields["asset"] else { throw Unreachable(message: "the daemon's reply has no asset id") }
    defer { _ = try? daemon.send(["asset.close", id]) }
    let name = StandardInput.isStandardInput(file) ? StandardInput.name : String(decoding: file, as: UTF8.self)
    var text = "\(Terminal.printable(name))\n"
    if !options.tagsOnly { text += try properties(id, daemon) }
    text += try tags(id, daemon, indent: options.tagsOnly ? "  " : "    ", title: options.tagsOnly ? nil : "  Tags\n")
    return text
  }

  // MARK: - Properties

  private static func properties(_ id: String, _ daemon: RequestClient) throws -> String {
    let keys = ["duration", "providesPreciseDuration", "playable", "hasProtectedContent"]
    let rows = try daemon.send(["asset.load", id] + keys).rows
    let values = Dictionary(
      rows.compactMap { row in row["key"].map { ($0, row["value"] ?? "none") } }, uniquingKeysWith: { one, _ in one })
    let duration = values["duration"] ?? "indefinite"
    let kind = values["providesPreciseDuration"] == "true" ? "exact" : "estimated"
    var text = line("Duration", Double(duration) == nil ? "unknown" : "\(ClockTime.precise(duration)) (\(kind))")
    if values["playable"] == "false" {
      text += line("Playable", values["hasProtectedContent"] == "true" ? "no: encrypted" : "no")
    }
    for track in try daemon.send(["asset.tracks", id]).rows {
      text += line(
        "Track \(track["track"] ?? "?")",
        "\(track["type"] ?? "") \(track["codec"] ?? ""), \(properties(ofTrack: track))")
    }
    var offset: String? = "0"
    while let from = offset {
      let page = try daemon.send(["asset.chapters", id, "offset=\(from)"])
      for chapter in page.rows {
        let times = "\(ClockTime.precise(chapter["start"] ?? "")) - \(ClockTime.precise(chapter["end"] ?? ""))"
        let language = chapter["language"].map { " [\($0)]" } ?? ""
        text += line("Chapter \(chapter["chapter"] ?? "?")", "\(times)  \(chapter["title"] ?? "")\(language)")
      }
      offset = nextOffset(page, after: from)
    }
    return text
  }

  /// The properties of a track except its type and its codec.
  static func properties(ofTrack track: ServerLine.TextFields) -> String {
    var parts: [String] = []
    if let rate = track["sampleRate"] { parts.append("\(rate) Hz") }
    if let count = track["channels"] {
      parts.append(track["layout"] ?? (count == "1" ? "1 channel" : "\(count) channels"))
    }
    if let format = track["sampleFormat"] { parts.append(format) }
    if let width = track["width"], let height = track["height"] { parts.append("\(width)x\(height)") }
    if let rotation = track["rotation"], rotation != "0" { parts.append("rotated by \(rotation) degrees") }
    if let captions = track["closedCaptions"] { parts.append("closed captions \(captions)") }
    if let rate = track["frameRate"] { parts.append("\(rate) frames/s") }
    if let rate = track["bitRate"].flatMap({ Int($0) }) { parts.append("\(rate / 1_000) kbit/s") }
    if let language = track["language"], language != "und" { parts.append("language \(language)") }
    if let title = track["title"] { parts.append("\"\(title)\"") }
    if track["default"] == "true" { parts.append("default") }
    if track["playable"] == "false" { parts.append("not playable") }
    return parts.joined(separator: ", ")
  }

  // MARK: - Tags

  private static func tags(_ id: String, _ daemon: RequestClient, indent: String, title: String?) throws -> String {
    var text = ""
    var offset: String? = "0"
    while let from = offset {
      let page = try daemon.send(["asset.metadata", id, "offset=\(from)"])
      for row in page.rows {
        if let warning = row["warning"] {
          text += line("(ignored)", row["message"] ?? warning, indent)
        } else {
          text += line(name(of: row), value(of: row), indent)
        }
      }
      offset = nextOffset(page, after: from)
      guard offset == nil else { continue }
      let gains = ["trackGain", "trackPeak", "albumGain", "albumPeak", "r128TrackGain", "r128AlbumGain"]
      for gain in gains {
        if let value = page.fields[gain] { text += line(gain, gain.hasSuffix("Gain") ? "\(value) dB" : value, indent) }
      }
    }
    return text.isEmpty ? "" : (title ?? "") + text
  }

  private static func name(of row: ServerLine.TextFields) -> String {
    let name = row["commonKey"] ?? row["key"] ?? ""
    // A description given by the user is part of the name.
    if row["commonKey"] == nil, let info = row["info"] { return "\(name):\(info)" }
    return row["artwork"].map { "\(name) \($0)" } ?? name
  }

  private static func value(of row: ServerLine.TextFields) -> String {
    var text = row["value"] ?? ""
    if row["type"] == "data" {
      let parts = [row["artworkType"], row["mediaType"], row["bytes"].map { "\($0) bytes" }, row["info"]]
      text = parts.compactMap { $0 }.joined(separator: ", ")
    }
    if let total = row["total"] { text += " of \(total)" }
    if let language = row["language"] { text += " [\(language)]" }
    if row["truncated"] == "true" { text += " ... (\(row["bytes"] ?? "?") bytes)" }
    if let message = row["message"] { text += " (not read: \(message))" }
    return text
  }

  // MARK: - Layout

  /// A name and a value. Further lines of the value are aligned below the first.
  private static func line(_ name: String, _ value: String, _ indent: String = "  ") -> String {
    let width = 16
    let padding = String(repeating: " ", count: max(1, width - name.count))
    let below = "\n" + indent + String(repeating: " ", count: width)
    let lines = value.split(omittingEmptySubsequences: false) { $0.isNewline }.map { Terminal.printable($0) }
    return indent + Terminal.printable(name) + padding + lines.joined(separator: below) + "\n"
  }

  /// The offset of the next page. Nil after the last page.
  private static func nextOffset(_ page: DaemonReply, after offset: String) -> String? {
    guard let next = page.fields["next"], let nextOffset = Int(next), let currentOffset = Int(offset),
      nextOffset > currentOffset
    else { return nil }
    return next
  }
}
