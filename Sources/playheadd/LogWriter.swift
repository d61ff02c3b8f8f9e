// Writes what is logged, on a thread of its own: whoever reads standard error may be slow, or not read at all, and nobody who logs waits for
// him. What does not fit into the memory that is set aside is lost, and counted. The thread sleeps while nothing is logged.
import Glibc
import MediaCore
import RealtimeAudio
import WireProtocol

/// The writer of the log.
final class LogWriter: Sendable {
  /// What waits to be written.
  private struct Waiting {
    var bytes: [UInt8] = []
    var lostCount = 0
    /// What was taken out is being written.
    var isWriting = false
  }

  /// Bytes that wait at most, besides those that are being written.
  static let limitByteCount = 262_144

  private let descriptor: Int32
  private let waiting = WakeSignal(Waiting())

  /// A writer to a descriptor, for as long as the process lives.
  init(to descriptor: Int32) {
    self.descriptor = descriptor
    NamedThread.detached(name: "playhead-log") { [self] in run() }
  }

  /// Has a line written, its end included. Any thread; does not block.
  func write(_ line: String) {
    waiting.update { waiting in
      if waiting.bytes.count + line.utf8.count <= Self.limitByteCount {
        waiting.bytes += line.utf8
      } else {
        waiting.lostCount += 1
      }
    }
  }

  /// Blocks until everything is written, or the deadline passes.
  func finish(by deadline: HostTime) {
    _ = waiting.wait(until: deadline) { $0.bytes.isEmpty && $0.lostCount == 0 && !$0.isWriting ? true : nil }
  }

  private func run() {
    while true {
      let next: (bytes: [UInt8], lostCount: Int)? = waiting.wait { waiting in
        guard !waiting.bytes.isEmpty || waiting.lostCount > 0 else { return nil }
        defer { waiting = Waiting(isWriting: true) }
        return (waiting.bytes, waiting.lostCount)
      }
      guard let next else { continue }
      StandardStream.write(next.bytes, to: descriptor)
      if next.lostCount > 0 {
        let text = "playheadd: \(next.lostCount) lines of the log are lost here: nobody read it\n"
        StandardStream.write(text, to: descriptor)
      }
      waiting.update { $0.isWriting = false }
    }
  }

  /// The same as what swift-log's handler writes to.
  struct Stream: TextOutputStream, Sendable {
    let writer: LogWriter

    /// Writes one event, which ends with a line feed. Values of the event may come from clients, files and servers: a
    /// control character in them is written as an escape sequence, so that no value can forge a line.
    mutating func write(_ string: String) {
      let event = string.hasSuffix("\n") ? string.dropLast() : string[...]
      writer.write(DisplayText.escaped(event) + "\n")
    }
  }
}
