// Reads the tags of Matroska and WebM (RFC 9559, section 5.1.8), which TagLib does not: FFmpeg keeps one value of each name, and forgets
// what it is said of. Opens nothing: bytes come from the caller.

/// The tags of one file, while they are read.
struct MatroskaTags<Failure: Error> {
  /// Names of elements, as RFC 9559 writes them.
  private enum ID {
    static var header: UInt32 { 0x1A45_DFA3 }
    static var segment: UInt32 { 0x1853_8067 }
    static var seekHead: UInt32 { 0x114D_9B74 }
    static var seek: UInt32 { 0x4DBB }
    static var seekID: UInt32 { 0x53AB }
    static var seekPosition: UInt32 { 0x53AC }
    static var cluster: UInt32 { 0x1F43_B675 }
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

  /// Tags in tags.
  private static var maximumDepth: Int { 8 }
  /// Elements in one.
  private static var maximumChildren: Int { 100_000 }
  /// Of an element at the top that is read whole, and is not of tags.
  private static var maximumListBytes: Int { 4 << 20 }

  private let byteCount: Int64
  private let limits: TagLimits
  private let bytes: TagReader.ByteReader<Failure>
  private var reading = TagReading()
  private var readCount = 0
  private var readBytes = 0
  private var takenBytes = 0
  private var valueCounts: [String: Int] = [:]
  /// Of the first track of sound; nil where there is none, or it is not found.
  private var soundTrackUID: UInt64?

  /// Reads all tags: those in front of the sound, and those to which the file's list of places leads.
  static func read(
    byteCount: Int64, limits: TagLimits, bytes: @escaping TagReader.ByteReader<Failure>
  ) throws(Failure) -> TagReading {
    var tags = MatroskaTags(byteCount: byteCount, limits: limits, bytes: bytes)
    try tags.readFile()
    return tags.reading
  }

  private init(byteCount: Int64, limits: TagLimits, bytes: @escaping TagReader.ByteReader<Failure>) {
    self.byteCount = byteCount
    self.limits = limits
    self.bytes = bytes
  }

  // MARK: - The file

  /// The beginning of an element: where what is in it lies.
  private struct Element {
    var id: UInt32
    var start: Int64
    /// `.max`: not said.
    var end: Int64
  }

  private mutating func readFile() throws(Failure) {
    guard let header = try element(at: 0), header.id == ID.header, header.end < byteCount,
      let segment = try element(at: header.end), segment.id == ID.segment
    else { return }
    var places: [UInt32: [Int64]] = [:]
    var seen: Set<Int64> = []
    var place = segment.start
    let end = min(segment.end, byteCount)
    while place < end, let child = try element(at: place), child.id != ID.cluster {
      seen.insert(place)
      if child.id == ID.seekHead {
        for (id, offset) in seekPlaces(try content(of: child, limit: Self.maximumListBytes)) {
          let (target, isFar) = segment.start.addingReportingOverflow(offset)
          if !isFar, target < end { places[id, default: []].append(target) }
        }
      } else if child.id == ID.tracks || child.id == ID.tags {
        places[child.id, default: []].append(place)
      }
      guard child.end != .max else { break }
      place = child.end
    }
    // A second list may stand behind the sound.
    for place in places[ID.seekHead] ?? [] where seen.insert(place).inserted {
      guard let child = try element(at: place), child.id == ID.seekHead else { continue }
      for (id, offset) in seekPlaces(try content(of: child, limit: Self.maximumListBytes)) {
        let (target, isFar) = segment.start.addingReportingOverflow(offset)
        if !isFar, target < end { places[id, default: []].append(target) }
      }
    }
    for place in unique(places[ID.tracks]) {
      guard let child = try element(at: place), child.id == ID.tracks else { continue }
      takeTracks(try content(of: child, limit: Self.maximumListBytes))
    }
    for place in unique(places[ID.tags]) {
      guard let child = try element(at: place), child.id == ID.tags else { continue }
      takeTags(try content(of: child, limit: limits.byteCount))
    }
  }

  private func unique(_ places: [Int64]?) -> [Int64] {
    var seen: Set<Int64> = []
    return (places ?? []).filter { seen.insert($0).inserted }
  }

