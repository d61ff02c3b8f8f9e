import Glibc

/// A connection to a control server that sends and receives lines.
package final class WireClient {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  /// The server, which the connection retains.
  private let owner: TestServer?

  package init(_ path: String, owner: TestServer? = nil) throws {
    self.owner = owner
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      for (index, byte) in path.utf8.prefix(bytes.count - 1).enumerated() { bytes[index] = byte }
    }
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else { throw Program.Failure(description: "no daemon at \(path)") }
  }

  deinit { close(descriptor) }

  /// Sends lines, each with LF.
  package func send(_ lines: String...) throws { try send(bytes: lines.flatMap { Array("\($0)\n".utf8) }) }

  package func send(bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.send(descriptor, buffer.baseAddress.map { $0 + sent }, buffer.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Program.Failure(description: "the daemon accepts no more bytes") }
      sent += count
    }
  }

  /// Sends as many bytes as the socket accepts without blocking. Returns their number.
  package func sendWithoutBlocking(_ bytes: [UInt8]) -> Int {
    max(
      0,
      bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      })
  }

  /// Ends the output of the connection.
  package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Receives the next line. Returns nil if the daemon closed the connection.
  package func line() throws -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer.removeSubrange(...end) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      guard try receive() else { return nil }
    }
  }

  /// Waits until the daemon has closed the connection. Reads nothing.
  package func waitForHangUp() throws {
    var polled = pollfd(fd: descriptor, events: 0, revents: 0)
    guard poll(&polled, 1, Program.timeoutMilliseconds) > 0 else {
      throw Program.Failure(description: "the daemon does not close the connection")
    }
  }

  /// Receives all lines up to the end of the connection.
  package func remainingLines() throws -> [String] {
    while try receive() {}
    defer { buffer = [] }
    return buffer.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }

  private func receive() throws -> Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&polled, 1, Program.timeoutMilliseconds) > 0 else {
      throw Program.Failure(
        description: "the daemon sends nothing; the last bytes: \(String(decoding: buffer.suffix(500), as: UTF8.self))")
    }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = chunk.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
    if count > 0 { buffer += chunk[..<count] }
    return count > 0
  }

  /// Sends a request without an id. Returns all lines up to the final line of the reply, including events.
  @discardableResult
  package func ask(_ request: String) throws -> [String] {
    try send(request)
    var lines: [String] = []
    while let line = try line() {
      lines.append(line)
      if line == "ok" || line.hasPrefix("ok ") || line.hasPrefix("error ") { return lines }
    }
    throw Program.Failure(description: "the connection ended before the reply to \(request); \(lines)")
  }

  /// Sends a request and returns the final line of the reply.
  @discardableResult
  package func reply(_ request: String) throws -> String { try ask(request).last ?? "" }
}

/// The value of a field in a line of the text form. Does not support quoted values.
package func field(_ name: String, _ line: String) -> String? {
  for word in line.split(separator: " ") where word.hasPrefix("\(name)=") {
    return String(word.dropFirst(name.utf8.count + 1))
  }
  return nil
}
