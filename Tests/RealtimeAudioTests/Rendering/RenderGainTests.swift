import Glibc
import PlayheadMediaCore
import Testing

@testable import PlayheadRealtimeAudio

/// Volume, mute, pan, fades and cross-fades, compared with values calculated by hand.
@Suite struct RenderGainTests {
  private func ones(_ frameCount: Int, channelCount: Int = 1) -> RenderStream {
    RenderStream([Float](repeating: 1, count: frameCount * channelCount), channelCount: channelCount)
  }

  // MARK: - Fades

  @Test func fadeToFullGainIsLinearWithinA16BitStep() throws {
    let rig = RenderRig()
    let count = 48_000 * 3
    let input = try rig.play(ones(count))
    rig.post { $0.setGain(0, rampFrameCount: 0, input: input) }
    rig.core.applyCommands()
    rig.post { $0.setGain(1, rampFrameCount: Int64(count), input: input) }
    var worst = 0.0
    for (frame, sample) in rig.render(count).enumerated() {
      worst = max(worst, abs(Double(sample) - Double(frame) / Double(count)))
    }
    #expect(worst <= 1 / 32_768)
  }

  @Test func equalPowerFadeKeepsThePowerOfTwoInputs() throws {
    let rig = RenderRig()
    let incoming = try rig.play(ones(1_000))
    rig.post { $0.setGain(0, rampFrameCount: 0, input: incoming) }
    rig.core.applyCommands()
    rig.post { $0.setGain(1, rampFrameCount: 1_000, curve: .equalPower, input: incoming) }
    for (frame, sample) in rig.render(1_000).enumerated() {
      // The gain of the outgoing input is the cosine.
      #expect(abs(Double(sample) - sin(Double(frame) / 1_000 * .pi / 2)) < 1e-6)
    }
  }

  @Test func cosineRiseIsThatOfTheCLibrary() {
    let parts = (0...10_000).map { Float($0) / 10_000 }
    let worst = parts.map { abs(Double(GainRamp.cosineRise($0)) - (1 - cos(Double($0) * .pi)) / 2) }.max() ?? 1
    #expect(worst < 1e-6)
    #expect(GainRamp.cosineRise(0) >= 0 && GainRamp.cosineRise(1) <= 1)
  }

  @Test func gainsOfTwoSCurvesHaveAConstantSum() {
    let rising = GainRamp(start: 0, target: 1, frameCount: 1_000, curve: .sCurve)
    let falling = GainRamp(start: 1, target: 0, frameCount: 1_000, curve: .sCurve)
    for frame in 0...1_000 {
      #expect(abs(rising.value(atFrame: Int64(frame)) + falling.value(atFrame: Int64(frame)) - 1) < 1e-6)
    }
    #expect(rising.value(atFrame: 500) == 0.5)
  }

  @Test func equalPowerRampEndsAtItsTarget() throws {
    let ramp = GainRamp(start: 0.25, target: 0.75, startFrame: 10, frameCount: 4, curve: .equalPower)
    #expect(ramp.value(atFrame: 10) == 0.25)
    #expect(abs(ramp.value(atFrame: 12) - Float(0.3125).squareRoot()) < 1e-6)
    #expect(ramp.value(atFrame: 14) == 0.75)
    #expect(ramp.value(atFrame: .max) == 0.75)
    let silence = GainRamp(start: 0, target: 0, startFrame: 0, frameCount: 4, curve: .equalPower)
    #expect(silence.value(atFrame: 2) == 0)
  }

  @Test func repeatedRenderingOfRampsIsIdentical() throws {
    let rig = RenderRig(channelCount: 2)
    let input = try rig.play(RenderStream(ramp(2_000), channelCount: 2))
    rig.post {
      $0.setGain(0.1, rampFrameCount: 700, curve: .equalPower, input: input)
      $0.setMuted(true, rampFrameCount: 300, input: input)
      $0.setPan(-0.4, rampFrameCount: 500, input: input)
    }
    let first = rig.render(900)
    #expect(rig.core.rewind(toFrame: 123) == 123)
    #expect(rig.render(777) == Array(first[246...]))
  }

  // MARK: - Ramps that stop the input

