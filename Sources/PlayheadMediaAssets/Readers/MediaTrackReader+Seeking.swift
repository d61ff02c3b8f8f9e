// Seeks. A seek chooses where in the file decoding begins, so that the samples at the target equal those of a read from
// the start. Within the tolerances it chooses the cheapest position. Timestamps or the asset's packet index prove
// positions, or packets are counted from the start. The result of a container's seek is never trusted without proof.
import PlayheadLibAV
import PlayheadMediaCore

extension MediaTrackReader {
  /// Seeks to a time; the next read begins there. Blocks.
  ///
  /// With tolerances of zero the next frame is the one that contains `time`: frame `floor(time * rate)`. Larger
  /// tolerances allow a cheaper position: in nearby audio that is already decoded, or without any decoding except the
  /// preroll. Times outside the asset are clamped.
  ///
  /// - Returns: the time of the next frame.
  /// - Throws: `invalidTime`; `cancelled`; `readFailed`, `damagedFile`.
  func seek(
    to time: MediaTime, toleranceBefore: MediaTime, toleranceAfter: MediaTime
  ) throws(MediaError) -> MediaTime {
    try mapped { () throws(AVFailure) in try checkForFileChange() }
    let (target, allowed) = try SeekTarget.frames(
      time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, sampleRateHz: format.sampleRateHz,
      last: lastSeekableFrame)
    if try discardWrongEnd(before: time) {
      return try seek(to: time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter)
    }
    if interrupt.isCancelled {
      mustReposition = true
      throw MediaError(.cancelled, "the seek was cancelled", operation: "seek")
    }
    try move(toFrame: target, within: allowed)
    return MediaTime(frame: position, rate: format.sampleRateHz)
  }

  /// The last position that a seek accepts. Without a known end, the limit keeps sums of positions in range.
  private var lastSeekableFrame: Int64 { knownEnd ?? Int64.max / 8 }

  /// Discards the declared end if `time` is after it and the audio continues there. Blocks: the first such seek decodes
  /// the last frames.
  ///
  /// - Returns: whether the end was discarded.
  private func discardWrongEnd(before time: MediaTime) throws(MediaError) -> Bool {
    guard end == nil, let limit = seekLimit, limit > 0, !isForwardOnly, !hasCheckedLimit,
      reader.format == .flac || reader.format == .numberedFrames,
      time.frameIndex(rate: format.sampleRateHz, rounding: .towardNegativeInfinity) ?? .max >= limit
    else { return false }
    try move(toFrame: limit - 1, within: (limit - 1)...(limit - 1))
    while hasFrame {
      if reader.frameStart + Int64(reader.frame.frameCount) > limit {
        seekLimit = nil
        return true
      }
      hasFrame = false
      guard try decodeOne() else { break }
    }
    // A cancelled check is repeated by the next seek.
    hasCheckedLimit = true
    mustReposition = true
    return false
  }

  /// The end of the audio, found or declared.
  private var knownEnd: Int64? { end?.frame ?? seekLimit }

  /// Discards the known end if the file was written to after the last seek.
  func checkForFileChange() throws(AVFailure) {
    let currentIdentity = try reader.demuxer.source.identity()
    defer { identity = currentIdentity }
    guard let identity, identity != currentIdentity else { return }
    changeCount += 1
    guard end != nil else { return }
    end = nil
    seekLimit = nil
    prematureEndError = nil
  }

  // MARK: - Repositioning

  func reposition() throws(MediaError) { try move(toFrame: position, within: position...position) }

  /// Moves to `target`, or to a cheaper position in `allowed`, which contains `target`.
  func move(toFrame target: Int64, within allowed: ClosedRange<Int64>) throws(MediaError) {
    if isForwardOnly { return try resumeForwardOnly(at: target) }
    pendingError = nil
    reader.framePositions.isPrerolling = true
    lastSeekTimings = SeekTimings()
    let startNanoseconds = MonotonicClock.nanoseconds
    let demuxBefore = reader.demuxNanoseconds
    defer {
      reader.framePositions.isPrerolling = false
      lastSeekTimings.demuxNanoseconds = reader.demuxNanoseconds - demuxBefore
      let rest =
        MonotonicClock.nanoseconds - startNanoseconds - lastSeekTimings.indexNanoseconds
        - lastSeekTimings.demuxNanoseconds
      lastSeekTimings.decodeNanoseconds = max(0, rest)
    }
    // After a seek with a tolerance, only decoding from the file's start gives the exact samples.
    let mustDecode = positionDoubt == .decoderState && allowed.count == 1 && canDecodeFromStart(toFrame: target)
    do throws(MediaError) {
      if !mustDecode, let decoded = decodedPosition(nearest: target, in: allowed) {
        position = decoded
      } else if !mustDecode, isNear(target) {
        position = target
      } else {
        try reposition(toFrame: target, within: allowed)
      }
      mustReposition = false
      try decodeToPosition()
      if positionDoubt == nil { positionDoubt = prerollDoubt }
    } catch {
      mustReposition = true
      position = target
      throw error
    }
  }

