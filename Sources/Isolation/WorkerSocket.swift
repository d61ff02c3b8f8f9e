import CMediaShims
import Glibc

/// One end of the connection between the process that plays and a worker: a local socket that keeps messages apart
/// (`SOCK_SEQPACKET`). Blocks. Used by one thread at a time.
struct WorkerSocket {
  let descriptor: Int32

  /// A connected pair; nil with `errno`. Both ends close on exec.
  static func pair() -> (WorkerSocket, WorkerSocket)? {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      return nil
    }
    return (WorkerSocket(descriptor: ends[0]), WorkerSocket(descriptor: ends[1]))
  }

  /// Sends one message; false when the other end is gone.
  func send(_ bytes: [UInt8]) -> Bool {
    while true {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count == bytes.count { return true }
      if count >= 0 || errno != EINTR { return false }
    }
  }

  /// Receives one message; nil when the other end is gone, or the message is longer than one may be.
  func receive() -> [UInt8]? {
    let bytes = [UInt8](unsafeUninitializedCapacity: MessageLimits.byteCount) { buffer, count in
      while true {
        let received = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_TRUNC))
        if received < 0, errno == EINTR { continue }
        // A message of no bytes cannot be told from the end, and none is sent.
        count = (1...buffer.count).contains(received) ? received : 0
        return
      }
    }
    return bytes.isEmpty ? nil : bytes
  }

  /// Sends a descriptor as a message of its own.
  func send(descriptor passed: Int32) -> Bool { media_shims_send_descriptor(descriptor, passed) == 0 }

  /// Receives a descriptor; negative when none came.
  func receiveDescriptor() -> Int32 {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&entry, 1, -1) < 0, errno == EINTR {}
    return media_shims_receive_descriptor(descriptor)
  }

  func close() { Glibc.close(descriptor) }
}
