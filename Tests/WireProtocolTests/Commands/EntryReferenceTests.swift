import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

/// The forms in which a request refers to a queue entry.
@Suite struct EntryReferenceTests {
  private static let forms: [(text: String, reference: EntryReference)] = [
    ("1", 1), ("9223372036854775807", .id(.max)), ("current", .index(0)), ("next", .index(1)),
    ("previous", .history(0)), ("+1", .index(1)), ("+999999999", .index(999_999_999)), ("-1", .history(0)),
    ("-12", .history(11)), ("#1", .index(0)), ("#40", .index(39)),
  ]

  @Test(arguments: forms) func formIsReadFromText(_ form: (text: String, reference: EntryReference)) throws {
    #expect(try Self.entry(of: "item.status \(form.text)", ItemStatusCommand.self) == form.reference)
    let list = try Lines.arguments("remove \(form.text) 2", of: RemoveCommand.self)
    #expect(list.ids == [form.reference, 2])
  }

  @Test(arguments: forms.filter { Int($0.text) == nil || $0.text.hasPrefix("+") || $0.text.hasPrefix("-") })
  func positionIsAStringInJSON(_ form: (text: String, reference: EntryReference)) throws {
    #expect(try Self.entry(of: Self.json(form.text), ItemStatusCommand.self) == form.reference)
  }

  @Test func entryIsTheCurrentOneByDefault() throws {
    #expect(try Self.entry(of: "item.chapters", ItemChaptersCommand.self) == .current)
    #expect(try Self.entry(of: "item.tracks", ItemTracksCommand.self) == .current)
    #expect(try Self.entry(of: "item.metadata", ItemMetadataCommand.self) == .current)
    #expect(try Self.entry(of: "item.log", ItemLogCommand.self) == .current)
    #expect(try Self.entry(of: "item.end-time forward=5", ItemEndTimeCommand.self) == .current)
    #expect(try Self.entry(of: "item.copy", ItemCopyCommand.self) == .current)
    #expect(try MoveCommand.edit(Lines.arguments("move to=2", of: MoveCommand.self)) == .move(.current, to: .index(2)))
  }

  @Test(arguments: [
    "0", "-0", "+0", "#0", "+", "-", "#", "##1", "+-1", "1.5", "Current", "nextt", "+1234567890", "#01",
    "9223372036854775808", "١",
  ])
  func otherTextIsAnError(_ text: String) throws {
    let error = try Lines.rejection("item.status \(text)").error.error
    #expect(error.code == .badArguments)
    #expect(error.message.contains("id must be the id of an entry, current, next, previous, +N, -N or #N"))
    #expect(try Lines.rejection(Self.json(text)).error.error.code == .badArguments)
  }

  @Test func textOfAnIDIsAnErrorInJSON() throws {
    #expect(try Lines.rejection(Self.json("5")).error.error.code == .badArguments)
  }

  @Test(arguments: ["-1", "0", "1.5"]) func otherNumberInJSONIsAnError(_ number: String) throws {
    let line = #"{"jsonrpc":"2.0","id":1,"method":"item.status","params":{"id":\#(number)}}"#
    #expect(try Lines.rejection(line).error.error.code == .badArguments)
  }

  /// The entry of a request for a command about an entry of the player `main`.
  private static func entry<C: Command>(
    of line: String, _: C.Type
  ) throws -> EntryReference where C.Parameters: EntryParameters {
    let arguments = try Lines.arguments(line, of: C.self)
    #expect(arguments.player == "main")
    return arguments.id
  }

  private static func json(_ id: String) -> String {
    #"{"jsonrpc":"2.0","id":1,"method":"item.status","params":{"id":"\#(id)"}}"#
  }
}
