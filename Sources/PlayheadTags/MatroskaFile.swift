// Locates elements in a Matroska or WebM file (RFC 9559). Opens no files: the caller supplies the bytes, and the number
// of requested bytes is bounded.

/// Reads the top-level elements of one file.
struct MatroskaFile<Failure: Error> {
  private enum ID {
    static var header: UInt32 { 0x1A45_DFA3 }
    static var segment: UInt32 { 0x1853_8067 }
    static var seekHead: UInt32 { 0x114D_9B74 }
    static var seek: UInt32 { 0x4DBB }
    static var seekID: UInt32 { 0x53AB }
    static var seekPosition: UInt32 { 0x53AC }
    static var cluster: UInt32 { 0x1F43_B675 }
  }

  /// Maximum size of a top-level element that is read completely, other than tags.
  static var maximumListBytes: Int { 4 << 20 }

  private let byteCount: Int64
  private let limits: TagLimits
  private let bytes: TagReader.ByteReader<Failure>
  private var readCount = 0
  private var readByteCount = 0
  /// Warnings about the ignored parts of this file.
  private(set) var warnings: [TagWarning] = []

  init(byteCount: Int64, limits: TagLimits, bytes: @escaping TagReader.ByteReader<Failure>) {
    self.byteCount = byteCount
    self.limits = limits
    self.bytes = bytes
  }

  /// The header of an element.
  struct Element {
    var id: UInt32
    /// The offset of the content.
    var start: Int64
    /// The offset after the content; `.max` if it is unknown.
    var end: Int64
  }

  /// The offsets of the top-level elements with these IDs, without duplicates: the elements before the first cluster,
  /// and the elements that the file's seek heads list.
  mutating func positions(of wanted: Set<UInt32>) throws(Failure) -> [UInt32: [Int64]] {
    guard let header = try element(at: 0), header.id == ID.header, header.end < byteCount,
      let segment = try element(at: header.end), segment.id == ID.segment
    else { return [:] }
    let end = min(segment.end, byteCount)
    var positions: [UInt32: [Int64]] = [:]
    var known: [UInt32: Set<Int64>] = [:]
    func add(_ id: UInt32, _ position: Int64) {
      guard position < end, known[id, default: []].insert(position).inserted else { return }
      positions[id, default: []].append(position)
    }
    func add(listed list: ArraySlice<UInt8>) {
      for (id, offset) in Self.seekPositions(list) where id == ID.seekHead || wanted.contains(id) {
        let (target, overflows) = segment.start.addingReportingOverflow(offset)
        if !overflows { add(id, target) }
      }
    }
    var seen: Set<Int64> = []
    var position = segment.start
    while position < end, let child = try element(at: position), child.id != ID.cluster {
      seen.insert(position)
      if child.id == ID.seekHead {
        add(listed: try content(of: child, limit: Self.maximumListBytes))
      } else if wanted.contains(child.id) {
        add(child.id, position)
      }
      guard child.end != .max else { break }
      position = child.end
    }
    // A second seek head may follow the clusters.
    for position in positions[ID.seekHead] ?? [] where seen.insert(position).inserted {
      guard let child = try element(at: position), child.id == ID.seekHead else { continue }
      add(listed: try content(of: child, limit: Self.maximumListBytes))
    }
    return positions
  }

  private static func seekPositions(_ list: ArraySlice<UInt8>) -> [(id: UInt32, offset: Int64)] {
    EBML.children(list).compactMap { child in
      guard child.id == ID.seek else { return nil }
      var (id, offset): (UInt64?, UInt64?)
      for part in EBML.children(child.content) {
        if part.id == ID.seekID { id = EBML.number(part.content) }
        if part.id == ID.seekPosition { offset = EBML.number(part.content) }
      }
      guard let id, let offset, let elementID = UInt32(exactly: id), let position = Int64(exactly: offset) else {
        return nil
      }
      return (elementID, position)
    }
  }

  /// Records a warning.
  mutating func warn(_ subject: String, _ reason: String, isLimit: Bool = false) {
    guard warnings.count < 100 else { return }
    warnings.append(TagWarning(subject: subject, reason: reason, isLimit: isLimit))
  }

  /// The element at `position`; nil if there is none.
  mutating func element(at position: Int64) throws(Failure) -> Element? {
    let head = try read(at: position, count: Int(min(12, byteCount - position)))
    guard let (id, length) = EBML.elementID(head), let (size, sizeLength) = EBML.elementSize(head.dropFirst(length))
    else {
      return nil
    }
    let start = position + Int64(length + sizeLength)
    guard let size else { return Element(id: id, start: start, end: .max) }
    let (end, overflows) = start.addingReportingOverflow(size)
    return Element(id: id, start: start, end: overflows ? .max : end)
  }

  /// The content of an element, up to the end of the file; empty if the size is unknown or exceeds `limit`.
  mutating func content(of element: Element, limit: Int) throws(Failure) -> ArraySlice<UInt8> {
    let end = min(element.end, byteCount)
    guard element.end != .max, end - element.start <= Int64(limit) else {
      warn(
        "Matroska",
        "the element is too large (\(element.end == .max ? "unknown size" : "\(end - element.start) bytes"))",
        isLimit: true)
      return []
    }
    if element.end > byteCount { warn("Matroska", "the file ends within an element") }
    return try read(at: element.start, count: Int(max(0, end - element.start)))
  }

  private mutating func read(at position: Int64, count: Int) throws(Failure) -> ArraySlice<UInt8> {
    guard count > 0, readCount < limits.readCount, count <= limits.byteCount - readByteCount else { return [] }
    readCount += 1
    readByteCount += count
    var buffer = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let result = buffer.withUnsafeMutableBytes { destination in
        Result { () throws(Failure) in
          try bytes(UnsafeMutableRawBufferPointer(rebasing: destination[filled...]), position + Int64(filled))
        }
      }
      let receivedCount = try result.get()
      guard receivedCount > 0 else { break }
      filled += receivedCount
    }
    return buffer[..<filled]
  }
}
