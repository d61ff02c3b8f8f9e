import MediaCore
import RealtimeAudio

/// Bytes that never come, until the read is cancelled.
final class HangingSource: ByteSource {
  private struct State {
    var isCancelled = false
    var isReading = false
  }

  private let state = WakeSignal(State())

  var byteCount: Int64? { 1_000_000 }
  var isSeekable: Bool { true }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    state.update { $0.isReading = true }
    _ = state.wait { $0.isCancelled ? true : nil }
    throw MediaError(.cancelled, "the read was cancelled")
  }

  func cancel() { state.update { $0.isCancelled = true } }

  func resume() { state.update { $0.isCancelled = false } }

  /// Waits until somebody reads.
  func hangs() async {
    await withCheckedContinuation { continuation in
      NamedThread.detached(name: "hanging") { [state] in
        _ = state.wait { $0.isReading ? true : nil }
        continuation.resume()
      }
    }
  }
}
