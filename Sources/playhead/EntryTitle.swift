import WireProtocol

/// What an entry of the queue is called, for people.
enum EntryTitle {
  /// Of a row of `list` or `history`: the list's title, else the file's name, or the address.
  static func of(_ row: ServerLine.TextFields) -> String {
    if let title = row["title"], !title.isEmpty { return Terminal.printable(title) }
    return of(path: row["path"] ?? "")
  }

  /// Of a path as the wire has it: the file's name; an address whole.
  static func of(path text: String) -> String {
    // A name that is not UTF-8 is a URL there, and shown with U+FFFD.
    let path = (try? FilePath(text: text)).map { $0.isFile ? String(decoding: $0.bytes, as: UTF8.self) : text } ?? text
    guard path.utf8.first == UInt8(ascii: "/"), let slash = path.lastIndex(of: "/"),
      path.index(after: slash) < path.endIndex
    else { return Terminal.printable(path) }
    return Terminal.printable(path[path.index(after: slash)...])
  }
}
