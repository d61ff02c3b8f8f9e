// The bytes of a pipe or socket, which arrive once, shared by all readers of the asset: format detection and playback.
// Nothing is read ahead: a reader that needs a new byte reads it from the descriptor while the other readers wait. So a
// slow reader applies back-pressure to the writer. A window of fixed size keeps the newest bytes.
import Glibc
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Receives the bytes of a pipe or socket on demand, and keeps the newest ones.
///
/// The descriptor is closed at the end of the data, and in `deinit`. It is also closed when the last reader is removed
/// after the first bytes were discarded, because no new reader can then begin. A writer that continues afterwards gets
/// SIGPIPE and does not block indefinitely.
///
/// Threading: any; readers block.
final class DescriptorStream: Sendable {
  /// The number of newest bytes that are kept.
  static let windowByteCount = 2 << 20
  /// The maximum distance of a read position from the end of the received bytes. The bytes between the two are read and
  /// kept.
  private static let maximumSkipByteCount: Int64 = 1 << 20
  private static let chunkByteCount = 65_536

  private struct State {
    /// A ring: byte `i` is at `i % windowByteCount`.
    let memory: UnsafeMutableRawBufferPointer
    var start: Int64 = 0
    var end: Int64 = 0
    var isAtEnd = false
    var failure: MediaError?
    /// Whether a reader is reading from the descriptor.
    var isBeingRead = false
    var readerCount = 0
    /// The descriptor; -1: closed.
    var descriptor: Int32

    /// Ends the stream, and closes the descriptor unless a reader is reading from it.
    mutating func close() {
      isAtEnd = true
      guard descriptor >= 0, !isBeingRead else { return }
      Glibc.close(descriptor)
      descriptor = -1
    }
  }

  private enum Step {
    case done(Result<Int, MediaError>)
    /// The caller must read from the descriptor.
    case fetch(Int32)
  }

  private let name: String
  private let signal: ConditionMutex<State>

  init(descriptor: Int32, name: String) {
    self.name = name
    // Pages that were never written to use no memory.
    signal = ConditionMutex(
      State(memory: .allocate(byteCount: Self.windowByteCount, alignment: 4_096), descriptor: descriptor))
  }

  deinit {
    signal.withState { state in
      state.close()
      state.memory.deallocate()
    }
  }

  func addReader() { signal.withState { $0.readerCount += 1 } }

  func removeReader() {
    signal.update { state in
      state.readerCount -= 1
      if state.readerCount == 0, state.start > 0 { state.close() }
    }
  }

  /// Ends the stream, because it is not playable and no reader will follow.
  func close() { signal.update { $0.close() } }

  /// The range of bytes in memory.
  var availableByteRange: Range<Int64> { signal.withState { $0.start..<$0.end } }

  /// Wakes all waiting readers, so that they check for cancellation.
  func wake() { signal.update { _ in } }

  /// Reads like `ByteSource.read`. Throws `onlyInOrder`, `readFailed` or `cancelled`.
  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, interrupt: Interrupt
  ) throws(MediaError) -> Int {
    guard !buffer.isEmpty else { return 0 }
    while true {
      let step = signal.wait { state in self.step(&state, buffer, offset, interrupt) }
      switch step {
      case .done(let result): return try result.get()
      case .fetch(let descriptor): fetch(descriptor, interrupt)
      case nil: return 0
      }
    }
  }

  private func step(
    _ state: inout State, _ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64, _ interrupt: Interrupt
  ) -> Step? {
    if interrupt.isCancelled { return .done(.failure(Self.cancelled)) }
    guard offset >= state.start, offset <= state.end + Self.maximumSkipByteCount else {
      return .done(
        .failure(
          MediaError(.onlyInOrder, "\(name) is a stream: data that was read cannot be read again", operation: "read")))
    }
    if offset < state.end { return .done(.success(Self.copy(state, into: buffer, at: offset))) }
    if let failure = state.failure { return .done(.failure(failure)) }
    if state.isAtEnd { return .done(.success(0)) }
    if state.isBeingRead { return nil }
    state.isBeingRead = true
    return .fetch(state.descriptor)
  }

  private static let cancelled = MediaError(.cancelled, "the operation was cancelled", operation: "read")

  /// Reads the next bytes from the descriptor. Blocks until bytes arrive.
  private func fetch(_ descriptor: Int32, _ interrupt: Interrupt) {
    let result = Result { () throws(MediaError) -> [UInt8]? in try readChunk(of: descriptor, interrupt) }
    signal.update { state in
      state.isBeingRead = false
      switch result {
      case .success(let chunk?) where chunk.isEmpty: state.isAtEnd = true
      case .success(let chunk?): Self.append(chunk, to: &state)
      // Cancelled: `step` reports it to the reader that was cancelled.
      case .success(nil): break
      case .failure(let error): (state.failure, state.isAtEnd) = (error, true)
      }
      if state.isAtEnd { state.close() }
    }
  }

  /// Returns the next bytes; empty at the end, nil when cancelled.
  private func readChunk(of descriptor: Int32, _ interrupt: Interrupt) throws(MediaError) -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: Self.chunkByteCount)
    while true {
      do throws(AVFailure) {
        guard try interrupt.waitUntilReadable(descriptor) else { return nil }
      } catch {
        throw MediaError(error, path: name)
      }
      let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { return Array(chunk.prefix(count)) }
      // Another process with the same pipe may have read the bytes first.
      if errno == EINTR || errno == EAGAIN { continue }
      throw MediaError(
        .readFailed, "\(name) cannot be read: \(String(cString: strerror(errno)))", operation: "read",
        underlying: "errno \(errno)")
    }
  }

  private static func append(_ chunk: [UInt8], to state: inout State) {
    for part in parts(of: state.end, count: chunk.count) {
      chunk.withUnsafeBytes { bytes in
        state.memory[part.range].copyBytes(from: bytes[part.offset..<part.offset + part.range.count])
      }
    }
    state.end += Int64(chunk.count)
    state.start = max(state.start, state.end - Int64(windowByteCount))
  }

  private static func copy(_ state: State, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    let count = Int(min(Int64(buffer.count), state.end - offset))
    for part in parts(of: offset, count: count) {
      UnsafeMutableRawBufferPointer(rebasing: buffer[part.offset...]).copyBytes(from: state.memory[part.range])
    }
    return count
  }

  /// Returns the memory ranges of bytes from `offset` on: one range, or two if the bytes wrap around.
  private static func parts(of offset: Int64, count: Int) -> [(range: Range<Int>, offset: Int)] {
    let index = Int(offset % Int64(windowByteCount))
    let first = min(count, windowByteCount - index)
    return first < count ? [(index..<index + first, 0), (0..<count - first, first)] : [(index..<index + first, 0)]
  }
}

/// One reader of a pipe or socket.
final class DescriptorReader: ByteSource {
  private let stream: DescriptorStream
  private let interrupt = Interrupt()

  init(_ stream: DescriptorStream) {
    self.stream = stream
    stream.addReader()
  }

  deinit { stream.removeReader() }

  var byteCount: Int64? { nil }
  var isSeekable: Bool { false }
  var availableByteRange: Range<Int64>? { stream.availableByteRange }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    try stream.read(into: buffer, at: offset, interrupt: interrupt)
  }

  func cancel() {
    interrupt.cancel()
    stream.wake()
  }

  func resume() { interrupt.reset() }
}
