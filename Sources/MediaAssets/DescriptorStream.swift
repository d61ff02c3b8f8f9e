// The bytes of a pipe or socket, which come once, for all who read the asset: whoever looks for its format, and whoever plays it.
// Nothing is read ahead: who needs a byte that has not come reads it, while the others wait; so a writer is held back as by any reader
// that takes its time. What was read is kept as far as a window of fixed size holds.
import Glibc
import LibAV
import MediaCore
import RealtimeAudio

/// What has come of a pipe or socket, and the reading of more.
///
/// It closes the descriptor when there is nothing more to be had from it: at the end; when all readers have left and the beginning is
/// gone, so that none can come; with itself. A writer that goes on then is told (SIGPIPE), and not held back for ever.
///
/// Threading: any; readers block.
final class DescriptorStream: Sendable {
  /// The newest bytes, of which so many are kept.
  static let keptByteCount = 2 << 20
  /// How far ahead of what has come may be read: what lies between is read and kept.
  private static let reachByteCount: Int64 = 1 << 20
  private static let pieceByteCount = 65_536

  private struct State {
    /// Where byte `i` lies at `i % keptByteCount`.
    let memory: UnsafeMutableRawBufferPointer
    var start: Int64 = 0
    var end: Int64 = 0
    var isAtEnd = false
    var failure: MediaError?
    /// Somebody reads from the descriptor.
    var isBeingRead = false
    var readerCount = 0
    /// -1: closed.
    var descriptor: Int32

    /// Nothing more comes. Not while somebody reads from the descriptor.
    mutating func close() {
      isAtEnd = true
      guard descriptor >= 0, !isBeingRead else { return }
      Glibc.close(descriptor)
      descriptor = -1
    }
  }

  private enum Step {
    case done(Result<Int, MediaError>)
    /// It is the caller's turn to read from the descriptor.
    case fetch(Int32)
  }

  private let name: String
  private let signal: WakeSignal<State>

  init(descriptor: Int32, name: String) {
    self.name = name
    // Pages that nothing was written to cost nothing.
    signal = WakeSignal(
      State(memory: .allocate(byteCount: Self.keptByteCount, alignment: 4_096), descriptor: descriptor))
  }

  deinit {
    signal.withState { state in
      state.close()
      state.memory.deallocate()
    }
  }

  func readerCame() { signal.withState { $0.readerCount += 1 } }

  func readerLeft() {
    signal.update { state in
      state.readerCount -= 1
      if state.readerCount == 0, state.start > 0 { state.close() }
    }
  }

  /// It is nothing that can be played: nobody is going to read it.
  func giveUp() { signal.update { $0.close() } }

  /// The bytes that are there.
  var presentBytes: Range<Int64> { signal.withState { $0.start..<$0.end } }

  /// Wakes who waits for bytes, to look whether it is to give up.
  func wake() { signal.update { _ in } }

  /// As `ByteSource.read`. Errors: `onlyInOrder`, `readFailed`, `cancelled`.
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
    guard offset >= state.start, offset <= state.end + Self.reachByteCount else {
      return .done(
        .failure(MediaError(.onlyInOrder, "\(name) is a stream: what is over does not come again", operation: "read")))
    }
    if offset < state.end { return .done(.success(Self.copy(state, into: buffer, at: offset))) }
    if let failure = state.failure { return .done(.failure(failure)) }
    if state.isAtEnd { return .done(.success(0)) }
    if state.isBeingRead { return nil }
    state.isBeingRead = true
    return .fetch(state.descriptor)
  }

  private static let cancelled = MediaError(.cancelled, "the operation was cancelled", operation: "read")

  /// Reads what there is, waiting for something.
  private func fetch(_ descriptor: Int32, _ interrupt: Interrupt) {
    let result = Result { () throws(MediaError) -> [UInt8]? in try nextPiece(of: descriptor, interrupt) }
    signal.update { state in
      state.isBeingRead = false
      switch result {
      case .success(let piece?) where piece.isEmpty: state.isAtEnd = true
      case .success(let piece?): Self.append(piece, to: &state)
      // Given up: by whom, `step` tells.
      case .success(nil): break
      case .failure(let error): (state.failure, state.isAtEnd) = (error, true)
      }
      if state.isAtEnd { state.close() }
    }
  }

  /// Empty at the end; nil when it was given up.
  private func nextPiece(of descriptor: Int32, _ interrupt: Interrupt) throws(MediaError) -> [UInt8]? {
    var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
    while true {
      do throws(AVFailure) {
        guard try interrupt.waitUntilReadable(descriptor) else { return nil }
      } catch {
        throw MediaError(error, path: name)
      }
      let count = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { return Array(piece.prefix(count)) }
      // Somebody else's, who has the same pipe, were faster.
      if errno == EINTR || errno == EAGAIN { continue }
      throw MediaError(
        .readFailed, "\(name) cannot be read: \(String(cString: strerror(errno)))", operation: "read",
        underlying: "errno \(errno)")
    }
  }

  private static func append(_ piece: [UInt8], to state: inout State) {
    for part in parts(of: state.end, count: piece.count) {
      piece.withUnsafeBytes { bytes in
        state.memory[part.place].copyBytes(from: bytes[part.offset..<part.offset + part.place.count])
      }
    }
    state.end += Int64(piece.count)
    state.start = max(state.start, state.end - Int64(keptByteCount))
  }

  private static func copy(_ state: State, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    let count = Int(min(Int64(buffer.count), state.end - offset))
    for part in parts(of: offset, count: count) {
      UnsafeMutableRawBufferPointer(rebasing: buffer[part.offset...]).copyBytes(from: state.memory[part.place])
    }
    return count
  }

  /// Where bytes from `offset` on lie in memory: in one piece, or at its end and its beginning.
  private static func parts(of offset: Int64, count: Int) -> [(place: Range<Int>, offset: Int)] {
    let place = Int(offset % Int64(keptByteCount))
    let first = min(count, keptByteCount - place)
    return first < count ? [(place..<place + first, 0), (0..<count - first, first)] : [(place..<place + first, 0)]
  }
}

/// One reader of a pipe or socket.
final class DescriptorReader: ByteSource {
  private let stream: DescriptorStream
  private let interrupt = Interrupt()

  init(_ stream: DescriptorStream) {
    self.stream = stream
    stream.readerCame()
  }

  deinit { stream.readerLeft() }

  var byteCount: Int64? { nil }
  var isSeekable: Bool { false }
  var presentBytes: Range<Int64>? { stream.presentBytes }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    try stream.read(into: buffer, at: offset, interrupt: interrupt)
  }

  func cancel() {
    interrupt.cancel()
    stream.wake()
  }

  func resume() { interrupt.reset() }
}
