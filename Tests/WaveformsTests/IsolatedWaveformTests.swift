import Glibc
import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadWaveforms

/// Waveforms from a worker process equal those of this process, and a crash of the worker is an error of the file.
@Suite struct IsolatedWaveformTests {
  private static func waveform(
    _ path: String, _ isolation: Asset.Isolation, _ request: WaveformRequest = WaveformRequest(),
    progress: @escaping @Sendable (Double?) -> Void = { _ in }
  ) async throws -> WaveformResult {
    try await WaveformScan(Asset(path: Array(path.utf8), isolation: isolation), request).result(progress: progress)
  }

  private static let requests: [(name: String, request: WaveformRequest)] = [
    ("bins", .init(scale: .bins(777))), ("frames", .init(scale: .framesPerBin(100), mixesChannels: true)),
    (
      "range",
      .init(
        scale: .bins(10), start: MediaTime(value: 1, timescale: 3), end: MediaTime(value: 700_001, timescale: 100_000))
    ),
  ]

  @Test func workerMeasuresTheSameWaveforms() async throws {
    let files = try TemporaryDirectory()
    for (suffix, path) in try EncodedNoise.files(in: files) {
      for (name, request) in Self.requests {
        var results: [WaveformResult] = []
        for isolation in [Asset.Isolation.none, .opening, .playback] {
          let workerCount = Mutex<Int?>(nil)
          results.append(
            try await Self.waveform(path, isolation, request) { _ in
              workerCount.withLock { $0 = $0 ?? WorkerProcesses.having(path).count }
            })
          #expect(workerCount.withLock { $0 } == (isolation == .none ? 0 : 1), "\(suffix) \(name) \(isolation)")
        }
        print("isolated waveform | \(suffix) | \(name) | \(results[0].waveform.binCount) bins")
        #expect(results[0].fault == nil && !results[0].isCached && results[0].waveform.binCount >= 10)
        // A failed comparison must not print all bins.
        let isSame = results[1] == results[0] && results[2] == results[0]
        #expect(isSame, "\(suffix) \(name)")
      }
    }
  }

  @Test(arguments: [0, 0.5]) func crashOfTheWorkerIsADamagedFile(fraction: Double) async throws {
    let files = try TemporaryDirectory()
    for (suffix, path) in try EncodedNoise.files(in: files) {
      let killedCount = Mutex(0)
      let error = await #expect(throws: MediaError.self) {
        _ = try await Self.waveform(path, .opening) { current in
          killedCount.withLock { count in
            guard count == 0, let current, current >= fraction else { return }
            for process in WorkerProcesses.having(path) where kill(process, SIGSEGV) == 0 { count += 1 }
          }
        }
      }
      print("isolated waveform | \(suffix) | crash at \(fraction) | \(error.map { "\($0)" } ?? "")")
      #expect(killedCount.withLock { $0 } == 1, "\(suffix)")
      #expect(error?.code == .damagedFile && error?.underlying == "SIGSEGV", "\(suffix)")
      // The next request has a new worker.
      let isSame = try await Self.waveform(path, .opening) == Self.waveform(path, .none)
      #expect(isSame, "\(suffix)")
    }
  }
}
