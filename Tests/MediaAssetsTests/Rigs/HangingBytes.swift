import PlayheadMediaCore
import PlayheadRealtimeAudio

@testable import PlayheadMediaAssets

/// A location that opens at once but whose bytes do not arrive, and a record of its reads.
final class HangingBytes: Sendable {
  fileprivate struct State {
    var readCount = 0
    var endedReadCount = 0
    var isReleased = false
  }

  fileprivate let state = ConditionMutex(State())
  /// Whether reads ignore cancellation and end only with `release`, like a file whose server is gone.
  fileprivate let ignoresCancellation: Bool

  init(ignoresCancellation: Bool = false) { self.ignoresCancellation = ignoresCancellation }

  /// An asset with these bytes.
  func asset(_ workers: AssetWorkers = .shared) -> Asset {
    Asset(
      location: .source(name: "hanging.wav") { [self] () throws(MediaError) in HangingByteSource(self) },
      workers: workers)
  }

  /// The number of reads that ended, by cancellation or by `release`.
  var endedReadCount: Int { state.withState { $0.endedReadCount } }

  /// Waits until `count` reads have started, or have ended.
  func waitUntilRead(_ count: Int) { _ = state.wait { $0.readCount >= count ? true : nil } as Bool? }
  func waitUntilEnded(_ count: Int) { _ = state.wait { $0.endedReadCount >= count ? true : nil } as Bool? }

  /// Makes all reads fail.
  func release() { state.update { $0.isReleased = true } }
}

private final class HangingByteSource: ByteSource {
  private let bytes: HangingBytes
  private let isCancelled = ConditionMutex(false)

  init(_ bytes: HangingBytes) { self.bytes = bytes }

  var byteCount: Int64? { 1_000_000 }
  var isSeekable: Bool { true }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    let (mayEnd, isCancelled) = (!bytes.ignoresCancellation, isCancelled)
    bytes.state.update { $0.readCount += 1 }
    _ = bytes.state.wait { $0.isReleased || (mayEnd && isCancelled.withState { $0 }) ? true : nil } as Bool?
    bytes.state.update { $0.endedReadCount += 1 }
    throw MediaError(.cancelled, "cancelled")
  }

  func cancel() {
    isCancelled.withState { $0 = true }
    bytes.state.update { _ in }
  }

  func resume() { isCancelled.withState { $0 = false } }
}
