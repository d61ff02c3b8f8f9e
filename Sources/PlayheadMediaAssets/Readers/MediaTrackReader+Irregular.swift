// Seeks in streams whose timestamps disagree with their frames. Packets or decoded frames are counted from the file's
// start, like in a read from the start.
import PlayheadLibAV
import PlayheadMediaCore

extension MediaTrackReader {
  /// The last position for which a seek may decode everything from the file's start: 15 minutes. Seeks
  /// beyond it are not exact.
  private var maximumDecodedFrames: Int64 { Int64(format.sampleRateHz) * 900 }

  /// The maximum size of a file that is counted: 256 MiB. Counting in a file with video also reads the video.
  private static let maximumCountedByteCount: Int64 = 256 << 20

  /// Checks whether timestamps agree with the frames at the file's start, and chooses the method of seeks accordingly.
  func checkTimestamps() throws(MediaError) {
    if positioning == .counted(.packets) { return try alignCountingWithDecoding() }
    let isOggFLAC = positioning == .counted(.oggPages) && reader.stream.codecName == "flac"
    guard positioning == .timestamps || isOggFLAC else { return }
    try learnFrameGrid(untilKnown: isOggFLAC)
    let rounding = reader.timeline?.roundingFrames ?? 0
    guard reader.framePositions.hasIrregularTimestamps || reader.grid.isAmbiguous(roundingFrames: rounding) else {
      return
    }
    try countByPacketLengths()
  }

  /// Counts packets by their lengths if timestamps may be irregular, so that counted and decoded positions agree.
  private func alignCountingWithDecoding() throws(MediaError) {
    guard !reader.counting.usesLengths, reader.format == .other, !isForwardOnly else { return }
    // FFmpeg's durations of Opus in MPEG transport streams are wrong at the edges.
    if reader.stream.codecName == "opus" { return try countByPacketLengths() }
    guard Self.codecsWithLengths.contains(reader.stream.codecName) else { return }
    try learnFrameGrid(untilKnown: true)
    if reader.packetPositions.hasRepeatedTimestamps { return try countByPacketLengths() }
    guard reader.counting.isLengthKnown, reader.hasExactTimestamps else { return }
    try mapped { () throws(AVFailure) in try reader.startCountingByLengths() }
  }

  /// Determines positions by counting from now on, because timestamps prove none. Sets `positionDoubt` instead if
  /// counting needs the network or too much time.
  func countByPacketLengths() throws(MediaError) {
    guard !isRemote, !isForwardOnly, byteCount <= Self.maximumCountedByteCount else {
      positionDoubt = .irregularTimestamps
      return
    }
    guard Self.codecsWithLengths.contains(reader.stream.codecName), reader.counting.isLengthKnown,
      !reader.packetPositions.hasRepeatedTimestamps
    else {
      positioning = .decoded
      return
    }
    try mapped { () throws(AVFailure) in try reader.startCountingByLengths() }
    positioning = .counted(.packetsFromStart)
  }

  /// The codecs whose packet durations FFmpeg reads from the packets themselves.
  private static let codecsWithLengths: Set<String> = ["aac", "ac3", "dts", "eac3", "flac", "mp1", "mp2", "mp3"]

  /// Whether the durations of samples in an MP4 file are irregular before the first decoded packet: the sample table
  /// has a different number of packets before it than its timestamp implies.
  var contradictsSampleTable: Bool {
    guard reader.format == .movie, hasCompleteSampleTable, reader.grid.isKnown, let timeline = reader.timeline,
      !reader.stream.codecName.hasPrefix("pcm_"), let frame = reader.packetPositions.decodeStartFrame,
      let ticks = timeline.ticks(ofFrame: frame, rounding: .nearest),
      let found = reader.demuxer.indexedPackets(streamIndex: reader.stream.index, to: ticks),
      let first = timeline.frame(ofTicks: found.firstTicks)
    else { return false }
    let (counted, overflow) = Int64(found.count).multipliedReportingOverflow(by: reader.grid.step)
    return overflow || abs(frame - first - counted) > max(2, timeline.roundingFrames)
  }

  /// Whether the decoded frame is at a position where no frame of the stream can begin.
  var isOffGrid: Bool {
    guard reader.frameStart > 0, !reader.packetPositions.isCountedByLength, let timeline = reader.timeline,
      positioning == .timestamps || reader.stream.codecName == "flac"
    else { return false }
    return reader.grid.excludes(reader.frameStart, withinFrames: max(2, timeline.roundingFrames))
  }

  /// Switches to counting after a seek found a wrong timestamp. Returns false if the seek must be repeated by counting.
  func switchToCounting(toFrame target: Int64, within allowed: ClosedRange<Int64>) throws(MediaError) -> Bool {
    try countByPacketLengths()
    guard positioning != .timestamps else {
      position = min(target, max(allowed.lowerBound, reader.frameStart))
      firstCorrectFrame = reader.frameStart
      return true
    }
    hasFrame = false
    isAtEnd = false
    pendingError = nil
    return positioning == .decoded ? try repositionByDecoding(toFrame: target) : false
  }

  /// Sets `positionDoubt` if timestamps do not prove the position after a seek.
  func recordDoubt() {
    if reader.framePositions.isRounded {
      positionDoubt = .coarseTimestamps
    } else if reader.framePositions.hasIrregularTimestamps || positioning == .decoded {
      positionDoubt = .irregularTimestamps
    }
  }

  /// Whether everything from the file's start to `target` can be decoded in a short time.
  func canDecodeFromStart(toFrame target: Int64) -> Bool {
    target <= maximumDecodedFrames && byteCount <= Self.maximumCountedByteCount && !isRemote && !isForwardOnly
  }

  /// Decodes everything from the file's start or from the current position; returns false if that would take too long.
  func repositionByDecoding(toFrame target: Int64) throws(MediaError) -> Bool {
    guard canDecodeFromStart(toFrame: target) else {
      positionDoubt = .decoderState
      return false
    }
    if !reader.canDecode(toFrame: target) {
      try mapped { () throws(AVFailure) in try reader.rewind() }
    }
    isPositionExact = true
    firstCorrectFrame = 0
    _ = try decodeOne()
    return true
  }
}
