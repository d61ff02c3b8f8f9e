/// A character that the user can edit, with its combining marks.
struct TypedCharacter: Equatable {
  /// The displayed text. Invalid UTF-8 is U+FFFD.
  var text: String
  /// The number of bytes of the typed text.
  var byteCount: Int

  /// The characters of a text. Each invalid sequence is a character of its own.
  static func characters(of bytes: ArraySlice<UInt8>) -> [TypedCharacter] {
    var scalars = String.UnicodeScalarView()
    var byteCounts: [Int] = []
    var iterator = bytes.makeIterator()
    var parser = UTF8.ForwardParser()
    parsing: while true {
      switch parser.parseScalar(from: &iterator) {
      case .valid(let encoded):
        scalars.append(UTF8.decode(encoded))
        byteCounts.append(encoded.count)
      case .error(let length):
        scalars.append("\u{FFFD}")
        byteCounts.append(length)
      case .emptyInput: break parsing
      }
    }
    var result: [TypedCharacter] = []
    var index = 0
    for character in String(scalars) {
      let count = character.unicodeScalars.count
      result.append(
        TypedCharacter(text: String(character), byteCount: byteCounts[index..<(index + count)].reduce(0, +)))
      index += count
    }
    return result
  }

  /// The text on a terminal: a visible character for a line end, and none that changes the terminal.
  func display(_ glyphs: LiveLine.Glyphs) -> String {
    switch text {
    case "\n": glyphs.unknown == nil ? "⏎" : "\\n"
    case "\t": " "
    default: Terminal.withoutControls(text)
    }
  }
}
