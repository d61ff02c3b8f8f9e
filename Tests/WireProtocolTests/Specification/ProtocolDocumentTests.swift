import FoundationEssentials
import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

@Suite struct ProtocolDocumentTests {
  @Test func generatedPagesMatchTheTables() throws {
    let isUpdate = ProcessInfo.processInfo.environment["UPDATE_PROTOCOL_MD"] != nil
    for generated in ProtocolDocument.generated {
      guard let section = generated.section else {
        if isUpdate { try ProtocolDocument.write(generated.text, to: generated.page) }
        #expect(try ProtocolDocument.text(generated.page) == generated.text, "\(generated.page)")
        continue
      }
      var text = try ProtocolDocument.text(generated.page)
      if isUpdate {
        let old = try ProtocolDocument.section(section, of: text)
        let begin = try #require(text.firstRange(of: "<!-- begin \(section) -->\n"))
        let end = text.index(begin.upperBound, offsetBy: old.count)
        text.replaceSubrange(begin.upperBound..<end, with: generated.text)
        try ProtocolDocument.write(text, to: generated.page)
      }
      #expect(try ProtocolDocument.section(section, of: text) == generated.text, "\(generated.page): \(section)")
    }
  }

  @Test func documentedErrorsMatchTheCode() throws {
    let rows = ProtocolDocument.rows(of: try ProtocolDocument.text("reference/errors.md"))
    let documented = rows.map { "\($0[0]) \($0[1])" }
    let known = MediaError.Code.names.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    #expect(documented == known)
    #expect(rows.allSatisfy { $0.count == 3 && !$0[2].isEmpty })
  }

  @Test func documentedLimitsMatchTheCode() throws {
    let documented = ProtocolDocument.rows(of: try ProtocolDocument.text("reference/limits.md")).map {
      "\($0[0]) \($0[1]) \($0[2])"
    }
    let known = WireLimit.all.map {
      "\($0.name) \(WireLimits.standard[$0]) \($0.range.lowerBound)-\($0.range.upperBound)"
    }
    #expect(documented == known)
  }

  /// The rules for waiting requests name the same commands as the table.
  @Test func documentedWaitingRequestsMatchTheTable() throws {
    let text = try ProtocolDocument.text("concepts.md")
    let begin = try #require(text.firstRange(of: "These requests wait:"))
    let end = try #require(text[begin.upperBound...].firstRange(of: "and `load`"))
    let names = text[begin.upperBound..<end.lowerBound].split(separator: "`").filter {
      !$0.contains { ", \n".contains($0) }
    }
    let waiting = CommandTable.all.filter { $0.waiting == .always }.map(\.name.rawValue)
    #expect(names.map(String.init).sorted() == waiting.sorted())
  }

  /// The rules for transferred descriptors name the commands with path parameters.
  @Test func documentedCommandsWithDescriptorsAreThoseWithPaths() throws {
    let text = try ProtocolDocument.text("concepts.md")
    let begin = try #require(text.firstRange(of: "- `fd:TOKEN` can be used once, by "))
    let end = try #require(text[begin.upperBound...].firstRange(of: ";"))
    let names = text[begin.upperBound..<end.lowerBound].split(separator: "`").filter {
      !$0.contains(" ")
    }
    let commandsWithPaths = CommandTable.all.filter { $0.parameters.contains { $0.kind == .path || $0.kind == .edit } }
    #expect(names.map(String.init).sorted() == commandsWithPaths.map(\.name.rawValue).sorted())
  }

  /// The documentation of the key names its events.
  @Test func itemEventsKeyDocumentsAllItsEvents() {
    let events = EventTable.all.filter { $0.key == .itemEvents }
    #expect(events.allSatisfy { $0.summary.hasPrefix("`observe item.events`: ") })
    let names = events.map(\.name)
    #expect(names.contains(.streamTitle) && names.contains(.chapterChanged) && names.contains(.newAccessLogEntry))
    for name in names { #expect(ObservableKey.itemEvents.summary.contains("`\(name.rawValue)`"), "\(name)") }
  }

  @Test func everyLimitHasAName() {
    #expect(Mirror(reflecting: WireLimits.standard).children.count == WireLimits.standard.named.count)
  }

  /// The example sessions outside the generated sections are valid too: every line after `>` is accepted.
  @Test func everyRequestInTheDocumentIsValid() throws {
    let texts = try (["../../protocol.md"] + ProtocolDocument.pages).map(ProtocolDocument.text)
    for line in texts.joined(separator: "\n").split(separator: "\n") where line.hasPrefix("> ") {
      let outcome = Lines.parse(String(line.dropFirst(2)))
      guard case .request = outcome else {
        Issue.record("\(line): \(outcome)")
        continue
      }
    }
  }
}
