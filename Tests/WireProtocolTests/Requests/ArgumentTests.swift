import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

/// A line, and a check of its typed arguments.
struct ArgumentCase: Sendable {
  let line: String
  let name: CommandName
  let hasExpectedArguments: @Sendable (ParsedArguments) throws -> Bool

  init<C: Command>(
    _ line: String, _ command: C.Type, _ hasExpectedArguments: @escaping @Sendable (Arguments<C>) throws -> Bool
  ) {
    self.line = line
    name = C.name
    self.hasExpectedArguments = { try hasExpectedArguments(Arguments(parsed: $0)) }
  }

  /// A line without arguments.
  init<C: Command>(_ line: String, _ command: C.Type) where C.Parameters == NoParameters {
    self.init(line, command) { _ in true }
  }

  /// The cases of all families.
  static let all =
    assets + connection + files + items + playback + players + queue + recording + session + state + synchronized
    + watching

  static func seconds(_ text: String) throws -> MediaTime { try #require(MediaTime(decimal: text)) }
}

@Suite struct ArgumentTests {
  @Test(arguments: ArgumentCase.all)
  func linesAreReadIntoTypedArguments(_ row: ArgumentCase) throws {
    let request = try Lines.request(row.line)
    #expect(request.name == row.name)
    #expect(request.address == .words)
    #expect(try row.hasExpectedArguments(request.arguments))
  }

  @Test func everyCommandHasACase() {
    #expect(Set(CommandTable.all.map(\.name)).subtracting(ArgumentCase.all.map(\.name)) == [])
  }

  @Test func argumentsAreEqualInAnyOrderOfTheParameters() throws {
    let line = "session.policy at-end=pause fade=2"
    let arguments = try Lines.arguments(line)
    #expect(try Lines.arguments("session.policy fade=2 at-end=pause") == arguments)
    #expect(try Lines.arguments("session.policy fade=2.0 at-end=pause").hashValue == arguments.hashValue)
    for other in ["session.policy at-end=pause", "session.policy at-end=pause fade=3", "session.resume pause"] {
      #expect(try Lines.arguments(other) != arguments)
    }
  }

  /// The parser reuses the memory of arguments, but not of those that a request retains.
  @Test func laterRequestsDoNotChangeEarlierArguments() throws {
    var parser = RequestParser()
    let lines = ["session.policy at-end=pause fade=2", "session.policy at-end=resume fade=3"].map { Array($0.utf8) }
    let requests = lines.map { parser.parse($0.span) }
    #expect(requests == lines.map { Lines.parse($0) })
  }
}
