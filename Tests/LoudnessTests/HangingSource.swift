import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Bytes that do not arrive from an offset on, until the read is cancelled. With `ignoresCancellation`, a read ends
/// only when the source is released, like a read of a file whose server is unreachable.
final class HangingSource: ByteSource {
  private struct State {
    var isCancelled = false
    var isReading = false
    var isReleased = false
  }

  private let state = ConditionMutex(State())
  private let bytes: [UInt8]
  private let hangingOffset: Int64
  private let ignoresCancellation: Bool

  init(_ bytes: [UInt8] = [], from hangingOffset: Int64 = 0, ignoresCancellation: Bool = false) {
    (self.bytes, self.hangingOffset, self.ignoresCancellation) = (bytes, hangingOffset, ignoresCancellation)
  }

  var byteCount: Int64? { bytes.isEmpty ? 1_000_000 : Int64(bytes.count) }
  var isSeekable: Bool { true }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    guard offset + Int64(buffer.count) > hangingOffset else { return copy(into: buffer, at: offset) }
    state.update { $0.isReading = true }
    let isReleased = state.wait { $0.isReleased ? true : $0.isCancelled && !ignoresCancellation ? false : nil } as Bool?
    if isReleased != true { throw MediaError(.cancelled, "the read was cancelled") }
    return copy(into: buffer, at: offset)
  }

  private func copy(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    let rest = bytes.dropFirst(Int(clamping: offset)).prefix(buffer.count)
    for (index, byte) in rest.enumerated() { buffer[index] = byte }
    return rest.count
  }

  /// Lets the bytes arrive.
  func release() { state.update { $0.isReleased = true } }

  /// Waits until a thread reads the missing bytes.
  func waitUntilRead() { _ = state.wait { $0.isReading ? true : nil } as Bool? }

  func cancel() { state.update { $0.isCancelled = true } }

  func resume() { state.update { $0.isCancelled = false } }

  /// Waits until a thread reads.
  func waitUntilReadAsync() async {
    await withCheckedContinuation { continuation in
      NamedThread.detached(name: "hanging") { [state] in
        _ = state.wait { $0.isReading ? true : nil }
        continuation.resume()
      }
    }
  }
}
