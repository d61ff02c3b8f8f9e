import PlayheadMediaCore
import Testing

@testable import PlayheadPlayback

/// The start report of a player whose files take time to open and read, whose audio is resampled, and whose device has
/// latency.
@Suite struct StartReportTimingTests {
  /// Virtual time of the first read after a seek. The resampling time is measured on the real clock and limited to this
  /// time. A decode thread that has to wait for the processor while it resamples would exceed a short one.
  private static let readMilliseconds: Int64 = 10_000

  /// Advances the loop's clock: by 20 ms when an item is opened, by 5 ms at each seek, and by `readMilliseconds` at the
  /// first read after that.
  private final class TimedDecoder: ItemDecoder {
    private let loop: BusyLoop
    private var isFirstRead = true

    init(_ source: DecodePipeline.Source, _ loop: BusyLoop) throws(MediaError) {
      self.loop = loop
      try super.init(source)
      loop.wait(milliseconds: 20)
    }

    override func seek(to time: MediaTime, before: MediaTime, after: MediaTime) throws(MediaError) -> MediaTime {
      loop.wait(milliseconds: 5)
      isFirstRead = true
      return try super.seek(to: time, before: before, after: after)
    }

    override func read(
      into samples: UnsafeMutablePointer<Float>, capacityFrames: Int
    ) throws(MediaError) -> ReadResult {
      if isFirstRead { loop.wait(milliseconds: StartReportTimingTests.readMilliseconds) }
      isFirstRead = false
      return try super.read(into: samples, capacityFrames: capacityFrames)
    }
  }

  private func rig() async throws -> BusyRig {
    try await BusyRig(latencyMilliseconds: 30) { loop, source throws(MediaError) in try TimedDecoder(source, loop) }
  }

  private func milliseconds(_ count: Int64) -> Int64 { count * 1_000_000 }

  @Test func startReportStatesOpeningResamplingAndDeviceTimes() async throws {
    let rig = try await rig()
    let item = try rig.oneSecondItem(sampleRateHz: 44_100)
    try await rig.run { player in
      player.play()
      try player.append([item])
    }
    await rig.wait { $0.timeControlStatus == .playing && $0.isPlaybackBufferFull }
    await rig.loop.advance(milliseconds: 100)
    let report = try #require(await rig.run { $0.lastStartReport })
    #expect(report.kind == .start && report.itemID == 1 && report.reached == .zero)
    #expect(report.openNanoseconds == milliseconds(20))
    // The other parts of the decode thread's time are measured on the real clock.
    #expect(report.resampleNanoseconds > 0)
    #expect(report.decodeNanoseconds > 0)
    let decoding =
      report.indexNanoseconds + report.demuxNanoseconds + report.decodeNanoseconds + report.resampleNanoseconds
    #expect(decoding == milliseconds(Self.readMilliseconds))
    #expect(report.deviceNanoseconds == milliseconds(30))
    #expect(report.totalNanoseconds == milliseconds(20 + Self.readMilliseconds + 30))
  }

  @Test func seekReportStatesResamplingTimeAndTheTotalOfTheSeekResult() async throws {
    let rig = try await rig()
    let item = try rig.oneSecondItem(sampleRateHz: 44_100)
    try await rig.run { try $0.append([item]) }
    await rig.wait { $0.isPlaybackBufferFull }
    let time = MediaTime(value: 22_050, timescale: 44_100)
    let result = try await rig.player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
    let report = try #require(await rig.run { $0.lastStartReport })
    #expect(report.kind == .seek && report.reached == time && report.openNanoseconds == 0)
    #expect(report.resampleNanoseconds > 0)
    #expect(report.deviceNanoseconds == nil, "paused, it is not heard")
    #expect(report.totalNanoseconds == milliseconds(5 + Self.readMilliseconds))
    #expect(result.isExact && result.durationNanoseconds == milliseconds(5 + Self.readMilliseconds))
    // Audio that is already decoded is heard as soon as the device starts.
    await rig.run { $0.play() }
    await rig.loop.advance(milliseconds: 100)
    let resumption = try #require(await rig.run { $0.lastStartReport })
    #expect(resumption.kind == .start && resumption.reached == time)
    #expect(resumption.deviceNanoseconds == milliseconds(30) && resumption.totalNanoseconds == milliseconds(30))
  }
}
