import Foundation
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// The seek table: for every codec and container, the error of an exact seek in samples, compared with a read from the
/// start. `swift test --filter SeekTableTests` prints it. A row whose tool is missing or makes no file fails.
@Suite struct SeekTableTests {
  @Test(arguments: SeekRow.all)
  func seekLandsAtTheExactSample(_ row: SeekRow) throws {
    let folder = try TemporaryFolder()
    let path = try row.make(in: folder)
    var measurer = try SeekMeasurer(row: row, path: path)
    let result = try measurer.measure()
    print(line(row, result))
    #expect(result.seekCount >= 48)
    #expect(result.faults.isEmpty, "\(row.name): \(result.faults.joined(separator: "; "))")
  }

  @Test func everyRequiredFormatHasARow() {
    for format in RequiredFormat.allCases {
      #expect(SeekRow.all.contains { $0.formats.contains(format) }, "\(format.rawValue) has no row")
    }
    #expect(Set(SeekRow.all.map(\.name)).count == SeekRow.all.count)
    for row in SeekRow.all {
      #expect(!row.source.description.isEmpty && !row.tool.isEmpty, "\(row.name) has no source")
      let isKept = row.edges.start == 0 && row.edges.extraFrames == 0
      #expect(isKept == row.edges.because.isEmpty, "\(row.name) gives no reason for its edges")
      #expect(row.name.contains("later than the video") == (row.edges.silentFrames > 0), "\(row.name)")
      #expect(!row.isLossless || row.edges.start >= 0, "\(row.name)")
    }
    for (name, reason) in SeekRow.untested { print("seek table | \(name) | untested: \(reason)") }
  }

  /// Formats without a test file are listed, so that their absence does not count as a proof.
  @Test func untestedFormatsAreListedWithAReason() throws {
    let found = try #require(SeekRow.untested.first { $0.name.hasPrefix("he-aac") })
    #expect(found.name.contains("SBR") && found.name.contains("PS"))
    #expect(SeekRow.untested.allSatisfy { !$0.reason.isEmpty })
  }

  /// RFC 7845, 4.6 requires 80 ms, after which a decoder has nearly converged. The tolerance of one step in the table
  /// needs a second.
  @Test(arguments: ["a.opus", "a.webm", "a.mp4"])
  func opusSeekDecodesOneSecondOfPreroll(_ name: String) throws {
    for declared in [nil, 0, 312, 3_840] as [Int64?] {
      #expect(CodecPreroll.frameCount(codecName: "opus", sampleRateHz: 48_000, declared: declared) == 48_000)
    }
    #expect(CodecPreroll.frameCount(codecName: "opus", sampleRateHz: 48_000, declared: 96_000) == 96_000)
    let folder = try TemporaryFolder()
    let path = folder.file(name)
    try Tool.ffmpeg("-f", "lavfi", "-i", "anoisesrc=d=3:r=48000:a=0.3:seed=7", "-c:a", "libopus", path)
    let reader = try AudioTrackReader(asset: Asset(path: path))
    #expect(reader.format.sampleRateHz == 48_000 && reader.media.prerollFrames == 48_000)
  }

  /// name | source | tool | seeks | error in samples | largest difference | start of the original | length error |
  /// reason for values other than 0.
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
