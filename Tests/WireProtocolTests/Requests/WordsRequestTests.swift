import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

@Suite struct WordsRequestTests {
  /// Otherwise one line of a read-only client could match tens of thousands of patterns with every key.
  @Test(arguments: ["observe", "events since=0", "wait", "asset.load 1"])
  func moreThan64PatternsAreRejected(_ command: String) throws {
    let value = ["wait": "ready", "asset.load 1": "duration"][command] ?? "*"
    func line(_ count: Int) -> String { command + String(repeating: " \(value)", count: count) }
    _ = try Lines.arguments(line(64))
    // Values after the limit are not parsed, because they would give another error.
    let error = try Lines.rejection(line(64) + " \(value) no.such.value").error.error
    #expect(error.code == .badArguments && error.message.contains("at most 64"), "\(error)")
  }
}
