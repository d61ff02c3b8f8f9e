// A connected non-blocking socket on the control loop. All connections share one read buffer.
// Output is passed to the kernel immediately. Only bytes that the kernel does not accept are stored.
import CPlayheadMediaShims
import Glibc
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback

/// A connected stream socket.
///
/// It reads only while the delegate wants input. Unread input stays in the kernel and applies back-pressure to the
/// peer.
///
/// Threading: confined to the control loop.
final class ByteStream: DescriptorHandler, @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop. The closures of the loop's jobs capture it.
  /// The reader and writer of a stream.
  protocol Delegate: AnyObject {
    /// Whether the stream should read now.
    var wantsInput: Bool { get }
    /// Whether some of the received bytes will be processed in a later loop iteration.
    var hasUnprocessedInput: Bool { get }
    /// Whether a request runs in slices (``ConnectionStateMachine``). More input is processed after it.
    var isRunningInSlices: Bool { get }
    /// Handles received bytes, which are valid during the call. The stream does not read during the call.
    func received(_ bytes: UnsafeRawBufferPointer)
    /// Called when the peer has shut down its sending side.
    func inputEnded()
    /// Called when the kernel has accepted all written bytes.
    func outputDrained()
    /// Called when the stream is closed: by the peer, by `close`, or after a system error. This is the last call.
    ///
    /// - Parameter failure: The error number (errno(3)). Nil without an error.
    func closed(_ failure: Int32?)
  }

  private let loop: ThreadControlLoop
  private var descriptor: Int32
  private var watch: DescriptorWatch?
  /// The delegate, which the stream retains until it is closed. The loop retains the stream.
  private var delegate: (any Delegate)?
  private let buffer: ReadBuffer
  /// Whether the peer has shut down its sending side.
  private(set) var hasInputEnded = false
  /// Whether output is discarded, because the peer has disconnected or a write has failed.
  private var discardsOutput = false
  /// The bytes that the kernel has not accepted yet, from `unsentStart` on.
  private var unsent: [UInt8] = []
  private var unsentStart = 0

  /// Takes ownership of a connected, non-blocking descriptor. `buffer` is the shared read buffer.
  init(descriptor: Int32, loop: ThreadControlLoop, buffer: ReadBuffer) {
    self.descriptor = descriptor
    self.loop = loop
    self.buffer = buffer
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  /// Starts to read for `delegate`.
  ///
  /// - Throws: The errors of `ThreadControlLoop.watch`.
  func open(for delegate: any Delegate) throws(MediaError) {
    self.delegate = delegate
    watch = try loop.watch(descriptor, for: .readable, self)
  }

  var isOpen: Bool { descriptor >= 0 }

  /// The credentials of the peer. Nil if the kernel cannot provide them.
  var peer: PeerCredentials? { PeerCredentials(ofSocket: descriptor) }

  /// The number of written bytes that the kernel has not accepted. While it is not 0, callers should not write more.
  var unsentByteCount: Int { unsent.count - unsentStart }

  /// The number of unsent bytes, including the bytes in the socket buffer that the peer has not read.
  var unreadByteCount: Int { unsentByteCount + (isOpen ? Int(max(0, media_shims_unsent_bytes(descriptor))) : 0) }

  // MARK: - Output

  /// Sends `bytes` and stores the bytes that the kernel does not accept. After an error the stream is closed in a later
  /// loop iteration.
  func write(_ bytes: [UInt8]) {
    guard isOpen, !discardsOutput else { return }
    if unsentByteCount > 0 { return unsent.append(contentsOf: bytes) }
    let count = bytes.withUnsafeBytes { send($0) }
    guard count < bytes.count else { return }
    (unsent, unsentStart) = (bytes, count)
    watch?.events.insert(.writable)
  }

  /// Sends bytes and returns the number that the kernel accepted. If the peer has disconnected, all bytes count as
  /// accepted, so that its earlier requests are still processed.
  private func send(_ bytes: UnsafeRawBufferPointer) -> Int {
    var count = 0
    while count < bytes.count {
      let sent = Glibc.send(
        descriptor, bytes.baseAddress.map { $0 + count }, bytes.count - count, Int32(MSG_NOSIGNAL))
      if sent > 0 {
        count += sent
      } else if sent < 0, errno == EINTR {
        continue
      } else if sent < 0, errno == EAGAIN || errno == EWOULDBLOCK {
        return count
      } else if sent < 0, errno == EPIPE || errno == ECONNRESET {
        discardsOutput = true
        return bytes.count
      } else {
        // Later bytes must not be sent after a gap.
        discardsOutput = true
        failLater(errno)
        return bytes.count
      }
    }
    return count
  }

  private func sendUnsent() {
    let count = unsent.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[unsentStart...])) }
    unsentStart += count
    guard unsentByteCount == 0 else { return }
    unsent = []
    unsentStart = 0
    watch?.events.remove(.writable)
    delegate?.outputDrained()
  }

  /// Ends the output side of the connection.
  func endOutput() { if isOpen { shutdown(descriptor, Int32(SHUT_WR)) } }

  // MARK: - Input

  /// Starts or stops reading from the socket. Has no effect after the end of the input.
  func setReading(_ isEnabled: Bool) {
    guard !hasInputEnded else { return }
    if isEnabled { watch?.events.insert(.readable) } else { watch?.events.remove(.readable) }
  }

  func descriptorIsReady(_ events: DescriptorEvents) {
    if events.contains(.writable), unsentByteCount > 0 { sendUnsent() }
    guard isOpen, !events.isDisjoint(with: [.readable, .hangUp]) else { return }
    if !hasInputEnded, delegate?.wantsInput == true {
      read()
    } else if !events.isDisjoint(with: .hangUp) {
      // The peer has disconnected and reads no reply. Its received requests are still processed, but not awaited.
      if delegate?.hasUnprocessedInput != true, delegate?.isRunningInSlices != true { close() }
    } else {
      setReading(false)
    }
  }

  private func read() {
    let memory = buffer.memory
    let count = Glibc.read(descriptor, memory.baseAddress, memory.count)
    if count > 0 {
      delegate?.received(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    } else if count == 0 {
      setReading(false)
      hasInputEnded = true
      delegate?.inputEnded()
    } else if errno != EAGAIN, errno != EWOULDBLOCK, errno != EINTR {
      close(errno)
    }
  }

  // MARK: - Closing

  private func failLater(_ failure: Int32) {
    loop.execute { [weak self] in self?.close(failure) }
  }

  /// Closes immediately.
  func close() { close(nil) }

  private func close(_ failure: Int32?) {
    guard isOpen else { return }
    watch?.cancel()
    watch = nil
    Glibc.close(descriptor)
    descriptor = -1
    unsent = []
    unsentStart = 0
    let delegate = delegate
    self.delegate = nil
    delegate?.closed(failure)
  }
}

/// The read buffer that all streams of a loop share.
final class ReadBuffer {
  /// The memory. Its size limits one read, so that a busy peer delays the others only by the requests in these bytes.
  let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 8_192, alignment: 16)

  deinit { memory.deallocate() }
}
