import CPlayheadMediaShims
import Glibc

/// One end of the connection between the player process and a worker: a local socket that keeps messages apart
/// (`SOCK_SEQPACKET`). Blocks. Threading: one thread at a time.
final class WorkerSocket: @unchecked Sendable {
  // `@unchecked Sendable`: the buffer is used only by the thread that receives.

  let descriptor: Int32
  /// A buffer for one message, allocated once because it is large.
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: MessageLimits.byteCount, alignment: 16)

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { buffer.deallocate() }

  /// Creates a connected pair of descriptors, which close on exec. Returns nil on failure, with the reason in `errno`.
  static func pair() -> (Int32, Int32)? {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      return nil
    }
    return (ends[0], ends[1])
  }

  /// Sends one message with descriptors, which the caller keeps. Returns false if the other end is closed.
  func send(_ bytes: [UInt8], descriptors: [Int32] = []) -> Bool {
    media_shims_send_message(descriptor, bytes, bytes.count, descriptors, Int32(descriptors.count)) == 0
  }

  /// Sends content in one or more messages, of which only the last has the given kind. Returns false when the other end
  /// is closed.
  func send(_ kind: MessageKind, inParts content: [UInt8], descriptors: [Int32] = []) -> Bool {
    let partByteCount = MessageLimits.byteCount - 1
    var rest = content[...]
    while rest.count > partByteCount {
      guard send([MessageKind.part.rawValue] + rest.prefix(partByteCount)) else { return false }
      rest = rest.dropFirst(partByteCount)
    }
    return send([kind.rawValue] + rest, descriptors: descriptors)
  }

  /// Sends the reply to a request of a worker, without waiting. Returns false if the other end is closed, or has so
  /// many unreceived replies that there is no memory for another one. A worker that receives each reply has none.
  func sendReply(_ bytes: [UInt8]) -> Bool {
    Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL)) == bytes.count
  }

  /// Waits for a message or the end of the connection. Returns false on a timeout.
  func waitUntilReadable(timeoutMilliseconds milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    var result: Int32
    repeat { result = poll(&entry, 1, milliseconds) } while result < 0 && errno == EINTR
    return result > 0
  }

  /// Receives one message, and closes its descriptors. Returns nil if the other end is closed, or the message is too
  /// long.
  func receive() -> [UInt8]? {
    guard let (bytes, descriptors) = receiveWithDescriptors() else { return nil }
    for descriptor in descriptors { Glibc.close(descriptor) }
    return bytes
  }

  /// Receives one message and its descriptors, which the caller closes.
  func receiveWithDescriptors() -> ([UInt8], [Int32])? {
    var descriptors = [Int32](repeating: -1, count: Int(MEDIA_SHIMS_DESCRIPTOR_LIMIT))
    var descriptorCount: Int32 = 0
    let count = media_shims_receive_message(
      descriptor, buffer.baseAddress, buffer.count, &descriptors, &descriptorCount)
    descriptors.removeLast(descriptors.count - Int(descriptorCount))
    // No message is empty: 0 bytes mean that the other end is closed.
    guard (1...buffer.count).contains(count) else {
      for descriptor in descriptors { Glibc.close(descriptor) }
      return nil
    }
    return (Array(UnsafeRawBufferPointer(rebasing: buffer[..<count])), descriptors)
  }

  func close() { Glibc.close(descriptor) }
}
