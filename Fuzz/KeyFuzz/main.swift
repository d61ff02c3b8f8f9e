import Fuzzing

@testable import DaemonConfiguration

// Searches any bytes for the positions of a configuration's keys. The search must not trap, and must end. Each result
// must be in the text: an existing line, a column within it, and no path longer than the limit.

/// The number of characters of each line, plus one for the position after its end.
func columns(of text: String) -> [Int] {
  var counts = [0]
  // A byte order mark is not part of the text.
  for byte in text.utf8.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.utf8.dropFirst(3)) : Array(text.utf8) {
    if byte == UInt8(ascii: "\n") {
      counts.append(0)
    } else if byte & 0xC0 != 0x80 {
      counts[counts.count - 1] += 1
    }
  }
  return counts.map { $0 + 1 }
}

func check(_ bytes: UnsafeRawBufferPointer) {
  let text = String(decoding: bytes, as: UTF8.self)
  let locator = KeyLocator(text)
  let columns = columns(of: text)
  func check(_ position: KeyLocator.Location) {
    precondition(position.line >= 1 && position.line <= columns.count, "invalid line \(position.line)")
    let column = position.column
    precondition(column >= 1 && column <= columns[position.line - 1], "invalid column \(column)")
  }
  for (path, position) in locator.keys {
    precondition((1...8).contains(path.count), "a path of \(path.count) names")
    check(position)
  }
  for (path, position) in locator.values {
    precondition(locator.keys[path] != nil, "a value without a key: \(path)")
    check(position)
  }
  if let position = locator.missingName { check(position) }
  if let position = locator.firstTooDeep { check(position) }
  precondition(KeyLocator(text).keys == locator.keys, "parsing twice gives different keys")
}

fuzz(check)
