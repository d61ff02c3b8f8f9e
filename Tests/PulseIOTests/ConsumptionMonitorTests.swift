import PlayheadMediaCore
import Testing

@testable import PlayheadPulseIO

@Suite struct ConsumptionMonitorTests {
  private static let start = HostTime(nanoseconds: 5_000_000_000)

  private static func time(_ milliseconds: Int64) -> HostTime {
    start.advanced(byNanoseconds: milliseconds * 1_000_000)
  }

  /// A monitor of a stream that started at 0 ms and that the device had read up to byte 8,000 at 100 ms.
  private static func running(latencyMilliseconds: Int64 = 20) -> ConsumptionMonitor {
    var monitor = ConsumptionMonitor()
    monitor.start(at: time(0))
    _ = observe(&monitor, 0, at: 10)
    _ = observe(&monitor, 8_000, latencyMilliseconds: latencyMilliseconds, at: 100)
    return monitor
  }

  @discardableResult
  private static func observe(
    _ monitor: inout ConsumptionMonitor, _ position: Int64, isEmpty: Bool = false, latencyMilliseconds: Int64 = 20,
    blockMilliseconds: Int64 = 0, at milliseconds: Int64
  ) -> ConsumptionMonitor.Verdict {
    monitor.observe(
      readPosition: position, isEmpty: isEmpty, latencyMicroseconds: latencyMilliseconds * 1_000,
      blockNanoseconds: blockMilliseconds * 1_000_000, at: time(milliseconds))
  }

  @Test func deviceThatReadsIsConsuming() {
    var monitor = Self.running()
    for step in 1...20 as ClosedRange<Int64> {
      #expect(Self.observe(&monitor, 8_000 + step, at: 100 + step * 1_000) == .consuming)
    }
    #expect(!monitor.isStalled)
  }

  @Test func twoTimingsWithoutProgressAfterTheLatencyAreAStall() {
    var monitor = Self.running()
    #expect(Self.observe(&monitor, 8_000, at: 319) == .undecided)
    #expect(Self.observe(&monitor, 8_000, at: 320) == .suspected(nanoseconds: 100_000_000))
    #expect(Self.observe(&monitor, 8_000, at: 360) == .suspected(nanoseconds: 60_000_000))
    #expect(!monitor.isStalled)
    #expect(Self.observe(&monitor, 8_000, at: 420) == .stalled)
    #expect(monitor.isStalled)
  }

  @Test func readingEndsAStall() {
    var monitor = Self.running()
    Self.observe(&monitor, 8_000, at: 320)
    Self.observe(&monitor, 8_000, at: 420)
    #expect(Self.observe(&monitor, 8_000, at: 9_000) == .stalled)
    #expect(Self.observe(&monitor, 9_000, at: 9_010) == .consuming)
    #expect(!monitor.isStalled)
    #expect(Self.observe(&monitor, 9_000, at: 9_020) == .undecided, "the device has all of its latency again")
  }

  @Test func deviceWithLargeLatencyMayReadRarely() {
    var monitor = Self.running(latencyMilliseconds: 2_000)
    for milliseconds in stride(from: 200, through: 2_299, by: 100) as StrideThrough<Int64> {
      #expect(Self.observe(&monitor, 8_000, latencyMilliseconds: 2_000, at: milliseconds) == .undecided)
    }
    #expect(Self.observe(&monitor, 9_000, latencyMilliseconds: 2_000, at: 2_299) == .consuming)
    #expect(Self.observe(&monitor, 9_000, latencyMilliseconds: 2_000, at: 4_400) == .undecided)
  }

  /// The monitor uses the device's latency at the last progress: a device that still reports it does not delay the
  /// verdict.
  @Test func latencyReportedDuringAStallDoesNotDelayTheVerdict() {
    var monitor = Self.running(latencyMilliseconds: 50)
    #expect(Self.observe(&monitor, 8_000, latencyMilliseconds: 50, at: 350) == .suspected(nanoseconds: 100_000_000))
    #expect(Self.observe(&monitor, 8_000, latencyMilliseconds: 50, at: 450) == .stalled)
  }

  @Test(arguments: [Int64.min, Int64.max])
  func extremeLatencyValuesAreLimited(latency: Int64) {
    var monitor = Self.running()
    _ = monitor.observe(
      readPosition: 9_000, isEmpty: false, latencyMicroseconds: latency, blockNanoseconds: 0, at: Self.time(200))
    #expect(Self.observe(&monitor, 9_000, at: 10_400) != .undecided)
  }

  @Test func stallIsSuspectedOnlyAfterTwoBlocksOfTheDevice() {
    var monitor = Self.running()
    Self.observe(&monitor, 9_000, blockMilliseconds: 170, at: 200)
    #expect(Self.observe(&monitor, 9_000, blockMilliseconds: 170, at: 759) == .undecided)
    #expect(Self.observe(&monitor, 9_000, blockMilliseconds: 170, at: 760) == .suspected(nanoseconds: 440_000_000))
  }

  /// This process was stopped: the device read all buffered samples, and the first timing after that finds new samples.
  @Test func stoppedProcessIsNotReportedAsAStall() {
    var monitor = Self.running()
    #expect(Self.observe(&monitor, 12_000, at: 8_000) == .consuming)
    #expect(Self.observe(&monitor, 12_000, at: 16_000) == .suspected(nanoseconds: 100_000_000))
    #expect(Self.observe(&monitor, 13_000, at: 16_100) == .consuming)
  }

  @Test func emptyBufferIsNotReportedAsAStall() {
    var monitor = Self.running()
    for milliseconds in stride(from: 1_000, through: 60_000, by: 500) as StrideThrough<Int64> {
      #expect(Self.observe(&monitor, 8_000, isEmpty: true, at: milliseconds) == .undecided)
    }
  }

  @Test func deviceHasOneSecondToStart() {
    var monitor = ConsumptionMonitor()
    monitor.start(at: Self.time(0))
    for milliseconds in [1, 300, 600, 999] as [Int64] {
      #expect(Self.observe(&monitor, 0, at: milliseconds) == .undecided)
    }
    #expect(Self.observe(&monitor, 0, at: 1_000) == .suspected(nanoseconds: 100_000_000))
    #expect(Self.observe(&monitor, 0, at: 1_100) == .stalled)
  }

  /// The stream was corked and resumed: the device has to prove that it reads.
  @Test func stallContinuesAfterACork() {
    var monitor = Self.running()
    Self.observe(&monitor, 8_000, at: 320)
    Self.observe(&monitor, 8_000, at: 420)
    monitor.start(at: Self.time(5_000))
    #expect(monitor.isStalled)
    #expect(Self.observe(&monitor, 8_000, at: 5_010) == .stalled)
    #expect(Self.observe(&monitor, 8_100, at: 5_040) == .consuming)
  }

  @Test func timeBeforeACorkDoesNotCount() {
    var monitor = Self.running()
    monitor.start(at: Self.time(60_000))
    #expect(Self.observe(&monitor, 8_000, at: 60_010) == .undecided)
    #expect(Self.observe(&monitor, 8_000, at: 60_500) == .undecided)
  }
}
