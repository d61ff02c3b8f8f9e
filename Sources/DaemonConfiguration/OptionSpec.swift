import MediaCore
import WireProtocol

/// One option of the configuration: what it is called, what it takes, and where it goes.
public struct OptionSpec: Sendable {
  /// What an option takes.
  public enum Kind: Sendable, Hashable {
    case text
    case choice([String])
    case integer(ClosedRange<Int>)
    case boolean
    /// Permissions as chmod(1) has them, in quotes: `"0660"`.
    case mode
    case texts
    case choices([String])
    /// Names in quotes, or numbers.
    case accounts

    /// In words, for errors and the example.
    public var accepted: String {
      switch self {
      case .text: "a text"
      case .choice(let names): "one of " + names.map { "\"\($0)\"" }.joined(separator: " ")
      case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
      case .boolean: "true or false"
      case .mode: "permissions such as \"0660\""
      case .texts: "a list of texts"
      case .choices(let names): "a list of " + names.map { "\"\($0)\"" }.joined(separator: " ")
      case .accounts: "a list of names and numbers"
      }
    }
  }

  /// What stood in the file, of the kind that the option takes.
  enum Value {
    case text(String)
    case integer(Int)
    case boolean(Bool)
    case texts([String])
  }

  /// With its table: `socket.path`.
  public let name: String
  public let kind: Kind
  /// Sentences, for the example.
  public let summary: String
  /// The flag of the command line that says the same and goes before it.
  public let flag: String?
  /// Whether it holds from a SIGHUP on; the others from the next start.
  public let isReloadable: Bool
  let set: @Sendable (inout DaemonOptions, Value) throws(MediaError) -> Void
  /// What it is, as TOML has it.
  let text: @Sendable (DaemonOptions) -> String
  /// Has the first as the second have it.
  let copy: @Sendable (inout DaemonOptions, DaemonOptions) -> Void

  /// An option that is kept in one field.
  init<Field>(
    name: String, kind: Kind, summary: String, flag: String?, isReloadable: Bool,
    field: WritableKeyPath<DaemonOptions, Field> & Sendable,
    set: @escaping @Sendable (inout DaemonOptions, Value) throws(MediaError) -> Void,
    text: @escaping @Sendable (DaemonOptions) -> String
  ) {
    (self.name, self.kind, self.summary, self.flag, self.isReloadable) = (name, kind, summary, flag, isReloadable)
    (self.set, self.text) = (set, text)
    copy = { options, others in options[keyPath: field] = others[keyPath: field] }
  }

  /// What it is in these options, as TOML has it; for what is not set an empty text.
  public func value(in options: DaemonOptions) -> String { text(options) }

  /// The part of the name before the dot.
  public var table: String { String(name.prefix { $0 != "." }) }
  /// The part behind it.
  public var key: String { String(name.dropFirst(table.count + 1)) }
}
