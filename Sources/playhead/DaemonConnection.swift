// A blocking connection to the daemon: bytes out, lines in.
import Glibc

/// Why there is no talking to the daemon: exit status 3.
struct Unreachable: Error {
  var message: String
}

/// A connected socket and what has been read from it.
struct DaemonConnection: ~Copyable {
  let descriptor: Int32
  let path: String
  private var buffer: [UInt8] = []
  /// Of `buffer`, what has been handed out, and up to where there is no line end.
  private var taken = 0
  private var searched = 0

  /// Connects; `inPackets`: to a socket of packets, each of which is read whole. Errors: `Unreachable`.
  init(path: String, inPackets: Bool = false) throws(Unreachable) {
    self.path = path
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < capacity else {
      throw Unreachable(message: "a socket's path has at most \(capacity - 1) bytes: \(path)")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      for (index, byte) in path.utf8.enumerated() { bytes[index] = byte }
    }
    let type = Int32(inPackets ? SOCK_SEQPACKET.rawValue : SOCK_STREAM.rawValue)
    let opened = socket(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue), 0)
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(opened, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard opened >= 0, status == 0 else {
      let reason = String(cString: strerror(errno))
      if opened >= 0 { close(opened) }
      throw Unreachable(message: "no daemon at \(path): \(reason)")
    }
    descriptor = opened
  }

  deinit { close(descriptor) }

  /// Sends all of it. Errors: `Unreachable`.
  func send(_ bytes: [UInt8]) throws(Unreachable) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        Glibc.send(descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 { sent += count } else if errno != EINTR { throw goneAway() }
    }
  }

  /// Sends no more; what was asked is still answered.
  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// The next line that has been read whole, without its LF; nil when there is none yet.
  mutating func nextLine() -> [UInt8]? {
    guard let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
      searched = buffer.count
      return nil
    }
    defer {
      taken = end + 1
      searched = taken
      if taken == buffer.count {
        buffer.removeAll(keepingCapacity: true)
        (taken, searched) = (0, 0)
      }
    }
    return Array(buffer[taken..<end])
  }

  /// Reads what there is, and waits for it; false at the end of the stream. Errors: `Unreachable`.
  mutating func receive() throws(Unreachable) -> Bool {
    if taken > 0 {
      buffer.removeSubrange(..<taken)
      searched -= taken
      taken = 0
    }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = chunk.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      if count > 0 {
        buffer.append(contentsOf: chunk[..<count])
        return true
      }
      // A daemon that closes without having read everything resets the connection: that is an end like any other.
      if count == 0 || errno == ECONNRESET { return false }
      if errno != EINTR { throw goneAway() }
    }
  }

  /// The next line, waited for; nil at the end of the stream. Errors: `Unreachable`.
  mutating func waitForLine() throws(Unreachable) -> [UInt8]? {
    while true {
      if let line = nextLine() { return line }
      guard try receive() else { return nil }
    }
  }

  private func goneAway() -> Unreachable { Unreachable(message: "the daemon at \(path) went away") }
}