  private func seekPlaces(_ list: ArraySlice<UInt8>) -> [(id: UInt32, offset: Int64)] {
    children(list).compactMap { child in
      guard child.id == ID.seek else { return nil }
      var (id, offset): (UInt64?, UInt64?)
      for part in children(child.content) {
        if part.id == ID.seekID { id = number(part.content) }
        if part.id == ID.seekPosition { offset = number(part.content) }
      }
      guard let id, let offset, let name = UInt32(exactly: id), let place = Int64(exactly: offset) else { return nil }
      return (name, place)
    }
  }

  private mutating func takeTracks(_ list: ArraySlice<UInt8>) {
    for track in children(list) where track.id == ID.trackEntry && soundTrackUID == nil {
      let parts = children(track.content)
      guard parts.first(where: { $0.id == ID.trackType }).flatMap({ number($0.content) }) == 2 else { continue }
      soundTrackUID = parts.first { $0.id == ID.trackUID }.flatMap { number($0.content) }
    }
  }

  // MARK: - Tags

  private mutating func takeTags(_ list: ArraySlice<UInt8>) {
    var count = 0
    defer {
      if count == Self.maximumChildren {
        warn("Tags", "more than are allowed; what is behind was ignored", isLimit: true)
      }
    }
    for tag in children(list) {
      count += 1
      guard tag.id == ID.tag else { continue }
      let parts = children(tag.content)
      var level: Int64?
      var (tracks, others): ([UInt64?], [UInt64?]) = ([], [])
      for target in parts where target.id == ID.targets {
        for part in children(target.content) {
          switch part.id {
          case ID.targetTypeValue: level = number(part.content).flatMap(Int64.init(exactly:))
          case ID.tagTrackUID: tracks.append(number(part.content))
          case ID.tagEditionUID, ID.tagChapterUID, ID.tagAttachmentUID: others.append(number(part.content))
          default: break
          }
        }
      }
      // 0 means all.
      let isOfTrack = !tracks.isEmpty && !tracks.contains(0)
      if isOfTrack, soundTrackUID.map({ tracks.contains($0) }) != true { continue }
      if !others.isEmpty, !others.contains(0) { continue }
      // What says nothing is of the album, unless it is of a stream.
      if level == nil, !isOfTrack { level = 50 }
      for part in parts where part.id == ID.simpleTag { take(part.content, level, prefix: "", depth: 0) }
    }
  }

  private mutating func take(_ simple: ArraySlice<UInt8>, _ level: Int64?, prefix: String, depth: Int) {
    guard depth < Self.maximumDepth else {
      return warn("SimpleTag", "tags in tags, deeper than is allowed", isLimit: true)
    }
    let parts = children(simple)
    guard let name = parts.first(where: { $0.id == ID.tagName }).map({ text($0.content) }), !name.isEmpty,
      name.utf8.count <= 1_024
    else { return }
    let key = prefix + name
    let language =
      parts.first { $0.id == ID.tagLanguageBCP47 }.map { text($0.content) }
      ?? parts.first { $0.id == ID.tagLanguage }.map { text($0.content) }
    for part in parts {
      switch part.id {
      case ID.tagString: add(key, .text(text(part.content)), level, language, count: part.content.count)
      case ID.tagBinary:
        // Of too much its beginning tells what it is.
        let kept = part.content.prefix(part.content.count > limits.pictureByteCount ? 64 : part.content.count)
        if kept.count < part.content.count {
          warn(key, "the data has \(part.content.count) bytes, which is more than is allowed", isLimit: true)
        }
        add(key, .data(Array(kept)), level, language, count: kept.count, of: part.content.count)
      case ID.simpleTag: take(part.content, level, prefix: "\(key)/", depth: depth + 1)
      default: break
      }
    }
  }

  private mutating func add(
    _ key: String, _ value: TagItem.Value, _ level: Int64?, _ language: String?, count: Int, of wholeCount: Int? = nil
  ) {
    guard reading.items.count < limits.itemCount, takenBytes + count <= limits.byteCount,
      valueCounts[key, default: 0] < limits.valueCount
    else { return warn(key, "more than is allowed; what is behind was ignored", isLimit: true) }
    valueCounts[key, default: 0] += 1
    takenBytes += count
    var item = TagItem(space: .matroska, key: key, value: value)
    item.targetLevel = level
    item.language = language.flatMap { $0 == "und" || $0.isEmpty || $0.utf8.count > 64 ? nil : $0 }
    if let wholeCount, wholeCount > count { item.excessiveByteCount = wholeCount }
    reading.items.append(item)
  }

