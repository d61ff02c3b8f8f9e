// Reads the tags of Matroska and WebM (RFC 9559, section 5.1.8), which TagLib does not read. FFmpeg keeps one value of
// each name and drops its target. Opens no files: the caller supplies the bytes.

/// Reads the tags of one file.
struct MatroskaTags<Failure: Error> {
  /// Element IDs, with the names of RFC 9559.
  private enum ID {
    static var info: UInt32 { 0x1549_A966 }
    static var title: UInt32 { 0x7BA9 }
    static var tracks: UInt32 { 0x1654_AE6B }
    static var trackEntry: UInt32 { 0xAE }
    static var trackUID: UInt32 { 0x73C5 }
    static var trackType: UInt32 { 0x83 }
    static var tags: UInt32 { 0x1254_C367 }
    static var tag: UInt32 { 0x7373 }
    static var targets: UInt32 { 0x63C0 }
    static var targetTypeValue: UInt32 { 0x68CA }
    static var tagTrackUID: UInt32 { 0x63C5 }
    static var tagEditionUID: UInt32 { 0x63C9 }
    static var tagChapterUID: UInt32 { 0x63C4 }
    static var tagAttachmentUID: UInt32 { 0x63C6 }
    static var simpleTag: UInt32 { 0x67C8 }
    static var tagName: UInt32 { 0x45A3 }
    static var tagLanguage: UInt32 { 0x447A }
    static var tagLanguageBCP47: UInt32 { 0x447B }
    static var tagString: UInt32 { 0x4487 }
    static var tagBinary: UInt32 { 0x4485 }
  }

  /// Maximum depth of nested tags.
  private static var maximumDepth: Int { 8 }

  private let limits: TagLimits
  private var file: MatroskaFile<Failure>
  private var reading = TagReading()
  private var valueByteCount = 0
  private var valueCounts: [String: Int] = [:]
  /// The UID of the first audio track; nil if there is none, or it was not found.
  private var audioTrackUID: UInt64?

  /// Reads all tags: the tags before the first cluster, and the tags that the file's seek heads list.
  static func read(
    byteCount: Int64, limits: TagLimits, bytes: @escaping TagReader.ByteReader<Failure>
  ) throws(Failure) -> TagReading {
    var tags = MatroskaTags(byteCount: byteCount, limits: limits, bytes: bytes)
    try tags.readFile()
    tags.reading.warnings = tags.file.warnings
    return tags.reading
  }

  private init(byteCount: Int64, limits: TagLimits, bytes: @escaping TagReader.ByteReader<Failure>) {
    self.limits = limits
    file = MatroskaFile(byteCount: byteCount, limits: limits, bytes: bytes)
  }

  private mutating func readFile() throws(Failure) {
    let positions = try file.positions(of: [ID.info, ID.tracks, ID.tags])
    for position in positions[ID.info] ?? [] {
      guard let child = try file.element(at: position), child.id == ID.info else { continue }
      readInfo(try file.content(of: child, limit: MatroskaFile<Failure>.maximumListBytes))
    }
    for position in positions[ID.tracks] ?? [] {
      guard let child = try file.element(at: position), child.id == ID.tracks else { continue }
      readTracks(try file.content(of: child, limit: MatroskaFile<Failure>.maximumListBytes))
    }
    for position in positions[ID.tags] ?? [] {
      guard let child = try file.element(at: position), child.id == ID.tags else { continue }
      readTags(try file.content(of: child, limit: limits.byteCount))
    }
  }

  /// Reads the title of the segment. The title is not a tag, so its key is FFmpeg's name.
  private mutating func readInfo(_ info: ArraySlice<UInt8>) {
    for part in EBML.children(info) where part.id == ID.title {
      let title = EBML.text(part.content)
      if !title.isEmpty { add("title", .text(title), nil, nil, count: part.content.count) }
    }
  }

  private mutating func readTracks(_ list: ArraySlice<UInt8>) {
    for track in EBML.children(list) where track.id == ID.trackEntry {
      reading.trackCount += 1
      guard audioTrackUID == nil else { continue }
      let parts = EBML.children(track.content)
      guard parts.first(where: { $0.id == ID.trackType }).flatMap({ EBML.number($0.content) }) == 2 else { continue }
      audioTrackUID = parts.first { $0.id == ID.trackUID }.flatMap { EBML.number($0.content) }
    }
  }

