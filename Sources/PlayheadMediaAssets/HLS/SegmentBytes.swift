// Provides the bytes of one segment for FFmpeg: decrypted, and without the ID3 tag at the beginning of packed audio,
// which contains its timestamp.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists

/// Reads one segment once. Threading: one thread at a time.
final class SegmentBytes {
  let entry: HLSTimeline.Entry
  /// The timestamp of the first sample in units of 1/90,000 s, from the ID3 tag of packed audio; nil for other
  /// segments.
  private(set) var timestamp: Int64?
  /// Whether the segment is packed audio: neither an MPEG transport stream nor MP4, without timestamps.
  private(set) var isPacked = false
  /// The tags at the beginning of the segment: ID3 tags of packed audio, and those in `emsg` boxes.
  private(set) var tags: [SegmentTag] = []

  private let session: StreamSession
  private let fetcher: StreamFetcher
  private let interrupt: Interrupt
  private let source: any ByteSource
  /// Bytes that have been read but not delivered; the first one is at `headOffset`.
  private(set) var head: [UInt8] = []
  private var headOffset = 0
  private var offset: Int64
  private var isOpen = false
  /// Whether `head` contains the entire segment.
  private var isHeadComplete = false

  /// Maximum size in bytes of an encrypted segment, which is decrypted as a whole.
  private static let maximumEncryptedByteCount = 64 << 20
  /// Maximum number of bytes that are searched for ID3 tags.
  private static let maximumTagByteCount = 1 << 20
  /// Maximum number of tags of one segment.
  private static let maximumTagCount = 64

  /// Creates the reader without sending a request.
  init(
    _ entry: HLSTimeline.Entry, session: StreamSession, fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) {
    self.entry = entry
    self.session = session
    self.fetcher = fetcher
    self.interrupt = interrupt
    if let retained = session.removeRetained(entry.segment, log: fetcher.log) {
      source = retained
    } else {
      source = try fetcher.source(entry.segment.location, bytes: entry.segment.byteRange)
    }
    offset = entry.segment.byteRange?.start ?? 0
    interrupt.attach(source)
  }

  deinit { interrupt.detach(source) }

  /// The transfer, for the next reader of the segment; nil for a file, and if the segment's beginning is no longer in
  /// memory.
  var retainedTransfer: StreamSession.RetainedTransfer? {
    guard let resource = source as? HTTPResource else { return nil }
    let first = resource.availableByteRange?.lowerBound ?? offset
    return first <= entry.segment.byteRange?.start ?? 0
      ? StreamSession.RetainedTransfer(segment: entry.segment, resource: resource) : nil
  }

  /// Sends the request without waiting for the reply.
  func start() { if let resource = source as? HTTPResource { try? resource.start() } }

  /// Whether the entire segment has arrived.
  var hasArrived: Bool {
    if isHeadComplete || !(source is HTTPResource) { return true }
    guard isOpen, let end = entry.segment.byteRange?.end ?? source.byteCount else { return false }
    return source.availableByteRange.map { $0.upperBound >= end } ?? false
  }

  /// The size and duration of the transfer; nil for a file.
  var statistics: TransferStatistics? { (source as? HTTPResource)?.statistics }

  /// The segment and its source, to report the loaded range.
  var loaded: StreamFamily.LoadedSegment { StreamFamily.LoadedSegment(entry: entry, source: source) }

  /// Waits for the first bytes and detects their format.
  ///
  /// - Throws: The errors of the location and of decryption.
  func open() throws(MediaError) {
    try source.open()
    if let key = entry.key {
      // Without the key, the bytes would be useless.
      _ = try session.key(key, interrupt: interrupt)
      let bytes = try fetcher.readAll(
        source, bytes: entry.segment.byteRange, limit: Self.maximumEncryptedByteCount,
        location: entry.segment.location, within: nil)
      head = try session.decrypt(
        bytes, key: key, number: entry.segment.number, location: entry.segment.location, interrupt: interrupt)
      isHeadComplete = true
    }
    isOpen = true
    try inspectBeginning()
  }

