import PlayheadMediaCore
import PlayheadWireProtocol

/// A problem in a configuration file.
package struct ConfigurationFault: Error, Sendable, Hashable, CustomStringConvertible {
  package var file: String
  /// Line and column count from 1. Nil if the problem has no location.
  package var line: Int?
  package var column: Int?
  package var message: String

  /// `FILE:LINE:COLUMN: MESSAGE`, in the format of compilers.
  package var description: String {
    ([file] + [line, column].compactMap { $0.map(String.init) }).joined(separator: ":") + ": \(message)"
  }
}

extension ConfigurationFault {
  init(file: String, location: TOMLValue.Location?, message: String) {
    self.init(file: file, line: location?.line, column: location?.column, message: message)
  }
}

/// The contents of a configuration file, and all of its problems.
package struct ConfigurationText: Sendable {
  /// The options with the values from the file. An invalid value leaves the default.
  package private(set) var options: DaemonOptions
  /// The problems in the order of their location.
  package private(set) var faults: [ConfigurationFault] = []

  private let file: String
  /// The locations of the values that the file sets, by the names of their options.
  private var locations: [String: TOMLValue.Location] = [:]

  /// Creates the result for a file that could not be read.
  init(faults: [ConfigurationFault], file: String) {
    options = DaemonOptions()
    self.faults = faults
    self.file = file
  }

  /// Reads the table of a file.
  init(_ root: TOMLValue, file: String, over options: DaemonOptions = DaemonOptions()) {
    self.file = file
    self.options = options
    if case .table(let members) = root.contents { for member in members { readTable(member) } }
    faults.sort { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
  }

  private mutating func readTable(_ table: TOMLValue.Member) {
    guard case .table(let members) = table.value.contents else {
      return addUnknownOption(table.name, key: table.name, at: table.location)
    }
    guard OptionTable.tables.contains(where: { $0.name == table.name }) else {
      let hint = hint(table.name, OptionTable.tables.map(\.name))
      return addFault("unknown table [\(table.name)]\(hint)", at: table.location)
    }
    for member in members { readOption(member, of: table.name) }
  }

  private mutating func readOption(_ member: TOMLValue.Member, of table: String) {
    let (name, value) = ("\(table).\(member.name)", member.value)
    guard let option = OptionTable.option(name) else {
      return addUnknownOption(name, key: member.name, at: member.location)
    }
    locations[name] = value.location
    do throws(MediaError) {
      try option.set(&options, try Self.value(value.contents, of: option.kind))
    } catch {
      var reason = error.message
      if case .choice(let names) = option.kind, case .string(let text) = value.contents { reason += hint(text, names) }
      addFault("\(name): \(reason) (it takes \(option.kind.accepted))", at: value.location)
    }
  }

  private mutating func addUnknownOption(_ name: String, key: String, at location: TOMLValue.Location) {
    // Suggests the option with the same key in another table.
    let sameKeyName = OptionTable.all.first { $0.key == key }?.name
    let suggestion = sameKeyName.map { "; did you mean \($0)?" } ?? hint(name, OptionTable.all.map(\.name))
    addFault("unknown option \(name)\(suggestion)", at: location)
  }

  /// Converts a value to the kind of its option.
  ///
  /// - Throws: `invalid-argument` for a value of another kind.
  private static func value(
    _ value: TOMLValue.Contents, of kind: OptionSpec.Kind
  ) throws(MediaError) -> OptionSpec.Value {
    switch (kind, value) {
    case (.text, .string(let text)), (.choice, .string(let text)), (.mode, .string(let text)):
      guard !text.utf8.contains(0) else { throw MediaError(.invalidArgument, "a string must not contain NUL") }
      return .text(text)
    case (.boolean, .boolean(let value)): return .boolean(value)
    case (.integer(let range), .integer(let number)):
      guard range.contains(number) else { throw MediaError(.invalidArgument, "\(number) is out of range") }
      return .integer(number)
    case (.integer, .float(let text)): throw MediaError(.invalidArgument, "\(text) is not a whole number")
    case (.texts, .array(let elements)), (.choices, .array(let elements)), (.accounts, .array(let elements)):
      var texts: [String] = []
      for element in elements { texts.append(try text(element.contents, of: kind)) }
      return .texts(texts)
    default: throw MediaError(.invalidArgument, "unexpected \(describe(value))")
    }
  }

  /// Converts an element of a list.
  private static func text(_ element: TOMLValue.Contents, of kind: OptionSpec.Kind) throws(MediaError) -> String {
    switch (kind, element) {
    case (.choices(let names), .string(let text)) where !names.contains(text):
      throw MediaError(.invalidArgument, "unknown value \"\(text)\"")
    case (_, .string(let text)) where !text.isEmpty && !text.utf8.contains(0): return text
    case (.accounts, .integer(let number)):
      guard UInt32(exactly: number) != nil else {
        throw MediaError(.invalidArgument, "\(number) is not a user or group id")
      }
      return String(number)
    default: throw MediaError(.invalidArgument, "unexpected \(describe(element)) in the list")
    }
  }

  private static func describe(_ value: TOMLValue.Contents) -> String {
    switch value {
    case .boolean(let value): "\(value)"
    case .integer(let number): "number \(number)"
    case .float(let text): "number \(text)"
    case .date(let text): "date \(text)"
    case .string(let text): "string \"\(text)\""
    case .array: "list"
    case .table: "table"
    }
  }

  private func hint(_ text: String, _ names: [String]) -> String {
    Nearest.name(to: text, among: names).map { "; did you mean \($0)?" } ?? ""
  }

  /// Creates a problem that involves several options. Its location is the first of these options that the file sets.
  /// Nil if the file sets none.
  package func fault(_ message: String, atFirstOf names: [String]) -> ConfigurationFault? {
    for name in names {
      guard let location = locations[name] else { continue }
      return ConfigurationFault(file: file, location: location, message: "\(name): \(message)")
    }
    return nil
  }

  private mutating func addFault(_ message: String, at location: TOMLValue.Location) {
    faults.append(ConfigurationFault(file: file, location: location, message: message))
  }
}
