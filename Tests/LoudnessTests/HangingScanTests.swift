import Foundation
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadLoudness
@testable import PlayheadMediaAssets

/// Scans of files whose bytes do not arrive: other scans continue.
@Suite(.timeLimit(.minutes(2))) struct HangingScanTests {
  private let second: Int64 = 1_000_000_000

  /// A scanner that checks for timeouts only when the test calls it.
  private func scanner(threads: Int = 4) -> LoudnessScanner {
    LoudnessScanner(limits: WorkSlots.Limits(slotCount: 1, threadCount: threads), isWatched: false)
  }

  private func check(_ scanner: LoudnessScanner, after seconds: Int64) {
    scanner.workers.check(at: MonotonicClock.nanoseconds + seconds * second)
  }

  /// A started scan.
  private struct StartedScan {
    let scan: LoudnessScan
    private let result = ConditionMutex<Result<LoudnessReport, MediaError>?>(nil)

    init(_ assets: [Asset], on scanner: LoudnessScanner) {
      scan = LoudnessScan(assets)
      scan.start(on: scanner) { [result] outcome in result.update { $0 = outcome } }
    }

    var isOver: Bool { result.withState { $0 != nil } }

    func wait() throws -> LoudnessReport { try #require(result.wait { $0 }).get() }

    /// The result of each file.
    func outcomes() throws -> [String] {
      try wait().files.map { result in
        switch result {
        case .success(let found): found.kind.rawValue
        case .failure(let error): error.message
        }
      }
    }
  }

  private func hanging(_ source: HangingSource) -> Asset {
    Asset(name: "hanging.wav") { () throws(MediaError) in source }
  }

  private func tone(_ files: TemporaryDirectory, frames: Int = 48_000) throws -> String {
    let path = files.file("tone-\(frames).wav")
    try TimeCode.writeWAV(path: path, frameCount: frames) { index in
      let value = Int16((10_000 * sin(2 * .pi * 997 * Double(index) / 48_000)).rounded())
      return StereoFrame(left: value, right: value)
    }
    return path
  }

  @Test func fileThatCannotBeOpenedDelaysNeitherOtherScansNorItsOwn() throws {
    let (files, scanner) = (try TemporaryDirectory(), scanner())
    let path = try tone(files)
    let source = HangingSource(ignoresCancellation: true)
    defer { source.release() }
    let hangingScan = StartedScan([hanging(source), Asset(path: path)], on: scanner)
    source.waitUntilRead()
    let others = (0..<2).map { _ in StartedScan([Asset(path: path)], on: scanner) }
    #expect(scanner.workers.waitingCount == 2)
    check(scanner, after: 3)
    for other in others { #expect(try other.outcomes() == ["measured"]) }
    #expect(!hangingScan.isOver)
    check(scanner, after: 31)
    #expect(try hangingScan.outcomes() == ["hanging.wav could not be opened within 30 s", "measured"])
  }

  @Test func cancelledScanEndsWhileItsThreadStillHangs() throws {
    let (files, scanner) = (try TemporaryDirectory(), scanner())
    let path = try tone(files)
    let source = HangingSource(ignoresCancellation: true)
    defer { source.release() }
    let cancelled = StartedScan([hanging(source)], on: scanner)
    source.waitUntilRead()
    let other = StartedScan([Asset(path: path)], on: scanner)
    cancelled.scan.cancel()
    expectError(.cancelled) { try cancelled.wait() }
    #expect(try other.outcomes() == ["measured"])
  }

  /// The number of such threads is bounded.
  @Test func scanFailsWhenAllThreadsHangForThirtySeconds() throws {
    let (files, scanner) = (try TemporaryDirectory(), scanner(threads: 2))
    let path = try tone(files)
    let sources = (0..<2).map { _ in HangingSource(ignoresCancellation: true) }
    for source in sources {
      let started = StartedScan([hanging(source)], on: scanner)
      source.waitUntilRead()
      started.scan.cancel()
    }
    let waiting = StartedScan([Asset(path: path)], on: scanner)
    #expect(scanner.workers.waitingCount == 1 && scanner.workers.threadCount == 2)
    check(scanner, after: 0)
    check(scanner, after: 29)
    #expect(!waiting.isOver)
    check(scanner, after: 31)
    #expect(try waiting.outcomes() == ["\(path) cannot be opened while 2 other operations are blocked"])
    for source in sources { source.release() }
    #expect(try StartedScan([Asset(path: path)], on: scanner).outcomes() == ["measured"])
  }

  /// A file that was opened may take any time, but it occupies no slot while it waits.
  @Test func fileThatStallsInTheMiddleDelaysNoOtherScan() throws {
    let (files, scanner) = (try TemporaryDirectory(), scanner())
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: tone(files, frames: 480_000))))
    let path = try tone(files)
    let source = HangingSource(bytes, from: 1_000_000)
    let hangingScan = StartedScan([hanging(source)], on: scanner)
    source.waitUntilRead()
    let other = StartedScan([Asset(path: path)], on: scanner)
    check(scanner, after: 3)
    #expect(try other.outcomes() == ["measured"])
    check(scanner, after: 3_600)
    #expect(!hangingScan.isOver)
    source.release()
    #expect(try hangingScan.wait().files.first?.get().duration == MediaTime(value: 10, timescale: 1))
  }
}
