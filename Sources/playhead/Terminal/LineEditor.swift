/// The line that a user types into the shell: converts keys to changes of the line.
///
/// The keys are those of Readline's Emacs mode:
///
/// - Left, Right, Home, End, Ctrl-A, Ctrl-E, Ctrl-B, Ctrl-F, and by word Alt-B, Alt-F: move the cursor
/// - Backspace, Delete, Ctrl-D: remove a character; Ctrl-W a word; Ctrl-U and Ctrl-K the text on one side of the cursor
/// - Ctrl-Y: insert the removed text
/// - Up, Down, Ctrl-P, Ctrl-N: lines of the history; Ctrl-R: search them
///
/// Pure: no I/O.
struct LineEditor {
  /// The effect of a key other than a changed line.
  enum Outcome: Equatable {
    /// The line is complete; the editor begins the next one. Pasted text can have line ends.
    case line([UInt8])
    /// Ctrl-D on an empty line.
    case end
    /// Ctrl-C. The line is empty now; the value is the former one.
    case interrupt([UInt8])
    /// Ctrl-Z.
    case suspend
    /// Tab.
    case complete
    /// Ctrl-L.
    case clearScreen
  }

  /// The search of the history (Ctrl-R).
  private struct Search {
    var query: [UInt8] = []
    /// The index of the found line; the number of lines before the first match.
    var index: Int
    var hasMatch = true
    /// The line before the search, and its `historyIndex`.
    let original: [UInt8]
    let originalIndex: Int
  }

  /// The typed text: UTF-8, if the keyboard sends UTF-8.
  private(set) var text: [UInt8] = []
  /// The position of the cursor in bytes, at the start of a character.
  private(set) var cursor = 0
  /// The lines that Up and the search find, the oldest first.
  private(set) var history: [[UInt8]]
  /// The displayed line of the history; the number of its lines for a new line.
  private var historyIndex: Int
  /// The new line, while a line of the history is displayed.
  private var newLine: [UInt8] = []
  private var removedText: [UInt8] = []
  private var search: Search?

  init(history: [[UInt8]] = []) {
    self.history = history
    historyIndex = history.count
  }

  /// Adds a line to the history.
  mutating func remember(_ line: [UInt8]) {
    history.append(line)
    historyIndex = history.count
  }

  /// Replaces the text from `start` to the cursor.
  mutating func replace(from start: Int, with replacement: [UInt8]) {
    text.replaceSubrange(start..<cursor, with: replacement)
    cursor = start + replacement.count
    alignCursor()
  }

  // MARK: - Keys

  /// Processes a key. Returns nil if the key has no effect, or only changes the line.
  mutating func handle(_ key: Key) -> Outcome? {
    if search != nil, handleSearch(key) { return nil }
    switch key {
    case .text(let bytes): insert(bytes)
    case .paste(let bytes): insert(Self.normalized(bytes))
    case .left: moveLeft()
    case .right: moveRight()
    case .wordLeft: cursor = wordStart(isSeparator: Self.isNoWordByte)
    case .wordRight: cursor = wordEnd
    case .home: cursor = 0
    case .end: cursor = text.count
    case .backspace:
      let end = cursor
      moveLeft()
      text.removeSubrange(cursor..<end)
      alignCursor()
    case .delete: removeCharacter()
    case .up: showHistory(historyIndex - 1)
    case .down: showHistory(historyIndex + 1)
    case .alt("d"): remove(cursor..<wordEnd)
    case .alt, .escape: break
    case .control(let letter): return handleControl(letter)
    }
    return nil
  }

  private mutating func handleControl(_ letter: Character) -> Outcome? {
    switch letter {
    case "a": cursor = 0
    case "e": cursor = text.count
    case "b": moveLeft()
    case "f": moveRight()
    case "k": remove(cursor..<text.count)
    case "u": remove(0..<cursor)
    case "w": remove(wordStart { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }..<cursor)
    case "y": insert(removedText)
    case "p": showHistory(historyIndex - 1)
    case "n": showHistory(historyIndex + 1)
    case "r":
      if historyIndex == history.count { newLine = text }
      search = Search(index: history.count, original: text, originalIndex: historyIndex)
    case "c": return .interrupt(takeText())
    case "d":
      guard !text.isEmpty else { return .end }
      removeCharacter()
    case "i": return .complete
    case "l": return .clearScreen
    case "j", "m": return .line(takeText())
    case "z": return .suspend
    default: break
    }
    return nil
  }

  private mutating func takeText() -> [UInt8] {
    defer { (text, cursor, historyIndex, newLine, search) = ([], 0, history.count, [], nil) }
    return text
  }

