// A connected socket that does not block, on the control loop: what comes in goes through one piece of memory that all connections share,
// what goes out goes to the system at once, and only what that does not take is kept.
import CMediaShims
import Glibc
import MediaCore
import Playback

/// A connected stream socket.
///
/// It reads only when it is asked to, so that who does not take what comes holds the peer up, and not the memory.
/// Threading: confined to the control loop.
final class ByteStream: DescriptorHandler, @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, whose jobs carry it.
  /// Who reads and writes it.
  protocol Delegate: AnyObject {
    /// Whether something is to be read now.
    var wantsInput: Bool { get }
    /// Whether some of what was read is still to be taken, in a later turn of the loop.
    var hasMoreToTake: Bool { get }
    /// Whether a request takes several turns of the loop, after which more is taken.
    var isTakingTurns: Bool { get }
    /// These came. Valid during the call; nothing is read meanwhile.
    func received(_ bytes: UnsafeRawBufferPointer)
    /// The peer sends no more.
    func inputEnded()
    /// All that was written has been taken by the system.
    func wrote()
    /// It is closed: by the peer's going away, an error of the system (a number of errno(3)), or `close`. The last call.
    func closed(_ failure: Int32?)
  }

  private let loop: ThreadControlLoop
  private var descriptor: Int32
  private var watch: DescriptorWatch?
  /// Kept until it is closed, and so is the stream by the loop.
  private var delegate: (any Delegate)?
  private let buffer: ReadBuffer
  /// The peer sends no more.
  private(set) var hasInputEnded = false
  /// What is written is thrown away: nobody will read it.
  private var isPeerGone = false
  /// What the system did not take yet, from `unsentStart` on.
  private var unsent: [UInt8] = []
  private var unsentStart = 0

  /// Takes a connected descriptor over, which does not block. `buffer`: what it reads with.
  init(descriptor: Int32, loop: ThreadControlLoop, buffer: ReadBuffer) {
    self.descriptor = descriptor
    self.loop = loop
    self.buffer = buffer
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  /// Reads for `delegate` from now on. Errors: as `ThreadControlLoop.watch`.
  func open(for delegate: any Delegate) throws(MediaError) {
    self.delegate = delegate
    watch = try loop.watch(descriptor, for: .readable, self)
  }

  var isOpen: Bool { descriptor >= 0 }

  /// Who is at the other end; nil when that cannot be told.
  var peer: PeerCredentials? { PeerCredentials(ofSocket: descriptor) }

  /// Bytes that were written and not taken by the system; nothing more should be written while there are any.
  var unsentByteCount: Int { unsent.count - unsentStart }

  /// Those, and the ones that the system holds because the peer has not read them.
  var unreadByteCount: Int { unsentByteCount + (isOpen ? Int(max(0, media_shims_unsent_bytes(descriptor))) : 0) }

  // MARK: - Out

  /// Sends `bytes`, keeping what the system does not take. On failure the stream is closed in a later turn of the loop.
  func write(_ bytes: [UInt8]) {
    guard isOpen, !isPeerGone else { return }
    if unsentByteCount > 0 { return unsent.append(contentsOf: bytes) }
    let count = bytes.withUnsafeBytes { send($0) }
    guard count < bytes.count else { return }
    unsent = Array(bytes[count...])
    unsentStart = 0
    watch?.events.insert(.writable)
  }

  /// How many of `bytes` the system took. What nobody will read counts as taken: what such a peer has sent before it went is still read.
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
        isPeerGone = true
        return bytes.count
      } else {
        // Nothing may come behind what is missing.
        isPeerGone = true
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
    delegate?.wrote()
  }

  /// The peer gets no more.
  func endOutput() { if isOpen { shutdown(descriptor, Int32(SHUT_WR)) } }

  // MARK: - In

  /// Whether something is wanted has changed, perhaps.
  func inputIsWanted(_ isWanted: Bool) {
    guard !hasInputEnded else { return }
    if isWanted { watch?.events.insert(.readable) } else { watch?.events.remove(.readable) }
  }

  func descriptorIsReady(_ events: DescriptorEvents) {
    if events.contains(.writable), unsentByteCount > 0 { sendUnsent() }
    guard isOpen, !events.isDisjoint(with: [.readable, .gone]) else { return }
    if !hasInputEnded, delegate?.wantsInput == true {
      read()
    } else if !events.isDisjoint(with: .gone) {
      // Nobody is left to read an answer. What came before is still done, unless it waits for something.
      if delegate?.hasMoreToTake != true, delegate?.isTakingTurns != true { close() }
    } else {
      inputIsWanted(false)
    }
  }

  private func read() {
    let memory = buffer.memory
    let count = Glibc.read(descriptor, memory.baseAddress, memory.count)
    if count > 0 {
      delegate?.received(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    } else if count == 0 {
      inputIsWanted(false)
      hasInputEnded = true
      delegate?.inputEnded()
    } else if errno != EAGAIN, errno != EWOULDBLOCK, errno != EINTR {
      close(errno)
    }
  }

  // MARK: - The end

  private func failLater(_ failure: Int32) {
    loop.execute { [weak self] in self?.close(failure) }
  }

  /// Closes at once.
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

/// The memory that all streams of a loop read with.
final class ReadBuffer {
  /// Of what one read takes at most: who sends a lot holds up others by no more than what these bytes ask for.
  let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 8_192, alignment: 16)

  deinit { memory.deallocate() }
}
