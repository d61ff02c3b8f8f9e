/// Locates the keys in the text of a TOML file. Assumes that the file is valid TOML.
///
/// TOMLKit provides locations for parse errors, but not for parsed keys.
struct KeyLocator {
  /// A location in the text. Lines and columns count from 1. Columns are in characters.
  struct Location: Hashable {
    var line: Int
    var column: Int
  }

  /// The locations of keys, by the complete path of the key.
  private(set) var keys: [[String]: Location] = [:]
  /// The locations of values, by the complete path of their key.
  private(set) var values: [[String]: Location] = [:]
  /// The first location where another character replaces a name, such as a third `[`. TOMLKit's parser reports no error
  /// there: it fails an assertion, or continues with invalid data.
  private(set) var missingName: Location?

  /// The location of the first list or table that is nested deeper than `maximumDepth`. Later keys have no location.
  private(set) var firstTooDeep: Location?

  /// The maximum nesting depth of a value. The JSON of the file adds two levels, the file and its table, and must not
  /// exceed `WireLimits.jsonDepth`.
  static let maximumDepth = 30
  /// The maximum number of names in a path. Longer paths have no location.
  private static let maximumPathLength = 8

  private let bytes: [UInt8]
  private var index = 0
  private var depth = 0
  /// The last computed location and its byte index. Locations are computed in increasing order, so each byte is counted
  /// once.
  private var lastCounted = (index: 0, location: Location(line: 1, column: 1))

  init(_ text: String) {
    bytes = Array(text.utf8)
    // A byte order mark does not belong to the text.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      index = 3
      lastCounted.index = 3
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
      // The line is neither a table header nor a pair.
      if index == before { skipLine() }
    }
  }

  /// The location of the next byte.
  private mutating func nextLocation() -> Location {
    for byte in bytes[lastCounted.index..<max(index, lastCounted.index)] {
      if byte == UInt8(ascii: "\n") {
        lastCounted.location = Location(line: lastCounted.location.line + 1, column: 1)
      } else if byte & 0xC0 != 0x80 {
        // Continuation bytes of a character do not count.
        lastCounted.location.column += 1
      }
    }
    lastCounted.index = max(index, lastCounted.index)
    return lastCounted.location
  }

  private mutating func record(
    _ location: Location, of path: [String], in locations: WritableKeyPath<KeyLocator, [[String]: Location]>
  ) {
    guard path.count <= Self.maximumPathLength, self[keyPath: locations][path] == nil else { return }
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

  /// Reads a dotted key. Of a key that is too long, returns one name more than `maximumPathLength`.
  private mutating func readPath() -> [String] {
    var path: [String] = []
    while true {
      skipBlank(lines: false)
      let name = readName()
      if path.count <= Self.maximumPathLength { path.append(name) }
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
    let path = Array((table + readPath()).prefix(Self.maximumPathLength + 1))
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

  /// Skips a string of any kind: basic or literal, on one or several lines.
  private mutating func skipString() {
    let quote = bytes[index]
    let isMultiline = bytes[index...].prefix(3).elementsEqual([quote, quote, quote])
    index += isMultiline ? 3 : 1
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        index += 2
      } else if bytes[index] == quote, !isMultiline {
        index += 1
        return
      } else if bytes[index] == quote, bytes[index...].prefix(3).elementsEqual([quote, quote, quote]) {
        index += 3
        // Up to two more quotes belong to the text.
        while index < bytes.count, bytes[index] == quote { index += 1 }
        return
      } else if bytes[index] == UInt8(ascii: "\n"), !isMultiline {
        return
      } else {
        index += 1
      }
    }
    index = min(index, bytes.count)
  }
}
