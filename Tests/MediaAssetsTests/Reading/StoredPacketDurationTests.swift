import Foundation
import PlayheadLibAV
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Reading stored packets that have wrong durations.
@Suite struct StoredPacketDurationTests {
  private static func time(_ milliseconds: Int64) -> MediaTime { MediaTime(value: milliseconds, timescale: 1_000) }

  @Test(arguments: ["pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_f32le", "pcm_u8"])
  func pcmInMatroskaIsReadCompletely(_ codec: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.mkv")
    for (frames, rate) in [(4_800, 48_000), (44_100, 44_100)] {
      let source = "anoisesrc=seed=1:r=\(rate),atrim=end_sample=\(frames)"
      try Tool.ffmpeg("-f", "lavfi", "-i", source, "-c:a", codec, path)
      let reading = try StoredReading(Asset(path: path))
      #expect(reading.status == .completed && reading.fault == nil)
      #expect(reading.buffers.reduce(0) { $0 + $1.sampleCount } == frames, "\(codec)")
      #expect(reading.buffers.last?.endTime == MediaTime(frame: Int64(frames), rate: rate))
    }
  }

  @Test func pcmWithTooLongDurationsIsNotReadPastItsEnd() throws {
    var file = MatroskaBytes(defaultNanoseconds: 10_000_000_000)
    // 10 ms each, one every 10 s according to the file. One has half a frame too little, and one half a frame too much.
    file.blocks = (0..<12).map { (10_000 * $0, nil, [UInt8](repeating: UInt8($0 + 1), count: 960)) }
    file.blocks[3].data = [4]
    file.blocks[7].data.append(8)
    for range in [nil, (5_000, 15_000), (0, 5), (9_999, 10_001), (100_000, 115_000), (500, 70_005)] as [(Int64, Int64)?]
    {
      let wanted = range.map { TimeRange(start: Self.time($0.0), end: Self.time($0.1)) }
      let reading = try StoredReading(Asset(data: file.bytes), wanted)
      print("stored | \(range.map { "\($0)" } ?? "all") | \(reading.buffers.map(\.presentationTime.seconds))")
      #expect(reading.status == .completed)
      for buffer in reading.buffers {
        #expect(buffer.sampleCount * 2 == buffer.data.count && buffer.duration.seconds <= 0.011)
        if let wanted { #expect(buffer.presentationTime >= wanted.start && buffer.endTime <= wanted.end) }
      }
      if range == nil {
        #expect(reading.buffers.reduce(0) { $0 + $1.sampleCount } == 11 * 480)
        #expect(reading.fault != nil)
      }
    }
  }

  @Test(arguments: [1 << 31, 1 << 45, 1 << 56, 1 << 61, UInt64(Int64.max)])
  func packetsWithHugeDurationsAreRead(_ duration: UInt64) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.tta")
    try Tool.ffmpeg("-f", "lavfi", "-i", "anoisesrc=r=48000:d=12", "-sample_fmt", "s16", path)
    let packets = try StoredReading(Asset(path: path)).buffers
    #expect(packets.count > 8)
    var file = MatroskaBytes(codecID: "A_TTA1", duration: 12_000)
    file.blocks = packets.enumerated().map { (1_045 * $0, duration, $1.data) }
    for range in [nil, TimeRange(start: Self.time(3_000), end: Self.time(5_000))] {
      let reading = try StoredReading(Asset(data: file.bytes), range)
      print("stored | \(duration) ms | \(reading.buffers.count) of \(packets.count), \(reading.status)")
      #expect(reading.status == .completed)
      #expect(range != nil || reading.buffers.count == packets.count)
    }
  }

  @Test func timelineStaysInRangeForAnyTimestamps() throws {
    let base = try #require(TimeBase(sampleRateHz: 48_000))
    for counts in [Int.max, Int.max / 2, Int.max / 8] {
      var timeline = AudioTimeline(timeBase: base, frameBase: base, originFrame: 0, coding: .lossy)
      for ticks in [nil, 0, Int64.max / 4, -Int64.max / 4, nil, Int64.max, Int64.min] as [Int64?] {
        let placed = timeline.advance(ticks: ticks, frameCount: counts)
        #expect(placed.frame.magnitude <= AudioTimeline.maximumPosition.magnitude)
        _ = timeline.recordMissingPacket(frameCount: Int64(counts))
      }
      timeline.restart(at: .max)
      _ = timeline.advance(ticks: -Int64.max / 4, frameCount: counts)
    }
  }
}
