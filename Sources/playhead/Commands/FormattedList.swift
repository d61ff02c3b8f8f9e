// `playhead list --format`: one line for each entry of the queue.
import PlayheadWireProtocol

enum FormattedList {
  /// The values: the fields of a row of `list`.
  static let names = ValueNames(all: CommandTable.spec(ListCommand.name)?.rowFields?.map(\.name) ?? [])

  /// Prints the entries of all pages, or of the page that `limit` selects. Returns the exit status.
  ///
  /// - Throws: `ErrorReply`, `Unreachable`.
  static func run(_ options: Invocation.ListOptions, _ client: JSONClient) throws -> Int32 {
    for row in try QueueList.rows(options.words, client) {
      Terminal.print(options.template.line { row[$0] ?? .null })
    }
    return PlayheadClient.Status.done
  }
}
