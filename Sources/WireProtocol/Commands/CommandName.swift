/// The name of a command, the same in both forms.
public struct CommandName: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
  public let rawValue: String

  /// The name of an existing command. Nil if there is no command with this name.
  public init?(rawValue: String) {
    guard CommandTable.index(named: rawValue.utf8) != nil else { return nil }
    self.rawValue = rawValue
  }

  public init(stringLiteral name: String) { rawValue = name }
}

/// The names of commands that are not defined as a type.
extension CommandName {
  public static let append: Self = "append"
  public static let clear: Self = "clear"
  public static let history: Self = "history"
  public static let insert: Self = "insert"
  public static let jump: Self = "jump"
  public static let list: Self = "list"
  public static let load: Self = "load"
  public static let move: Self = "move"
  public static let next: Self = "next"
  public static let onFailure: Self = "on-failure"
  public static let playlistExport: Self = "playlist.export"
  public static let previous: Self = "previous"
  public static let queueAbort: Self = "queue.abort"
  public static let queueBegin: Self = "queue.begin"
  public static let queueChanges: Self = "queue.changes"
  public static let queueCommit: Self = "queue.commit"
  public static let queueEdit: Self = "queue.edit"
  public static let remove: Self = "remove"
  public static let replace: Self = "replace"
  public static let shuffle: Self = "shuffle"
}
