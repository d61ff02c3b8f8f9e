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
  func check(_ place: KeyLocator.Place) {
    precondition(place.line >= 1 && place.line <= columns.count, "invalid line \(place.line)")
    precondition(place.column >= 1 && place.column <= columns[place.line - 1], "invalid column \(place.column)")
  }
  for (path, place) in locator.keys {
    precondition((1...8).contains(path.count), "a path of \(path.count) names")
    check(place)
  }
  for (path, place) in locator.values {
    precondition(locator.keys[path] != nil, "a value without a key: \(path)")
    check(place)
  }
  if let place = locator.misplaced { check(place) }
  if let place = locator.tooDeep { check(place) }
  precondition(KeyLocator(text).keys == locator.keys, "parsing twice gives different keys")
}

fuzz(check)
