// Decodes the segments of an HLS stream one after another. Their frames are mapped to the asset's timeline, so that the
// caller reads one continuous sequence of samples.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadPlaylists

/// Reads the audio of an HLS stream as interleaved samples of `sampleFormat`, at the stream's sample rate and channel
/// count.
///
/// Positions are in frames, relative to the beginning of the stream when it was opened:
///
/// - Within a stretch, timestamps define exact positions. After a seek, audio has the same position as when reading
///   from the beginning of the stretch.
/// - A stretch that is read after another one follows it without a gap.
/// - The start of a stretch after a seek is estimated from the playlist.
///
/// Threading: as `AudioTrackReader`.
final class SegmentedTrackReader: ResumableAudioReader, @unchecked Sendable {
  // `@unchecked Sendable`: other threads use only `interrupt`, which is Sendable.

  let format: AudioFormat
  let sampleFormat: SampleFormat
  let trackID: AssetTrack.ID
  let channelMask: UInt64?
  var position: Int64 = 0
  var lastSeekTimings = SeekTimings()
  private(set) var startTrim = EdgeTrim.none
  private(set) var endTrim = EdgeTrim.none
  var end: AudioTrackReader.TrackEnd?
  var positionDoubt: PositionDoubt?

  let session: StreamSession
  let fetcher: StreamFetcher
  let interrupt: Interrupt
  var audio: SegmentAudio
  var segmentReader: ContiguousSegmentReader?
  /// The reason why the last segment reader ended, or the next segment.
  var endReason: SegmentSource.EndReason?
  /// The variant of the segments. Segment numbers refer to this variant.
  var variantNumber: Int
  /// The search for a position in another variant; nil when it has been found.
  var resumption: Resumption?
  /// The delay of the audio relative to the playlist, in nanoseconds. Durations in playlists are rounded, or wrong.
  var drift: Int64 = 0
  /// Whether the position of the current segments is known.
  var isPositionKnown = false
  /// The first timestamp of the current stretch, if it began in this reader.
  var firstTimestamp: Int64?
  /// The current stretch and its number.
  var stretch: StreamStretch?
  var stretchNumber: Int64 = 0
  /// The position of the decoded frame, and the number of its audible frames.
  var frameStart: Int64 = 0
  var frameCount = 0
  var hasFrame = false
  /// The expected start of the next frame; nil after a seek.
  var expectedStart: Int64?
  var isAtEnd = false
  private(set) var mustReposition = false
  var pendingError: MediaError?
  private var skips = SkipReport()
  /// Whether a packet after the last frame did not decode. Silence replaces it.
  var isAfterLoss = false
  var warning: (frame: Int64, error: MediaError)?
  let prerollFrames: Int64
  /// Whether the reader has not been used for a read or a seek.
  private var isFresh = true
  private var metadata = StreamMetadata()
  private let registration: ReaderRegistration
  /// The time at which the last read ended.
  private var lastReadEnd: HostTime?

  /// Counts as a reader of the session while it exists.
  private final class ReaderRegistration {
    private let session: StreamSession
    init(_ session: StreamSession) { self.session = session }
    deinit { session.endReading() }
  }

  /// Opens a stream and decodes the first audio. Blocks.
  ///
  /// - Parameter fetcher: The session's fetcher, or one with another log for the transfers of this reader.
  /// - Throws: `noSuchTrack` for a track other than the stream's; the errors of `ContiguousSegmentReader`;
  ///   `decodeFailed`, `unsupportedAudioFormat`.
  init(
    session: StreamSession, fetcher: StreamFetcher, interrupt: Interrupt, trackID requestedTrackID: AssetTrack.ID?,
    sampleFormat: SampleFormat = .float32
  ) throws(MediaError) {
    self.sampleFormat = sampleFormat
    self.session = session
    self.fetcher = fetcher
    fetcher.markPlayed()
    self.interrupt = interrupt
    try session.beginReading(interrupt: interrupt)
    registration = ReaderRegistration(session)
    let segmentReader: ContiguousSegmentReader
    (segmentReader, variantNumber) = try ContiguousSegmentReader.first(
      of: session, fetcher: fetcher, interrupt: interrupt)
    let trackID = session.trackID ?? segmentReader.description.trackIndex
    if let requestedTrackID, requestedTrackID != trackID {
      throw MediaError(.noSuchTrack, "there is no audio track \(requestedTrackID) in \(session.name)")
    }
    self.trackID = trackID
    do throws(AVFailure) {
      let frame = try Frame()
      var failure: AVFailure?
      var decoded: (timestamp: Int64?, count: Int)?
      while decoded == nil {
        switch try segmentReader.next(into: frame) {
        case .frame(let timestamp, let count): decoded = (timestamp, count)
        case .undecodable(let reason): failure = failure ?? reason
        case .cancelled: throw AVFailure(cancelledIn: "av_read_frame")
        case .end: throw failure ?? AVFailure(invalidDataIn: "av_read_frame")
        }
      }
      let found = frame.layout.map { AudioFormat(sampleRateHz: $0.sampleRateHz, channelCount: $0.channelCount) }
      guard let decoded, let format = found ?? segmentReader.description.audioFormat else {
        throw AVFailure(invalidDataIn: "avcodec_receive_frame")
      }
      self.format = format
      channelMask = frame.layout?.channelMask
      audio = SegmentAudio(format: format, sampleFormat: sampleFormat, frame: frame, name: session.name)
      prerollFrames = CodecPreroll.frameCount(
        codecName: segmentReader.description.codecName, sampleRateHz: format.sampleRateHz,
        declared: segmentReader.description.seekPrerollFrames)
      self.segmentReader = segmentReader
      startReading(from: segmentReader)
      determinePosition(timestamp: decoded.timestamp, count: decoded.count)
      addTags(of: segmentReader)
    } catch {
      throw MediaError(error, path: session.name)
    }
    try format.checkSupported()
    defer { metadata.startFrame = position }
    position = max(0, session.timeline.playStartNanoseconds > 0 ? frame(at: session.timeline.playStartNanoseconds) : 0)
    if frameStart < 0, position == 0 { startTrim = EdgeTrim(frameCount: -frameStart, source: .editList) }
  }

