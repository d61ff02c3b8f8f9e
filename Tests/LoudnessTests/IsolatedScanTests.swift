import Glibc
import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadLoudness

/// Scans in a worker process equal those of this process, and a crash of the worker is an error of the file.
@Suite struct IsolatedScanTests {
  /// Scans a file. `progress` receives the measured fraction, while the file is open.
  private static func scan(
    _ path: String, _ isolation: Asset.Isolation, album: Bool = false,
    progress: @escaping @Sendable (Double?) -> Void = { _ in }
  ) async throws -> LoudnessReport {
    let asset = Asset(path: Array(path.utf8), isolation: isolation)
    return try await LoudnessScan([asset], measuresAlbum: album).report { progress($0.fraction) }
  }

  @Test func workerMeasuresTheSameLoudness() async throws {
    let files = try TemporaryDirectory()
    for (suffix, path) in try EncodedNoise.files(in: files) {
      var reports: [LoudnessReport] = []
      for isolation in [Asset.Isolation.none, .opening, .playback] {
        let workerCount = Mutex<Int?>(nil)
        reports.append(
          try await Self.scan(path, isolation, album: true) { fraction in
            workerCount.withLock { $0 = $0 ?? WorkerProcesses.having(path).count }
          })
        #expect(workerCount.withLock { $0 } == (isolation == .none ? 0 : 1), "\(suffix) \(isolation)")
      }
      let measurement = try #require(reports[0].files.first).get()
      print("isolated scan | \(suffix) | \(measurement.integratedLoudness ?? 0) LUFS, \(measurement.duration)")
      #expect(measurement.kind == .measured && measurement.fault == nil && reports[0].album != nil, "\(suffix)")
      #expect(reports[1] == reports[0] && reports[2] == reports[0], "\(suffix)")
    }
  }

  /// A crash before the first sample is the error of the file. A later crash ends the measurement of the file.
  @Test(arguments: [0, 0.5]) func crashOfTheWorkerIsADamagedFile(fraction: Double) async throws {
    let files = try TemporaryDirectory()
    for (suffix, path) in try EncodedNoise.files(in: files) {
      let killedCount = Mutex(0)
      let report = try await Self.scan(path, .opening) { current in
        killedCount.withLock { count in
          guard count == 0, let current, current >= fraction else { return }
          for process in WorkerProcesses.having(path) where kill(process, SIGSEGV) == 0 { count += 1 }
        }
      }
      #expect(killedCount.withLock { $0 } == 1, "\(suffix)")
      let error: MediaError?
      var measured = MediaTime.zero
      switch try #require(report.files.first) {
      case .success(let measurement): (error, measured) = (measurement.fault, measurement.duration)
      case .failure(let failure): error = failure
      }
      print("isolated scan | \(suffix) | crash at \(fraction) | \(measured) | \(error.map { "\($0)" } ?? "")")
      #expect(error?.code == .damagedFile && error?.underlying == "SIGSEGV", "\(suffix)")
      #expect(fraction == 0 ? measured == .zero : measured > .zero, "\(suffix)")
      // The next scan has a new worker.
      #expect(try await Self.scan(path, .opening) == Self.scan(path, .none), "\(suffix)")
    }
  }
}
