// A module of the consumer with a name that many programs use: Playhead must have no module of the same name.
import Foundation

/// Ends the program with a message unless the condition is true.
public func require(_ condition: Bool, _ message: String) {
  if condition { return }
  FileHandle.standardError.write(Data("consumer: \(message)\n".utf8))
  exit(1)
}
