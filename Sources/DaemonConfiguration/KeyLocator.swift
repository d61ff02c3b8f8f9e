/// Locates the keys in the text of a TOML file. Assumes that the file is valid TOML.
///
/// TOMLKit provides locations for parse errors, but not for parsed keys.
struct KeyLocator {
  /// Counts from 1. Columns are in characters.
  struct Location: Hashable {
    var line: Int
    var column: Int
  }

  /// The locations of keys and values, by the whole path of the key.
  private(set) var keys: [[String]: Location] = [:]
  private(set) var values: [[String]: Location] = [:]
  /// The first location at which a name is expected and another character is found, such as a third `[`.
  /// There TOMLKit's parser fails an assertion or continues with invalid data, without reporting an error.
  private(set) var missingName: Location?

  /// The first list or table that is nested deeper than `maximumDepth`. Keys after it are not located.
  private(set) var firstTooDeep: Location?

  /// Together with the file and its table, the maximum depth of the JSON that the file is converted to.
  static let maximumDepth = 30
  /// The maximum number of names in a path. Longer paths are not located.
  private static let longestPath = 8

  private let bytes: [UInt8]
  private var index = 0
  private var depth = 0
  /// A location and its byte index. Locations are requested in increasing order, so each byte is counted once.
  private var counted = (index: 0, location: Location(line: 1, column: 1))

  init(_ text: String) {
    bytes = Array(text.utf8)
    // A byte order mark does not belong to the text.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      index = 3
      counted.index = 3
    }
    var table: [String] = []
    while true {
      skipBlank(lines: true)
      guard index < bytes.count else { return }
      let before = index
      if bytes[index] == UInt8(ascii: "[") {
        let location = nextLocation()
        index += bytes[index...].prefix(2).elementsEqual("[[".utf8) ? 2 : 1
        table = readPath()
        record(location, of: table, in: \.keys)
        skipLine()
      } else {
        readPair(in: table)
      }
      // Skips a line that makes no sense.
      if index == before { skipLine() }
    }
  }

  /// The location of the next byte.
  private mutating func nextLocation() -> Location {
    for byte in bytes[counted.index..<max(index, counted.index)] {
      if byte == UInt8(ascii: "\n") {
        counted.location = Location(line: counted.location.line + 1, column: 1)
      } else if byte & 0xC0 != 0x80 {
        // Continuation bytes of a character do not count.
        counted.location.column += 1
      }
    }
    counted.index = max(index, counted.index)
    return counted.location
  }

  private mutating func record(
    _ location: Location, of path: [String], in locations: WritableKeyPath<KeyLocator, [[String]: Location]>
  ) {
    guard path.count <= Self.longestPath, self[keyPath: locations][path] == nil else { return }
    self[keyPath: locations][path] = location
  }

  private mutating func skipBlank(lines: Bool) {
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: " "), UInt8(ascii: "\t"): index += 1
      case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
        guard lines else { return }
        index += 1
      case UInt8(ascii: "#"):
        guard lines else { return }
        skipLine()
      default: return
      }
    }
  }

  private mutating func skipLine() {
    while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
  }

  /// Reads a dotted key. Keeps only as many names of a long key as are needed to detect it.
  private mutating func readPath() -> [String] {
    var path: [String] = []
    while true {
      skipBlank(lines: false)
      let name = readName()
      if path.count <= Self.longestPath { path.append(name) }
      skipBlank(lines: false)
      guard index < bytes.count, bytes[index] == UInt8(ascii: ".") else { return path }
      index += 1
    }
  }

  private mutating func readName() -> String {
    guard index < bytes.count else { return "" }
    let quote = bytes[index]
    if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      let begin = index
      skipString()
      return String(decoding: bytes[min(begin + 1, index)..<max(begin + 1, index - 1)], as: UTF8.self)
    }
    let isName = Self.isBare(quote)
    if !isName, missingName == nil { missingName = nextLocation() }
    let begin = index
    while index < bytes.count, !" \t\r\n.=]#,}".utf8.contains(bytes[index]) { index += 1 }
    return String(decoding: bytes[begin..<index], as: UTF8.self)
  }

  /// Whether a name may contain the byte without quotes.
  private static func isBare(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private mutating func readPair(in table: [String]) {
    let keyLocation = nextLocation()
    let path = Array((table + readPath()).prefix(Self.longestPath + 1))
    record(keyLocation, of: path, in: \.keys)
    guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else { return }
    index += 1
    skipBlank(lines: false)
    record(nextLocation(), of: path, in: \.values)
    skipValue(of: path)
  }

  private mutating func skipValue(of path: [String]) {
    guard index < bytes.count else { return }
    guard depth < Self.maximumDepth else {
      firstTooDeep = firstTooDeep ?? nextLocation()
      index = bytes.count
      return
    }
    depth += 1
    defer { depth -= 1 }
    switch bytes[index] {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): skipString()
    case UInt8(ascii: "["):
      index += 1
      while index < bytes.count {
        skipBlank(lines: true)
        guard index < bytes.count else { return }
        let before = index
        if bytes[index] == UInt8(ascii: "]") {
          index += 1
          return
        }
        if bytes[index] == UInt8(ascii: ",") { index += 1 } else { skipValue(of: path) }
        if index == before { index += 1 }
      }
    case UInt8(ascii: "{"):
      index += 1
      while index < bytes.count {
        skipBlank(lines: true)
        guard index < bytes.count else { return }
        let before = index
        if bytes[index] == UInt8(ascii: "}") {
          index += 1
          return
        }
        if bytes[index] == UInt8(ascii: ",") { index += 1 } else { readPair(in: path) }
        if index == before { index += 1 }
      }
    default:
      while index < bytes.count, !",]}#\r\n".utf8.contains(bytes[index]) { index += 1 }
    }
  }

  /// Skips a string of any of the four kinds.
  private mutating func skipString() {
    let quote = bytes[index]
    let isLong = bytes[index...].prefix(3).elementsEqual([quote, quote, quote])
    index += isLong ? 3 : 1
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        index += 2
      } else if bytes[index] == quote, !isLong {
        index += 1
        return
      } else if bytes[index] == quote, bytes[index...].prefix(3).elementsEqual([quote, quote, quote]) {
        index += 3
        // Up to two more quotes belong to the text.
        while index < bytes.count, bytes[index] == quote { index += 1 }
        return
      } else if bytes[index] == UInt8(ascii: "\n"), !isLong {
        return
      } else {
        index += 1
      }
    }
    index = min(index, bytes.count)
  }
}
