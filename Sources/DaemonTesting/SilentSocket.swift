import Glibc

/// A listening socket that neither accepts nor replies, except in `replyOnce`. Deinitializing the object closes it.
package final class SilentSocket {
  private let descriptor: Int32

  package init(path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let descriptor = descriptor
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0, listen(descriptor, 4) == 0 else { throw Program.Failure(description: "no socket at \(path)") }
  }

  /// Accepts the next connection, reads its first line, writes `text`, and closes the connection. Returns the line.
  package func replyOnce(_ text: String) throws -> String {
    let connection = try wait(for: descriptor) { accept(descriptor, nil, nil) }
    defer { close(connection) }
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") {
      var byte: UInt8 = 0
      guard try wait(for: connection, { Int32(recv(connection, &byte, 1, 0)) }) == 1 else { break }
      line.append(byte)
    }
    let bytes = Array(text.utf8)
    guard send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw Program.Failure(description: "the reply cannot be sent")
    }
    return String(decoding: line, as: UTF8.self)
  }

  private func wait(for descriptor: Int32, _ operation: () -> Int32) throws -> Int32 {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&polled, 1, Program.timeoutMilliseconds) > 0 else {
      throw Program.Failure(description: "no client connected or sent data in time")
    }
    let result = operation()
    guard result >= 0 else { throw Program.Failure(description: "accepting or receiving failed") }
    return result
  }

  deinit { close(descriptor) }
}
