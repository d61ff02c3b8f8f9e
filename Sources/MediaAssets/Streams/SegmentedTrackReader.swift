// How the sound of an HLS stream comes out: runs of segments are decoded one after another, and their frames placed on the asset's
// timeline so that what a caller reads is one unbroken count of samples.
import LibAV
import MediaCore
import Playlists

/// Reads the sound of an HLS stream as interleaved float32 at its own rate and channel count.
///
/// Positions are frames from where the stream began when it was opened. Within a stretch timestamps place them, exactly: what is
/// decoded after a seek is at the place where reading from the stretch's beginning finds it. A stretch that is read behind another
/// follows it without a gap; one that is sought begins where the playlist says, which is an estimate.
///
/// Threading: as `AudioTrackReader`.
final class SegmentedTrackReader: SoundReader, @unchecked Sendable {
  // `@unchecked Sendable`: only `interrupt` is touched from other threads, and it is Sendable.

  let format: AudioFormat
  let trackID: AssetTrack.ID
  let channelMask: UInt64?
  var position: Int64 = 0
  var lastSeekTimings = SeekTimings()
  private(set) var startTrim = EdgeTrim.none
  private(set) var endTrim = EdgeTrim.none
  var end: AudioTrackReader.TrackEnd?
  private(set) var isPlaceEstimated = false

  let session: StreamSession
  private let fetcher: StreamFetcher
  let interrupt: Interrupt
  private var sound: SegmentSound
  private var run: SegmentRun?
  /// What comes behind the present run, when that is over.
  private var runEnd: SegmentSource.End?
  /// Where the present run's stretch lies, and its number.
  private var stretch: StreamStretch?
  private var stretchNumber: Int64 = 0
  /// The place of the decoded frame, and how much of it is sound.
  private var frameStart: Int64 = 0
  private var frameCount = 0
  private var hasFrame = false
  /// Where the next frame should begin; nil after a seek.
  private var expected: Int64?
  private var isAtEnd = false
  private var mustReposition = false
  private var pendingError: MediaError?
  private var skipped: (count: Int, frame: Int64, failure: AVFailure)?
  private var warning: (frame: Int64, error: MediaError)?
  private let prerollFrames: Int64
  /// Nobody has said where to begin.
  private var isFresh = true
  private let reading: Reading

  /// While it is there the stream is read.
  private final class Reading {
    private let session: StreamSession
    init(_ session: StreamSession) { self.session = session }
    deinit { session.endReading() }
  }

