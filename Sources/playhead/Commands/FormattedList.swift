// `playhead list --format`: one line for each entry of the queue.
import WireProtocol

enum FormattedList {
  /// The values: the fields of a row of `list`.
  static let names = ValueNames(names: CommandTable.spec(.list)?.rowFields?.map(\.name) ?? [])

  /// Prints the entries of all pages, or of the page that `limit` selects. Returns the exit status.
  ///
  /// - Throws: `ErrorReply`, `Unreachable`.
  static func run(_ options: Invocation.ListOptions, _ client: JSONClient) throws -> Int32 {
    for row in try rows(options.words, client) {
      Terminal.print(options.template.line { row[$0] ?? .null })
    }
    return PlayheadClient.Status.done
  }

  private static func rows(_ words: [[UInt8]], _ client: JSONClient) throws -> [JSONValue] {
    guard !words.contains(where: { $0.starts(with: "limit=".utf8) }) else {
      return JSONClient.rows(try client.request(words))
    }
    let prefix = "offset="
    let offset = words.last { $0.starts(with: prefix.utf8) }.map { $0.dropFirst(prefix.utf8.count) }
    guard let offset else { return try client.allRows(words) }
    guard let start = Int(String(decoding: offset, as: UTF8.self)) else {
      return JSONClient.rows(try client.request(words))
    }
    return try client.allRows(words.filter { !$0.starts(with: prefix.utf8) }, from: start)
  }
}
