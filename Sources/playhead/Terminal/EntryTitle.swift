import PlayheadWireProtocol

/// The display title of a queue entry.
enum EntryTitle {
  /// The title of a row of `list` or `history`: the title from the playlist or the tags, else the file name or the URL.
  static func of(_ row: ServerLine.TextFields) -> String {
    if let title = row["title"], !title.isEmpty { return Terminal.printable(title) }
    return of(path: row["path"] ?? "")
  }

  /// The artist, if known, and the title.
  static func withArtist(_ row: ServerLine.TextFields) -> String {
    guard let artist = row["artist"], !artist.isEmpty else { return of(row) }
    return "\(Terminal.printable(artist)) - \(of(row))"
  }

  /// The title of a path on the wire: the file name, or the complete URL.
  static func of(path text: String) -> String {
    // A name that is not UTF-8 is a URL on the wire, and is displayed with U+FFFD.
    let path = (try? FilePath(text: text)).map { $0.isFile ? String(decoding: $0.bytes, as: UTF8.self) : text } ?? text
    guard path.utf8.first == UInt8(ascii: "/"), let slash = path.lastIndex(of: "/"),
      path.index(after: slash) < path.endIndex
    else { return Terminal.printable(path) }
    return Terminal.printable(path[path.index(after: slash)...])
  }
}