  /// Continues at the current position of a stream that cannot seek. Throws `onlyInOrder` for a target before the end
  /// of an ended stream.
  private func resumeForwardOnly(at target: Int64) throws(MediaError) {
    guard !isAtEnd || target >= position else {
      throw MediaError(.onlyInOrder, "the stream has ended and cannot be read again: \(displayPath)", operation: "seek")
    }
    if mustReposition { reader.packets.resumeReading() }
    mustReposition = false
    pendingError = nil
    if hasFrame { position = max(position, reader.frameStart) }
  }

  /// The maximum distance of a position that counts as near the target: a quarter of a second.
  private var nearFrames: Int64 { Int64(format.sampleRateHz / 4) }

  /// Returns the position in the decoded frame that is nearest to the target, if it is allowed and near.
  ///
  /// Without the second condition a seek with unlimited tolerances would never leave the decoded frame.
  private func decodedPosition(nearest target: Int64, in allowed: ClosedRange<Int64>) -> Int64? {
    guard hasFrame, !isAtEnd, !mustReposition else { return nil }
    let end = reader.frameStart + Int64(reader.frame.frameCount)
    let nearest = max(reader.frameStart, firstCorrectFrame, min(target, end - 1))
    return allowed.contains(nearest) && nearest < end && abs(nearest - target) <= nearFrames ? nearest : nil
  }

  /// Whether decoding forward from here is the shortest way to the target.
  private func isNear(_ target: Int64) -> Bool {
    if mustReposition { return false }
    if target == position { return true }
    guard hasFrame, !isAtEnd else { return false }
    let end = reader.frameStart + Int64(reader.frame.frameCount)
    return target >= max(reader.frameStart, firstCorrectFrame) && target <= end + nearFrames
  }

  /// Moves the demuxer so that decoding gives the right samples at `target`, or at another allowed position.
  private func reposition(toFrame target: Int64, within allowed: ClosedRange<Int64>) throws(MediaError) {
    hasFrame = false
    isAtEnd = false
    silenceEnd = 0
    position = target
    if let knownEnd, target >= knownEnd {
      isAtEnd = true
      pendingError = prematureEndError
      return
    }
    isPositionExact = hasExactSeekPositions
    positionDoubt = nil
    if CodecTraits.dependsOnAllEarlierAudio(codecName: reader.stream.codecName) {
      if allowed.count == 1, try repositionByDecoding(toFrame: target) { return }
      positionDoubt = .decoderState
    }
    try checkTimestamps()
    if reader.hasOtherRates || reader.counting.hasUnknownLengths && positioning == .counted(.packetsFromStart) {
      positioning = .decoded
    }
    if positioning == .timestamps, try repositionByTimestamps(toFrame: target, within: allowed) { return }
    if positioning == .decoded, try repositionByDecoding(toFrame: target) { return }
    try repositionByCounting(toFrame: target, within: allowed)
  }

  /// The reason why the preroll does not prove the samples; nil if it does. Unless everything since the start was
  /// decoded, a gap may replace frames that the decoder needs.
  private var prerollDoubt: PositionDoubt? {
    if positioning == .decoded, reader.isDecodedFromStart { return nil }
    if reader.reports.hasDamage { return .damage }
    let gaps = reader.reports.gapFrameCount
    return gaps > 0 && firstCorrectFrame > 0 && prerollFrames > 0 && position - gaps < firstCorrectFrame ? .damage : nil
  }

  // MARK: - By timestamps