  /// Pasted text with LF as line end, and without a last one, so that Enter sends no empty line.
  private static func normalized(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      if byte == UInt8(ascii: "\n"), index > 0, bytes[index - 1] == UInt8(ascii: "\r") { continue }
      result.append(byte == UInt8(ascii: "\r") ? UInt8(ascii: "\n") : byte)
    }
    if result.last == UInt8(ascii: "\n") { result.removeLast() }
    return result
  }

  // MARK: - Text

  private mutating func insert(_ bytes: [UInt8]) {
    text.insert(contentsOf: bytes, at: cursor)
    cursor += bytes.count
    alignCursor()
  }

  private mutating func remove(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    removedText = Array(text[range])
    text.removeSubrange(range)
    cursor = range.lowerBound
    alignCursor()
  }

  private mutating func removeCharacter() {
    let start = cursor
    moveRight()
    text.removeSubrange(start..<cursor)
    cursor = start
    alignCursor()
  }

  private mutating func moveLeft() {
    cursor -= TypedCharacter.characters(of: text[..<cursor]).last?.byteCount ?? 0
  }

  private mutating func moveRight() {
    cursor += TypedCharacter.characters(of: text[cursor...]).first?.byteCount ?? 0
  }

  /// Moves the cursor to the end of its character, if an edit has combined the characters at the cursor.
  private mutating func alignCursor() {
    guard cursor < text.count, text[cursor] >= 0x80 else { return }
    var start = 0
    for character in TypedCharacter.characters(of: text[...]) {
      if start >= cursor { break }
      start += character.byteCount
    }
    cursor = start
  }

  private func wordStart(isSeparator: (UInt8) -> Bool) -> Int {
    var start = cursor
    while start > 0, isSeparator(text[start - 1]) { start -= 1 }
    while start > 0, !isSeparator(text[start - 1]) { start -= 1 }
    return start
  }

  private var wordEnd: Int {
    var end = cursor
    while end < text.count, Self.isNoWordByte(text[end]) { end += 1 }
    while end < text.count, !Self.isNoWordByte(text[end]) { end += 1 }
    return end
  }

  /// Whether a byte separates words: all of ASCII except letters and digits.
  private static func isNoWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...:
      false
    default: true
    }
  }

  // MARK: - History

  private mutating func showHistory(_ index: Int) {
    guard (0...history.count).contains(index), index != historyIndex else { return }
    if historyIndex == history.count { newLine = text }
    historyIndex = index
    text = index == history.count ? newLine : history[index]
    cursor = text.count
  }

  /// Processes a key during the search. Returns false if the key ends the search and applies to the found line.
  private mutating func handleSearch(_ key: Key) -> Bool {
    guard var search else { return false }
    switch key {
    case .text(let bytes):
      search.query += bytes
      find(&search, from: min(search.index, history.count - 1))
    case .control("r"):
      find(&search, from: search.index - 1)
    case .backspace:
      let count = TypedCharacter.characters(of: search.query[...]).last?.byteCount ?? 0
      search.query.removeLast(count)
      find(&search, from: history.count - 1)
    case .control("c"), .control("g"):
      (text, historyIndex) = (search.original, search.originalIndex)
      cursor = text.count
      self.search = nil
    default:
      self.search = nil
      return false
    }
    return true
  }

  /// Shows the newest line from `index` backwards that contains the query. Without one, the line stays.
  private mutating func find(_ search: inout Search, from index: Int) {
    defer { self.search = search }
    guard !search.query.isEmpty else {
      search.hasMatch = true
      return
    }
    var index = index
    while index >= 0, history[index].firstRange(of: search.query) == nil { index -= 1 }
    search.hasMatch = index >= 0
    guard index >= 0 else { return }
    (search.index, historyIndex) = (index, index)
    text = history[index]
    cursor = text.firstRange(of: search.query)?.lowerBound ?? text.count
  }

  // MARK: - Display

  /// The displayed line.
  struct Display: Equatable {
    var text: String
    /// The number of columns from the cursor to the end of the text.
    var columnsAfterCursor = 0
  }

  /// The prompt and the part of the text around the cursor, in at most `columnCount` columns with the cursor.
  func display(prompt: String, columnCount: Int, _ glyphs: LiveLine.Glyphs) -> Display {
    var prompt = prompt
    if let search {
      let query = TypedCharacter.characters(of: search.query[...]).map { $0.display(glyphs) }.joined()
      prompt = DisplayWidth.cut(
        "(\(search.hasMatch ? "search" : "not found"): \(query)) ", to: max(1, columnCount / 2),
        ellipsis: glyphs.ellipsis)
    }
    let room = max(1, columnCount - DisplayWidth.of(prompt) - 1)
    let before = TypedCharacter.characters(of: text[..<cursor]).map { $0.display(glyphs) }
    let after = TypedCharacter.characters(of: text[cursor...]).map { $0.display(glyphs) }
    let (widthsBefore, widthsAfter) = (before.map(DisplayWidth.of), after.map(DisplayWidth.of))
    // Some of the text after the cursor stays visible.
    let reserved = min(widthsAfter.reduce(0, +), room / 3)
    var (start, end) = (before.count, 0)
    var (usedBefore, usedAfter) = (0, 0)
    while start > 0, usedBefore + widthsBefore[start - 1] <= room - reserved {
      start -= 1
      usedBefore += widthsBefore[start]
    }
    while end < after.count, usedBefore + usedAfter + widthsAfter[end] <= room {
      usedAfter += widthsAfter[end]
      end += 1
    }
    return Display(
      text: prompt + before[start...].joined() + after[..<end].joined(), columnsAfterCursor: usedAfter)
  }
}
