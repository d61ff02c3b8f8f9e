import PlayheadMediaCore
import Testing

@testable import PlayheadRealtimeAudio

@Suite struct RenderCoreMixTests {
  @Test func silenceIsRenderedWithoutInputs() {
    let rig = RenderRig(channelCount: 2)
    #expect(rig.render(5) == silence(10))
    #expect(rig.core.renderedFrame == 5)
    #expect(!rig.core.isActive)
    #expect(rig.core.lastAudibleFrame == 0)
  }

  @Test func oneInputAtFullGainIsBitExact() throws {
    let patterns: [UInt32] = [
      0x0000_0000, 0x8000_0000, 0x0000_0001, 0x8000_0001, 0x007F_FFFF, 0x0080_0000, 0x3F80_0000, 0xBF80_0000,
      0x7F7F_FFFF, 0xFF7F_FFFF, 0x7F80_0000, 0xFF80_0000, 0x7FC0_1234, 0xFFC0_0000, 0x7F80_0001, 0x3F7F_FFFF,
    ]
    let stream = RenderStream(patterns.map { Float(bitPattern: $0) }, channelCount: 2)
    let rig = RenderRig(channelCount: 2)
    _ = try rig.play(stream)
    // In two blocks, so that a chunk ends in the middle of a block.
    let output = rig.render(3) + rig.render(5)
    #expect(output.map(\.bitPattern) == patterns)
  }

  @Test func samplesOf24BitsAreUnchanged() throws {
    let values = stride(from: -8_388_608, through: 8_388_607, by: 1_021).map { Float($0) / 8_388_608 }
    let rig = RenderRig()
    _ = try rig.play(RenderStream(values))
    #expect(rig.render(values.count) == values)
  }

  @Test func inputsAreSummed() throws {
    let rig = RenderRig()
    _ = try rig.play(RenderStream([1, 2, 3, 4]))
    _ = try rig.play(RenderStream([10, 20]))
    _ = try rig.play(RenderStream([100, 200, 300, 400, 500]))
    #expect(rig.render(6) == [111, 222, 303, 404, 500, 0])
    #expect(rig.core.lastAudibleFrame == 5)
  }

  @Test func longerInputIsCompleteBesideShorterOnes() throws {
    let rig = RenderRig(channelCount: 2)
    _ = try rig.play(RenderStream([1, 2], channelCount: 2))
    _ = try rig.play(RenderStream([10, 20, 30, 40, 50, 60], channelCount: 2))
    _ = try rig.play(RenderStream([100, 200, 300, 400], channelCount: 2))
    #expect(rig.render(4) == [111, 222, 330, 440, 50, 60, 0, 0])
  }

  @Test func atMost64InputsPlay() throws {
    let rig = RenderRig()
    var sums = silence(50)
    for number in 0..<RenderCore.maximumInputCount {
      let samples = ramp(50, from: number * 1_000)
      _ = try rig.play(RenderStream(samples))
      for frame in 0..<50 { sums[frame] += samples[frame] }
    }
    #expect(rig.core.attachInput() == nil)
    #expect(rig.render(50) == sums)
    rig.post { $0.detachInput(17) }
    #expect(rig.core.attachInput() == 17)
  }

  @Test func gainScalesTheSamples() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream([1, 1, 1, 1, 1, 1]))
    rig.post { $0.setGain(0.25, rampFrameCount: 0, input: input) }
    #expect(rig.render(2) == [0.25, 0.25])
    rig.post { $0.setGain(0, rampFrameCount: 0, input: input) }
    #expect(rig.render(2) == [0, 0])
    // A muted input still plays, inaudibly.
    #expect(rig.core.isActive)
    rig.post { $0.setGain(1, rampFrameCount: 0, input: input) }
    #expect(rig.render(3) == [1, 1, 0])
  }

  @Test func mutedInputDoesNotAffectOtherInputs() throws {
    let rig = RenderRig()
    let muted = try rig.play(RenderStream([5, 6, 7, 8, 9]))
    _ = try rig.play(RenderStream([1, 2, 3, 4]))
    rig.post { $0.setMuted(true, rampFrameCount: 0, input: muted) }
    #expect(rig.render(2) == [1, 2])
    // The gain does not end the mute.
    rig.post { $0.setGain(0.5, rampFrameCount: 0, input: muted) }
    #expect(rig.render(1) == [3])
    // The muted input advanced to 8 and 9, which the gain halves. The other one ends with 4.
    rig.post { $0.setMuted(false, rampFrameCount: 0, input: muted) }
    #expect(rig.render(2) == [8, 4.5])
  }

  @Test func gainRampIsLinearAcrossBlocks() throws {
    let rig = RenderRig(channelCount: 2)
    let input = try rig.play(RenderStream([Float](repeating: 1, count: 40), channelCount: 2))
    rig.post { $0.setGain(0, rampFrameCount: 8, input: input) }
    let output = rig.render(3) + rig.render(1) + rig.render(10)
    let expected = (0..<14).flatMap { frame in
      [Float](repeating: frame < 8 ? 1 - Float(frame) / 8 : 0, count: 2)
    }
    #expect(output == expected)
  }

  @Test func gainRampStartsAtTheCurrentGain() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream([Float](repeating: 1, count: 40)))
    rig.post { $0.setGain(0, rampFrameCount: 4, input: input) }
    #expect(rig.render(2) == [1, 0.75])
    rig.post { $0.setGain(1, rampFrameCount: 2, input: input) }
    #expect(rig.render(4) == [0.5, 0.75, 1, 1])
  }

  @Test func gainRampContinuesDuringAnUnderrun() throws {
    let rig = RenderRig()
    let stream = RenderStream([1, 1], capacityFrames: 16)
    let input = try rig.play(stream)
    rig.post { $0.setGain(0, rampFrameCount: 8, input: input) }
    #expect(rig.render(4) == [1, 0.875, 0, 0])
    #expect(stream.append([1, 1]) == 2)
    #expect(rig.render(2) == [0.5, 0.375])
  }

  @Test func negativeRampLengthAppliesTheGainAtOnce() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream([1, 1]))
    rig.post { $0.setGain(0.5, rampFrameCount: -10, input: input) }
    #expect(rig.render(2) == [0.5, 0.5])
  }
}
