// XSPF, read with libxml2's pulling reader: no network, no files, no entities but XML's own. A document type is refused, so
// that there is nothing that could be expanded; the reader holds one branch of the tree at a time and its own limits stay on
// (256 levels, 10 MB of text in one piece).
import CXML
import MediaCore

/// XSPF, version 0 and 1: https://www.xspf.org/spec.
struct XSPFParser {
  /// Elements whose text is taken, in a track and in the list.
  private static let keys: [String: PlaylistMetadataKey] = [
    "creator": .creator, "annotation": .annotation, "info": .info, "image": .image, "album": .album,
    "trackNum": .trackNumber, "date": .date,
  ]
  /// Of one element's text no more is looked at.
  private static let textByteLimit = 2 * PlaylistLimits.textByteCount

  /// Of one track no more are looked at.
  private static let locationLimit = 16

  /// The elements around the present node.
  private var path: [String] = []
  private var text: [UInt8] = []
  private var entry = PlaylistEntry(place: .file([]))
  /// The first that is a place counts; the others are the same elsewhere.
  private var locations: [String] = []
  private var trackLine = 0

  private enum Node {
    static let element = Int32(XML_READER_TYPE_ELEMENT.rawValue)
    static let endElement = Int32(XML_READER_TYPE_END_ELEMENT.rawValue)
    static let text = Int32(XML_READER_TYPE_TEXT.rawValue)
    static let data = Int32(XML_READER_TYPE_CDATA.rawValue)
    static let blank = Int32(XML_READER_TYPE_SIGNIFICANT_WHITESPACE.rawValue)
    static let reference = Int32(XML_READER_TYPE_ENTITY_REFERENCE.rawValue)
    static let documentType = Int32(XML_READER_TYPE_DOCUMENT_TYPE.rawValue)
  }

  /// libxml2 wants to be set up by one thread.
  private static let library: Void = xmlInitParser()

  static func parse(_ text: PlaylistText, into builder: inout PlaylistBuilder) throws(MediaError) {
    _ = library
    // Before the parser sees it, in the encodings that lists have.
    guard !containsDocumentType(text.bytes) else { throw refusedType(builder) }
    let options = Int32(XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue)
    try text.bytes.withUnsafeBufferPointer { (bytes) throws(MediaError) -> Void in
      let memory = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
      guard let count = Int32(exactly: bytes.count), count > 0,
        let reader = xmlReaderForMemory(memory, count, nil, text.isMarked ? "UTF-8" : nil, options)
      else { throw builder.damaged("no XML", line: 1) }
      defer { xmlFreeTextReader(reader) }
      var parser = XSPFParser()
      try parser.read(reader, &builder)
    }
  }

  private static func containsDocumentType(_ bytes: [UInt8]) -> Bool {
    let wanted = Array("<!DOCTYPE".utf8)
    return bytes.indices.contains { index in
      bytes[index] == wanted[0] && bytes[index...].starts(with: wanted)
    }
  }

  private static func refusedType(_ builder: PlaylistBuilder) -> MediaError {
    MediaError(.damagedPlaylist, "a list with a document type or entities, which are not taken: \(builder.displayText)")
  }

  private mutating func read(_ reader: xmlTextReaderPtr, _ builder: inout PlaylistBuilder) throws(MediaError) {
    while true {
      let result = xmlTextReaderRead(reader)
      let line = Int(xmlTextReaderGetParserLineNumber(reader))
      guard result >= 0 else { throw builder.damaged("XML that is not well formed", line: line) }
      guard result > 0 else { return }
      switch xmlTextReaderNodeType(reader) {
      case Node.documentType, Node.reference: throw Self.refusedType(builder)
      case Node.text, Node.data, Node.blank:
        guard text.count < Self.textByteLimit, let value = xmlTextReaderConstValue(reader) else { continue }
        var length = 0
        while length < Self.textByteLimit, value[length] != 0 { length += 1 }
        text += UnsafeBufferPointer(start: value, count: length)
      case Node.element:
        let name = xmlTextReaderConstLocalName(reader).map { String(cString: $0) } ?? ""
        guard !path.isEmpty || name == "playlist" else {
          throw MediaError(.notAPlaylist, "XML, but no XSPF list: \(builder.displayText)")
        }
        path.append(name)
        text = []
        if path == Self.trackPath { beginTrack(line) }
        if xmlTextReaderIsEmptyElement(reader) == 1 { try endElement(&builder) }
      case Node.endElement: try endElement(&builder)
      default: break
      }
    }
  }

  // MARK: - Elements

  private static let trackPath = ["playlist", "trackList", "track"]

  private mutating func beginTrack(_ line: Int) {
    entry = PlaylistEntry(place: .file([]))
    locations = []
    trackLine = line
  }

  private mutating func endElement(_ builder: inout PlaylistBuilder) throws(MediaError) {
    guard let name = path.popLast() else { return }
    // A place is not cut: one that is too long is none.
    if name == "location", path == Self.trackPath, locations.count < Self.locationLimit {
      locations.append(String(decoding: text[...].trimmedOfSpace(), as: UTF8.self))
    }
    let value = PlaylistText([]).text(text)
    text = []
    if path == ["playlist"] {
      if name == "title" { builder.setTitle(value) } else if let key = Self.keys[name] { builder.set(key, value) }
    } else if path == Self.trackPath {
      take(name, value)
    } else if path.count == 2, name == "track", path == ["playlist", "trackList"] {
      do throws(MediaError) { entry.place = try builder.place(ofReferences: locations) } catch {
        return builder.skip(error, line: trackLine)
      }
      try builder.append(entry)
    }
  }

  private mutating func take(_ name: String, _ value: String?) {
    guard let value else { return }
    switch name {
    case "title": entry.title = value
    case "duration":
      guard let milliseconds = Int64(value), milliseconds > 0 else { return }
      let duration = MediaTime(value: milliseconds, timescale: 1_000)
      if duration <= PlaylistLimits.duration { entry.duration = duration }
    default: if let key = Self.keys[name], key != .date { entry.metadata[key] = value }
    }
  }
}
