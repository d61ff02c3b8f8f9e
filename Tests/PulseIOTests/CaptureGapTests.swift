import PlayheadMediaCore
import Testing

@testable import PlayheadPulseIO

/// A record stream of 48 kHz whose server buffers 480,000 frames; fragments of 20 ms arrived for a second.
@Suite struct CaptureGapTests {
  private func gap(countsDroppedFrames: Bool = false) -> CaptureGap {
    var gap = CaptureGap(sampleRateHz: 48_000, bufferFrames: 480_000, countsDroppedFrames: countsDroppedFrames)
    for milliseconds in stride(from: Int64(20), through: 1_000, by: 20) {
      expect(&gap, total: milliseconds * 48, atMilliseconds: milliseconds, queries: false)
    }
    return gap
  }

  /// Expects that reading `frames` frames in total by then queries the server, or not.
  private func expect(
    _ gap: inout CaptureGap, total frames: Int64, atMilliseconds milliseconds: Int64, queries: Bool,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let isQueried = gap.didRead(frames, at: HostTime(nanoseconds: milliseconds * 1_000_000))
    #expect(isQueried == queries, sourceLocation: location)
  }

  /// Expects that the server's reply means `missing` frames; nil: the server must be queried again.
  private func expect(
    _ gap: inout CaptureGap, written: Int64, read: Int64, missing: Int?,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let found = gap.evaluate(writtenFrames: written, readFrames: read)
    #expect(found == missing && gap.isPending == (missing == nil), sourceLocation: location)
  }

  @Test func framesThatArriveInTimeCauseNoQuery() {
    var gap = gap()
    expect(&gap, total: 62_400, atMilliseconds: 1_300, queries: false)
    expect(&gap, written: 62_400, read: 62_400, missing: 0)
  }

  @Test func fullServerBufferReportsTheDroppedFramesByElapsedTime() {
    var gap = gap()
    // Fifteen seconds later: ten seconds are available, which arrive in parts.
    expect(&gap, total: 248_000, atMilliseconds: 16_000, queries: true)
    expect(&gap, written: 528_000, read: 248_000, missing: nil)
    expect(&gap, total: 528_000, atMilliseconds: 16_020, queries: true)
    expect(&gap, written: 528_960, read: 528_000, missing: 15_020 * 48 - 480_000)
    expect(&gap, total: 528_960, atMilliseconds: 16_040, queries: false)
  }

  @Test func serverThatBufferedAllFramesDroppedNone() {
    var gap = gap()
    expect(&gap, total: 288_000, atMilliseconds: 6_000, queries: true)
    expect(&gap, written: 288_000, read: 288_000, missing: 0)
    expect(&gap, total: 288_960, atMilliseconds: 6_020, queries: false)
  }

  @Test(arguments: [false, true]) func stalledSourceLosesNoFrames(countsDroppedFrames: Bool) {
    var gap = gap(countsDroppedFrames: countsDroppedFrames)
    expect(&gap, total: 48_960, atMilliseconds: 30_000, queries: true)
    expect(&gap, written: 48_960, read: 48_960, missing: 0)
  }

  @Test func countedDropsAreReportedOnceTheServerBufferIsRead() {
    var gap = gap(countsDroppedFrames: true)
    gap.streamStarted(readFrames: 700, receivedFrames: 0)
    // Three seconds: half a second was in transit, the rest is still in the server's buffer, and no frame is missing.
    expect(&gap, total: 72_000, atMilliseconds: 4_000, queries: true)
    expect(&gap, written: 192_700, read: 72_700, missing: nil)
    expect(&gap, total: 192_000, atMilliseconds: 4_020, queries: true)
    expect(&gap, written: 193_660, read: 192_700, missing: 0)
    // Fifteen seconds, of which a fifth of a second arrived.
    expect(&gap, total: 201_600, atMilliseconds: 19_020, queries: true)
    expect(&gap, written: 912_700, read: 912_700, missing: 912_000 - 201_600)
    // A later pause of the source loses no frames.
    expect(&gap, total: 202_560, atMilliseconds: 30_000, queries: true)
    expect(&gap, written: 913_660, read: 913_660, missing: 0)
  }

  @Test func restartedStreamReportsNoGap() {
    var gap = gap()
    gap.reset()
    expect(&gap, total: 48_960, atMilliseconds: 60_000, queries: false)
    expect(&gap, written: 48_960, read: 48_960, missing: 0)
  }
}
