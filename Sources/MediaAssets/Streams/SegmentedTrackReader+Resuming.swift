// Continues reading in another variant. The segment with the next audio is found by the playlist, by the drift between
// audio and playlist, and by the timestamps in the segment.
import LibAV
import MediaCore
import Playlists

extension SegmentedTrackReader {
  /// The search for a position in another variant.
  struct Resumption {
    /// The next frame to be delivered.
    let frame: Int64
    /// The latest frame at which decoding must begin, so that the decoder is ready at `frame`.
    let warmFrame: Int64
    /// The chosen segment.
    var number: Int64
    var hasGoneForward = false
    var backwardCount = 0

    static let maximumBackwardCount = 8
  }

  /// The next frame that is needed.
  var wantedFrame: Int64 { expected ?? resumption?.frame ?? position }

  /// Continues in another variant, because this one fails.
  ///
  /// - Throws: `error` if there is no other variant.
  func goOver(_ error: MediaError) throws(MediaError) {
    if let expected, let source = run?.source, let first = source.firstEntry, let last = source.lastEntry {
      // The decoded audio belongs to one of the run's segments, which limits the drift.
      let place = nanoseconds(ofFrame: expected)
      drift = max(min(drift, place - first.startNanoseconds), place - last.endNanoseconds)
    }
    guard try session.fallBack(from: variantNumber, fetcher, interrupt: interrupt), goOn(toFrame: wantedFrame) else {
      throw error
    }
  }

  /// Continues in the active variant, a little before `frame`. Returns false if it has no such segment.
  func goOn(toFrame frame: Int64) -> Bool {
    let (timeline, variantNumber) = session.heard
    let warmFrame = max(0, frame - prerollFrames)
    guard let number = timeline.number(atNanoseconds: nanoseconds(ofFrame: warmFrame) - drift) else { return false }
    self.variantNumber = variantNumber
    resumption = Resumption(frame: frame, warmFrame: warmFrame, number: number)
    begin(number)
    return true
  }

  /// Continues at the beginning of a segment.
  func begin(_ number: Int64) {
    // All variants have the same timestamps. Audio that has been delivered already is skipped.
    expected = nil
    hasFrame = false
    run = nil
    runEnd = .next(number)
  }

  /// Returns the segment to continue with instead, after the position of the chosen one is known; nil if it is the
  /// right one.
  func correctedNumber(_ run: SegmentRun) -> Int64? {
    guard let resumption else { return nil }
    if let better = better(than: resumption, run) {
      self.resumption = better
      return better.number
    }
    self.resumption = nil
    run.source.confirm()
    return nil
  }

  private func better(than chosen: Resumption, _ run: SegmentRun) -> Resumption? {
    let (timeline, present) = session.heard
    // If the chosen segment is not available, the next one is played.
    guard present == variantNumber, run.firstEntry.segment.number == chosen.number,
      let number = timeline.number(atNanoseconds: nanoseconds(ofFrame: chosen.warmFrame) - drift)
    else { return nil }
    var better = chosen
    if frameStart <= chosen.warmFrame {
      guard number > chosen.number + 1, !chosen.hasGoneForward else { return nil }
      better.number = number
      better.hasGoneForward = true
      return better
    }
    better.number = min(number, chosen.number - 1)
    better.backwardCount += 1
    // A position far away means another origin of timestamps. The position of an unread stretch is known only from the
    // playlist.
    guard frameStart - chosen.frame <= maximumHoleFrames, better.backwardCount <= Resumption.maximumBackwardCount,
      let entry = timeline.entry(better.number),
      entry.segment.discontinuityNumber == stretchNumber
        || session.stretch(entry.segment.discontinuityNumber, sampleRateHz: format.sampleRateHz) != nil
    else { return nil }
    return better
  }
}