  private func inspectBeginning() throws(MediaError) {
    _ = try fill(16)
    while try fill(10), head[headOffset...].starts(with: "ID3".utf8) {
      let length = head[(headOffset + 6)..<(headOffset + 10)].reduce(0) { $0 << 7 | Int($1 & 0x7F) }
      let count = length + (head[headOffset + 5] & 0x10 != 0 ? 20 : 10)
      guard headOffset + count <= Self.maximumTagByteCount else { break }
      _ = try fill(count)
      let tag = head[headOffset..<min(head.count, headOffset + count)]
      if timestamp == nil { timestamp = TransportTimestamp.find(in: tag) }
      if tag.count <= SegmentTag.maximumByteCount, tags.count < Self.maximumTagCount {
        tags.append(SegmentTag(time: .position(entry.startNanoseconds), bytes: Array(tag)))
      }
      headOffset = min(head.count, headOffset + count)
    }
    _ = try fill(8)
    let start = head[headOffset...].prefix(8)
    let box = String(decoding: start.dropFirst(4), as: UTF8.self)
    let boxes = ["ftyp", "styp", "moof", "moov", "sidx", "emsg", "prft", "free", "skip", "mdat"]
    isPacked = start.first != 0x47 && !boxes.contains(box)
    if isPacked, let timestamp {
      let time = MediaTime(value: timestamp, timescale: 90_000)
      for index in tags.indices { tags[index].time = .timestamp(time) }
    }
    if boxes.contains(box), start.first != 0x47 { try readEventMessages() }
  }

  /// Reads the ID3 tags of `emsg` boxes before the first fragment, because FFmpeg skips these boxes.
  private func readEventMessages() throws(MediaError) {
    var boxOffset = 0
    while try fill(boxOffset + 8), boxOffset <= Self.maximumTagByteCount {
      let box = head[(headOffset + boxOffset)...]
      let size = box.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      let name = String(decoding: box.dropFirst(4).prefix(4), as: UTF8.self)
      guard size >= 8, name != "moof", name != "mdat", size <= Self.maximumTagByteCount else { return }
      if name == "emsg", size <= SegmentTag.maximumByteCount, tags.count < Self.maximumTagCount {
        guard try fill(boxOffset + size) else { return }
        let content = head[(headOffset + boxOffset + 8)..<(headOffset + boxOffset + size)]
        if let tag = EventMessage.tag(in: content, startNanoseconds: entry.startNanoseconds) { tags.append(tag) }
      }
      boxOffset += size
    }
  }

  /// Reads until `head` has `count` undelivered bytes. Returns false if the segment is shorter.
  private func fill(_ count: Int) throws(MediaError) -> Bool {
    while head.count - headOffset < count {
      let more = try readSource(max(4_096, count - (head.count - headOffset)))
      guard !more.isEmpty else { return false }
      head += more
    }
    return true
  }

  private func readSource(_ limit: Int) throws(MediaError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit)
    let result = bytes.withUnsafeMutableBytes { buffer in
      Result { () throws(MediaError) in try readSource(into: buffer) }
    }
    bytes.removeLast(limit - (try result.get()))
    return bytes
  }

  private func readSource(into buffer: UnsafeMutableRawBufferPointer) throws(MediaError) -> Int {
    if isHeadComplete { return 0 }
    let remaining = entry.segment.byteRange.map { max(0, $0.end - offset) } ?? .max
    let readByteCount = Int(min(Int64(buffer.count), remaining))
    guard readByteCount > 0 else { return 0 }
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<readByteCount])
    let count = min(readByteCount, try source.read(into: target, at: offset))
    offset += Int64(count)
    return count
  }

  /// Reads the next bytes. Returns 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(MediaError) -> Int {
    guard headOffset < head.count else {
      head = []
      headOffset = 0
      return try readSource(into: buffer)
    }
    let count = min(buffer.count, head.count - headOffset)
    buffer.copyBytes(from: head[headOffset..<(headOffset + count)])
    headOffset += count
    return count
  }
}

/// The timestamp of packed audio in an ID3 tag (RFC 8216, section 3.4).
enum TransportTimestamp {
  private static let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]

  /// Returns the timestamp in units of 1/90,000 s, 33 bits; nil if there is none.
  static func find(in tag: ArraySlice<UInt8>) -> Int64? {
    guard tag.count >= owner.count + 8 else { return nil }
    for start in tag.startIndex...(tag.endIndex - owner.count - 8) where tag[start] == owner[0] {
      guard tag[start...].starts(with: owner) else { continue }
      let bytes = tag[(start + owner.count)..<(start + owner.count + 8)]
      return bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) } & (1 << 33 - 1)
    }
    return nil
  }
}