  /// Seeks with the container's own seek; returns false if the resulting position is not proven.
  private func repositionByTimestamps(toFrame target: Int64, within allowed: ClosedRange<Int64>) throws(MediaError)
    -> Bool
  {
    // Negative near the start, so that priming is decoded, too.
    let prerollStart = target - prerollFrames
    if reader.format == .matroska {
      var isChecked = false
      if !isRemote { try mapped { () throws(AVFailure) in isChecked = try reader.checkTimestamps(upTo: target) } }
      if reader.framePositions.hasIrregularTimestamps { try countByPacketLengths() }
      if positioning != .timestamps {
        try mapped { () throws(AVFailure) in try seekByTimestamp(toFrame: prerollStart) }
        return try switchToCounting(toFrame: target, within: allowed)
      }
      if !isChecked { positionDoubt = .estimated }
    }
    var stepBack: Int64 = 0
    for _ in 0..<4 {
      hasFrame = false
      let startNanoseconds = MonotonicClock.nanoseconds
      try mapped { () throws(AVFailure) in try seekByTimestamp(toFrame: prerollStart - stepBack) }
      lastSeekTimings.indexNanoseconds += MonotonicClock.nanoseconds - startNanoseconds
      guard try decodeOne(), reader.framePositions.isProven else { break }
      if reader.hasOtherRates {
        positioning = .decoded
        break
      }
      if isOffGrid || contradictsSampleTable { return try switchToCounting(toFrame: target, within: allowed) }
      let rounding = reader.timeline?.roundingFrames ?? 0
      let decodeStart = reader.framePositions.hasDroppedFrames ? nil : reader.packetPositions.decodeStartFrame
      let landed = max(0, min(decodeStart.map { $0 + rounding } ?? .max, reader.frameStart))
      let start = reader.startFrame ?? 0
      let isStart = reader.packetPositions.decodeStartFrame.map { $0 <= start + rounding } ?? false
      let firstCorrect = isStart ? 0 : landed + prerollFrames
      if firstCorrect <= target {
        firstCorrectFrame = firstCorrect
        position = min(target, max(allowed.lowerBound, firstCorrect))
        recordDoubt()
        return true
      }
      if firstCorrect <= allowed.upperBound {
        firstCorrectFrame = firstCorrect
        position = firstCorrect
        recordDoubt()
        return true
      }
      // The container's seek does not lead back to its first packet; reopening the file does.
      if prerollStart - stepBack <= start { break }
      // The seek landed too late, so step further back.
      stepBack = max(Int64(format.sampleRateHz), stepBack * 4)
    }
    hasFrame = false
    isAtEnd = false
    pendingError = nil
    return false
  }

  /// Decodes some frames at the start, once, to learn the frame lengths and, unless `untilKnown`, the
  /// lateness of timestamps.
  func learnFrameGrid(untilKnown: Bool = false) throws(MediaError) {
    guard let timeline = reader.timeline, timeline.hasRoundedTicks || !reader.stream.codecName.hasPrefix("pcm_") else {
      return
    }
    // A cancelled read ends the count. Without the grid, wrong timestamps would count as proof.
    if !reader.packetPositions.isCounted, !hasLearnedFrameGrid {
      try mapped { () throws(AVFailure) in try reader.rewind() }
    }
    guard reader.packetPositions.isCounted else { return }
    do throws(MediaError) {
      for _ in 0..<Self.learningFrameCount where !(untilKnown ? reader.grid.isKnown : reader.grid.isLatenessKnown) {
        guard try decodeOne() else { break }
      }
    } catch {
      // Damage at the start is irrelevant for other positions.
      if error.code == .cancelled { throw error }
    }
    hasLearnedFrameGrid = true
    isAtEnd = false
    pendingError = nil
  }

  /// The maximum number of frames that `learnFrameGrid` decodes: enough for blocks of a dozen packets or more.
  private static let learningFrameCount = 128

  /// Seeks with the container's own seek. If the container refuses, rewinds to the start.
  func seekByTimestamp(toFrame frame: Int64) throws(AVFailure) {
    do throws(AVFailure) {
      try reader.seekByTimestamp(toFrame: frame)
    } catch {
      if error.kind == .cancelled { throw error }
      try reader.rewind()
    }
  }

  // MARK: - By counting

