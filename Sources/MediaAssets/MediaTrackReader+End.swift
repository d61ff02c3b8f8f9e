import LibAV
import MediaCore

/// Where a track's sound ends: found out, compared with what the file promised, and told.
extension MediaTrackReader {
  typealias TrackEnd = AudioTrackReader.TrackEnd

  /// What was cut off at the start, when the first frame has been decoded.
  static func startTrim(_ reader: FrameReader, _ edges: TrackEdges) -> EdgeTrim {
    let count =
      reader.trims.startFrames + edges.uncutStartFrames - edges.informationFrames + edges.decoderCutFrames
      + reader.negativeStartFrames
    return count > 0 ? EdgeTrim(frameCount: count, source: edges.startSource) : .none
  }

  /// The decoder has given everything. Errors: `damagedFile` when that is less than the file promised.
  func finish() throws(MediaError) {
    isAtEnd = true
    // Nothing was decoded since a seek: the end lies before the place, and nobody knows where.
    guard let decodedEnd = reader.timeline?.furthestFrame else {
      if let error = endError(at: position) ?? emptiness { throw error }
      return
    }
    let last = max(decodedEnd, silentEnd)
    position = min(position, last)
    setEnd(last, trimmed: reader.trims.endFrames)
    if let promisedEnd, last - promisedEnd.frame > promisedEnd.toleranceFrames {
      warning = MediaError(
        .wrongLength, "the file is longer than it says: \(displayPath)", operation: "read",
        underlying: "\(seconds(last)) instead of \(seconds(promisedEnd.frame)) seconds")
    }
    breakOff = endError(at: last)
    if let breakOff { throw breakOff }
  }

  /// The sound's last frame was handed over; what follows is the encoder's padding. Finds out how much of it there is.
  ///
  /// False when it is more than any encoder adds, a second: then the file is longer than it says, and goes on.
  func finish(at endFrame: Int64) throws(MediaError) -> Bool {
    var last = hasFrame ? reader.frameStart + Int64(reader.frame.frameCount) : endFrame
    hasFrame = false
    reader.isWarmingUp = true
    defer { reader.isWarmingUp = false }
    // What fails here is not missed.
    while last - endFrame < format.sampleRateHz, case .frame? = try? reader.next() {
      last = max(last, reader.frameStart + Int64(reader.frame.frameCount))
    }
    if last - endFrame >= format.sampleRateHz {
      self.endFrame = nil
      seekLimit = nil
      try move(toFrame: endFrame, within: endFrame...endFrame)
      return false
    }
    isAtEnd = true
    setEnd(endFrame, trimmed: last - endFrame + reader.trims.endFrames)
    return true
  }

  private func setEnd(_ frame: Int64, trimmed: Int64) {
    // An edit list that cuts off the start says where the end is, too.
    let source = edges.endSource == .trackDuration && startTrim.source == .editList ? .editList : edges.endSource
    endTrim = trimmed > 0 ? EdgeTrim(frameCount: trimmed, source: source) : .none
    guard isPlaceExact || end?.isExact != true else { return }
    end = TrackEnd(frame: frame, isExact: isPlaceExact)
    seekLimit = frame
  }

  /// There are no more packets: silence stands for the last ones if they did not decode, but not far beyond the promised end:
  /// the last packet may be shorter than it says. Else it is the end, as `finish` says.
  func reachEnd() throws(MediaError) {
    if let lostEnd = reader.silentEnd {
      let promised = promisedEnd.map { lostEnd - $0.frame > Int64(format.sampleRateHz / 50) ? $0.frame : lostEnd }
      let end = min(promised ?? lostEnd, end?.frame ?? lostEnd)
      if end > position, end - position <= maximumSilence, endError(at: end) == nil {
        silentEnd = end
        return
      }
    }
    try finish()
  }

  /// Longest silence that stands for what is missing at the end.
  private var maximumSilence: Int64 { Int64(format.sampleRateHz * AudioTimeline.maximumHoleSeconds) }

  /// What is wrong with an end at `frame`; nil when nothing is.
  func endError(at frame: Int64) -> MediaError? {
    if reader.isShorter(than: byteCount) {
      return MediaError(
        .damagedFile, "the file became shorter while it was read: \(displayPath)", operation: "read",
        underlying: "sound up to \(seconds(frame)) seconds")
    }
    // Where timestamps do not agree with the frames, the end that they promise does not either.
    if let promisedEnd, promisedEnd.frame - frame > promisedEnd.toleranceFrames, !reader.hasIrregularTimestamps {
      return MediaError(
        .damagedFile, "the file breaks off before its end: \(displayPath)", operation: "read",
        underlying: "sound up to \(seconds(frame)) of \(seconds(promisedEnd.frame)) seconds")
    }
    guard edges.isCutOff else { return nil }
    return MediaError(
      .damagedFile, "the file breaks off before its end: \(displayPath)", operation: "read",
      underlying: "sound up to \(seconds(frame)) seconds, without a last page")
  }

  private func seconds(_ frame: Int64) -> String {
    MediaTime(frame: frame, rate: format.sampleRateHz).decimalDescription
  }

  // MARK: - Counting

  /// How many frames of sound there are from time 0 on, counted: by reading the whole file, without decoding where
  /// packets tell how long they are. Afterwards the reader is at the end. Blocks for as long as that takes.
  ///
  /// Errors: those of `read`, but that a file breaks off is none; `cancelled`.
  func exactFrameCount() throws(MediaError) -> Int64 {
    if let end, end.isExact { return end.frame }
    if positioning != .timestamps, reader.hasExactTimestamps {
      let counted = try mapped { () throws(AVFailure) in
        try approachEnd()
        return try reader.countToEnd()
      }
      guard let counted else { throw MediaError(.cancelled, "counting was cancelled", operation: "load") }
      hasFrame = false
      isAtEnd = true
      position = counted
      // Else it has to be decoded, from the start.
      if reader.counting.isLengthKnown {
        setEnd(counted, trimmed: reader.trims.endFrames)
        return counted
      }
    }
    try mapped { () throws(AVFailure) in try reader.rewind() }
    (position, firstRightFrame, hasFrame, isAtEnd, mustReposition) = (0, 0, false, false, false)
    (isPlaceExact, pendingError, silentEnd) = (true, nil, 0)
    do throws(MediaError) {
      while try advance() {
        position = hasFrame ? reader.frameStart + Int64(reader.frame.frameCount) : silentEnd
      }
    } catch {
      // What could be decoded of a file that breaks off is what there is.
      guard end != nil else { throw error }
    }
    if interrupt.isCancelled { throw MediaError(.cancelled, "counting was cancelled", operation: "load") }
    // Where nothing could be decoded to the end, what was decoded is what there is.
    if end == nil { setEnd(position, trimmed: 0) }
    return end?.frame ?? position
  }
}
