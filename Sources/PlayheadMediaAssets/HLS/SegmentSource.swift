// Presents contiguous segments as one file that is read sequentially.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import PlayheadRealtimeAudio
import Synchronization

/// The bytes of contiguous segments. They end before a discontinuity, another initialization section or a missing
/// segment, and at the stream's end.
///
/// Threading: as `ByteSource`.
final class SegmentSource: ByteSource, @unchecked Sendable {
  // `@unchecked Sendable`: threads other than the reader's use only `interrupt` and `session`.

  /// The reason why there are no more bytes.
  enum EndReason: Sendable, Hashable {
    /// The next contiguous segments begin with this segment.
    case next(Int64)
    /// Another variant is active: the next segments belong to it.
    case variant
    /// Segments before `first` have left the window of a live stream.
    case leftWindow(first: Int64)
    /// The stream has ended.
    case streamEnd
  }

  private let session: StreamSession
  private let fetcher: StreamFetcher
  /// The first segment, when it is known. Missing segments before it are skipped.
  private(set) var firstEntry: HLSTimeline.Entry?
  /// The segment opened last.
  private(set) var lastEntry: HLSTimeline.Entry?
  /// The reason of the end; nil until everything has been read.
  private(set) var endReason: EndReason?
  /// The timestamp in the first segment's tag, and whether the segment is packed audio.
  private(set) var timestamp: Int64?
  private(set) var isPacked = false

  private let interrupt = Interrupt()
  /// Tags at the beginnings of segments that wait to be read.
  private var tags: [SegmentTag] = []
  private static let maximumTagCount = 64
  /// The number of the segment after the one that is being read.
  private(set) var nextNumber: Int64
  private var current: SegmentBytes? { didSet { publishLoaded() } }
  private var prefetched: SegmentBytes? { didSet { publishLoaded() } }
  /// The first bytes of the segments, which are read again during format detection.
  private var beginning: [UInt8] = []
  private var offset: Int64 = 0
  /// The rest of the initialization section that has not been read.
  private var unreadInitialization: ArraySlice<UInt8> = []
  private var missingCount = 0
  /// The variant to which the segments belong.
  private let variantNumber: Int
  private var isTentative: Bool
  /// The variant to switch to after the current segment.
  private var targetVariant: Int?
  private var hasMeasured = false
  /// The time since the last measured segment during which the reader needed no data.
  private var idleNanoseconds: Int64 = 0
  /// The time at which the last segment was measured; nil when the next one is available.
  private var idleSince: HostTime?

  private static let retainedByteCount = 512 << 10
  /// Number of consecutive missing segments after which the stream fails.
  static let maximumMissingCount = 5
  /// Delays before a segment is requested again.
  private static let retryDelays: [Duration] = [.milliseconds(500), .seconds(2)]

