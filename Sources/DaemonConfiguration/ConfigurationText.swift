import MediaCore
import WireProtocol

/// A problem in a configuration file.
public struct ConfigurationFault: Error, Sendable, Hashable, CustomStringConvertible {
  public var file: String
  /// Line and column count from 1. Nil if the problem has no location.
  public var line: Int?
  public var column: Int?
  public var message: String

  /// `FILE:LINE:COLUMN: MESSAGE`, in the format of compilers.
  public var description: String {
    ([file] + [line, column].compactMap { $0.map(String.init) }).joined(separator: ":") + ": \(message)"
  }
}

extension ConfigurationFault {
  /// Creates the problem for a location where a name is missing.
  init(missingNameAt location: KeyLocator.Location, in file: String) {
    self.init(
      file: file, line: location.line, column: location.column,
      message: "the name of a table or an option is expected here")
  }
}

/// The contents of a configuration file, and all of its problems.
public struct ConfigurationText: Sendable {
  /// The options with the values from the file. An invalid value leaves the default.
  public private(set) var options: DaemonOptions
  /// The problems in the order of their location.
  public private(set) var faults: [ConfigurationFault] = []

  private let file: String
  private let locator: KeyLocator

  /// Creates the result for a file that could not be read.
  init(faults: [ConfigurationFault], file: String) {
    options = DaemonOptions()
    self.faults = faults
    self.file = file
    locator = KeyLocator("")
  }

  /// Reads the file's text and the JSON that the TOML parser created from it.
  public init(_ text: String, parsed json: JSONValue, file: String, over options: DaemonOptions = DaemonOptions()) {
    self.file = file
    self.options = options
    locator = KeyLocator(text)
    if let location = locator.missingName {
      faults = [ConfigurationFault(missingNameAt: location, in: file)]
    } else {
      read(json, at: [])
    }
    faults.sort { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
  }

  private mutating func read(_ value: JSONValue, at path: [String]) {
    if case .object(let members) = value, path.count < 2 {
      guard path.isEmpty || OptionTable.tables.contains(where: { $0.name == path[0] }) else {
        return fault(path, "unknown table [\(path[0])]\(hint(path[0], OptionTable.tables.map(\.name)))")
      }
      for member in members { read(member.value, at: path + [member.name]) }
      return
    }
    let name = path.joined(separator: ".")
    guard let option = OptionTable.option(name), path.count == 2 else {
      let names = OptionTable.all.map(\.name)
      // Suggests the option with the same key in another table.
      let sameKeyName = OptionTable.all.first { $0.key == path.last }?.name
      let suggestion = sameKeyName.map { "; did you mean \($0)?" } ?? hint(name, names)
      return fault(path, "unknown option \(name)\(suggestion)")
    }
    do throws(MediaError) {
      try option.set(&options, try Self.value(value, of: option.kind))
    } catch {
      var reason = error.message
      if case .choice(let names) = option.kind, case .string(let text) = value { reason += hint(text, names) }
      fault(path, "\(name): \(reason) (it takes \(option.kind.accepted))", atValue: true)
    }
  }

  /// Converts a value to the kind of its option.
  ///
  /// - Throws: `invalid-argument` for a value of another kind.
  private static func value(_ value: JSONValue, of kind: OptionSpec.Kind) throws(MediaError) -> OptionSpec.Value {
    switch (kind, value) {
    case (.text, .string(let text)), (.choice, .string(let text)), (.mode, .string(let text)):
      guard !text.utf8.contains(0) else { throw MediaError(.invalidArgument, "a string must not contain NUL") }
      return .text(text)
    case (.boolean, .bool(let value)): return .boolean(value)
    case (.integer(let range), .number(let token)):
      guard let number = Int(token) else { throw MediaError(.invalidArgument, "\(token) is not a whole number") }
      guard range.contains(number) else { throw MediaError(.invalidArgument, "\(number) is out of range") }
      return .integer(number)
    case (.texts, .array(let elements)), (.choices, .array(let elements)), (.accounts, .array(let elements)):
      var texts: [String] = []
      for element in elements {
        switch (kind, element) {
        case (.choices(let names), .string(let text)) where !names.contains(text):
          throw MediaError(.invalidArgument, "unknown value \"\(text)\"")
        case (_, .string(let text)) where !text.isEmpty && !text.utf8.contains(0): texts.append(text)
        case (.accounts, .number(let token)):
          guard UInt32(token) != nil else {
            throw MediaError(.invalidArgument, "\(token) is not a user or group id")
          }
          texts.append(token)
        default: throw MediaError(.invalidArgument, "unexpected \(describe(element)) in the list")
        }
      }
      return .texts(texts)
    default: throw MediaError(.invalidArgument, "unexpected \(describe(value))")
    }
  }

  private static func describe(_ value: JSONValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let token): "number \(token)"
    case .string(let text): "string \"\(text)\""
    case .array: "list"
    case .object: "table"
    }
  }

  private func hint(_ text: String, _ names: [String]) -> String {
    Nearest.name(to: text, among: names).map { "; did you mean \($0)?" } ?? ""
  }

  /// Creates a problem that involves several options. Its location is the first of these options that the file sets.
  /// Nil if the file sets none.
  public func fault(_ message: String, atFirstOf names: [String]) -> ConfigurationFault? {
    for name in names {
      let path = name.split(separator: ".").map(String.init)
      guard let location = locator.values[path] ?? locator.keys[path] else { continue }
      return ConfigurationFault(
        file: file, line: location.line, column: location.column, message: "\(name): \(message)")
    }
    return nil
  }

  private mutating func fault(_ path: [String], _ message: String, atValue: Bool = false) {
    let location = (atValue ? locator.values[path] : nil) ?? locator.keys[path]
    faults.append(ConfigurationFault(file: file, line: location?.line, column: location?.column, message: message))
  }
}
