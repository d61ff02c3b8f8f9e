import Foundation
import MediaCore
import Testing

@testable import MediaAssets

/// The table of seeks: for every codec and container the error of an exact seek, in samples, against a read from the
/// start. `swift test --filter SeekTableTests` prints it. A row whose tool is missing or makes no file fails.
@Suite struct SeekTableTests {
  @Test(arguments: SeekRow.all)
  func anExactSeekIsExact(_ row: SeekRow) throws {
    let folder = try TemporaryFolder()
    let path = try row.make(in: folder)
    var measurer = try SeekMeasurer(row: row, path: path)
    let result = try measurer.measure()
    print(line(row, result))
    #expect(result.seekCount >= 48)
    #expect(result.faults.isEmpty, "\(row.name): \(result.faults.joined(separator: "; "))")
  }

  @Test func everyFormatThatIsAskedForHasARow() {
    for format in DemandedFormat.allCases {
      #expect(SeekRow.all.contains { $0.formats.contains(format) }, "\(format.rawValue) has no row")
    }
    #expect(Set(SeekRow.all.map(\.name)).count == SeekRow.all.count)
    for row in SeekRow.all {
      #expect(!row.source.description.isEmpty && !row.tool.isEmpty, "\(row.name) has no source")
      let isKept = row.edges.start == 0 && row.edges.extraFrames == 0
      #expect(isKept == row.edges.because.isEmpty, "\(row.name) does not say why its edges are not the original's")
    }
    for (name, reason) in SeekRow.unproved { print("seek table | \(name) | unproved: \(reason)") }
  }

  /// name | source | tool | seeks | error in samples | largest difference | where the original begins | length error |
  /// why what is not 0 is not.
  private func line(_ row: SeekRow, _ result: SeekMeasurement) -> String {
    func padded(_ text: String, _ width: Int) -> String {
      text.padding(toLength: max(width, text.count), withPad: " ", startingAt: 0)
    }
    let difference = result.largestDifference == 0 ? "0" : String(format: "%.2f", Double(result.largestDifference))
    var reasons = row.edges.because.isEmpty ? [] : [row.edges.because]
    if case .positionExact(_, let reason) = row.expectation { reasons.append(reason) }
    return [
      "seek table", padded(row.name, 34), padded(row.source.description, 48), padded(row.tool, 60),
      padded("\(result.seekCount) seeks", 9), padded("error \(result.errorFrames)", 10),
      padded("difference \(difference)", 20), padded("start \(result.start)", 10),
      padded("length \(result.extraFrames)", 13), reasons.joined(separator: "; "),
    ].joined(separator: " | ")
  }
}
