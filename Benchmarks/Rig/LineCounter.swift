import Glibc
import MediaCore
import RigSupport

/// A connection on which answers are counted and not looked at, so that what is measured is the player and not the bench: nothing
/// is allocated for a line, and lines are sent and received at the same time.
final class LineCounter {
  private let socket: LineSocket
  private var buffer = [UInt8](repeating: 0, count: 262_144)

  /// Connects, and reads what the player says first.
  init(_ path: String, greetingLines: Int) throws {
    socket = try .waiting(for: path)
    try wait(forLines: greetingLines)
  }

  /// Milliseconds from the first byte of a line to the last of its answer, which is one line.
  func roundTrip(_ line: [UInt8]) throws -> Double {
    let start = HostTime.present
    try send(line)
    try wait(forLines: 1)
    return HostTime.present.milliseconds(since: start)
  }

  /// Sends a line that fits into the socket.
  func send(_ line: [UInt8]) throws {
    let count = line.withUnsafeBytes { Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    guard count == line.count else { throw RigError.system(call: "send", errno: errno) }
  }

  /// Waits until so many lines have come, and no byte more.
  func wait(forLines count: Int) throws {
    var waiting = count
    while waiting > 0 { waiting -= try receive(flags: 0) }
    guard waiting == 0 else { throw RigError.programFailed("a player answered with \(-waiting) lines more") }
  }

  /// Milliseconds from the first byte of so many lines to the last of their answers, of a line each. At most `ahead` lines wait
  /// for their answer.
  func pipeline(_ line: [UInt8], count: Int, ahead: Int = 4_096) throws -> Double {
    let batch = [UInt8]((0..<ahead).map { _ in line }.joined())
    var bytesLeft = count * line.count
    var (sentBytes, answered) = (0, 0)
    let start = HostTime.present
    while answered < count {
      let room = min(bytesLeft, (answered + ahead) * line.count - sentBytes)
      var polled = pollfd(fd: socket.descriptor, events: Int16(room > 0 ? POLLIN | POLLOUT : POLLIN), revents: 0)
      guard poll(&polled, 1, 20_000) > 0 else { throw RigError.timedOut("answers of a player") }
      if room > 0, polled.revents & Int16(POLLOUT) != 0 {
        // The batch holds whole lines over and over: it goes on where the last piece ended.
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
      if polled.revents & Int16(POLLIN) != 0 { answered += try receive(flags: Int32(MSG_DONTWAIT)) }
    }
    return HostTime.present.milliseconds(since: start)
  }

  /// Receives what there is, and counts its ends of lines.
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
