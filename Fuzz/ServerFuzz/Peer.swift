import Glibc

/// One connection to the server, from the peer's side. Sends bytes while it reads, and counts final replies.
final class Peer {
  private let descriptor: Int32
  /// The incomplete last line.
  private var rest: [UInt8] = []
  /// The number of final replies: `ok` and `error` in text form; results, errors and batches of them in JSON.
  private(set) var replyCount = 0
  /// Whether the server closed the connection.
  private(set) var hasEnded = false
  /// The lines since the last request.
  private var lines: [String] = []

  init(path: String) {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    precondition(descriptor >= 0, "no socket can be created: \(errno)")
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { room in
      precondition(bytes.count < room.count, "the socket's path is too long")
      room.copyBytes(from: bytes)
    }
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    precondition(connected == 0, "the server does not accept connections: \(errno)")
  }

  deinit { close(descriptor) }

  /// Sends all bytes in chunks of `chunkByteCount`, and reads meanwhile.
  func send(_ bytes: [UInt8], chunkByteCount: Int) {
    var sent = 0
    while sent < bytes.count, !hasEnded {
      var status = pollfd(fd: descriptor, events: Int16(POLLIN | POLLOUT), revents: 0)
      _ = poll(&status, 1, -1)
      if Int32(status.revents) & POLLIN != 0 { receive() }
      guard Int32(status.revents) & (POLLOUT | POLLHUP | POLLERR) != 0 else { continue }
      let count = bytes.withUnsafeBytes { all in
        let chunk = UnsafeRawBufferPointer(rebasing: all[sent..<min(sent + chunkByteCount, bytes.count)])
        return Glibc.send(descriptor, chunk.baseAddress, chunk.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      }
      if count > 0 { sent += count } else if errno != EAGAIN { break }
    }
  }

  /// Closes the sending side.
  func endInput() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Waits up to `limit` milliseconds for data. Returns whether data or the end arrived.
  func read(withinMilliseconds limit: Int32) -> Bool {
    var status = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&status, 1, limit) > 0 else { return false }
    receive()
    return true
  }

  /// Sends a request in text form and waits for its final reply. Returns it and the rows before it.
  func sendAndWait(_ request: String) -> [String] {
    lines = []
    let expectedCount = replyCount + 1
    send(Array("\(request)\n".utf8), chunkByteCount: .max)
    while replyCount < expectedCount {
      precondition(!hasEnded, "the connection ended during \(request)")
      // libFuzzer detects a hang: it has a limit for each input.
      _ = read(withinMilliseconds: -1)
    }
    return lines
  }

  private func receive() {
    let room = 65_536
    let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      count = max(0, recv(descriptor, buffer.baseAddress, room, 0))
    }
    hasEnded = bytes.isEmpty
    for byte in bytes {
      guard byte == UInt8(ascii: "\n") else {
        rest.append(byte)
        continue
      }
      let line = String(decoding: rest, as: UTF8.self)
      rest.removeAll(keepingCapacity: true)
      if Self.isFinal(line) { replyCount += 1 }
      lines.append(line)
    }
  }

  /// Whether a line ends a request; events and rows do not.
  static func isFinal(_ line: String) -> Bool {
    if line.hasPrefix("[") { return true }
    if line.hasPrefix("{") { return !line.hasPrefix("{\"jsonrpc\":\"2.0\",\"method\"") }
    let words = line.split(separator: " ", maxSplits: 2)
    let verb = line.hasPrefix("@") ? words.dropFirst().first : words.first
    return verb == "ok" || verb == "error"
  }
}