  /// Begins at an entry of the index, or counts from the file's start.
  private func repositionByCounting(toFrame target: Int64, within allowed: ClosedRange<Int64>) throws(MediaError) {
    let entry = try moveToFirstPacket(for: target)
    let isUncounted = reader.counting.hasUnknownLengths && positioning == .counted(.packetsFromStart)
    if isUncounted || reader.hasOtherRates, positioning != .decoded {
      positioning = .decoded
      if try repositionByDecoding(toFrame: target) { return }
    }
    if let start = reader.scannedEndFrame.map({ max(0, $0 - Self.endMarginFrames) }), start < target {
      // No packet is left at the target, so audio before it is decoded to find the end.
      try repositionByCounting(toFrame: start, within: start...start)
      position = target
      return
    }
    firstCorrectFrame = target
    if reader.packetPositions.decodeStartFrame.map({ $0 <= reader.startFrame ?? 0 }) ?? false {
      firstCorrectFrame = 0
    } else if let landed = reader.packetPositions.decodeStartFrame, entry?.isExact != true {
      firstCorrectFrame = min(target, landed + prerollFrames)
      // The packets with which decoding should begin are missing.
      if landed > max(0, target - prerollFrames), positionDoubt == nil { positionDoubt = .damage }
    }
    position = max(allowed.lowerBound, min(target, firstCorrectFrame))
    let hasDamage = reader.packetPositions.index?.hasDamage(before: target - (reader.startFrame ?? 0)) ?? false
    if hasDamage || entry?.isIntact == false { positionDoubt = .damage }
    _ = try decodeOne()
    if positioning == .counted(.oggPages), hasFrame, isOffGrid {
      try countByPacketLengths()
      guard positioning != .counted(.oggPages) else { return }
      hasFrame = false
      return try repositionByCounting(toFrame: target, within: allowed)
    }
  }

  /// Moves to the packet with which decoding for `target` begins, so that it is read next. Returns
  /// the entry that led to it.
  func moveToFirstPacket(for target: Int64) throws(MediaError) -> Entry? {
    let startNanoseconds = MonotonicClock.nanoseconds
    let entry = try mapped { () throws(AVFailure) in try findEntry(before: target) }
    lastSeekTimings.indexNanoseconds += MonotonicClock.nanoseconds - startNanoseconds
    let prerollStart = entry?.prerollStart ?? target - prerollFrames
    let isReached = try mapped { () throws(AVFailure) in
      if let entry, !reader.canSkip(from: entry.frame, toFrame: prerollStart) {
        _ = try reader.seek(toByte: entry.byte, frame: entry.frame)
      }
      return try reader.skip(toFrame: prerollStart)
    }
    guard isReached else { throw MediaError(.cancelled, "the seek was cancelled", operation: "seek") }
    return entry
  }

  /// A number of frames larger than any packet.
  private static let endMarginFrames: Int64 = 65_536

  /// Moves near the end of files whose packet headers can be walked, so that counting continues from there.
  func moveNearEnd() throws(AVFailure) {
    guard endFrame == nil, positioning == .counted(.mpegAudio) || positioning == .counted(.adts),
      let entry = try findEntry(before: Int64.max / 8)
    else { return }
    _ = try reader.seek(toByte: entry.byte, frame: entry.frame)
  }

  /// A packet at which reading can begin: its byte, its position, and the position up to which nothing must be decoded.
  struct Entry {
    var byte: Int64
    var frame: Int64
    var prerollStart: Int64
    /// Whether decoding from this packet gives the right samples from the target on, but not before the target.
    var isExact = false
    /// Whether no packet between this one and the target is known to be missing or damaged.
    var isIntact = true
  }