  /// Opens a stream and decodes the first piece of its sound. Blocks.
  ///
  /// Errors: `noSuchTrack` for another track than the stream's; those of `SegmentRun`; `decodeFailed`, `unsupportedAudioFormat`.
  ///
  /// - Parameter fetcher: the session's own, or one like it that notes elsewhere what this reader fetches.
  init(
    session: StreamSession, fetcher: StreamFetcher, interrupt: Interrupt, trackID wanted: AssetTrack.ID?
  ) throws(MediaError) {
    self.session = session
    self.fetcher = fetcher
    fetcher.markPlayed()
    self.interrupt = interrupt
    try session.beginReading(interrupt: interrupt)
    reading = Reading(session)
    let number = session.timeline.number(atNanoseconds: session.timeline.playStartNanoseconds)
    var end: SegmentSource.End?
    guard
      let run = try SegmentRun(
        session: session, fetcher: fetcher, number: number ?? session.timeline.numbers.lowerBound,
        interrupt: interrupt, end: &end)
    else { throw MediaError(.badStreamPlaylist, "there are no segments: \(session.name)", operation: "hls") }
    if let wanted, wanted != run.stream.index {
      throw MediaError(.noSuchTrack, "there is no sound track \(wanted) in \(session.name)")
    }
    trackID = run.stream.index
    do throws(AVFailure) {
      let frame = try Frame()
      var failure: AVFailure?
      var decoded: (timestamp: Int64?, count: Int)?
      while decoded == nil {
        switch try run.next(into: frame) {
        case .frame(let timestamp, let count): decoded = (timestamp, count)
        case .undecodable(let reason): failure = failure ?? reason
        case .cancelled: throw AVFailure(cancelledIn: "av_read_frame")
        case .end: throw failure ?? AVFailure(invalidDataIn: "av_read_frame")
        }
      }
      let found = frame.layout.map { AudioFormat(sampleRateHz: $0.sampleRateHz, channelCount: $0.channelCount) }
      guard let decoded, let format = found ?? run.stream.audioFormat else {
        throw AVFailure(invalidDataIn: "avcodec_receive_frame")
      }
      self.format = format
      channelMask = frame.layout?.channelMask
      sound = SegmentSound(format: format, frame: frame, name: session.name)
      prerollFrames = CodecPreroll.frameCount(
        codecName: run.stream.codecName, sampleRateHz: format.sampleRateHz, declared: run.stream.seekPrerollFrames)
      self.run = run
      enter(run)
      place(timestamp: decoded.timestamp, count: decoded.count)
    } catch {
      throw MediaError(error, path: session.name)
    }
    try format.checkSupported()
    position = max(0, session.timeline.playStartNanoseconds > 0 ? frame(at: session.timeline.playStartNanoseconds) : 0)
    if frameStart < 0, position == 0 { startTrim = EdgeTrim(frameCount: -frameStart, source: .editList) }
  }

  // MARK: - Times

  private func frame(at nanoseconds: Int64) -> Int64 {
    MediaTime(value: nanoseconds, timescale: 1_000_000_000).frameIndex(
      rate: format.sampleRateHz, rounding: .halfAwayFromZero) ?? 0
  }

  private func nanoseconds(ofFrame frame: Int64) -> Int64 {
    MediaTime(frame: frame, rate: format.sampleRateHz).frameIndex(
      rate: 1_000_000_000, rounding: .towardNegativeInfinity)
      ?? 0
  }

  // MARK: - Placing

  /// A run begins: what is known of its stretch holds.
  private func enter(_ run: SegmentRun) {
    sound.begin()
    stretchNumber = run.firstEntry.segment.discontinuityNumber
    stretch = session.stretch(stretchNumber, sampleRateHz: format.sampleRateHz)
    runEnd = nil
  }

  /// Finds out where the decoded frame lies.
  private func place(timestamp: Int64?, count: Int) {
    guard let run else { return }
    frameCount = count
    let stepFrames = sound.stepFrames
    let isFirst = expected == nil
    guard var stamp = timestamp, run.hasTimestamps else {
      // Counting goes on; after a seek the playlist tells where, roughly.
      frameStart = expected ?? placeOfUntimed(timestamp ?? 0)
      follow(Int64(count))
      return
    }
    let known = stretch
    let entryFrame = frame(at: run.firstEntry.startNanoseconds)
    if let known {
      stamp = run.unwrapped(
        stamp, near: (expected ?? entryFrame) - known.startFrame + known.originFrame,
        sampleRateHz: format.sampleRateHz)
    }
    var present = known ?? newStretch(stamp: stamp, entryFrame: entryFrame)
    var place = stamp - present.originFrame + present.startFrame
    if let expected {
      let difference = place - expected
      if abs(difference) <= toleranceFrames {
        place = expected
      } else if difference < -Int64(format.sampleRateHz / 4) || difference > maximumHoleFrames {
        // Another count, though nothing in the playlist says so.
        present.originFrame += difference
        note(.irregularTimestamps, "timestamps jump: they are counted anew", at: expected)
        place = expected
      } else {
        place = Self.snapped(place, present)
        note(
          .irregularTimestamps,
          difference > 0 ? "sound is missing: silence fills the hole" : "what comes twice is left out", at: expected)
      }
    } else {
      place = Self.snapped(place, present)
    }
    frameStart = place
    if isFirst { isPlaceEstimated = !present.isExact }
    if !isFirst, stepFrames > present.stepFrames {
      present.stepFrames = stepFrames
      present.anchorFrame = place
    }
    if present != known {
      stretch = present
      session.setStretch(present, stretchNumber)
    }
    follow(Int64(count))
  }

