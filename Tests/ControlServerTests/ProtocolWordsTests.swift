import FoundationEssentials
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol
import Testing

@testable import PlayheadControlServer

/// The engine's words for causes and reasons, compared with the documents. `WireProtocolTests` compares the tables of
/// the protocol's own words.
@Suite struct ProtocolWordsTests {
  /// The first cells of the rows of the table between two markers. Every row must have a description.
  private func words(_ name: String, page: String) throws -> [String] {
    let path =
      "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
      + "/docs/protocol/reference/\(page).md"
    let data = try #require(FileManager.default.contents(atPath: path), "no document at \(path)")
    let text = try #require(String(validating: data, as: UTF8.self))
    let begin = try #require(text.firstRange(of: "<!-- begin \(name) -->\n"))
    let end = try #require(text.firstRange(of: "<!-- end \(name) -->"))
    return try text[begin.upperBound..<end.lowerBound].split(separator: "\n").dropFirst(2).map { row in
      let cells = row.split(separator: "|").map { $0.filter { $0 != " " && $0 != "`" } }
      try #require(cells.count == 2 && !cells[1].isEmpty, "\(row)")
      return cells[0]
    }
  }

  @Test func documentedWaitingReasonsMatchTheEngine() throws {
    #expect(try words("reasons", page: "keys") == WaitingReason.allCases.map(\.rawValue))
  }

  @Test func documentedChangeCausesMatchTheEngine() throws {
    #expect(try words("change-causes", page: "events") == ["initial"] + ChangeCause.allCases.map(\.rawValue))
  }

  @Test func documentedTimeJumpCausesMatchTheEngine() throws {
    #expect(try words("jump-causes", page: "events") == TimeJumpCause.allCases.map(\.rawValue))
  }

  @Test func pitchAlgorithmsMatchTheEngine() {
    let words = AudioTimePitchAlgorithm.allCases.map(\.rawValue)
    #expect(PitchCommand.Algorithm.allCases.map(\.rawValue) == words)
    #expect(ItemPitchCommand.Setting.allCases.map(\.rawValue) == words + ["player"])
  }
}
