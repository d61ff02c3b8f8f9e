import Glibc
import PlayheadMediaCore
import RigSupport

/// A connection that only counts replies, so that the benchmark measures the player and not itself. It allocates no
/// memory for a line, and sends and receives concurrently.
final class LineCounter {
  private let socket: LineSocket
  private var buffer = [UInt8](repeating: 0, count: 262_144)

  /// Connects, and reads the player's greeting.
  init(_ path: String, greetingLines: Int) throws {
    socket = try .waiting(for: path)
    try wait(forLines: greetingLines)
  }

  /// Milliseconds from the first byte of a line to the last byte of its one-line reply.
  func roundTrip(_ line: [UInt8]) throws -> Double {
    let start = HostTime.present
    try send(line)
    try wait(forLines: 1)
    return HostTime.present.milliseconds(since: start)
  }

  /// Sends a line that fits into the socket's buffer.
  func send(_ line: [UInt8]) throws {
    let count = line.withUnsafeBytes { Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    guard count == line.count else { throw RigError.system(call: "send", errno: errno) }
  }

  /// Waits for exactly `count` lines.
  func wait(forLines count: Int) throws {
    var remaining = count
    while remaining > 0 { remaining -= try receive(flags: 0) }
    guard remaining == 0 else { throw RigError.programFailed("a player sent \(-remaining) surplus lines") }
  }

  /// Milliseconds from the first byte of `count` lines to the last byte of their one-line replies. At most `ahead`
  /// lines wait for their replies.
  func pipeline(_ line: [UInt8], count: Int, ahead: Int = 4_096) throws -> Double {
    let batch = [UInt8]((0..<ahead).map { _ in line }.joined())
    var bytesLeft = count * line.count
    var (sentBytes, replyCount) = (0, 0)
    let start = HostTime.present
    while replyCount < count {
      let room = min(bytesLeft, (replyCount + ahead) * line.count - sentBytes)
      var polled = pollfd(fd: socket.descriptor, events: Int16(room > 0 ? POLLIN | POLLOUT : POLLIN), revents: 0)
      guard poll(&polled, 1, 20_000) > 0 else { throw RigError.timedOut("replies of a player") }
      if room > 0, polled.revents & Int16(POLLOUT) != 0 {
        // The batch repeats whole lines, so sending continues at the offset where it stopped.
        let offset = sentBytes % line.count
        let length = min(room, batch.count - offset)
        let sent = batch.withUnsafeBytes {
          Glibc.send(
            socket.descriptor, $0.baseAddress.map { $0 + offset }, length, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        guard sent > 0 || errno == EAGAIN else { throw RigError.system(call: "send", errno: errno) }
        sentBytes += max(0, sent)
        bytesLeft -= max(0, sent)
      }
      if polled.revents & Int16(POLLIN) != 0 { replyCount += try receive(flags: Int32(MSG_DONTWAIT)) }
    }
    return HostTime.present.milliseconds(since: start)
  }

  /// Receives available bytes and returns the number of line ends.
  private func receive(flags: Int32) throws -> Int {
    try buffer.withUnsafeMutableBytes { bytes in
      let count = recv(socket.descriptor, bytes.baseAddress, bytes.count, flags)
      guard count > 0 else {
        if count < 0, errno == EAGAIN { return 0 }
        throw RigError.programFailed("a player closed its connection")
      }
      return bytes[..<count].count { $0 == UInt8(ascii: "\n") }
    }
  }
}