  /// The nearest place at which a frame can begin: a timestamp is rounded to its tick, and by some muxers to worse.
  private static func snapped(_ place: Int64, _ stretch: StreamStretch) -> Int64 {
    guard stretch.stepFrames > 0 else { return place }
    let rest = ((place - stretch.anchorFrame) % stretch.stepFrames + stretch.stepFrames) % stretch.stepFrames
    let nearest = rest * 2 <= stretch.stepFrames ? place - rest : place + stretch.stepFrames - rest
    // Further away it is no rounding: another variant's frames begin elsewhere.
    return abs(nearest - place) <= 64 ? nearest : place
  }

  private func follow(_ count: Int64) {
    hasFrame = true
    expected = frameStart + count
  }

  /// A stretch of which nothing is known but its first frame.
  private func newStretch(stamp: Int64, entryFrame: Int64) -> StreamStretch {
    let timeline = session.timeline
    let number = run?.firstEntry.segment.number ?? 0
    let first = timeline.firstNumber(ofStretchWith: number) ?? number
    if let expected {
      return StreamStretch(
        sampleRateHz: format.sampleRateHz, originFrame: stamp, startFrame: expected, isExact: !isPlaceEstimated)
    }
    // The encoder's delay lies before time 0 in MP4.
    let isDelay = run?.cutsNegative == true && stamp < 0 && stamp > -65_536
    let origin = isDelay ? 0 : stamp
    // Nothing lies before the first one.
    let isStart = first == number && entryFrame == 0
    return StreamStretch(
      sampleRateHz: format.sampleRateHz, originFrame: origin, startFrame: entryFrame, isExact: isStart)
  }

  /// Where bare sound without timestamps lies: where the playlist says that its segment begins.
  private func placeOfUntimed(_ timestamp: Int64) -> Int64 {
    guard let run else { return 0 }
    let start = frame(at: run.firstEntry.startNanoseconds)
    isPlaceEstimated = start != 0
    return start + max(0, timestamp)
  }

  private var toleranceFrames: Int64 { Int64(format.sampleRateHz / 50) }
  private var maximumHoleFrames: Int64 { Int64(format.sampleRateHz) * 60 }

  private func note(_ code: MediaError.Code, _ what: String, at frame: Int64) {
    guard warning == nil else { return }
    warning = (frame, MediaError(code, "\(what) in \(session.name)", operation: "read"))
  }

  // MARK: - Reading

  /// As `AudioTrackReader.read`.
  func read(
    into output: UnsafeMutablePointer<Float>, capacityFrames: Int
  ) throws(MediaError) -> AudioTrackReader.ReadResult {
    precondition(capacityFrames > 0, "a read needs room for a frame")
    isFresh = false
    if interrupt.isCancelled { return .cancelled }
    if let error = pendingError {
      pendingError = nil
      isAtEnd = true
      throw error
    }
    if mustReposition {
      do throws(MediaError) { try move(toFrame: position) } catch {
        if error.code == .cancelled { return .cancelled }
        throw error
      }
    }
    let start = position
    let (count, error) = filled(output, capacityFrames)
    if let error, count == 0 {
      isAtEnd = error.code != .cancelled
      throw error
    }
    pendingError = error
    if count > 0 { return .frames(count, position: start) }
    return isAtEnd ? .endOfTrack : .cancelled
  }

