// How reading goes on in another variant: which segment has what comes next is found out by what the playlist says, by how far sound
// has drifted away from that, and by the timestamps of what is found there.
import LibAV
import MediaCore
import Playlists

extension SegmentedTrackReader {
  /// What is looked for in another variant.
  struct Resumption {
    /// What comes next.
    let frame: Int64
    /// Where decoding begins at the latest, so that the decoder knows what it wants to know.
    let warmFrame: Int64
    /// The segment that was chosen.
    var number: Int64
    var hasGoneForward = false
    var backwardCount = 0

    static let maximumBackwardCount = 8
  }

  /// What is to be heard next.
  var wantedFrame: Int64 { expected ?? resumption?.frame ?? position }

  /// Goes on with another variant where this one fails. Errors: why it failed, when there is no other.
  func goOver(_ error: MediaError) throws(MediaError) {
    if let expected, let source = run?.source, let first = source.firstEntry, let last = source.lastEntry {
      // What was decoded lies in one of its segments.
      let place = nanoseconds(ofFrame: expected)
      drift = max(min(drift, place - first.startNanoseconds), place - last.endNanoseconds)
    }
    guard try session.fallBack(from: variantNumber, fetcher, interrupt: interrupt), goOn(toFrame: wantedFrame) else {
      throw error
    }
  }

  /// Goes on in the variant that is heard now, a little before the place. False: it has nothing.
  func goOn(toFrame frame: Int64) -> Bool {
    let (timeline, variantNumber) = session.heard
    let warmFrame = max(0, frame - prerollFrames)
    guard let number = timeline.number(atNanoseconds: nanoseconds(ofFrame: warmFrame) - drift) else { return false }
    self.variantNumber = variantNumber
    resumption = Resumption(frame: frame, warmFrame: warmFrame, number: number)
    begin(number)
    return true
  }

  /// Goes on at the beginning of a segment.
  func begin(_ number: Int64) {
    // Timestamps of variants are the same; what was heard already is left out.
    expected = nil
    hasFrame = false
    run = nil
    runEnd = .next(number)
  }

  /// The segment to go on with instead, now that it is known where the chosen one lies; nil: it is the right one.
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
    // Where the chosen one is not to be had what follows is heard.
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
    // What lies far away is another count; and where a stretch lies that nobody has heard only the playlist says.
    guard frameStart - chosen.frame <= maximumHoleFrames, better.backwardCount <= Resumption.maximumBackwardCount,
      let entry = timeline.entry(better.number),
      entry.segment.discontinuityNumber == stretchNumber
        || session.stretch(entry.segment.discontinuityNumber, sampleRateHz: format.sampleRateHz) != nil
    else { return nil }
    return better
  }
}
