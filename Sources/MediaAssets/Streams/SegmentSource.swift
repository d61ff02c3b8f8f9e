// Segments one behind another, as if they were one file that is read from its beginning on: as far as they belong together.
import LibAV
import MediaCore
import NetworkIO
import Playlists
import RealtimeAudio
import Synchronization

/// A run of segments of a stream, up to where something begins anew: a discontinuity, another initialization section, a segment
/// that is missing, the end.
///
/// Threading: as `ByteSource`.
final class SegmentSource: ByteSource, @unchecked Sendable {
  // `@unchecked Sendable`: only `interrupt` and `session` are used by other threads than the reader's.

  /// Why there are no more bytes.
  enum End: Sendable, Hashable {
    /// What follows begins with this segment.
    case next(Int64)
    /// Another variant is heard from now on: what follows is its sound.
    case variant
    /// Segments up to this one have left the window of a live stream.
    case left(first: Int64)
    /// The stream is over.
    case streamEnd
  }

  private let session: StreamSession
  private let fetcher: StreamFetcher
  /// The segment that it begins with, once that is known: a first one that is missing is passed over.
  private(set) var firstEntry: HLSTimeline.Entry?
  /// The one that was opened last.
  private(set) var lastEntry: HLSTimeline.Entry?
  /// Known when all was read.
  private(set) var end: End?
  /// What the first segment's tag says, and whether it is bare sound.
  private(set) var timestamp: Int64?
  private(set) var isPacked = false

  private let interrupt = Interrupt()
  /// What segments say at their beginnings, until it is taken.
  private var tags: [SegmentTag] = []
  private static let maximumTagCount = 64
  /// The segment behind the one that is read.
  private(set) var nextNumber: Int64
  private var current: SegmentBytes? { didSet { tellLoaded() } }
  private var prefetched: SegmentBytes? { didSet { tellLoaded() } }
  /// The first bytes, which are read again when the format is looked for.
  private var beginning: [UInt8] = []
  private var offset: Int64 = 0
  /// The initialization section, as far as it was not given yet.
  private var pending: ArraySlice<UInt8> = []
  private var missingCount = 0
  /// Whose segments these are.
  private let variantNumber: Int
  private var isTentative: Bool
  /// The variant to go over to behind the segment that is read.
  private var target: Int?
  private var hasMeasured = false
  /// For how long whoever reads it has wanted nothing since the last segment was measured.
  private var idleNanoseconds: Int64 = 0
  /// When the last segment was measured, until the next one is there.
  private var restedAt: HostTime?

  private static let keptByteCount = 512 << 10
  /// Segments that are missing one after another before the stream is given up.
  static let maximumMissingCount = 5
  /// Pauses before a segment is asked for again.
  private static let retryDelays: [Duration] = [.milliseconds(500), .seconds(2)]

  /// - Parameters:
  ///   - number: the segment to begin with.
  ///   - variantNumber: the variant whose number that is.
  ///   - isTentative: it may be the wrong one: what follows is not asked for before it is confirmed.
  init(
    session: StreamSession, fetcher: StreamFetcher, number: Int64, variantNumber: Int, isTentative: Bool = false
  ) {
    self.session = session
    self.fetcher = fetcher
    nextNumber = number
    self.variantNumber = variantNumber
    self.isTentative = isTentative
  }

  deinit {
    session.family.setLoaded([], by: ObjectIdentifier(self))
    // Opening a stream reads the beginning of its first segment, and so does playback afterwards.
    if let current, current.entry == firstEntry {
      session.keep([current, prefetched].compactMap { $0?.kept }, log: fetcher.log)
    }
  }

  private func tellLoaded() {
    session.family.setLoaded([current, prefetched].compactMap { $0?.loaded }, by: ObjectIdentifier(self))
  }

  var byteCount: Int64? { nil }
  var isSeekable: Bool { false }

  /// A name that hints at what it is.
  var hint: String {
    guard let place = firstEntry?.segment.place else { return "" }
    let path =
      switch place {
      case .file(let path): String(decoding: path, as: UTF8.self)
      case .url(let text): String(text.prefix { $0 != "?" && $0 != "#" })
      }
    return String(path.split(separator: "/").last ?? "")
  }

  func cancel() {
    interrupt.cancel()
    session.wake()
  }

  func resume() { interrupt.reset() }

  /// Opens the first segment.
  func open() throws(MediaError) {
    while firstEntry == nil, end == nil { try advance() }
    if firstEntry == nil, let missingError { throw missingError }
  }

  /// What was wrong with the segment that was missing last.
  private var missingError: MediaError?

  // MARK: - Reading

  func read(into buffer: UnsafeMutableRawBufferPointer, at place: Int64) throws(MediaError) -> Int {
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled", operation: "hls") }
    if place < offset {
      guard place >= 0, place < Int64(beginning.count) else {
        throw MediaError(.readFailed, "a stream is not read twice", operation: "hls")
      }
      let count = min(buffer.count, beginning.count - Int(place))
      buffer.copyBytes(from: beginning[Int(place)..<(Int(place) + count)])
      return count
    }
    // Behind what was read lies what nobody knows yet.
    guard place == offset else { return 0 }
    let count = try readOn(into: buffer)
    if beginning.count < Self.keptByteCount, offset == Int64(beginning.count) {
      beginning += buffer[..<min(count, Self.keptByteCount - beginning.count)]
    }
    offset += Int64(count)
    return count
  }

