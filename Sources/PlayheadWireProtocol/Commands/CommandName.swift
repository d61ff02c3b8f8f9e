/// The name of a command, the same in both forms.
package struct CommandName: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
  package let rawValue: String

  /// The name of an existing command. Nil if there is no command with this name.
  package init?(rawValue: String) {
    guard CommandTable.index(named: rawValue.utf8) != nil else { return nil }
    self.rawValue = rawValue
  }

  package init(stringLiteral name: String) { rawValue = name }
}
