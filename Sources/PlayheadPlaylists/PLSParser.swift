import PlayheadMediaCore

/// Parses PLS: `FileN=`, `TitleN=` and `LengthN=` in any order. Entries are in the order of their numbers; gaps are
/// permitted.
enum PLSParser {
  private struct NumberedEntry {
    var file: ArraySlice<UInt8>?
    var line = 0
    var title: String?
    var duration: MediaTime?
  }

  static func parse(_ text: PlaylistText, into builder: inout PlaylistBuilder) throws(MediaError) {
    var entries: [Int: NumberedEntry] = [:]
    var isRecognized = false
    var lines = text.lines()
    while let line = lines.next() {
      if line.bytes.equals(ignoringCase: "[playlist]") { isRecognized = true }
      guard let equals = line.bytes.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let key = line.bytes[..<equals].trimmed()
      let value = line.bytes[(equals + 1)...].trimmed()
      if key.equals(ignoringCase: "X-GNOME-Title") || key.equals(ignoringCase: "PlaylistName") {
        builder.setTitle(text.nonEmptyString(value))
      } else if let number = number(of: "File", key) {
        isRecognized = true
        guard !value.isEmpty else { continue }
        entries[number, default: NumberedEntry()].file = value
        entries[number]?.line = line.number
      } else if let number = number(of: "Title", key) {
        entries[number, default: NumberedEntry()].title = text.nonEmptyString(value)
      } else if let number = number(of: "Length", key) {
        entries[number, default: NumberedEntry()].duration = value.positiveSeconds
      }
      // Numbers without a file count too, because they use memory.
      guard entries.count <= PlaylistLimits.entryCount else {
        throw PlaylistBuilder.tooManyEntries(builder.displayText)
      }
    }
    guard isRecognized else { throw MediaError(.notAPlaylist, "not a PLS playlist: \(builder.displayText)") }
    for (_, entry) in entries.sorted(by: { $0.key < $1.key }) {
      guard let file = entry.file, let location = builder.location(ofName: file, line: entry.line) else { continue }
      try builder.append(PlaylistEntry(location: location, title: entry.title, duration: entry.duration))
    }
  }

  private static func number(of name: String, _ key: ArraySlice<UInt8>) -> Int? {
    key.hasPrefix(ignoringCase: name) ? key.dropFirst(name.utf8.count).smallNumber : nil
  }
}