  private func readOn(into buffer: UnsafeMutableRawBufferPointer) throws(MediaError) -> Int {
    while end == nil {
      if !pending.isEmpty {
        let count = min(buffer.count, pending.count)
        buffer.copyBytes(from: pending.prefix(count))
        pending = pending.dropFirst(count)
        return count
      }
      guard let current else {
        try advance()
        continue
      }
      let count: Int
      do throws(MediaError) { count = try current.read(into: buffer) } catch {
        if error.code == .cancelled { throw error }
        // What came of it is heard; what follows begins anew.
        fetcher.note(error, current.entry.segment.place, isRetried: false)
        finish(.next(current.entry.segment.number + 1))
        return 0
      }
      // Read once: the last byte may arrive between two looks, and nothing is asked for before it is measured.
      let hasCome = current.hasCome
      if count == 0 || hasCome { measure(current) }
      if count > 0 {
        if hasCome, target == nil { prefetch() }
        return count
      }
      self.current = nil
    }
    return 0
  }

  // MARK: - How fast it comes

  /// Whoever reads it wanted nothing for a while: there was enough.
  func noteIdle(nanoseconds: Int64) { idleNanoseconds += max(0, nanoseconds) }

  /// All of a segment has come: it may be time for another variant.
  private func measure(_ bytes: SegmentBytes) {
    guard !hasMeasured, let measure = bytes.measure else { return }
    hasMeasured = true
    target = session.took(measure, bytes.entry.segment, variantNumber: variantNumber, idleNanoseconds: idleNanoseconds)
    idleNanoseconds = 0
    // What is waited for when another variant is looked for is no rest.
    restedAt = target == nil ? fetcher.clock.now : nil
  }

  /// The next segment is there. Nothing more was wanted of the one before, nor was there more near the edge of a live stream.
  private func noteRest() {
    if let restedAt { idleNanoseconds = max(0, fetcher.clock.now.nanoseconds(since: restedAt)) }
    restedAt = nil
  }

  /// Goes to the next segment, or to the end.
  private func advance() throws(MediaError) {
    if let target {
      self.target = nil
      // Behind the last segment of what has ended there is nothing to go over to.
      let timeline = session.timeline
      if !timeline.isEnded || timeline.numbers.contains(nextNumber) {
        try session.go(to: target, from: variantNumber, fetcher, interrupt: interrupt)
      }
    }
    let entry: HLSTimeline.Entry
    switch try session.lookUp(nextNumber, variantNumber: variantNumber, interrupt: interrupt) {
    case .entry(let found):
      noteRest()
      entry = found
    case .variant: return finish(.variant)
    case .ended: return finish(.streamEnd)
    case .left(let first): return finish(.left(first: first))
    }
    if let firstEntry {
      let isNew = firstEntry.segment.discontinuityNumber != entry.segment.discontinuityNumber
      if isNew || firstEntry.map != entry.map { return finish(.next(nextNumber)) }
    }
    guard let bytes = try open(entry) else {
      // Timestamps tell how much is missing; of bare sound those of the segment that comes next.
      nextNumber += 1
      if firstEntry != nil { finish(.next(nextNumber)) }
      return
    }
    missingCount = 0
    if firstEntry == nil {
      firstEntry = entry
      timestamp = bytes.timestamp
      isPacked = bytes.isPacked
      if let map = entry.map { pending = try session.map(map, interrupt: interrupt)[...] }
    }
    if tags.count < Self.maximumTagCount { tags += bytes.tags }
    lastEntry = entry
    current = bytes
    hasMeasured = false
    nextNumber += 1
  }

  /// The tags at the beginnings of segments that were opened since the last call.
  func takeTags() -> [SegmentTag] {
    defer { tags = [] }
    return tags
  }

  private func finish(_ end: End) {
    self.end = end
    current = nil
    prefetched = nil
  }

  /// Opens a segment; nil when it is not to be had, and that was noted.
  private func open(_ entry: HLSTimeline.Entry) throws(MediaError) -> SegmentBytes? {
    var failure: MediaError?
    if entry.segment.isGap {
      failure = MediaError(.segmentUnavailable, "the stream has a gap", operation: "hls")
    } else {
      for attempt in 0...Self.retryDelays.count {
        do throws(MediaError) {
          let ready = prefetched.flatMap { $0.entry.segment == entry.segment ? $0 : nil }
          prefetched = nil
          let bytes: SegmentBytes
          if let ready {
            bytes = ready
          } else {
            bytes = try SegmentBytes(entry, session: session, fetcher: fetcher, interrupt: interrupt)
          }
          try bytes.open()
          return bytes
        } catch {
          let isFinal = [.cancelled, .unsupportedEncryption, .networkNotAllowed, .streamPlaceNotAllowed].contains(
            error.code)
          if isFinal { throw error }
          failure = error
          guard attempt < Self.retryDelays.count else { break }
          session.pause(Self.retryDelays[attempt], interrupt: interrupt)
        }
      }
    }
    guard let failure else { return nil }
    missingCount += 1
    let error = MediaError(
      .segmentUnavailable, "segment \(entry.segment.number) is not to be had: \(entry.segment.place.displayText)",
      operation: "hls", underlying: failure.description)
    fetcher.note(error, entry.segment.place, isRetried: false)
    missingError = failure
    if missingCount >= Self.maximumMissingCount { throw failure.code == .decryptionFailed ? failure : error }
    return nil
  }

  /// It is the right one: what follows may be asked for.
  func confirm() {
    guard isTentative else { return }
    isTentative = false
    guard let current, current.hasCome else { return }
    measure(current)
    if target == nil { prefetch() }
  }

  /// Asks for the next segment while this one is read.
  private func prefetch() {
    guard prefetched == nil, !isTentative else { return }
    let (timeline, present) = session.heard
    guard present == variantNumber, let entry = timeline.entry(nextNumber), !entry.segment.isGap else { return }
    // What cannot be asked for is an error once it is due.
    prefetched = try? SegmentBytes(entry, session: session, fetcher: fetcher, interrupt: interrupt)
    prefetched?.start()
  }
}
