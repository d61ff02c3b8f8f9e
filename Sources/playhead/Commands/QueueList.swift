// `playhead list`: all entries of a queue. The daemon returns the entries in parts.
import PlayheadMediaCore
import PlayheadWireProtocol

enum QueueList {
  /// The maximum number of attempts to read all parts of the same version of the queue.
  private static let maximumAttemptCount = 5

  /// Whether a request is `list` without a limit.
  static func includesAllEntries(_ words: [[UInt8]]) -> Bool {
    words.first?.elementsEqual(ListCommand.name.rawValue.utf8) == true
      && !words.contains { $0.starts(with: "limit=".utf8) }
  }

  /// The words of the request for the part at `offset`; nil for the offset of the user.
  private static func words(_ words: [[UInt8]], at offset: Int?) -> [[UInt8]] {
    guard let offset else { return words }
    return words.filter { !$0.starts(with: "offset=".utf8) } + [Array("offset=\(offset)".utf8)]
  }

  /// Requests all parts. If the queue changes meanwhile, begins again.
  private static func parts<Part>(
    _ request: (_ offset: Int?) throws -> Part, next: (Part) -> Int?, version: (Part) -> String?
  ) throws -> [Part] {
    var attemptCount = 1
    var parts = [try request(nil)]
    while let last = parts.last, let offset = next(last) {
      let part = try request(offset)
      if version(part) != version(last) {
        guard attemptCount < maximumAttemptCount else {
          throw ErrorReply(
            error: MediaError(.versionMismatch, "the queue changed during each of \(maximumAttemptCount) attempts"))
        }
        attemptCount += 1
        parts = [try request(nil)]
        continue
      }
      parts.append(part)
      // A daemon that repeats an offset would never end.
      if let following = next(part), following <= offset { break }
    }
    return parts
  }

  // MARK: - JSON

  /// Prints all entries as one line of JSON.
  ///
  /// - Throws: `ErrorReply`, `Unreachable`.
  static func printJSON(_ words: [[UInt8]], _ client: JSONClient) throws {
    let parts = try parts(words, client)
    guard case .object(var members)? = parts.last else {
      throw Unreachable(message: "the daemon sent an invalid reply to list")
    }
    for index in members.indices where members[index].name == "rows" {
      members[index].value = .array(parts.flatMap(JSONClient.rows))
    }
    var text: [UInt8] = []
    JSONValue.object(members).append(to: &text)
    Terminal.print(text + [UInt8(ascii: "\n")])
  }

  /// The rows of all entries, or of those that `limit` selects.
  ///
  /// - Throws: `ErrorReply`, `Unreachable`.
  static func rows(_ words: [[UInt8]], _ client: JSONClient) throws -> [JSONValue] {
    includesAllEntries(words)
      ? try parts(words, client).flatMap(JSONClient.rows) : JSONClient.rows(try client.request(words))
  }

  private static func parts(_ words: [[UInt8]], _ client: JSONClient) throws -> [JSONValue] {
    try parts {
      try client.request(Self.words(words, at: $0))
    } next: { part in
      if case .number(let next)? = part["next"] { Int(next) } else { nil }
    } version: { part in
      if case .number(let version)? = part["version"] { version } else { nil }
    }
  }

  // MARK: - Text

  /// A part of the queue in text form.
  struct TextPart {
    /// The rows as received, without `| `.
    var rows: [ArraySlice<UInt8>] = []
    var reply = DaemonReply()
  }

  /// Prints all entries as the daemon sends them, or as a table.
  ///
  /// - Throws: `ErrorReply`, `Unreachable`, or the errors of `encode`.
  static func printText(
    _ words: [[UInt8]], _ connection: consuming DaemonConnection, isHuman: Bool, isVerbose: Bool,
    encode: ([[UInt8]]) throws -> [UInt8]
  ) throws {
    var connection = connection
    let parts = try parts { offset in
      try connection.sendIgnoringDisconnection(encode(Self.words(words, at: offset)))
      return try connection.waitForPart()
    } next: { part in
      part.reply.fields["next"].flatMap { Int($0) }
    } version: { part in
      part.reply.fields["version"]
    }
    let fields = parts.last?.reply.fields ?? ServerLine.TextFields()
    if isHuman {
      let reply = DaemonReply(rows: parts.flatMap(\.reply.rows), fields: fields)
      Terminal.print(HumanText(ofCommand: ListCommand.name.rawValue, reply, .output, isVerbose: isVerbose).text)
    } else {
      var text = Array(parts.flatMap(\.rows).map { $0 + [UInt8(ascii: "\n")] }.joined())
      text += fields.entries.map { "\($0.name)=\(WordsText.quoted($0.value))" }.joined(separator: " ").utf8
      Terminal.print(text + [UInt8(ascii: "\n")])
    }
  }
}

extension DaemonConnection {
  /// Waits for the reply to `list`.
  ///
  /// - Throws: `ErrorReply`, or `Unreachable`.
  fileprivate mutating func waitForPart() throws -> QueueList.TextPart {
    var part = QueueList.TextPart()
    part.reply = try waitForReply(onRow: { line in part.rows.append(line.dropFirst(2)) })
    return part
  }
}