  @Test func rampThatStopsTheInputEndsItsRunAtTheSameFrameWhenRenderedAgain() throws {
    let rig = RenderRig()
    let input = try rig.play(ones(100))
    rig.post { $0.setGain(0.5, rampFrameCount: 8, rampID: 7, stopsAtEnd: true, input: input) }
    #expect(rig.render(4) == [1, 0.9375, 0.875, 0.8125])
    #expect(rig.render(8) == [0.75, 0.6875, 0.625, 0.5625, 0, 0, 0, 0])
    #expect(rig.events() == ["streamSet 0 0", "rampBegan 0 0", "runBegan 0 0", "stopped 8 8"])
    #expect(rig.core.rewind(toFrame: 6) == 6)
    #expect(rig.render(6) == [0.625, 0.5625, 0, 0, 0, 0])
    #expect(rig.events() == ["rewound 6", "stopped 8 8"])
    #expect(rig.core.rewind(toFrame: 8) == 8)
    #expect(rig.render(2) == [0, 0])
    #expect(rig.events() == ["rewound 8"])
    // The input resumes with the next frame of its stream.
    rig.post { $0.setRunning(false, input: input) }
    #expect(rig.render(2) == [0, 0])
    rig.post { $0.setRunning(true, input: input) }
    #expect(rig.render(2) == [0.5, 0.5])
    #expect(rig.events() == ["runBegan 12 8"])
  }

  @Test func newGainCancelsTheStopBeforeAndAfterTheEndOfTheRamp() throws {
    let rig = RenderRig()
    let input = try rig.play(ones(100))
    rig.post { $0.setGain(0, rampFrameCount: 4, stopsAtEnd: true, input: input) }
    _ = rig.render(2)
    rig.post { $0.setGain(0.5, rampFrameCount: 2, input: input) }
    #expect(rig.render(4) == [0.5, 0.5, 0.5, 0.5])
    rig.post { $0.setGain(1, rampFrameCount: 2, stopsAtEnd: true, input: input) }
    #expect(rig.render(4) == [0.5, 0.75, 0, 0])
    rig.post { $0.setGain(1, rampFrameCount: 0, input: input) }
    #expect(rig.render(2) == [1, 1])
    #expect(rig.events() == ["streamSet 0 0", "runBegan 0 0", "stopped 8 8", "runBegan 10 8"])
  }

  @Test func rampThatStopsTheInputAlsoStopsTheOutgoingStreamOfACrossFade() throws {
    let rig = RenderRig()
    let input = try rig.play(ones(100))
    #expect(rig.render(4) == [1, 1, 1, 1])
    let next = rig.keep(ones(100))
    rig.post {
      $0.setGain(1, rampFrameCount: 4, stopsAtEnd: true, input: input)
      $0.setStream(next, fromFrame: 0, switchFade: SwitchFade(frameCount: 8), input: input)
    }
    #expect(rig.render(8) == [1, 1, 1, 1, 0, 0, 0, 0])
  }

  @Test func stoppedInputThatWasPausedBeforeTheEndOfItsRampStaysSilent() throws {
    let rig = RenderRig()
    let input = try rig.play(ones(100))
    let other = try rig.play(ones(100))
    rig.post {
      $0.setGain(0, rampFrameCount: 0, input: other)
      $0.setGain(0.5, rampFrameCount: 4, stopsAtEnd: true, input: input)
    }
    #expect(rig.render(2) == [1, 0.875])
    rig.post { $0.setRunning(false, input: input) }
    _ = rig.render(4)
    rig.post { $0.setRunning(true, input: input) }
    #expect(rig.render(2) == [0, 0])
  }

  // MARK: - Mute

  @Test func muteRampIsIndependentOfTheGainRamp() throws {
    let rig = RenderRig()
    let input = try rig.play(ones(40))
    rig.post {
      $0.setGain(0, rampFrameCount: 8, input: input)
      $0.setMuted(true, rampFrameCount: 2, input: input)
    }
    #expect(rig.render(4) == [1, 0.4375, 0, 0])
    rig.post { $0.setMuted(false, rampFrameCount: 0, input: input) }
    #expect(rig.render(5) == [0.5, 0.375, 0.25, 0.125, 0])
  }

  // MARK: - Pan

