import MediaCore
import Testing

@testable import PulseIO

/// A record stream of 48 kHz whose server keeps 480,000 frames; fragments of 20 ms come.
@Suite struct CaptureGapTests {
  private func gap(countsDropped: Bool = false, takenUntil milliseconds: Int64 = 1_000) -> CaptureGap {
    var gap = CaptureGap(sampleRateHz: 48_000, heldFrames: 480_000, countsDropped: countsDropped)
    for time in stride(from: 20, through: milliseconds, by: 20) {
      let asks1 = gap.took(Int64(time) * 48, at: HostTime(nanoseconds: Int64(time) * 1_000_000))
      #expect(!asks1)
    }
    return gap
  }

  private func time(_ milliseconds: Int64) -> HostTime { HostTime(nanoseconds: milliseconds * 1_000_000) }

  @Test func whatComesInTimeIsNotAskedAbout() {
    var gap = gap()
    let asks2 = gap.took(62_400, at: time(1_300))
    #expect(!asks2)
    let lost3 = gap.answered(writtenFrames: 62_400, readFrames: 62_400)
    #expect(lost3 == 0)
  }

  @Test func aFullServerHasDroppedWhatTimeTells() {
    var gap = gap()
    // Fifteen seconds later: there are ten seconds, which come bit by bit.
    let asks4 = gap.took(248_000, at: time(16_000))
    #expect(asks4)
    let lost5 = gap.answered(writtenFrames: 528_000, readFrames: 248_000)
    #expect(lost5 == nil, "more is on its way")
    let asks6 = gap.took(528_000, at: time(16_020))
    #expect(asks6)
    let lost7 = gap.answered(writtenFrames: 528_960, readFrames: 528_000)
    #expect(lost7 == 15_020 * 48 - 480_000)
    let asks8 = gap.took(528_960, at: time(16_040))
    #expect(!asks8, "it is known")
  }

  @Test func aServerThatKeptAllHasDroppedNothing() {
    var gap = gap()
    let asks9 = gap.took(48_000 + 240_000, at: time(6_000))
    #expect(asks9)
    let lost10 = gap.answered(writtenFrames: 288_000, readFrames: 288_000)
    #expect(lost10 == 0)
    let asks11 = gap.took(48_000 + 240_960, at: time(6_020))
    #expect(!asks11)
  }

  @Test func aSourceThatStoodHadNothingToGive() {
    for countsDropped in [false, true] {
      var gap = gap(countsDropped: countsDropped)
      let asks12 = gap.took(48_960, at: time(30_000))
      #expect(asks12)
      let lost13 = gap.answered(writtenFrames: 48_960, readFrames: 48_960)
      #expect(lost13 == 0)
    }
  }

  @Test func aServerThatCountsWhatItDroppedSaysItOnceAllHasLeftIt() {
    var gap = gap(countsDropped: true)
    gap.began(readFrames: 700, takenFrames: 0)
    // Three seconds: half a second was on its way, the rest is still with the server, and nothing is missing.
    let asksFirst = gap.took(72_000, at: time(4_000))
    let waits = gap.answered(writtenFrames: 192_700, readFrames: 72_700)
    #expect(asksFirst && waits == nil)
    let asksAgain = gap.took(192_000, at: time(4_020))
    let nothing = gap.answered(writtenFrames: 193_660, readFrames: 192_700)
    #expect(asksAgain && nothing == 0 && !gap.isOpen)
    // Fifteen seconds, of which a fifth of a second came.
    let asksThen = gap.took(201_600, at: time(19_020))
    let lost = gap.answered(writtenFrames: 912_700, readFrames: 912_700)
    #expect(asksThen && lost == 912_000 - 201_600)
    // A source that stands later is missed by nobody.
    let asksLast = gap.took(202_560, at: time(30_000))
    let none = gap.answered(writtenFrames: 913_660, readFrames: 913_660)
    #expect(asksLast && none == 0)
  }

  @Test func aStreamThatRunsAnewBeginsAnew() {
    var gap = gap()
    gap.forget()
    let asks16 = gap.took(48_960, at: time(60_000))
    #expect(!asks16)
    let lost17 = gap.answered(writtenFrames: 48_960, readFrames: 48_960)
    #expect(lost17 == 0)
  }
}
