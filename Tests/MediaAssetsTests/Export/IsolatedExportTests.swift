import Foundation
import Glibc
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// Exports in worker processes that a hostile file controls, and the decision where an export runs.
@Suite(.timeLimit(.minutes(5))) struct IsolatedExportTests {
  private struct Run {
    var outcome: AssetExportSession.Outcome?
    var error: MediaError?
    var reports: [Int?] = []
    var byteCount = 0
  }

  /// Exports with such a worker to a new file.
  private static func run(
    _ assets: [Asset], in folder: TemporaryDirectory, pool: WorkerPool?, _ settings: ExportSettings = .init(.flac),
    addCancellation: @escaping (@escaping @Sendable () -> Void) -> Void = { _ in }
  ) throws -> Run {
    let descriptor = open(folder.file("out"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var run = Run()
    let control = ExportControl(addCancellation: { addCancellation($0) }, check: {}, report: { run.reports.append($0) })
    do throws(MediaError) {
      run.outcome = try IsolatedExport(ExportSource(assets: assets, mixes: false), settings, pool: pool)
        .run(writingTo: descriptor, control)
    } catch {
      run.error = error
    }
    run.byteCount = Int(lseek(descriptor, 0, SEEK_END))
    return run
  }

  private static func asset(_ folder: TemporaryDirectory, _ name: String) throws -> Asset {
    try writeFile(Array("some bytes".utf8), at: Array(folder.file(name).utf8))
    return Asset(path: Array(folder.file(name).utf8), isolation: .opening)
  }

  @Test(
    "claims of a worker are checked, and its crash is an error of the file",
    arguments: [
      ("crash", MediaError.Code.damagedFile, []), ("claims-bytes", .damagedFile, []),
      ("claims-no-duration", .damagedFile, []), ("repeats-progress", .damagedFile, [3]),
      ("exceeds-progress", .damagedFile, []), ("reports-nonsense", .damagedFile, []), ("honest", nil, []),
    ] as [(String, MediaError.Code?, [Int?])])
  func claimsOfAWorkerAreCheckedAndItsCrashIsAnError(
    _ name: String, _ expected: MediaError.Code?, _ reports: [Int?]
  ) throws {
    let folder = try TemporaryDirectory()
    let pool = try WorkerPool.makeLying()
    let run = try Self.run([try Self.asset(folder, name)], in: folder, pool: pool)
    print("export worker: \(name): \(run.error?.code.name ?? "no error"), \(run.reports.count) reports")
    #expect(run.error?.code == expected && (run.outcome != nil) == (expected == nil))
    #expect(run.reports == reports)
    #expect(pool.statistics.busyCount == 0 && pool.statistics.idleCount == 0)
  }

  @Test func exportWorkerWritesNoMoreThanItsLimit() throws {
    let folder = try TemporaryDirectory()
    try writeFile(Array("some bytes".utf8), at: Array(folder.file("fills-disk").utf8))
    let source = try FileSource(path: Array(folder.file("fills-disk").utf8), interrupt: Interrupt())
    let descriptor = open(folder.file("out"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    var limits = WorkerLimits()
    limits.fileByteCount = 3_000_000
    let lease = try WorkerPool.makeLying().lease(limits: limits)
    expectError(.writeFailed) {
      try lease.open(
        source, displayName: "fills-disk", AssetWorkerFunction.export.rawValue, true, descriptor: descriptor,
        as: Bool.self)
    }
    #expect(lseek(descriptor, 0, SEEK_END) == 3_000_000)
  }

  @Test func cancellationEndsTheWorker() throws {
    let folder = try TemporaryDirectory()
    let pool = try WorkerPool.makeLying()
    let run = try Self.run([try Self.asset(folder, "waits")], in: folder, pool: pool) { $0() }
    #expect(run.error?.code == .cancelled)
    #expect(pool.statistics.crashCount == 0 && pool.statistics.busyCount == 0)
  }

  @Test func manyFilesAreExportedByOneWorker() throws {
    let folder = try TemporaryDirectory()
    var arguments = ["-f", "lavfi", "-i", "sine=d=0.05:r=48000"]
    for number in 0..<150 { arguments += ["-c:a", "pcm_s16le", folder.file("\(number).wav")] }
    try Tool.ffmpeg(arguments: arguments)
    let assets = (0..<150).map { Asset(path: Array(folder.file("\($0).wav").utf8), isolation: .opening) }
    let pool = try WorkerPool.make()
    let run = try Self.run(assets, in: folder, pool: pool)
    #expect(run.error == nil && pool.statistics.startedCount == 1)
    #expect(run.outcome?.duration == MediaTime(value: 150 * 2_400, timescale: 48_000))
    #expect(run.reports.first == 0 && run.reports.last == 20)
    #expect(run.outcome?.byteCount == Int64(run.byteCount))
    let duration = try Asset(path: Array(folder.file("out").utf8)).load().duration
    #expect(duration == MediaTime(value: 150 * 2_400, timescale: 48_000))
  }

  @Test("an export without isolation, and one of a composition, are performed in this process")
  func exportWithoutIsolationOrOfACompositionUsesNoWorker() throws {
    let folder = try TemporaryDirectory()
    let asset = try Self.asset(folder, "honest")
    let plain = Asset(path: Array(folder.file("honest").utf8), isolation: .none)
    for (name, assets) in [
      ("none", [plain]), ("one of two", [asset, plain]), ("a composition", [Asset(composition: Composition())]),
    ] {
      let run = try Self.run(assets, in: folder, pool: try WorkerPool.makeLying())
      print("export worker: \(name): \(run.error?.code.name ?? "in this process")")
      #expect(run.error == nil && run.outcome == nil, "\(name)")
    }
  }
}