  @Test func panKeepsTheNearSideAndScalesTheFarSideByCosine() throws {
    for pan in [-1, -0.75, -0.5, -0.1, 0, 0.1, 0.25, 0.5, 1] as [Float] {
      let rig = RenderRig(channelCount: 2)
      let input = try rig.play(ones(4, channelCount: 2))
      rig.post { $0.setPan(pan, rampFrameCount: 0, input: input) }
      let far = Float(cos(abs(Double(pan)) * .pi / 2))
      let gains: [Float] = [pan > 0 ? far : 1, pan < 0 ? far : 1]
      for (sample, expected) in zip(rig.render(2), gains + gains) { #expect(abs(sample - expected) < 1e-7) }
    }
  }

  @Test func farSideIsSilentAtFullPan() throws {
    let rig = RenderRig(channelCount: 2)
    let input = try rig.play(ones(4, channelCount: 2))
    rig.post { $0.setPan(-1, rampFrameCount: 0, input: input) }
    #expect(rig.render(1) == [1, 0])
    rig.post { $0.setPan(1, rampFrameCount: 0, input: input) }
    #expect(rig.render(1) == [0, 1])
    rig.post { $0.setPan(0, rampFrameCount: 0, input: input) }
    #expect(rig.render(1) == [1, 1])
  }

  @Test func centeredPanIsBitExact() throws {
    let samples: [Float] = [-0.0, 0.1, 0.3, -0.7, .leastNonzeroMagnitude, 0.999]
    let rig = RenderRig(channelCount: 2)
    let input = try rig.play(RenderStream(samples, channelCount: 2))
    rig.post {
      $0.setPan(0.5, rampFrameCount: 0, input: input)
      $0.setPan(0, rampFrameCount: 0, input: input)
    }
    #expect(rig.render(3).map(\.bitPattern) == samples.map(\.bitPattern))
  }

  @Test func panHasNoEffectOnASingleChannel() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream(ramp(8)))
    rig.post { $0.setPan(-1, rampFrameCount: 4, input: input) }
    #expect(rig.render(8) == ramp(8))
  }

  @Test func panAffectsOnlyTheSideChannelsOfSurroundAudio() throws {
    // FL FR FC LFE BL BR
    let rig = RenderRig(channelCount: 6)
    let input = try rig.play(ones(4, channelCount: 6))
    rig.post { $0.setPan(1, rampFrameCount: 0, input: input) }
    #expect(rig.render(1) == [0, 1, 1, 1, 0, 1])
  }

  @Test func panRampHasNoSteps() throws {
    let rig = RenderRig(channelCount: 2)
    let input = try rig.play(ones(2_000, channelCount: 2))
    _ = rig.render(10)
    rig.post { $0.setPan(1, rampFrameCount: 240, input: input) }
    let output = rig.render(300)
    for frame in 1..<300 { #expect(abs(output[frame * 2] - output[frame * 2 - 2]) <= 1 / 240 + 1e-6) }
    #expect(output[0] == 1 && output[598] == 0)
  }

  // MARK: - Cross-fades

  @Test func replacingStreamFadesInWhileTheReplacedFadesOut() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream([Float](repeating: 0.5, count: 40)))
    #expect(rig.render(4) == [Float](repeating: 0.5, count: 4))
    let next = rig.keep(RenderStream([Float](repeating: 1, count: 40)))
    rig.post { $0.setStream(next, fromFrame: 0, switchFade: SwitchFade(frameCount: 4), input: input) }
    #expect(rig.render(6) == [0.5, 0.625, 0.75, 0.875, 1, 1])
    #expect(rig.events() == ["streamSet 0 0", "runBegan 0 0", "stopped 4 4", "streamSet 4 0", "runBegan 4 0"])
    rig.core.release(heardFrame: 10)
    #expect(rig.retiredStreams().count == 1)
  }

  @Test func switchFadeBetweenIdenticalStreamsKeepsTheSamples() throws {
    let rig = RenderRig()
    let samples = ramp(1_000)
    let input = try rig.play(RenderStream(samples))
    let next = rig.keep(RenderStream(samples))
    rig.post {
      $0.scheduleStream(next, fromFrame: 300, atFrame: 300, switchFade: SwitchFade(frameCount: 240), input: input)
    }
    for (sample, expected) in zip(rig.render(1_000), samples) { #expect(abs(sample - expected) <= expected * 1e-6) }
  }

  @Test func repeatedRenderingOfAScheduledCrossFadeIsIdentical() throws {
    let rig = RenderRig(channelCount: 2)
    let input = try rig.play(RenderStream(ramp(2_000), channelCount: 2))
    let next = rig.keep(RenderStream(ramp(2_000, from: 50_000), channelCount: 2))
    rig.post {
      $0.scheduleStream(next, fromFrame: 20, atFrame: 200, switchFade: SwitchFade(frameCount: 100), input: input)
    }
    let first = rig.render(500)
    for frame in [400, 299, 250, 201, 200, 199, 0] as [Int64] {
      #expect(rig.core.rewind(toFrame: frame) == frame)
      #expect(rig.render(500 - Int(frame)) == Array(first[Int(frame) * 2..<1_000]))
    }
  }

  @Test func replacementDuringACrossFadeDoesNotJump() throws {
    let rig = RenderRig()
    let input = try rig.play(ones(200))
    _ = rig.render(10)
    let second = rig.keep(ones(200))
    let third = rig.keep(ones(200))
    rig.post { $0.setStream(second, fromFrame: 0, switchFade: SwitchFade(frameCount: 20), input: input) }
    var output = rig.render(5)
    rig.post { $0.setStream(third, fromFrame: 0, switchFade: SwitchFade(frameCount: 20), input: input) }
    output += rig.render(100)
    for (sample, before) in zip(output.dropFirst(), output) { #expect(abs(sample - before) < 0.11) }
    #expect(output.last == 1)
  }

  @Test func bothFadesOfACrossFadeHaveTheirOwnLength() throws {
    for (out, incoming) in [(4, 8), (8, 4), (0, 4), (4, 0)] {
      let rig = RenderRig(channelCount: 2)
      // The outgoing stream is heard on the left, the incoming one on the right.
      let input = try rig.play(RenderStream((0..<40).flatMap { _ in [1, 0] as [Float] }, channelCount: 2))
      _ = rig.render(4)
      let next = rig.keep(RenderStream((0..<40).flatMap { _ in [0, 1] as [Float] }, channelCount: 2))
      let switchFade = SwitchFade(outFrameCount: Int64(out), inFrameCount: Int64(incoming))
      rig.post { $0.setStream(next, fromFrame: 0, switchFade: switchFade, input: input) }
      let output = rig.render(12)
      for frame in 0..<12 {
        let left: Float = frame < out ? 1 - Float(frame) / Float(out) : 0
        let right: Float = frame < incoming ? Float(frame) / Float(incoming) : 1
        #expect(output[2 * frame] == left && output[2 * frame + 1] == right, "\(out), \(incoming): frame \(frame)")
      }
      rig.core.release(heardFrame: 4 + Int64(max(out, incoming)))
      #expect(rig.retiredStreams().count == 1)
    }
  }

  /// Uncorrelated audio has the sum of the powers of both streams, which an equal-power cross-fade keeps constant.
  @Test func equalPowerCrossFadeKeepsThePower() throws {
    let rig = RenderRig(channelCount: 2)
    let input = try rig.play(RenderStream((0..<400).flatMap { _ in [1, 0] as [Float] }, channelCount: 2))
    _ = rig.render(10)
    let next = rig.keep(RenderStream((0..<400).flatMap { _ in [0, 1] as [Float] }, channelCount: 2))
    rig.post {
      $0.setStream(next, fromFrame: 0, switchFade: SwitchFade(frameCount: 240, curve: .equalPower), input: input)
    }
    let output = rig.render(300)
    for frame in 0..<300 {
      let (left, right) = (output[2 * frame], output[2 * frame + 1])
      #expect(abs(left * left + right * right - 1) < 1e-5, "frame \(frame)")
    }
    #expect(output[0] == 1 && output[599] == 1)
  }

  @Test func fadingStreamIsSilentAfterItsEnd() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream([1, 1, 1, 1], isEnded: true))
    _ = rig.render(2)
    rig.post { $0.setStream(nil, fromFrame: 0, switchFade: SwitchFade(frameCount: 4), input: input) }
    #expect(rig.render(6) == [1, 0.75, 0, 0, 0, 0])
    #expect(rig.core.lastAudibleFrame == 4)
  }

  @Test func pauseEndsACrossFade() throws {
    let rig = RenderRig()
    let input = try rig.play(ones(100))
    let next = rig.keep(RenderStream(silence(100)))
    rig.post { $0.setStream(next, fromFrame: 0, switchFade: SwitchFade(frameCount: 10), input: input) }
    _ = rig.render(2)
    rig.post { $0.setRunning(false, input: input) }
    #expect(rig.render(2) == [0, 0])
    #expect(rig.retiredStreams().count == 1)
    rig.post { $0.setRunning(true, input: input) }
    #expect(rig.render(4) == silence(4))
  }

  // MARK: - Clipping

  @Test func clippedSamplesAreCountedOnceWhenHeard() throws {
    let rig = RenderRig(channelCount: 2)
    let samples: [Float] = [1, -1, 1.5, 0, -2, 3, .nan, 0.5, 0, -1.25]
    _ = try rig.play(RenderStream(samples, channelCount: 2))
    _ = rig.render(5)
    #expect(rig.core.clippedSampleCount == 0)
    _ = rig.core.rewind(toFrame: 1)
    _ = rig.render(4)
    rig.core.release(heardFrame: 2)
    #expect(rig.core.clippedSampleCount == 1)
    rig.core.release(heardFrame: 5)
    #expect(rig.core.clippedSampleCount == 4)
  }

  @Test func clippedSamplesBeyondTheHistoryAreCounted() throws {
    let rig = RenderRig()
    let count = 300_000
    _ = try rig.play(RenderStream([Float](repeating: 2, count: count)))
    _ = rig.render(count)
    rig.core.release(heardFrame: Int64(count))
    #expect(rig.core.clippedSampleCount == count)
  }
}
