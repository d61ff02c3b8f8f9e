import PlayheadMediaCore

/// Parses M3U and extended M3U: one name per line, and lines that begin with `#`.
enum M3UParser {
  static func parse(_ source: PlaylistText, into builder: inout PlaylistBuilder) throws(MediaError) {
    var text = source
    var pending = PlaylistEntry(location: .file([]))
    var lines = source.lines()
    while let line = lines.next() {
      let bytes = line.bytes
      if bytes.isEmpty { continue }
      guard bytes.first == UInt8(ascii: "#") else {
        if let location = builder.location(ofName: bytes, line: line.number) {
          pending.location = location
          try builder.append(pending)
        }
        pending = PlaylistEntry(location: .file([]))
        continue
      }
      if let value = value(of: "#EXTINF:", bytes) {
        (pending.duration, pending.title) = parseExtInf(value, text)
      } else if let value = value(of: "#PLAYLIST:", bytes) {
        builder.setTitle(text.nonEmptyString(value))
      } else if let value = value(of: "#EXTENC:", bytes) {
        text.isSingleByte = try isSingleByte(value, line.number, &builder)
      } else if let value = value(of: "#EXTALB:", bytes) {
        pending.metadata[.album] = text.nonEmptyString(value)
      } else if let value = value(of: "#EXTART:", bytes) {
        pending.metadata[.creator] = text.nonEmptyString(value)
      } else if let value = value(of: "#EXTGENRE:", bytes) {
        pending.metadata[.genre] = text.nonEmptyString(value)
      }
      // All other lines are comments, or settings of other players: #EXTVLCOPT, #EXTGRP, #KODIPROP.
    }
  }

  private static func value(of tag: String, _ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    line.hasPrefix(ignoringCase: tag) ? line.dropFirst(tag.utf8.count).trimmed() : nil
  }

  /// Parses `seconds attribute="..." ...,title`.
  private static func parseExtInf(
    _ value: ArraySlice<UInt8>, _ text: PlaylistText
  ) -> (duration: MediaTime?, title: String?) {
    let number = value.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
    var isQuoted = false
    var rest = value[number.endIndex...]
    while let byte = rest.first {
      rest.removeFirst()
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if byte == UInt8(ascii: ","), !isQuoted { return (number.positiveSeconds, text.nonEmptyString(rest)) }
    }
    // An unclosed quote is an ordinary character.
    guard isQuoted, let comma = value.firstIndex(of: UInt8(ascii: ",")) else { return (number.positiveSeconds, nil) }
    return (number.positiveSeconds, text.nonEmptyString(value[(comma + 1)...]))
  }

  private static func isSingleByte(
    _ value: ArraySlice<UInt8>, _ line: Int, _ builder: inout PlaylistBuilder
  ) throws(MediaError) -> Bool {
    let name = String(decoding: value.prefix(40).map(\.asciiLowercased), as: UTF8.self)
    switch name {
    case "utf-8", "utf8", "utf-16", "ascii", "us-ascii", "": return false
    case "windows-1252", "cp1252", "iso-8859-1", "latin1", "latin-1": return true
    default:
      builder.warn(
        MediaError(.damagedPlaylist, "unknown encoding \(name); UTF-8 or Windows-1252 is used"), line: line)
      return false
    }
  }
}