  // MARK: - Times

  func frame(at nanoseconds: Int64) -> Int64 {
    MediaTime(value: nanoseconds, timescale: 1_000_000_000).frameIndex(
      rate: format.sampleRateHz, rounding: .halfAwayFromZero) ?? 0
  }

  func nanoseconds(ofFrame frame: Int64) -> Int64 {
    MediaTime(frame: frame, rate: format.sampleRateHz).frameIndex(
      rate: 1_000_000_000, rounding: .towardNegativeInfinity)
      ?? 0
  }

  // MARK: - Reading

  /// Reads as `AudioTrackReader.read` does.
  func read(
    into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(MediaError) -> AudioTrackReader.ReadResult {
    isFresh = false
    if let lastReadEnd {
      segmentReader?.source.addIdleTime(nanoseconds: fetcher.clock.now.nanoseconds(since: lastReadEnd))
    }
    defer { lastReadEnd = fetcher.clock.now }
    return try readFrames(into: output, capacityFrames: capacityFrames)
  }

  /// Ensures that decoded audio is available at `position`. Returns false at the end and when cancelled.
  func advance() throws(MediaError) -> Bool {
    while !isAtEnd {
      if hasFrame, frameStart + Int64(frameCount) > position { return true }
      hasFrame = false
      switch try decodeOne() {
      case .frame: continue
      case .end:
        isAtEnd = true
        let last = expectedStart ?? position
        // Silence must not be added at the end.
        if end == nil || positionDoubt == nil {
          end = AudioTrackReader.TrackEnd(frame: last, isExact: positionDoubt == nil && stretch?.isExact ?? false)
        }
        position = min(position, last)
      case .cancelled:
        mustReposition = true
        return false
      }
    }
    return false
  }

  private enum Decoded { case frame, end, cancelled }

  /// Decodes the next frame of these segments or the following ones. Blocks.
  private func decodeOne() throws(MediaError) -> Decoded {
    while true {
      guard let segmentReader else {
        do throws(MediaError) {
          guard try openNext() else { return .end }
        } catch {
          if error.code == .cancelled { return .cancelled }
          throw error
        }
        continue
      }
      let result: ContiguousSegmentReader.Result
      do throws(MediaError) { result = try audio.next(of: segmentReader) } catch {
        if error.code == .cancelled { return .cancelled }
        try fallBack(after: error)
        continue
      }
      switch result {
      case .frame(let timestamp, let count):
        determinePosition(timestamp: timestamp, count: count)
        if let number = correctedNumber(segmentReader) {
          restart(atSegment: number)
          continue
        }
        addTags(of: segmentReader)
        return .frame
      case .undecodable(let failure):
        // After a seek the first packets may depend on earlier packets.
        skips.note(failure, at: expectedStart)
        isAfterLoss = true
      case .cancelled: return .cancelled
      case .end:
        endReason = segmentReader.source.endReason ?? .next(segmentReader.source.nextNumber)
        self.segmentReader = nil
        if let expectedStart, let last = segmentReader.source.lastEntry {
          drift = nanoseconds(ofFrame: expectedStart) - last.endNanoseconds
        }
      }
    }
  }

  /// Opens the following segments when a segment reader has ended. Returns false at the stream's end.
  private func openNext() throws(MediaError) -> Bool {
    let number: Int64
    var hasSkipped = false
    switch endReason {
    case .next(let next): number = next
    case .leftWindow(let first):
      number = first
      hasSkipped = true
      let error = MediaError(
        .segmentsLeftWindow, "the next segments are no longer available; playback continues with segment \(first)",
        operation: "hls", underlying: session.name)
      fetcher.logError(error, session.location, isRetried: true)
      if let expectedStart {
        warning = (expectedStart, error)
        session.moveSegment(first, variantNumber: variantNumber, toNanoseconds: nanoseconds(ofFrame: expectedStart))
        drift = 0
      }
    case .variant: return resume(atFrame: nextNeededFrame)
    case .streamEnd, nil: return false
    }
    var reason: SegmentSource.EndReason?
    let segmentReader: ContiguousSegmentReader?
    do throws(MediaError) {
      segmentReader = try ContiguousSegmentReader(
        session: session, fetcher: fetcher, number: number, variantNumber: variantNumber,
        isTentative: resumption != nil, interrupt: interrupt, endReason: &reason)
    } catch {
      if error.code == .cancelled { throw error }
      try fallBack(after: error)
      return true
    }
    guard let segmentReader else {
      endReason = reason ?? .streamEnd
      return endReason != .streamEnd
    }
    let previousNumber = stretchNumber
    let previousStretch = stretch
    self.segmentReader = segmentReader
    startReading(from: segmentReader)
    if stretchNumber != previousNumber || hasSkipped, expectedStart != nil {
      // The stretch follows the audio that was read, regardless of earlier data.
      stretch = nil
    } else if stretchNumber == previousNumber, stretch == nil {
      stretch = previousStretch
    }
    return true
  }

  /// Copies audio from `position` to the end of the frame, or silence before the frame.
  func copyAvailable(into output: UnsafeMutableRawPointer, capacityFrames: Int) throws(MediaError) -> Int {
    var count = capacityFrames
    let silence = frameStart - position
    if silence > 0 {
      count = min(count, Int(clamping: silence))
      output.initializeMemory(as: UInt8.self, repeating: silentByte, count: count * frameByteCount)
    } else {
      let offset = Int(-silence)
      count = min(count, frameCount - offset)
      try audio.copy(offset..<(offset + count), into: output)
    }
    position += Int64(count)
    return count
  }

  // MARK: - Seeking

  /// Seeks as `AudioTrackReader.seek` does. Tolerances have no benefit, because segments are loaded completely.
  func seek(
    to time: MediaTime, toleranceBefore: MediaTime, toleranceAfter: MediaTime
  ) throws(MediaError) -> MediaTime {
    let timeline = session.timeline
    defer { isFresh = false }
    // By default a live stream begins near its live edge.
    if isFresh, !timeline.isEnded, time == .zero {
      try move(toFrame: position)
      return MediaTime(frame: position, rate: format.sampleRateHz)
    }
    let last = timeline.isEnded ? end?.frame ?? .max / 8 : liveEnd(timeline, time)
    var (target, _) = try SeekTarget.frames(
      time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, sampleRateHz: format.sampleRateHz,
      last: last)
    if !timeline.isEnded { target = max(target, frame(at: timeline.startNanoseconds)) }
    if interrupt.isCancelled {
      mustReposition = true
      throw MediaError(.cancelled, "the seek was cancelled", operation: "seek")
    }
    try move(toFrame: target)
    return MediaTime(frame: position, rate: format.sampleRateHz)
  }

  /// Returns the latest target of a seek in a live stream. A time within the stream is permitted even after the default
  /// start, because a reader of another rendition may continue there.
  private func liveEnd(_ timeline: HLSTimeline, _ time: MediaTime) -> Int64 {
    let end = frame(at: timeline.endNanoseconds)
    let isWithin = time.isNumeric && time <= MediaTime(frame: end, rate: format.sampleRateHz)
    return isWithin ? end : frame(at: timeline.liveStartNanoseconds)
  }

  func reposition() throws(MediaError) { try move(toFrame: position) }

  private func move(toFrame target: Int64) throws(MediaError) {
    pendingError = nil
    let startedAt = MonotonicClock.nanoseconds
    lastSeekTimings = SeekTimings()
    defer { lastSeekTimings.decodeNanoseconds = MonotonicClock.nanoseconds - startedAt }
    do throws(MediaError) {
      // The last tag before the target is reported as carried over, unless reading continues at the current position.
      let continuesReading = !mustReposition && target == position
      if mustReposition || !isNear(target) {
        metadata.restart(atFrame: target)
        try reposition(toFrame: target)
      }
      if !continuesReading { metadata.startFrame = target }
      position = target
      mustReposition = false
      while !isAtEnd, !hasFrame || frameStart + Int64(frameCount) <= position {
        hasFrame = false
        guard try advance() else { break }
      }
      if interrupt.isCancelled { throw MediaError(.cancelled, "the seek was cancelled", operation: "seek") }
    } catch {
      mustReposition = true
      position = target
      throw error
    }
  }

  /// Returns whether the target is reached faster by decoding from the current position than by a seek.
  private func isNear(_ target: Int64) -> Bool {
    if target == position, hasFrame || !isAtEnd { return true }
    guard hasFrame, !isAtEnd else { return false }
    return target >= max(frameStart, position) && target <= frameStart + Int64(frameCount + format.sampleRateHz / 4)
  }

  /// Opens the segment from which decoding produces the correct samples at `target`.
  private func reposition(toFrame target: Int64) throws(MediaError) {
    // The duration of codec frames is known after the first ones.
    for _ in 0..<4
    where segmentReader != nil && expectedStart != nil && stretch?.stepFrames == 0 && audio.stepFrames > 0 {
      guard try decodeOne() == .frame else { break }
    }
    position = target
    isAtEnd = false
    hasFrame = false
    segmentReader = nil
    expectedStart = nil
    resumption = nil
    drift = 0
    let (timeline, variantNumber) = session.activeTimeline
    if let end, target >= end.frame {
      isAtEnd = true
      return
    }
    guard var number = timeline.number(atNanoseconds: nanoseconds(ofFrame: target)) else {
      isAtEnd = true
      return
    }
    let first = timeline.firstNumber(ofStretchWith: number) ?? number
    // Decoding begins before the target, so that the decoder is ready there.
    let prerollNumber = timeline.number(atNanoseconds: nanoseconds(ofFrame: max(0, target - prerollFrames))) ?? number
    number = max(first, min(number, prerollNumber))
    while true {
      expectedStart = nil
      hasFrame = false
      endReason = .next(number)
      segmentReader = nil
      self.variantNumber = variantNumber
      switch try decodeOne() {
      case .end:
        isAtEnd = true
        return
      case .cancelled: throw MediaError(.cancelled, "the seek was cancelled", operation: "seek")
      case .frame: break
      }
      // Durations in playlists are rounded, so the segment may be one too late.
      if number <= first || frameStart + prerollFrames <= target || self.variantNumber != variantNumber { return }
      number -= 1
    }
  }

  // MARK: - Counting

  /// Returns the number of frames by reading the end of the stream. Exact if timestamps state the position of the end.
  func exactFrameCount() throws(MediaError) -> Int64 {
    if let end, end.isExact || !session.timeline.isEnded { return end.frame }
    let timeline = session.timeline
    guard timeline.isEnded else { return frame(at: timeline.endNanoseconds) }
    let start = timeline.entry(timeline.numbers.upperBound - 1)?.startNanoseconds ?? 0
    try move(toFrame: max(0, frame(at: start)))
    while try advance() { position = frameStart + Int64(frameCount) }
    guard let end else { throw MediaError(.cancelled, "counting was cancelled", operation: "load") }
    return end.frame
  }

  // MARK: - Cancellation and reports

  func cancel() { interrupt.cancel() }
  func resetCancellation() { interrupt.reset() }

  func popSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)? {
    skips.drain()?.report(sampleRateHz: format.sampleRateHz, path: session.name)
  }

