import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Bytes that do not arrive while this is closed, until the read is cancelled.
final class ClosableBytes: ByteSource {
  private struct State {
    var isClosed = false
    var isCancelled = false
    var isBlocked = false
    var didCancelRead = false
    var onBlocked: (@Sendable () -> Void)?
  }

  private let bytes: [UInt8]
  private let state = ConditionMutex(State())
  var byteCount: Int64? { Int64(bytes.count) }
  let isSeekable: Bool

  init(_ bytes: [UInt8], isSeekable: Bool = true) { (self.bytes, self.isSeekable) = (bytes, isSeekable) }

  /// Whether a reader has cancelled its reads, and has not resumed them.
  var isCancelled: Bool { state.withState { $0.isCancelled } }

  func close() { state.update { $0.isClosed = true } }
  func open() { state.update { $0.isClosed = false } }
  func onBlocked(_ body: @escaping @Sendable () -> Void) { state.update { $0.onBlocked = body } }
  func waitUntilBlocked() { _ = state.wait { $0.isBlocked ? true : nil } as Bool? }
  func waitUntilCancelled() { _ = state.wait { $0.didCancelRead ? true : nil } as Bool? }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    if state.withState({ $0.isClosed }) {
      state.update { $0.isBlocked = true }
      state.withState { $0.onBlocked }?()
      let isCancelled = state.wait { !$0.isClosed ? false : $0.isCancelled ? true : nil } as Bool?
      if isCancelled == true {
        state.update { $0.didCancelRead = true }
        throw MediaError(.cancelled, "cancelled")
      }
    }
    let rest = bytes.dropFirst(Int(clamping: offset)).prefix(buffer.count)
    buffer.copyBytes(from: rest)
    return rest.count
  }

  func cancel() { state.update { $0.isCancelled = true } }
  func resume() { state.update { $0.isCancelled = false } }
}
