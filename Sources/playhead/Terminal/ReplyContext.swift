import PlayheadWireProtocol

/// The second request whose reply completes the text of the first one: the title of an entry, or its duration.
enum ReplyContext {
  /// The request that follows `reply`. Nil for none.
  ///
  /// - Parameter words: The words of the first request.
  static func request(after words: [[UInt8]], _ reply: DaemonReply) -> [[UInt8]]? {
    let player = words.filter { $0.starts(with: "player=".utf8) }
    let hasItem = reply.fields["item"].map { $0 != "none" } ?? false
    guard hasItem else { return nil }
    switch words.first.flatMap({ CommandName(rawValue: String(decoding: $0, as: UTF8.self)) }) {
    case StatusCommand.name, JumpCommand.name, NextCommand.name, PreviousCommand.name:
      return [Array("list".utf8), Array("limit=1".utf8)] + player
    case SeekCommand.name, StepCommand.name, NextChapterCommand.name, PreviousChapterCommand.name,
      BookmarkGoCommand.name:
      return [Array("status".utf8)] + player
    default: return nil
    }
  }
}
