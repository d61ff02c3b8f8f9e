import PlayheadLibAV
import PlayheadMediaCore

/// The end of a track's audio: found, compared with the declared end, and reported.
extension MediaTrackReader {
  typealias TrackEnd = AudioTrackReader.TrackEnd

  /// Returns the frames cut off at the start. Call it after the first frame has been decoded.
  static func startTrim(_ reader: FrameReader, _ edges: TrackEdges) -> EdgeTrim {
    let count =
      reader.trims.startFrames + edges.uncutStartFrames - edges.informationFrames + edges.decoderCutFrames
      + reader.framePositions.negativeStartFrames
    return count > 0 ? EdgeTrim(frameCount: count, source: edges.startSource) : .none
  }

  /// Sets the end after the decoder has delivered all frames. Throws `damagedFile` if the audio
  /// is shorter than declared.
  func finish() throws(MediaError) {
    isAtEnd = true
    // No frame was decoded since the last seek: the end is before the position, and unknown.
    guard let decodedEnd = reader.timeline?.furthestFrame else {
      if let error = endError(at: position) ?? emptyTrackError { throw error }
      return
    }
    let last = max(decodedEnd, silenceEnd)
    position = min(position, last)
    setEnd(last, trimmed: reader.trims.endFrames)
    if let expectedEnd, last - expectedEnd.frame > expectedEnd.toleranceFrames, !reader.hasOtherRates {
      warning = MediaError(
        .wrongLength, "the file is longer than it declares: \(displayPath)", operation: "read",
        underlying: "\(seconds(last)) instead of \(seconds(expectedEnd.frame)) seconds")
    }
    prematureEndError = endError(at: last)
    if let prematureEndError { throw prematureEndError }
  }

  /// Ends the track after its last frame was delivered, and measures the encoder's padding after that frame.
  ///
  /// - Returns: false if the padding is a second or longer, which no encoder adds. Then the file is longer than
  ///   declared, and reading continues.
  func finish(at endFrame: Int64) throws(MediaError) -> Bool {
    var last = hasFrame ? reader.frameStart + Int64(reader.frame.frameCount) : endFrame
    hasFrame = false
    reader.framePositions.isPrerolling = true
    defer { reader.framePositions.isPrerolling = false }
    // Errors in the padding do not matter.
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
    // An edit list that trims the start also defines the end.
    let source = edges.endSource == .trackDuration && startTrim.source == .editList ? .editList : edges.endSource
    endTrim = trimmed > 0 ? EdgeTrim(frameCount: trimmed, source: source) : .none
    guard isPositionExact || end?.isExact != true else { return }
    end = TrackEnd(frame: frame, isExact: isPositionExact)
    seekLimit = frame
  }

  /// Handles the end of the packets. If the last packets did not decode, silence replaces them;
  /// otherwise calls `finish`.
  ///
  /// The silence does not reach far beyond the expected end, because the last packet may be shorter than it states.
  func handleEndOfPackets() throws(MediaError) {
    if let lostEnd = reader.silenceEnd {
      // W64 has padding after the audio.
      let statedEnd = expectedEnd?.frame ?? (reader.format == .wav ? declaredEnd : nil)
      let expectedSilenceEnd = statedEnd.map { lostEnd - $0 > Int64(format.sampleRateHz / 50) ? $0 : lostEnd }
      let end = min(expectedSilenceEnd ?? lostEnd, end?.frame ?? lostEnd)
      if end > position, end - position <= maximumSilence, endError(at: end) == nil {
        silenceEnd = end
        return
      }
    }
    try finish()
  }

  /// The maximum length of the silence that replaces missing packets at the end.
  private var maximumSilence: Int64 { Int64(format.sampleRateHz * AudioTimeline.maximumGapSeconds) }

  /// Returns the error of a track that ends at `frame`; nil if the end is plausible.
  func endError(at frame: Int64) -> MediaError? {
    if reader.isShorter(than: byteCount) {
      return MediaError(
        .damagedFile, "the file became shorter while it was read: \(displayPath)", operation: "read",
        underlying: "audio up to \(seconds(frame)) seconds")
    }
    // If timestamps disagree with the frame count, the expected end is unreliable, too.
    let isReliable =
      !reader.framePositions.hasIrregularTimestamps && !reader.packetPositions.hasWrongTimestamps
      && !reader.hasOtherRates
    if let expectedEnd, expectedEnd.frame - frame > expectedEnd.toleranceFrames, isReliable {
      return MediaError(
        .damagedFile, "the file is truncated: \(displayPath)", operation: "read",
        underlying: "audio up to \(seconds(frame)) of \(seconds(expectedEnd.frame)) seconds")
    }
    guard edges.isCutOff else { return nil }
    return MediaError(
      .damagedFile, "the file is truncated: \(displayPath)", operation: "read",
      underlying: "audio up to \(seconds(frame)) seconds, without a last page")
  }

