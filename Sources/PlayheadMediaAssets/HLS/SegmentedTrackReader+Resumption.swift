// Continues reading in another variant. The playlist and the drift between audio and playlist select a segment. The
// timestamps in the segment confirm or correct the selection.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadPlaylists

extension SegmentedTrackReader {
  /// The search for a position in another variant.
  struct Resumption {
    /// The next frame to be delivered.
    let frame: Int64
    /// The latest frame at which decoding must begin, so that the decoder is ready at `frame`.
    let prerollStartFrame: Int64
    /// The chosen segment.
    var number: Int64
    var hasMovedForward = false
    var backwardCount = 0

    static let maximumBackwardCount = 8
  }

  /// The next frame that is needed.
  var nextNeededFrame: Int64 { expectedStart ?? resumption?.frame ?? position }

  /// Continues in another variant, because this one fails.
  ///
  /// - Throws: `error` if there is no other variant.
  func fallBack(after error: MediaError) throws(MediaError) {
    if let expectedStart, let source = segmentReader?.source, let first = source.firstEntry, let last = source.lastEntry
    {
      // The decoded audio is within the reader's segments, which limits the drift.
      let time = nanoseconds(ofFrame: expectedStart)
      drift = max(min(drift, time - first.startNanoseconds), time - last.endNanoseconds)
    }
    guard try session.fallBack(from: variantNumber, fetcher, interrupt: interrupt),
      resume(atFrame: nextNeededFrame)
    else { throw error }
  }

  /// Continues in the active variant, `prerollFrames` before `frame`. Returns false if it has no such segment.
  func resume(atFrame frame: Int64) -> Bool {
    let (timeline, variantNumber) = session.activeTimeline
    let prerollStartFrame = max(0, frame - prerollFrames)
    guard let number = timeline.number(atNanoseconds: nanoseconds(ofFrame: prerollStartFrame) - drift) else {
      return false
    }
    self.variantNumber = variantNumber
    resumption = Resumption(frame: frame, prerollStartFrame: prerollStartFrame, number: number)
    restart(atSegment: number)
    return true
  }

  /// Continues at the beginning of a segment.
  func restart(atSegment number: Int64) {
    // All variants have the same timestamps. Audio that has been delivered already is skipped.
    expectedStart = nil
    hasFrame = false
    segmentReader = nil
    endReason = .next(number)
  }

  /// Returns the segment that must replace the chosen one, whose position is now known; nil if the chosen segment is
  /// correct.
  func correctedNumber(_ segmentReader: ContiguousSegmentReader) -> Int64? {
    guard let resumption else { return nil }
    if let better = better(than: resumption, segmentReader) {
      self.resumption = better
      return better.number
    }
    self.resumption = nil
    segmentReader.source.confirm()
    return nil
  }

  private func better(than chosen: Resumption, _ segmentReader: ContiguousSegmentReader) -> Resumption? {
    let (timeline, activeVariant) = session.activeTimeline
    // If the chosen segment is not available, the next one is played.
    guard activeVariant == variantNumber, segmentReader.firstEntry.segment.number == chosen.number,
      let number = timeline.number(atNanoseconds: nanoseconds(ofFrame: chosen.prerollStartFrame) - drift)
    else { return nil }
    var better = chosen
    if frameStart <= chosen.prerollStartFrame {
      guard number > chosen.number + 1, !chosen.hasMovedForward else { return nil }
      better.number = number
      better.hasMovedForward = true
      return better
    }
    better.number = min(number, chosen.number - 1)
    better.backwardCount += 1
    // A large distance means that the timestamps have another origin. The playlist alone does not define the exact
    // position of a stretch that has not been read.
    guard frameStart - chosen.frame <= maximumGapFrames, better.backwardCount <= Resumption.maximumBackwardCount,
      let entry = timeline.entry(better.number),
      entry.segment.discontinuityNumber == stretchNumber
        || session.stretch(entry.segment.discontinuityNumber, sampleRateHz: format.sampleRateHz) != nil
    else { return nil }
    return better
  }
}