  private mutating func warn(_ subject: String, _ reason: String, isLimit: Bool = false) {
    guard reading.warnings.count < 100 else { return }
    reading.warnings.append(TagWarning(subject: subject, reason: reason, isLimit: isLimit))
  }

  // MARK: - EBML (RFC 8794)

  /// The element that begins at a place; nil where none does.
  private mutating func element(at place: Int64) throws(Failure) -> Element? {
    let head = try piece(at: place, count: Int(min(12, byteCount - place)))
    guard let (id, length) = Self.elementID(head), let (size, sizeLength) = Self.elementSize(head.dropFirst(length))
    else {
      return nil
    }
    let start = place + Int64(length + sizeLength)
    guard let size else { return Element(id: id, start: start, end: .max) }
    let (end, isFar) = start.addingReportingOverflow(size)
    return Element(id: id, start: start, end: isFar ? .max : end)
  }

  /// What is in an element, as far as the file goes; nothing of one that is larger than `limit` or does not say how large it is.
  private mutating func content(of element: Element, limit: Int) throws(Failure) -> ArraySlice<UInt8> {
    let end = min(element.end, byteCount)
    guard element.end != .max, end - element.start <= Int64(limit) else {
      warn(
        "Matroska", "a list of \(element.end == .max ? "no said size" : "\(end - element.start) bytes")", isLimit: true)
      return []
    }
    if element.end > byteCount { warn("Matroska", "the file ends in the middle of a list") }
    return try piece(at: element.start, count: Int(max(0, end - element.start)))
  }

  private mutating func piece(at place: Int64, count: Int) throws(Failure) -> ArraySlice<UInt8> {
    guard count > 0, readCount < limits.readCount, count <= limits.byteCount - readBytes else { return [] }
    readCount += 1
    readBytes += count
    var buffer = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let result = buffer.withUnsafeMutableBytes { room in
        Result { () throws(Failure) in
          try bytes(UnsafeMutableRawBufferPointer(rebasing: room[filled...]), place + Int64(filled))
        }
      }
      let more = try result.get()
      guard more > 0 else { break }
      filled += more
    }
    return buffer[..<filled]
  }

  private struct Child {
    var id: UInt32
    var content: ArraySlice<UInt8>
  }

  /// The elements in another one; the last one is as long as there are bytes.
  private struct Children: Sequence, IteratorProtocol {
    var rest: ArraySlice<UInt8>
    private var left = maximumChildren

    init(rest: ArraySlice<UInt8>) { self.rest = rest }

    mutating func next() -> Child? {
      guard left > 0 else { return nil }
      left -= 1
      guard let (id, length) = elementID(rest), let (size, sizeLength) = elementSize(rest.dropFirst(length)) else {
        return nil
      }
      rest = rest.dropFirst(length + sizeLength)
      let content = rest.prefix(size.map { Int(clamping: $0) } ?? rest.count)
      rest = rest.dropFirst(content.count)
      return Child(id: id, content: content)
    }
  }

  private func children(_ content: ArraySlice<UInt8>) -> Children { Children(rest: content) }

  /// An element's name, and how many bytes it has; nil where there is none.
  private static func elementID(_ bytes: ArraySlice<UInt8>) -> (id: UInt32, length: Int)? {
    guard let first = bytes.first, first >= 0x10 else { return nil }
    let length = first.leadingZeroBitCount + 1
    guard bytes.count >= length else { return nil }
    return (bytes.prefix(length).reduce(0) { $0 << 8 | UInt32($1) }, length)
  }

  /// How many bytes it has, nil where that is not said, and how many say so.
  private static func elementSize(_ bytes: ArraySlice<UInt8>) -> (size: Int64?, length: Int)? {
    guard let first = bytes.first, first != 0 else { return nil }
    let length = first.leadingZeroBitCount + 1
    guard bytes.count >= length else { return nil }
    let mask: UInt64 = (1 << (7 * UInt64(length))) - 1
    let value = bytes.prefix(length).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & mask
    return (value == mask ? nil : Int64(value), length)
  }

  private func number(_ content: ArraySlice<UInt8>) -> UInt64? {
    content.count <= 8 ? content.reduce(0) { $0 << 8 | UInt64($1) } : nil
  }

  /// UTF-8 up to the first zero.
  private func text(_ content: ArraySlice<UInt8>) -> String {
    String(decoding: content.prefix { $0 != 0 }, as: UTF8.self)
  }
}