  /// Returns the entry for `target`; nil if reading must begin at the file's start.
  private func findEntry(before target: Int64) throws(AVFailure) -> Entry? {
    guard case .counted(let counting) = positioning, let firstByte = reader.packetPositions.firstPacket?.byte,
      let startFrame = reader.startFrame, let identity = try reader.demuxer.source.identity()
    else { return nil }
    let index = asset.packetIndex(
      identity: identity, streamIndex: reader.stream.index, firstByte: firstByte,
      spacingFrames: Int64(format.sampleRateHz))
    let prerollStart = target - prerollFrames
    let source = reader.demuxer.source
    if isRemote, counting == .mpegAudio || counting == .adts {
      return try estimateEntry(
        before: target, firstByte: firstByte, startFrame: startFrame, byteCount: identity.byteCount)
    }
    switch counting {
    case .mpegAudio:
      if let located = try MPEGAudioLocator.locate(frame: target - startFrame, index: index, source: source) {
        let frame = located.frame + startFrame
        return Entry(byte: located.byte, frame: frame, prerollStart: frame, isExact: true)
      }
    case .adts:
      // Only the headers define positions: FFmpeg does not report the bytes that it skips to find the next header.
      let packetFrames =
        reader.packetPositions.firstPacket?.durationTicks.flatMap { reader.timeline?.frameCount(ofTicks: $0) } ?? 0
      try ADTSWalker.extend(index, to: prerollStart - startFrame, packetFrames: packetFrames, source: source)
    case .packets: reader.packetPositions.index = index
    case .packetsFromStart:
      if reader.format == .ogg, let (end, _) = granule(ofFrame: target), var locator = try oggLocator(index),
        try !locator.isIntact(from: firstByte, toGranule: end)
      {
        positionDoubt = .damage
      }
      return nil
    case .blocks(let byteCount, let frameCount):
      let count = max(0, prerollStart - startFrame) / max(1, frameCount)
      let (offset, overflow) = count.multipliedReportingOverflow(by: byteCount)
      guard !overflow, offset < identity.byteCount else { return nil }
      return Entry(byte: firstByte + offset, frame: count * frameCount + startFrame, prerollStart: prerollStart)
    case .oggPages: return try findPage(before: prerollStart, target: target, index: index)
    }
    let indexed = index.entry(atOrBefore: prerollStart - startFrame)
    return Entry(byte: indexed.byte, frame: indexed.frame + startFrame, prerollStart: prerollStart)
  }

  private func oggLocator(_ index: PacketIndex) throws(AVFailure) -> OggLocator? {
    let source = reader.demuxer.source
    guard let streams = try index.oggStreams(in: source) else { return nil }
    return OggLocator(source: source, streams: streams, firstByte: index.firstByte, byteCount: index.identity.byteCount)
  }

  /// Returns the granule position of a frame, and the excess of granule positions over timestamps. FFmpeg subtracts the
  /// pre-skip of Opus (RFC 7845, section 4.2).
  private func granule(ofFrame frame: Int64) -> (granule: Int64, offset: Int64)? {
    let offset = reader.stream.codecName == "opus" ? reader.stream.initialPaddingFrames ?? 0 : 0
    return reader.timeline?.ticks(ofFrame: frame).map { ($0 + offset, offset) }
  }

  /// Returns the Ogg page at which reading begins.
  private func findPage(before prerollStart: Int64, target: Int64, index: PacketIndex) throws(AVFailure) -> Entry? {
    guard let (granule, offset) = granule(ofFrame: prerollStart), granule > 0, var locator = try oggLocator(index),
      let page = try locator.locate(granule: granule),
      let frame = reader.timeline?.frame(ofTicks: page.frame - offset)
    else { return nil }
    let end = self.granule(ofFrame: target)?.granule ?? .max
    // Without a preroll, decoding begins with the packet at the target. If the page before that packet is damaged, a
    // read from the start loses the packet, and a read from the entry does not.
    let earlier = prerollFrames == 0 ? try locator.locate(granule: max(1, granule - Int64(format.sampleRateHz))) : nil
    let isIntact = try locator.isIntact(from: earlier?.byte ?? page.byte, toGranule: end)
    return Entry(byte: page.byte, frame: frame, prerollStart: prerollStart, isIntact: isIntact)
  }

  // MARK: - Decoding up to the position

  /// Decodes the next frame. An error at the end of the track becomes `pendingError`.
  ///
  /// - Returns: false at the end of the track.
  /// - Throws: `cancelled`; the errors of reading files.
  func decodeOne() throws(MediaError) -> Bool {
    switch try mapped({ () throws(AVFailure) in try reader.next() }) {
    case .frame:
      hasFrame = true
      return true
    case .endOfTrack:
      do throws(MediaError) { try handleEndOfPackets() } catch { pendingError = error }
      return false
    case .cancelled: throw MediaError(.cancelled, "the seek was cancelled", operation: "seek")
    }
  }

  /// Decodes up to the frame that contains `position`.
  private func decodeToPosition() throws(MediaError) {
    while hasFrame, reader.frameStart + Int64(reader.frame.frameCount) <= position {
      hasFrame = false
      guard try decodeOne() else { return }
    }
  }
}
