// Writes the log on a separate thread, because the reader of standard error may be slow or may not read. Threads that
// log a line never wait for that reader. Lines that do not fit into the buffer are dropped and counted. The thread
// sleeps while the buffer is empty.
import Glibc
import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadWireProtocol

/// The writer of the log.
final class LogWriter: Sendable {
  /// The buffered output.
  private struct Buffer {
    var bytes: [UInt8] = []
    /// The number of lines that were dropped since the last write.
    var droppedCount = 0
    /// Whether the thread is writing lines that it removed from the buffer.
    var isWriting = false
  }

  /// The maximum number of buffered bytes, excluding those that are being written.
  static let limitByteCount = 262_144

  private let descriptor: Int32
  private let buffer = ConditionMutex(Buffer())

  /// Creates a writer for a descriptor, and starts its thread. The writer is never released.
  init(to descriptor: Int32) {
    self.descriptor = descriptor
    NamedThread.detached(name: "playhead-log") { [self] in run() }
  }

  /// Buffers a line, which includes its line feed. Threading: any. Does not block.
  func write(_ line: String) {
    buffer.update { buffer in
      if buffer.bytes.count + line.utf8.count <= Self.limitByteCount {
        buffer.bytes += line.utf8
      } else {
        buffer.droppedCount += 1
      }
    }
  }

  /// Blocks until everything is written or the deadline passes.
  func finish(by deadline: HostTime) {
    _ = buffer.wait(until: deadline) { $0.bytes.isEmpty && $0.droppedCount == 0 && !$0.isWriting ? true : nil }
  }

  private func run() {
    while true {
      let next: (bytes: [UInt8], droppedCount: Int)? = buffer.wait { buffer in
        guard !buffer.bytes.isEmpty || buffer.droppedCount > 0 else { return nil }
        defer { buffer = Buffer(isWriting: true) }
        return (buffer.bytes, buffer.droppedCount)
      }
      guard let next else { continue }
      StandardStream.write(next.bytes, to: descriptor)
      if next.droppedCount > 0 {
        let text = "playheadd: \(next.droppedCount) log lines were dropped here, because standard error was not read\n"
        StandardStream.write(text, to: descriptor)
      }
      buffer.update { $0.isWriting = false }
    }
  }

  /// The stream that swift-log's handler writes to.
  struct Stream: TextOutputStream, Sendable {
    let writer: LogWriter

    /// Writes one event, which ends with a line feed. Escapes control characters, so that no value from a client, file
    /// or server can forge a line.
    mutating func write(_ string: String) {
      let event = string.hasSuffix("\n") ? string.dropLast() : string[...]
      writer.write(DisplayText.escaped(event) + "\n")
    }
  }
}