  private func seconds(_ frame: Int64) -> String {
    MediaTime(frame: frame, rate: format.sampleRateHz).decimalDescription
  }

  // MARK: - Counting

  /// Returns whether the audio ends where the container states. Blocks while it seeks to the last frame and decodes it.
  ///
  /// - Throws: `cancelled`.
  func endsAsDeclared() throws(MediaError) -> Bool {
    guard let declaredEnd, declaredEnd > 0 else { return false }
    let last = MediaTime(frame: declaredEnd - 1, rate: format.sampleRateHz)
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: frameByteCount * 2, alignment: 16)
    defer { buffer.deallocate() }
    do throws(MediaError) {
      guard try seek(to: last, toleranceBefore: .zero, toleranceAfter: .zero) == last, positionDoubt == nil,
        try read(into: buffer, capacityFrames: 2) == .frames(1, position: declaredEnd - 1)
      else { return false }
      return try read(into: buffer, capacityFrames: 1) == .endOfTrack
    } catch {
      if error.code == .cancelled { throw error }
      return false
    }
  }

  /// Reopens the file, and continues with its first frame, like a new reader.
  func restart() throws(MediaError) {
    reader.packetPositions.stopCountingByLengths()
    try mapped { () throws(AVFailure) in try reader.rewind() }
    (position, firstCorrectFrame, hasFrame, isAtEnd, mustReposition) = (0, 0, false, false, false)
    (isPositionExact, positionDoubt, pendingError, silenceEnd) = (true, nil, nil, 0)
  }

  /// Reads the packets to the end without decoding, and returns the end of the last one. Nil if the file must be
  /// decoded from its start, because a packet does not state its length, or cannot be read.
  ///
  /// - Throws: `cancelled`, `readFailed`.
  private func countPackets() throws(MediaError) -> Int64? {
    let counted: Int64?
    do throws(AVFailure) {
      try moveNearEnd()
      counted = try reader.scanToEnd()
    } catch {
      let error = MediaError(error, path: displayPath)
      guard error.code == .damagedFile else { throw error }
      return nil
    }
    guard let counted else { throw MediaError(.cancelled, "counting was cancelled", operation: "load") }
    hasFrame = false
    isAtEnd = true
    position = counted
    // A file with one packet has no counted end before that packet is decoded.
    guard reader.scannedEndFrame != nil, reader.counting.isLengthKnown, !reader.hasOtherRates else { return nil }
    setEnd(counted, trimmed: reader.trims.endFrames)
    return counted
  }

  /// Returns the exact number of audio frames from time 0. Blocks while it reads the whole file.
  ///
  /// Packets are decoded only if they do not state their lengths. Afterwards the reader is at the end.
  ///
  /// - Throws: the errors of `read`, except for a file that ends too early; `cancelled`.
  func exactFrameCount() throws(MediaError) -> Int64 {
    if let end, end.isExact { return end.frame }
    positionDoubt = nil
    try checkTimestamps()
    let isCountable =
      positionDoubt == nil && positioning != .timestamps && positioning != .decoded && reader.hasExactTimestamps
    if isCountable, !CodecTraits.dependsOnAllEarlierAudio(codecName: reader.stream.codecName) {
      if let counted = try countPackets() { return counted }
    }
    try restart()
    do throws(MediaError) {
      while try advance() {
        position = hasFrame ? reader.frameStart + Int64(reader.frame.frameCount) : silenceEnd
      }
    } catch {
      // A truncated file ends with the last frame that could be decoded.
      guard end != nil || error.code != .cancelled && position > 0 else { throw error }
    }
    if interrupt.isCancelled { throw MediaError(.cancelled, "counting was cancelled", operation: "load") }
    // If the decoder never reached the end, the decoded frames are the result.
    if end == nil { setEnd(position, trimmed: 0) }
    return end?.frame ?? position
  }
}
