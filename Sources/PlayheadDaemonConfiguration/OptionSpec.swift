import PlayheadMediaCore
import PlayheadWireProtocol

/// The definition of one option: its name, the kind of its value, and its property in `DaemonOptions`.
package struct OptionSpec: Sendable {
  /// The values that an option accepts.
  package enum Kind: Sendable, Hashable {
    case text
    case choice([String])
    case integer(ClosedRange<Int>)
    case boolean
    /// File permissions as in chmod(1), quoted: `"0660"`.
    case mode
    case texts
    case choices([String])
    /// Quoted names, or numbers.
    case accounts

    /// A description of the accepted values for errors and the example file.
    package var accepted: String {
      switch self {
      case .text: "a string"
      case .choice(let names): "one of " + names.map { "\"\($0)\"" }.joined(separator: " ")
      case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
      case .boolean: "true or false"
      case .mode: "permissions such as \"0660\""
      case .texts: "a list of strings"
      case .choices(let names): "a list of " + names.map { "\"\($0)\"" }.joined(separator: " ")
      case .accounts: "a list of names and numbers"
      }
    }
  }

  /// A value from the file, converted to the kind of its option.
  enum Value {
    case text(String)
    case integer(Int)
    case boolean(Bool)
    case texts([String])
  }

  /// The name including its table: `socket.path`.
  package let name: String
  package let kind: Kind
  /// Sentences for the example file.
  package let summary: String
  /// The command-line flag for the same option, which overrides it.
  package let flag: String?
  /// Whether a new value takes effect on reload (SIGHUP). Otherwise it takes effect at the next start.
  package let isReloadable: Bool
  /// Sets the option to a value from the file. Throws an error for a value that the option does not accept.
  let set: @Sendable (inout DaemonOptions, Value) throws(MediaError) -> Void
  /// Returns the value as TOML.
  let text: @Sendable (DaemonOptions) -> String
  /// Copies the value from the second argument to the first.
  let copy: @Sendable (inout DaemonOptions, DaemonOptions) -> Void

  /// Creates an option that is stored in one property.
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

  /// The value in these options as TOML. An empty TOML string for an unset option.
  package func value(in options: DaemonOptions) -> String { text(options) }

  /// The part of the name before the dot.
  package var table: String { String(name.prefix { $0 != "." }) }
  /// The part of the name after the dot.
  package var key: String { String(name.dropFirst(table.count + 1)) }
}
