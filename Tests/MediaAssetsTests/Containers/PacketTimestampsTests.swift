import Testing

@testable import PlayheadMediaAssets

/// Timestamps of the container, and positions that are counted from them.
@Suite struct PacketTimestampsTests {
  @Test func packetsOfOneBlockAreCountedFromItsTimestamp() {
    var stamps = PacketTimestamps()
    stamps.note(byte: 100, ticks: 7) { 128 }
    #expect(stamps.isStored && stamps.ticks == 7 && stamps.framesSince == 0)
    stamps.note(byte: 100, ticks: 9) { 576 }
    #expect(!stamps.isStored && stamps.ticks == 7 && stamps.framesSince == 128)
    stamps.note(byte: 100, ticks: 22) { 1_024 }
    #expect(!stamps.isStored && stamps.framesSince == 704)
    stamps.note(byte: 900, ticks: 45) { 1_024 }
    #expect(stamps.isStored && stamps.ticks == 45 && stamps.framesSince == 0)
    // Without file positions, every timestamp is treated as the container's.
    stamps.note(byte: nil, ticks: 68) { 1_024 }
    #expect(stamps.isStored && stamps.ticks == 68)
  }

  @Test func unknownLengthMakesTheCountUnknownUntilTheNextTimestamp() {
    var stamps = PacketTimestamps()
    stamps.note(byte: 100, ticks: 7) { nil }
    #expect(stamps.framesSince == 0)
    stamps.note(byte: 100, ticks: 9) { 576 }
    stamps.note(byte: 100, ticks: 22) { 576 }
    #expect(stamps.framesSince == nil)
    stamps.note(byte: 900, ticks: 45) { .max }
    #expect(stamps.framesSince == 0)
    // A duration that no audio can have is ignored.
    stamps.note(byte: 900, ticks: 46) { .max }
    #expect(stamps.framesSince == nil)
  }

  /// Timestamps that are all 64 frames early are corrected, and only they.
  @Test func constantTimestampOffsetIsCorrected() {
    var grid = FrameGrid(declaredStep: 64)
    var start: Int64 = 0
    for number in 0..<20 {
      grid.observe(start: start, timestampFrame: number % 2 == 0 ? start - 64 : nil, frameCount: 1_024)
      start += 1_024
    }
    #expect(grid.isLatenessKnown && grid.steadyLateness == -64)
    #expect(grid.nearest(to: 204_800 - 64, withinFrames: 2) == 204_800)
    grid.observe(start: start, timestampFrame: start - 40, frameCount: 1_024)
    #expect(grid.steadyLateness == nil)
    // A jump is not a constant offset.
    grid.observe(start: 0, timestampFrame: Int64.max / 4, frameCount: 1_024)
    #expect(grid.nearest(to: 204_800 - 64, withinFrames: 4) == 204_800)
  }

  /// 44.1 kHz in milliseconds, rounded down: 2 ms are 88 frames, and a packet of that length has 128.
  @Test func lengthRoundedDownToATickIsRestoredFromTheFrameSizes() {
    let grid = FrameGrid(declaredStep: 64)
    #expect(grid.frameCount(declared: 88, roundingFrames: 45) == 128)
    #expect(grid.frameCount(declared: 573, roundingFrames: 45) == 576)
    #expect(grid.frameCount(declared: 1_014, roundingFrames: 45) == 1_024)
    #expect(grid.frameCount(declared: 1_024, roundingFrames: 45) == 1_024)
    #expect(grid.frameCount(declared: 1_025, roundingFrames: 0) == 1_024)
    #expect(grid.frameCount(declared: 1_000, roundingFrames: 0) == 1_000)
    #expect(grid.frameCount(declared: .max, roundingFrames: 45) == .max)
    #expect(FrameGrid(declaredStep: nil).frameCount(declared: 88, roundingFrames: 45) == 88)
  }
}