  /// - Parameters:
  ///   - number: The first segment.
  ///   - variantNumber: The variant to which the number belongs.
  ///   - isTentative: Whether the segment may be the wrong one. If so, the next segment is not requested before
  ///     `confirm()`.
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
    // Opening a stream reads the beginning of its first segment, and playback reads it again afterwards.
    if let current, current.entry == firstEntry {
      session.retain([current, prefetched].compactMap { $0?.retainedTransfer }, log: fetcher.log)
    }
  }

  private func publishLoaded() {
    session.family.setLoaded([current, prefetched].compactMap { $0?.loaded }, by: ObjectIdentifier(self))
  }

  var byteCount: Int64? { nil }
  var isSeekable: Bool { false }

  /// A file name that helps format detection.
  var hint: String {
    guard let location = firstEntry?.segment.location else { return "" }
    let path =
      switch location {
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
    while firstEntry == nil, endReason == nil { try advance() }
    if firstEntry == nil, let missingError { throw missingError }
  }

  /// The error of the last missing segment.
  private var missingError: MediaError?

  // MARK: - Reading

  func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws(MediaError) -> Int {
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled", operation: "hls") }
    if position < offset {
      guard position >= 0, position < Int64(beginning.count) else {
        throw MediaError(.readFailed, "a stream cannot be read twice", operation: "hls")
      }
      let count = min(buffer.count, beginning.count - Int(position))
      buffer.copyBytes(from: beginning[Int(position)..<(Int(position) + count)])
      return count
    }
    // Bytes after the current offset cannot be read yet.
    guard position == offset else { return 0 }
    let count = try readNext(into: buffer)
    if beginning.count < Self.retainedByteCount, offset == Int64(beginning.count) {
      beginning += buffer[..<min(count, Self.retainedByteCount - beginning.count)]
    }
    offset += Int64(count)
    return count
  }

  private func readNext(into buffer: UnsafeMutableRawBufferPointer) throws(MediaError) -> Int {
    while endReason == nil {
      if !unreadInitialization.isEmpty {
        let count = min(buffer.count, unreadInitialization.count)
        buffer.copyBytes(from: unreadInitialization.prefix(count))
        unreadInitialization = unreadInitialization.dropFirst(count)
        return count
      }
      guard let current else {
        try advance()
        continue
      }
      let count: Int
      do throws(MediaError) { count = try current.read(into: buffer) } catch {
        if error.code == .cancelled { throw error }
        // The received part of the segment is played, and a new reader begins with the next segment.
        fetcher.logError(error, current.entry.segment.location, isRetried: false)
        finish(.next(current.entry.segment.number + 1))
        return 0
      }
      // Read the property once: the last byte may arrive between two reads. No segment is requested before this one is
      // measured.
      let hasArrived = current.hasArrived
      if count == 0 || hasArrived { measure(current) }
      if count > 0 {
        if hasArrived, targetVariant == nil { prefetch() }
        return count
      }
      self.current = nil
    }
    return 0
  }

  // MARK: - Throughput

  /// Adds time during which the reader needed no data, because it had enough.
  func addIdleTime(nanoseconds: Int64) { idleNanoseconds += max(0, nanoseconds) }

  /// Measures a segment that has arrived completely, and decides whether to switch variants.
  private func measure(_ bytes: SegmentBytes) {
    guard !hasMeasured, let statistics = bytes.statistics else { return }
    hasMeasured = true
    targetVariant = session.addTransfer(
      statistics, bytes.entry.segment, variantNumber: variantNumber, idleNanoseconds: idleNanoseconds)
    idleNanoseconds = 0
    // The time of a switch to another variant is not idle time.
    idleSince = targetVariant == nil ? fetcher.clock.now : nil
  }

  /// Records the idle time when the next segment becomes available. Until then, the reader needed no data, or the live
  /// stream had none.
  private func recordIdleTime() {
    if let idleSince { idleNanoseconds = max(0, fetcher.clock.now.nanoseconds(since: idleSince)) }
    idleSince = nil
  }

  /// Opens the next segment, or ends the bytes.
  private func advance() throws(MediaError) {
    if let targetVariant {
      self.targetVariant = nil
      // After the last segment of an ended stream no switch is needed.
      let timeline = session.timeline
      if !timeline.isEnded || timeline.numbers.contains(nextNumber) {
        try session.switchVariant(to: targetVariant, from: variantNumber, fetcher, interrupt: interrupt)
      }
    }
    let entry: HLSTimeline.Entry
    switch try session.lookUp(nextNumber, variantNumber: variantNumber, interrupt: interrupt) {
    case .entry(let found):
      recordIdleTime()
      entry = found
    case .variant: return finish(.variant)
    case .ended: return finish(.streamEnd)
    case .leftWindow(let first): return finish(.leftWindow(first: first))
    }
    if let firstEntry {
      let isNew = firstEntry.segment.discontinuityNumber != entry.segment.discontinuityNumber
      if isNew || firstEntry.map != entry.map { return finish(.next(nextNumber)) }
    }
    guard let bytes = try open(entry) else {
      // The timestamp of the next segment states how much is missing. Packed audio has a timestamp only at the
      // beginning of a segment, so the next segment needs a new reader.
      nextNumber += 1
      if firstEntry != nil { finish(.next(nextNumber)) }
      return
    }
    missingCount = 0
    if firstEntry == nil {
      firstEntry = entry
      timestamp = bytes.timestamp
      isPacked = bytes.isPacked
      if let map = entry.map {
        unreadInitialization = try session.initializationSection(map, interrupt: interrupt)[...]
      }
    }
    if tags.count < Self.maximumTagCount { tags += bytes.tags }
    lastEntry = entry
    current = bytes
    hasMeasured = false
    nextNumber += 1
  }

  /// Removes and returns the tags of segments opened since the last call.
  func drainTags() -> [SegmentTag] {
    defer { tags = [] }
    return tags
  }

  private func finish(_ reason: EndReason) {
    endReason = reason
    current = nil
    prefetched = nil
  }

  /// Opens a segment. Returns nil if it is not available, and logs that.
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
          let isFinal = [.cancelled, .unsupportedEncryption, .networkNotAllowed, .streamLocationNotAllowed].contains(
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
      .segmentUnavailable, "segment \(entry.segment.number) is not available: \(entry.segment.location.displayText)",
      operation: "hls", underlying: failure.description)
    fetcher.logError(error, entry.segment.location, isRetried: false)
    missingError = failure
    if missingCount >= Self.maximumMissingCount { throw failure.code == .decryptionFailed ? failure : error }
    return nil
  }

  /// Confirms that a tentative segment is the right one, so that the next one may be requested.
  func confirm() {
    guard isTentative else { return }
    isTentative = false
    guard let current, current.hasArrived else { return }
    measure(current)
    if targetVariant == nil { prefetch() }
  }

  /// Requests the next segment while this one is being read.
  private func prefetch() {
    guard prefetched == nil, !isTentative else { return }
    let (timeline, activeVariant) = session.activeTimeline
    guard activeVariant == variantNumber, let entry = timeline.entry(nextNumber), !entry.segment.isGap else { return }
    // An error of the request is reported when the segment is needed.
    prefetched = try? SegmentBytes(entry, session: session, fetcher: fetcher, interrupt: interrupt)
    prefetched?.start()
  }
}
