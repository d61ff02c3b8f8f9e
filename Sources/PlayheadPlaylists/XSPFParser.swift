// Reads XSPF with libxml2's pull parser. The parser accesses no network and no files, and expands only XML's predefined
// entities: a document type is rejected. It retains one branch of the tree at a time. libxml2's limits stay enabled
// (256 levels, 10 MB of text in one node).
import CPlayheadXML
import PlayheadMediaCore

/// Parses XSPF versions 0 and 1: https://www.xspf.org/spec.
struct XSPFParser {
  /// The supported text elements of a track and of the playlist.
  private static let metadataKeys: [String: PlaylistMetadataKey] = [
    "creator": .creator, "annotation": .annotation, "info": .info, "image": .image, "album": .album,
    "trackNum": .trackNumber, "date": .date,
  ]
  /// The maximum number of bytes read of an element's text.
  private static let textByteLimit = 2 * PlaylistLimits.textByteCount

  /// The maximum number of locations read of a track.
  private static let locationLimit = 16

  /// The path of elements to the current node.
  private var path: [String] = []
  private var text: [UInt8] = []
  private var entry = PlaylistEntry(location: .file([]))
  /// The locations of the track. The first valid one is used; the others are alternatives.
  private var locations: [String] = []
  private var trackLine = 0

  static func parse(_ text: PlaylistText, into builder: inout PlaylistBuilder) throws(MediaError) {
    // Check before libxml2 reads the text. Text with a UTF-16 byte order mark has already been converted to UTF-8.
    guard !containsDocumentType(text.bytes) else { throw documentTypeError(builder) }
    try text.bytes.withUnsafeBufferPointer { (bytes) throws(MediaError) -> Void in
      let memory = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
      guard let count = Int32(exactly: bytes.count),
        let reader = cxml_reader_open(memory, count, text.hasByteOrderMark ? "UTF-8" : nil)
      else { throw builder.damaged("not XML", line: 1) }
      defer { cxml_reader_close(reader) }
      var parser = XSPFParser()
      try parser.read(reader, &builder)
    }
  }

  private static func containsDocumentType(_ bytes: [UInt8]) -> Bool {
    let marker = Array("<!DOCTYPE".utf8)
    return bytes.indices.contains { index in
      bytes[index] == marker[0] && bytes[index...].starts(with: marker)
    }
  }

  private static func documentTypeError(_ builder: PlaylistBuilder) -> MediaError {
    MediaError(.damagedPlaylist, "document types and entities are not allowed: \(builder.displayText)")
  }

  private mutating func read(_ reader: OpaquePointer, _ builder: inout PlaylistBuilder) throws(MediaError) {
    while true {
      let result = cxml_reader_next(reader)
      let line = Int(cxml_reader_line(reader))
      guard result >= 0 else { throw builder.damaged("the XML is not well formed", line: line) }
      guard result > 0 else { return }
      switch cxml_reader_node(reader) {
      case CXML_NODE_DOCUMENT_TYPE, CXML_NODE_ENTITY_REFERENCE: throw Self.documentTypeError(builder)
      case CXML_NODE_TEXT:
        guard text.count < Self.textByteLimit, let value = cxml_reader_text(reader) else { continue }
        var length = 0
        while length < Self.textByteLimit, value[length] != 0 { length += 1 }
        text += UnsafeBufferPointer(start: value, count: length)
      case CXML_NODE_ELEMENT:
        let name = cxml_reader_name(reader).map { String(cString: $0) } ?? ""
        guard !path.isEmpty || name == "playlist" else {
          throw MediaError(.notAPlaylist, "XML, but not an XSPF playlist: \(builder.displayText)")
        }
        path.append(name)
        text = []
        if path == Self.trackPath { startTrack(line) }
        if cxml_reader_is_empty(reader) == 1 { try endElement(&builder) }
      case CXML_NODE_END_ELEMENT: try endElement(&builder)
      default: break
      }
    }
  }

  // MARK: - Elements

  private static let trackPath = ["playlist", "trackList", "track"]

  private mutating func startTrack(_ line: Int) {
    entry = PlaylistEntry(location: .file([]))
    locations = []
    trackLine = line
  }

  private mutating func endElement(_ builder: inout PlaylistBuilder) throws(MediaError) {
    guard let name = path.popLast() else { return }
    // Locations are not truncated: one that is too long is invalid.
    if name == "location", path == Self.trackPath, locations.count < Self.locationLimit {
      locations.append(String(decoding: text[...].trimmedOfXMLSpace(), as: UTF8.self))
    }
    let value = PlaylistText([]).nonEmptyString(text)
    text = []
    if path == ["playlist"] {
      if name == "title" {
        builder.setTitle(value)
      } else if let key = Self.metadataKeys[name] {
        builder.set(key, value)
      }
    } else if path == Self.trackPath {
      setElement(name, value)
    } else if path.count == 2, name == "track", path == ["playlist", "trackList"] {
      do throws(MediaError) { entry.location = try builder.location(ofReferences: locations) } catch {
        return builder.skip(error, line: trackLine)
      }
      try builder.append(entry)
    }
  }

  private mutating func setElement(_ name: String, _ value: String?) {
    guard let value else { return }
    switch name {
    case "title": entry.title = value
    case "duration":
      guard let milliseconds = Int64(value), milliseconds > 0 else { return }
      let duration = MediaTime(value: milliseconds, timescale: 1_000)
      if duration <= PlaylistLimits.duration { entry.duration = duration }
    default: if let key = Self.metadataKeys[name], key != .date { entry.metadata[key] = value }
    }
  }
}
