import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// The statements that are true of every reader above `PacketFrameReader`. Each prints a row for each implementation.
@Suite(.timeLimit(.minutes(5))) struct ReaderContractTests {
  /// Reads the remaining frames and their error.
  private func remainder(_ reader: any ContractReader) -> (shots: [ContractShot], error: MediaError?) {
    var shots: [ContractShot] = []
    do {
      while let shot = try reader.next() { shots.append(shot) }
    } catch {
      return (shots, error as? MediaError)
    }
    return (shots, reader.popFinalError())
  }

  private func printRow(_ statement: String, _ row: ContractRow, _ result: String) {
    print("reader contract | \(statement) | \(row.name) | \(result)")
  }

  /// Opens a variant of the row; nil, with a printed row, if there is none.
  private func open(
    _ row: ContractRow, _ variant: ContractRow.Variant, _ statement: String, _ folder: TemporaryFolder
  ) throws -> (any ContractReader)? {
    let reader = try row.open(folder, variant)
    if reader == nil { printRow(statement, row, "does not apply: \(row.reason)") }
    return reader
  }

  @Test(arguments: ContractRow.all) func readingToTheEndDeliversEveryFrameOnce(_ row: ContractRow) throws {
    let folder = try TemporaryFolder()
    let reader = try #require(try row.open(folder, .intact))
    let (shots, error) = remainder(reader)
    let expected = try row.reference(folder, .intact)
    #expect(error == nil && shots == expected, "\(row.name): \(shots.count) of \(expected.count)")
    #expect(reader.popReport() == nil)
    printRow("every frame once", row, "\(shots.count) frames")
  }

  @Test(arguments: ContractRow.all) func seeksDeliverTheFramesOfTheWholeDecode(_ row: ContractRow) throws {
    let folder = try TemporaryFolder()
    let reader = try #require(try row.open(folder, .intact))
    let (shots, _) = remainder(reader)
    var random = SeededGenerator(seed: 5)
    let targets = [0, shots.count - 1, 1] + (0..<9).map { _ in Int.random(in: 0..<shots.count, using: &random) }
    for target in targets {
      try reader.seek(to: shots[target])
      let found = [try reader.next(), try reader.next()]
      #expect(found == [shots[target], shots.dropFirst(target + 1).first], "\(row.name): frame \(target)")
    }
    printRow("seeks", row, "\(targets.count) positions")
  }

  @Test(arguments: ContractRow.all) func damagedPacketIsSkippedAndReportedOnce(_ row: ContractRow) throws {
    let folder = try TemporaryFolder()
    let statement = "damaged packet"
    guard let reader = try open(row, .damaged, statement, folder) else { return }
    let expected = try row.reference(folder, .damaged)
    let (shots, error) = remainder(reader)
    #expect(error == nil, "\(row.name): \(error.map(String.init(describing:)) ?? "")")
    let report = try #require(reader.popReport(), "\(row.name)")
    #expect(report.code == .decodeFailed && reader.popReport() == nil)
    let wrongCount = expected.count { !shots.contains($0) }
    #expect(wrongCount > 0 && wrongCount <= row.maximumDamagedCount, "\(row.name): \(wrongCount)")
    #expect(shots.last == expected.last && abs(shots.count - expected.count) <= 2)
    printRow(statement, row, "\(wrongCount) of \(expected.count) frames differ, one report")
  }

  @Test(arguments: ContractRow.all) func errorBudgetEndsTheReadingWithAnError(_ row: ContractRow) throws {
    let folder = try TemporaryFolder()
    let statement = "error budget"
    guard let reader = try open(row, .unreadable, statement, folder) else { return }
    let (shots, error) = remainder(reader)
    #expect(error?.code == .damagedFile, "\(row.name): \(shots.count) frames, \(error?.code.rawValue ?? 0)")
    #expect(try reader.next() == nil && reader.next() == nil, "the error is thrown once")
    // Reading backwards begins with the unreadable part.
    let first = shots.first ?? ContractShot(position: MediaTime(frame: 50_000, rate: 44_100), content: 0)
    try reader.seek(to: first)
    let found = try reader.next()
    #expect(found?.position == first.position, "a seek after an error works again")
    #expect(shots.isEmpty || found == first)
    printRow(statement, row, "error \(error?.code.rawValue ?? 0) after \(shots.count) frames, then a seek")
  }

  @Test(arguments: ContractRow.all) func readingStaysAtTheEndUntilASeek(_ row: ContractRow) throws {
    let folder = try TemporaryFolder()
    let reader = try #require(try row.open(folder, .intact))
    let (shots, _) = remainder(reader)
    for _ in 0..<3 { #expect(try reader.next() == nil) }
    let middle = shots[shots.count / 2]
    try reader.seek(to: middle)
    let (again, _) = remainder(reader)
    #expect(again == Array(shots[(shots.count / 2)...]), "\(row.name)")
    #expect(try reader.next() == nil)
    printRow("the end", row, "\(again.count) frames after a seek")
  }

  @Test(arguments: ContractRow.all) func editsAndTrimsAreApplied(_ row: ContractRow) throws {
    let folder = try TemporaryFolder()
    let reader = try #require(try row.open(folder, .intact))
    let first = try #require(try reader.next())
    #expect(first == (try row.reference(folder, .intact)).first)
    #expect(reader.startTrimFrames == row.startTrimFrames, "\(row.name): \(reader.startTrimFrames)")
    printRow("edits and trims", row, "\(reader.startTrimFrames) frames cut off at the start")
  }
}
