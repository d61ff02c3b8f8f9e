/// The line that a user types into the shell: converts keyboard bytes to actions.
///
/// Edits at the end of the line, like a terminal: backspace, Ctrl-W (the last word), Ctrl-U (everything). Tab adds a
/// space. Keys that send escape sequences, and other control characters, have no effect.
///
/// Pure: no I/O.
struct LineEditor {
  /// The effect of a byte other than a changed line.
  enum Outcome: Equatable {
    /// The line is complete; the editor begins the next one.
    case line([UInt8])
    /// Ctrl-D on an empty line.
    case end
    /// Ctrl-C.
    case interrupt
    /// Ctrl-Z.
    case suspend
  }

  /// The state of an escape sequence (ECMA-48 section 5.4).
  private enum EscapeState {
    case none
    /// After ESC.
    case afterEscape
    /// After ESC and `[` or `O`. A byte of `@` or higher ends the sequence.
    case parameters
  }

  /// The typed text: UTF-8, if the keyboard sends UTF-8.
  private(set) var text: [UInt8] = []
  private var escapeState = EscapeState.none

  /// Processes one byte of the keyboard. Returns nil if the byte has no effect, or only changes the line.
  mutating func handle(_ byte: UInt8) -> Outcome? {
    switch escapeState {
    case .none: return handleKey(byte)
    case .afterEscape:
      escapeState = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") ? .parameters : .none
    case .parameters:
      if byte >= UInt8(ascii: "@") { escapeState = .none }
    }
    return nil
  }

  private mutating func handleKey(_ byte: UInt8) -> Outcome? {
    switch byte {
    case 0x0a, 0x0d:
      defer { text = [] }
      return .line(text)
    case 0x03: return .interrupt
    case 0x04: return text.isEmpty ? .end : nil
    case 0x1a: return .suspend
    case 0x08, 0x7f: removeLastCharacter()
    case 0x15: text = []
    case 0x17:
      while text.last == UInt8(ascii: " ") { text.removeLast() }
      while let last = text.last, last != UInt8(ascii: " ") { text.removeLast() }
    case 0x1b: escapeState = .afterEscape
    case 0x09: text.append(UInt8(ascii: " "))
    case 0x00..<0x20: break
    default: text.append(byte)
    }
    return nil
  }

  private mutating func removeLastCharacter() {
    while let last = text.popLast(), Self.isContinuation(last) {}
  }

  /// The end of the line that fits in `columnCount` columns. Each character counts as one column.
  func visibleText(columnCount: Int) -> ArraySlice<UInt8> {
    var columns = 0
    var start = text.endIndex
    while start > text.startIndex {
      start -= 1
      guard !Self.isContinuation(text[start]) else { continue }
      columns += 1
      if columns == max(1, columnCount) { break }
    }
    return text[start...]
  }

  private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xc0 == 0x80 }
}
