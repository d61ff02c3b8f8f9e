import Glibc
import PlayheadMediaCore
import RigSupport

/// A connection to a player that sends and receives lines.
final class LineSocket {
  let descriptor: Int32
  private var buffer: [UInt8] = []
  private var next = 0

  /// Connects; nil if no process accepts connections yet.
  init?(_ path: String) {
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
    guard status == 0 else {
      close(descriptor)
      return nil
    }
  }

  deinit { close(descriptor) }

  /// Connects as soon as possible, with an attempt every half millisecond.
  static func waiting(for path: String, timeOutSeconds: Double = 20) throws -> LineSocket {
    let start = HostTime.present
    while HostTime.present.milliseconds(since: start) < timeOutSeconds * 1_000 {
      if let socket = LineSocket(path) { return socket }
      Pause.milliseconds(0.5)
    }
    throw RigError.timedOut("a player to listen at \(path)")
  }

  /// Sends text unchanged. Returns the time of the start.
  @discardableResult
  func send(_ text: String) throws -> HostTime {
    let bytes = Array(text.utf8)
    let start = HostTime.present
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw RigError.system(call: "send", errno: errno) }
      sent += count
    }
    return start
  }

  /// The next line. Throws after `timeOutMilliseconds` without one.
  func line(timeOutMilliseconds: Int32 = 20_000) throws -> String {
    while true {
      if let line = bufferedLine() { return line }
      guard try receive(timeOutMilliseconds: timeOutMilliseconds) else { throw RigError.timedOut("a line of a player") }
    }
  }

  /// The next line if it has been received.
  func bufferedLine() -> String? {
    guard let end = buffer[next...].firstIndex(of: UInt8(ascii: "\n")) else {
      buffer.removeFirst(next)
      next = 0
      return nil
    }
    defer { next = end + 1 }
    return String(decoding: buffer[next..<end], as: UTF8.self)
  }

  /// Receives available bytes. Returns false if none arrived in time.
  func receive(timeOutMilliseconds: Int32) throws -> Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&polled, 1, timeOutMilliseconds) > 0 else { return false }
    let old = buffer.count
    buffer += [UInt8](repeating: 0, count: 65_536)
    let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress.map { $0 + old }, 65_536, 0) }
    buffer.removeLast(65_536 - max(0, count))
    guard count > 0 else { throw RigError.programFailed("a player closed its connection") }
    return true
  }
}
