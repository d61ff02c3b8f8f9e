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
