import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

@Suite struct CommandTableTests {
  @Test func tableContainsEveryCommandOnceInSortedOrder() {
    let names = CommandTable.all.map(\.name.rawValue)
    #expect(names == Set(names).sorted())
    #expect(Set(CommandTable.families.joined().map(\.name.rawValue)).isSubset(of: names))
  }

  @Test func lookupFindsCommandsOnlyByTheirExactName() {
    for spec in CommandTable.all {
      let name = Array(spec.name.rawValue.utf8)
      #expect(CommandTable.spec(named: name) === spec)
      #expect(
        CommandTable.spec(named: name.dropLast()) == nil
          || CommandName(rawValue: String(spec.name.rawValue.dropLast())) != nil)
      #expect(CommandTable.spec(named: name + [0]) == nil)
      #expect(CommandTable.spec(named: [0] + name) == nil)
    }
    #expect(CommandTable.spec(named: []) == nil)
    #expect(CommandTable.spec(named: Array(repeating: UInt8(ascii: "a"), count: 17)) == nil)
  }

  @Test func parametersHaveUniqueNamesAndAnUnambiguousOrder() {
    for spec in CommandTable.all {
      #expect(Set(spec.parameters.map(\.name)).count == spec.parameters.count, "\(spec.name)")
      #expect(spec.parameters.count <= 64)
      let kinds = spec.parameters.map(\.position)
      let positional = kinds.prefix { $0 != .option }
      #expect(!kinds.dropFirst(positional.count).contains { $0 != .option }, "\(spec.name): options come last")
      #expect(!positional.dropLast().contains { $0.isVariadic }, "\(spec.name): a list reads all remaining words")
      if let optional = positional.firstIndex(of: .optional) { #expect(!positional[optional...].contains(.required)) }
    }
  }

  /// Messages end with a synopsis that fits two lines of a terminal.
  @Test func longSynopsesAreShortInMessages() throws {
    var longCount = 0
    for spec in CommandTable.all {
      #expect(spec.shortSynopsis.utf8.count <= 120, "\(spec.shortSynopsis)")
      guard spec.synopsis.utf8.count > 120 else {
        #expect(spec.shortSynopsis == spec.synopsis)
        continue
      }
      longCount += 1
      print("\(spec.synopsis.utf8.count) bytes: \(spec.shortSynopsis)")
      #expect(spec.shortSynopsis.hasSuffix(" [OPTION]..."))
    }
    #expect(longCount > 5)
    #expect(
      try Lines.rejection("load").error.error.message
        == "paths is missing: it must be an absolute path, a file://, http:// or https:// URL, or fd:TOKEN"
        + " (load PATH... [OPTION]...)")
  }

  @Test func examplesWaitAsTheTableSpecifies() throws {
    for spec in CommandTable.all {
      let line = try #require(spec.example.first { $0.hasPrefix("> ") }).dropFirst(2)
      let isWaiting = try Lines.request(String(line)).isWaiting
      #expect(isWaiting == (spec.waiting == .always), "\(spec.name)")
      if spec.waiting == .ifRequested { #expect(try Lines.request(line + " wait").isWaiting) }
      if spec.waiting == .withRange { #expect(try Lines.request(line + " to=1").isWaiting) }
      if spec.waiting == .untilReady { #expect(try Lines.request(line + " wait=ready").isWaiting) }
    }
  }

  @Test func examplesHaveTheFieldsAndErrorsOfTheTable() throws {
    for spec in CommandTable.all {
      for line in spec.example {
        let text = Array(line.utf8.dropFirst(2))
        if line.hasPrefix("> ") {
          let request = try Lines.request(String(decoding: text, as: UTF8.self))
          #expect(request.name == spec.name)
          continue
        }
        switch try ServerLine(parsing: text) {
        case .ok(_, let fields): check(fields, spec.replyFields, line)
        case .row(_, let fields): check(fields, try #require(spec.rowFields), line)
        case .event(let name, let fields):
          check(fields, try #require(EventTable.all.first { $0.name.rawValue == name }).fields, line)
        case .error(_, let error, _): #expect(spec.errors.contains(error.code), "\(line)")
        case .hello: Issue.record("\(line)")
        }
      }
    }
  }

  /// Fields that have the word `none` as a value.
  private static let fieldsWithNone: Set = ["actionAtItemEnd", "repeat"]

  /// Checks that the fields are those of the table, in order. Only optional ones may be absent, and only nullable ones
  /// `none`.
  private func check(_ fields: ServerLine.TextFields, _ expected: [FieldSpec], _ line: String) {
    var entries = fields.entries[...]
    for field in expected {
      guard let entry = entries.first, entry.name == field.name else {
        if !field.isOptional { Issue.record("\(field.name) is missing: \(line)") }
        continue
      }
      let hasValue = !["none", "indefinite", "inf"].contains(entry.value)
      #expect(hasValue || field.isNullable || Self.fieldsWithNone.contains(field.name), "\(field.name): \(line)")
      entries.removeFirst()
    }
    #expect(entries.isEmpty, "\(line)")
  }

  @Test func helpDescribesEveryCommandAndParameter() throws {
    #expect(HelpCommand.Reply().rows.count == CommandTable.all.count)
    for spec in CommandTable.all {
      let rows = try #require(Reply(HelpCommand.Reply(on: spec)).rows)
      #expect(rows.first?["command"] == .string(spec.name.rawValue))
      #expect(rows.count >= 1 + spec.parameters.count)
    }
  }

  @Test func helpExampleEqualsTheReplyOfHelp() {
    let text = Lines.text { Reply(HelpCommand.Reply(on: ClearCommand.definition.spec)).encode(to: .words, into: &$0) }
    let example = HelpCommand.definition.spec.example
    #expect(text.split(separator: "\n").map { "< \($0)" } == Array(example.dropFirst()))
  }

  @Test func everyParameterRejectsAValueOfAWrongType() throws {
    for spec in CommandTable.all {
      for parameter in spec.parameters {
        let line =
          #"{"jsonrpc":"2.0","id":1,"method":"\#(spec.name.rawValue)","params":{"\#(parameter.name.rawValue)":{}}}"#
        let rejection = try Lines.rejection(line)
        #expect(rejection.error.error.code == .badArguments)
        #expect(rejection.error.error.message.contains(parameter.kind.accepted), "\(line)")
      }
    }
  }
}