  func popWarning() -> (time: MediaTime, error: MediaError)? {
    defer { warning = nil }
    return warning.map { (MediaTime(frame: $0.frame, rate: format.sampleRateHz), $0.error) }
  }

  func popTitles() -> [(time: MediaTime, title: StreamTitle)] { [] }

  func popTimedMetadata() -> [TimedMetadataGroup] {
    metadata.drain(before: position, sampleRateHz: format.sampleRateHz) { session.timeline }
  }

  /// Adds the tags of the segments, after the position of the audio next to them is known.
  private func addTags(of segmentReader: ContiguousSegmentReader) {
    for tag in segmentReader.drainTags() {
      switch tag.time {
      case .position(let nanoseconds): metadata.add(tag, atFrame: frame(at: nanoseconds))
      case .now: metadata.add(tag, atFrame: frameStart)
      case .timestamp(let time):
        guard let stretch, let timestamp = time.frameIndex(rate: format.sampleRateHz, rounding: .halfAwayFromZero),
          abs(timestamp) < 1 << 60
        else {
          metadata.add(tag, atFrame: frameStart)
          continue
        }
        let near = frameStart - stretch.startFrame + stretch.originFrame
        let unwrapped = segmentReader.unwrapped(timestamp, near: near, sampleRateHz: format.sampleRateHz)
        // A larger difference means another origin or an invalid timestamp.
        let difference = unwrapped - near
        let isNear = abs(difference) < Int64(format.sampleRateHz) * 3_600
        metadata.add(tag, atFrame: isNear ? frameStart + difference : frameStart)
      }
    }
  }
}