  // MARK: - Tags

  private mutating func readTags(_ list: ArraySlice<UInt8>) {
    var count = 0
    defer {
      if count == EBML.maximumChildren {
        file.warn("Tags", "the number of tags exceeds the limit; the rest was ignored", isLimit: true)
      }
    }
    for tag in EBML.children(list) {
      count += 1
      guard tag.id == ID.tag else { continue }
      let parts = EBML.children(tag.content)
      var level: Int64?
      var (trackUIDs, otherUIDs): ([UInt64?], [UInt64?]) = ([], [])
      for target in parts where target.id == ID.targets {
        for part in EBML.children(target.content) {
          switch part.id {
          case ID.targetTypeValue: level = EBML.number(part.content).flatMap(Int64.init(exactly:))
          case ID.tagTrackUID: trackUIDs.append(EBML.number(part.content))
          case ID.tagEditionUID, ID.tagChapterUID, ID.tagAttachmentUID: otherUIDs.append(EBML.number(part.content))
          default: break
          }
        }
      }
      // UID 0 represents all elements of its kind.
      let isOfTrack = !trackUIDs.isEmpty && !trackUIDs.contains(0)
      if isOfTrack, audioTrackUID.map({ trackUIDs.contains($0) }) != true { continue }
      if !otherUIDs.isEmpty, !otherUIDs.contains(0) { continue }
      // A tag without a target level applies to the album, unless it applies to a track.
      if level == nil, !isOfTrack { level = 50 }
      let first = reading.items.count
      for part in parts where part.id == ID.simpleTag { addSimpleTag(part.content, level, prefix: "", depth: 0) }
      if isOfTrack { for index in first..<reading.items.count { reading.items[index].isOfTrack = true } }
    }
  }

  private mutating func addSimpleTag(_ content: ArraySlice<UInt8>, _ level: Int64?, prefix: String, depth: Int) {
    guard depth < Self.maximumDepth else {
      return file.warn("SimpleTag", "nested tags exceed the depth limit", isLimit: true)
    }
    let parts = EBML.children(content)
    guard let name = parts.first(where: { $0.id == ID.tagName }).map({ EBML.text($0.content) }), !name.isEmpty,
      name.utf8.count <= 1_024
    else { return }
    let key = prefix + name
    let language =
      parts.first { $0.id == ID.tagLanguageBCP47 }.map { EBML.text($0.content) }
      ?? parts.first { $0.id == ID.tagLanguage }.map { EBML.text($0.content) }
    for part in parts {
      switch part.id {
      case ID.tagString: add(key, .text(EBML.text(part.content)), level, language, count: part.content.count)
      case ID.tagBinary:
        // The first bytes of oversized data identify its format.
        let kept = part.content.prefix(part.content.count > limits.dataByteCount ? 64 : part.content.count)
        if kept.count < part.content.count {
          file.warn(key, "the data exceeds the size limit (got \(part.content.count) bytes)", isLimit: true)
        }
        add(key, .data(Array(kept)), level, language, count: kept.count, of: part.content.count)
      case ID.simpleTag: addSimpleTag(part.content, level, prefix: "\(key)/", depth: depth + 1)
      default: break
      }
    }
  }

  private mutating func add(
    _ key: String, _ value: TagItem.Value, _ level: Int64?, _ language: String?, count: Int, of wholeCount: Int? = nil
  ) {
    guard reading.items.count < limits.itemCount, valueByteCount + count <= limits.byteCount,
      valueCounts[key, default: 0] < limits.valueCount
    else { return file.warn(key, "the tags exceed the limit; the rest was ignored", isLimit: true) }
    valueCounts[key, default: 0] += 1
    valueByteCount += count
    var item = TagItem(space: .matroska, key: key, value: value)
    item.targetLevel = level
    item.language = language.flatMap { $0 == "und" || $0.isEmpty || $0.utf8.count > 64 ? nil : $0 }
    if let wholeCount, wholeCount > count { item.excessiveByteCount = wholeCount }
    reading.items.append(item)
  }
}