  /// Makes sure that there is something to hand over; false at the end or when cancelled.
  func advance() throws(MediaError) -> Bool {
    while !isAtEnd {
      if hasFrame, frameStart + Int64(frameCount) > position { return true }
      hasFrame = false
      switch try decodeOne() {
      case .frame: continue
      case .end:
        isAtEnd = true
        let last = expected ?? position
        // Silence at the end would be made up.
        if end == nil || !isPlaceEstimated {
          end = AudioTrackReader.TrackEnd(frame: last, isExact: !isPlaceEstimated && stretch?.isExact ?? false)
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

  /// Decodes the next frame, of this run or the next. Blocks.
  private func decodeOne() throws(MediaError) -> Decoded {
    while true {
      guard let run else {
        do throws(MediaError) {
          guard try openNext() else { return .end }
        } catch {
          if error.code == .cancelled { return .cancelled }
          throw error
        }
        continue
      }
      let result: SegmentRun.Result
      do throws(MediaError) { result = try sound.next(of: run) } catch {
        if error.code == .cancelled { return .cancelled }
        try goOver(error, entry: run.firstEntry)
        continue
      }
      switch result {
      case .frame(let timestamp, let count):
        place(timestamp: timestamp, count: count)
        return .frame
      case .undecodable(let failure):
        // After a seek the first packets may want what comes before them.
        guard expected != nil else { continue }
        skipped = ((skipped?.count ?? 0) + 1, skipped?.frame ?? expected ?? 0, skipped?.failure ?? failure)
      case .cancelled: return .cancelled
      case .end:
        runEnd = run.source.end ?? .next(run.source.nextNumber)
        self.run = nil
      }
    }
  }

  /// Goes on behind a run that is over; false at the stream's end.
  private func openNext() throws(MediaError) -> Bool {
    let number: Int64
    var hasSkipped = false
    switch runEnd {
    case .next(let next): number = next
    case .left(let first):
      number = first
      hasSkipped = true
      let error = MediaError(
        .segmentsLeftWindow, "what follows is not to be had any more; it goes on with segment \(first)",
        operation: "hls", underlying: session.name)
      fetcher.note(error, session.place, isRetried: true)
      if let expected {
        warning = (expected, error)
        session.move(first, toNanoseconds: nanoseconds(ofFrame: expected))
      }
    case .streamEnd, nil: return false
    }
    var end: SegmentSource.End?
    let run: SegmentRun?
    do throws(MediaError) {
      run = try SegmentRun(
        session: session, fetcher: fetcher, number: number, interrupt: interrupt, end: &end)
    } catch {
      if error.code == .cancelled { throw error }
      try goOver(error, entry: session.timeline.entry(number))
      return true
    }
    guard let run else {
      runEnd = end ?? .streamEnd
      return runEnd != .streamEnd
    }
    let wasNumber = stretchNumber
    let before = stretch
    self.run = run
    enter(run)
    if stretchNumber != wasNumber || hasSkipped, expected != nil {
      // It follows what was heard, whatever was made out before.
      stretch = nil
    } else if stretchNumber == wasNumber, stretch == nil {
      stretch = before
    }
    return true
  }

  /// Goes on with another variant where this one fails. Errors: why it failed, when there is no other.
  private func goOver(_ error: MediaError, entry: HLSTimeline.Entry?) throws(MediaError) {
    let time = expected.map { nanoseconds(ofFrame: max(0, $0 - prerollFrames)) } ?? entry?.startNanoseconds ?? 0
    guard try session.fallBack(fetcher, interrupt: interrupt), let number = session.timeline.number(atNanoseconds: time)
    else {
      throw error
    }
    // Timestamps of variants are the same; what was heard already is left out.
    expected = nil
    hasFrame = false
    run = nil
    runEnd = .next(number)
  }

  /// Hands over what the frame has from `position` on, or silence before it.
  func take(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> Int {
    var count = capacityFrames
    let silence = frameStart - position
    if silence > 0 {
      count = min(count, Int(clamping: silence))
      output.update(repeating: 0, count: count * format.channelCount)
    } else {
      let offset = Int(-silence)
      count = min(count, frameCount - offset)
      try sound.copy(offset..<(offset + count), into: output)
    }
    position += Int64(count)
    return count
  }

  // MARK: - Seeking

  /// As `AudioTrackReader.seek`; tolerances save nothing here: segments are loaded whole.
  func seek(
    to time: MediaTime, toleranceBefore: MediaTime, toleranceAfter: MediaTime
  ) throws(MediaError) -> MediaTime {
    let timeline = session.timeline
    defer { isFresh = false }
    // A live stream begins where it is now, unless somebody says otherwise.
    if isFresh, !timeline.isEnded, time == .zero {
      try move(toFrame: position)
      return MediaTime(frame: position, rate: format.sampleRateHz)
    }
    let last = timeline.isEnded ? end?.frame ?? .max / 8 : frame(at: timeline.liveStartNanoseconds)
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

  private func move(toFrame target: Int64) throws(MediaError) {
    pendingError = nil
    let begin = MonotonicClock.nanoseconds
    lastSeekTimings = SeekTimings()
    defer { lastSeekTimings.decodeNanoseconds = MonotonicClock.nanoseconds - begin }
    do throws(MediaError) {
      if mustReposition || !isNear(target) { try reposition(toFrame: target) }
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

  /// Whether decoding on from here is the shortest way.
  private func isNear(_ target: Int64) -> Bool {
    if target == position, hasFrame || !isAtEnd { return true }
    guard hasFrame, !isAtEnd else { return false }
    return target >= max(frameStart, position) && target <= frameStart + Int64(frameCount + format.sampleRateHz / 4)
  }

  /// Opens the segment from which on decoding gives the right samples at `target`.
  private func reposition(toFrame target: Int64) throws(MediaError) {
    let timeline = session.timeline
    // How long frames are is learnt from the first ones.
    for _ in 0..<4 where run != nil && expected != nil && stretch?.stepFrames == 0 && sound.stepFrames > 0 {
      guard try decodeOne() == .frame else { break }
    }
    position = target
    isAtEnd = false
    hasFrame = false
    run = nil
    expected = nil
    if let end, target >= end.frame {
      isAtEnd = true
      return
    }
    guard var number = timeline.number(atNanoseconds: nanoseconds(ofFrame: target)) else {
      isAtEnd = true
      return
    }
    let first = timeline.firstNumber(ofStretchWith: number) ?? number
    // Packets before the target come first, so that the decoder knows what it wants to know.
    let warm = timeline.number(atNanoseconds: nanoseconds(ofFrame: max(0, target - prerollFrames))) ?? number
    number = max(first, min(number, warm))
    while true {
      expected = nil
      hasFrame = false
      runEnd = .next(number)
      run = nil
      switch try decodeOne() {
      case .end:
        isAtEnd = true
        return
      case .cancelled: throw MediaError(.cancelled, "the seek was cancelled", operation: "seek")
      case .frame: break
      }
      // A playlist's lengths are rounded: what they say may be a segment too late.
      if number <= first || frameStart + prerollFrames <= target { return }
      number -= 1
    }
  }

  // MARK: - Counting

  /// How many frames there are, by reading the end of it: exact when timestamps tell where that lies.
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

  // MARK: - What is said of it

  func cancel() { interrupt.cancel() }
  func resetCancellation() { interrupt.reset() }

  func takeSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)? {
    guard let skipped else { return nil }
    self.skipped = nil
    return (
      skipped.count, MediaTime(frame: skipped.frame, rate: format.sampleRateHz),
      MediaError(skippedPackets: skipped.count, skipped.failure, in: session.name)
    )
  }

  func takeWarning() -> (time: MediaTime, error: MediaError)? {
    defer { warning = nil }
    return warning.map { (MediaTime(frame: $0.frame, rate: format.sampleRateHz), $0.error) }
  }

  func takeTitles() -> [(time: MediaTime, title: StreamTitle)] { [] }
}
