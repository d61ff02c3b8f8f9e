import Synchronization

/// Lines of text that handlers add, in order. Handlers capture it instead of the rig that owns it.
final class TextLog: Sendable {
  private let storage = Mutex<[String]>([])

  /// The lines so far.
  var lines: [String] { storage.withLock { $0 } }

  /// Adds a line.
  func callAsFunction(_ line: String) { storage.withLock { $0.append(line) } }

  /// Returns the lines so far and removes them.
  func take() -> [String] {
    storage.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}
