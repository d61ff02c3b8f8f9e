import PlayheadMediaCore
import Testing

@testable import PlayheadPlayback

/// The durations of a start's steps, computed from instants.
@Suite struct StartReportTests {
  private let at = { (nanoseconds: Int64) in HostTime(nanoseconds: nanoseconds) }

  @Test func stepDurationsAddUpToTheTotal() throws {
    var preparation = Preparation(beganAt: at(1_010))
    preparation.recordOpening(at: at(1_100))
    preparation.recordSeek(at: at(1_300), indexNanoseconds: 50, demuxNanoseconds: 70)
    preparation.recordCompletion(at: at(1_600), resampleNanoseconds: 110)
    var trace = StartTrace(kind: .seek, itemID: 4, requested: .zero, requestedAt: at(1_000))
    #expect(trace.report == nil)
    trace.preparation = preparation
    trace.commit = (at(1_900), .zero)
    #expect(trace.report?.totalNanoseconds == 900)
    #expect(trace.report?.deviceNanoseconds == nil)
    trace.heardAt = at(2_500)
    let report = try #require(trace.report)
    #expect(report.waitNanoseconds == 10)
    #expect(report.openNanoseconds == 90)
    #expect(report.indexNanoseconds == 50)
    #expect(report.demuxNanoseconds == 70)
    #expect(report.decodeNanoseconds == 270)
    #expect(report.resampleNanoseconds == 110)
    #expect(report.commitNanoseconds == 300)
    #expect(report.deviceNanoseconds == 600)
    #expect(report.totalNanoseconds == 1_500)
  }

  @Test func separatelyMeasuredStepsAreClampedToTheElapsedTime() {
    var preparation = Preparation(beganAt: at(0))
    preparation.recordSeek(at: at(100), indexNanoseconds: 80, demuxNanoseconds: 70)
    preparation.recordCompletion(at: at(100), resampleNanoseconds: 5)
    #expect(preparation.indexNanoseconds == 80)
    #expect(preparation.demuxNanoseconds == 20)
    #expect(preparation.resampleNanoseconds == 0)
    #expect(preparation.decodeNanoseconds == 0)
  }

  @Test func resumeWithoutPreparationIsAllDeviceTime() throws {
    var trace = StartTrace(
      kind: .start, itemID: 4, requested: .zero, requestedAt: at(1_000), commit: (at(1_000), .zero))
    trace.heardAt = at(1_700)
    #expect(trace.report?.deviceNanoseconds == 700)
    #expect(trace.report?.totalNanoseconds == 700)
  }
}
