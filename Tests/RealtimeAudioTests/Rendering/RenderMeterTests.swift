import PlayheadMediaCore
import Testing

@testable import PlayheadRealtimeAudio

@Suite struct RenderMeterTests {
  @Test func fullScaleSquareWaveHasFullPeakAndMeanSquare() throws {
    let rig = RenderRig(channelCount: 2)
    let square = (0..<960).flatMap { frame in [frame / 48 % 2 == 0 ? 1 : -1, 0] as [Float] }
    let input = try rig.play(RenderStream(square, channelCount: 2))
    rig.post { $0.setMetering(true, input: input) }
    #expect(rig.render(960) == square)
    #expect(rig.core.meterWindowFrameCount == 480)
    #expect(
      rig.core.meterWindow(1, input: input) == MeterWindow(frames: 480..<960, peaks: [1, 0], meanSquares: [1, 0]))
    #expect(rig.core.meterWindow(2, input: input) == nil)
  }

  @Test func metersMeasureAfterVolumePanAndMute() throws {
    let rig = RenderRig(channelCount: 2)
    let input = try rig.play(RenderStream([Float](repeating: 1, count: 4_000), channelCount: 2))
    rig.post {
      $0.setMetering(true, input: input)
      $0.setGain(0.5, rampFrameCount: 0, input: input)
      $0.setPan(1, rampFrameCount: 0, input: input)
    }
    _ = rig.render(480)
    #expect(rig.core.meterWindow(0, input: input)?.peaks == [0, 0.5])
    #expect(rig.core.meterWindow(0, input: input)?.meanSquares == [0, 0.25])
    rig.post { $0.setMuted(true, rampFrameCount: 0, input: input) }
    _ = rig.render(480)
    #expect(rig.core.meterWindow(1, input: input)?.peaks == [0, 0])
  }

  @Test func eachInputIsMeasuredSeparately() throws {
    let rig = RenderRig()
    let loud = try rig.play(RenderStream([Float](repeating: 1, count: 1_000)))
    let quiet = try rig.play(RenderStream([Float](repeating: 0.25, count: 1_000)))
    rig.post {
      $0.setMetering(true, input: loud)
      $0.setMetering(true, input: quiet)
    }
    #expect(rig.render(480) == [Float](repeating: 1.25, count: 480))
    #expect(rig.core.meterWindow(0, input: loud)?.peaks == [1])
    #expect(rig.core.meterWindow(0, input: quiet)?.peaks == [0.25])
  }

  @Test func windowIsMeasuredAgainAfterARewind() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream([Float](repeating: 1, count: 4_000)))
    rig.post { $0.setMetering(true, input: input) }
    _ = rig.render(1_440)
    #expect(rig.core.meterWindow(1, input: input)?.meanSquares == [1])
    // Stopped in the middle of the second window.
    #expect(rig.core.rewind(toFrame: 720) == 720)
    rig.post { $0.setRunning(false, input: input) }
    _ = rig.render(720)
    #expect(rig.core.meterWindow(1, input: input)?.peaks == [1])
    #expect(rig.core.meterWindow(1, input: input)?.meanSquares == [0.5])
    #expect(rig.core.meterWindow(2, input: input)?.peaks == [0])
  }

  @Test func onlyTheNewestWindowsAreKeptAfterALongRender() throws {
    let rig = RenderRig()
    let frameCount = 48_000 * 6
    let input = try rig.play(RenderStream([Float](repeating: 0.5, count: frameCount)))
    rig.post { $0.setMetering(true, input: input) }
    #expect(rig.render(frameCount) == [Float](repeating: 0.5, count: frameCount))
    #expect(rig.core.meterWindow(0, input: input) == nil)
    #expect(rig.core.meterWindow(87, input: input) == nil)
    for number in 88..<600 as Range<Int64> {
      #expect(rig.core.meterWindow(number, input: input)?.meanSquares == [0.25])
    }
  }

  @Test func nonFiniteSamplesAreIgnored() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream([.nan, .infinity, 0.5] + silence(477)))
    rig.post { $0.setMetering(true, input: input) }
    _ = rig.render(480)
    #expect(rig.core.meterWindow(0, input: input)?.peaks == [0.5])
    #expect(rig.core.meterWindow(0, input: input)?.meanSquares == [Float(0.25 / 480)])
  }

  @Test func inputWithoutMeteringHasNoWindows() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream([Float](repeating: 1, count: 2_000)))
    _ = rig.render(480)
    #expect(rig.core.meterWindow(0, input: input) == nil)
    rig.post { $0.setMetering(true, input: input) }
    _ = rig.render(480)
    rig.post { $0.setMetering(false, input: input) }
    _ = rig.render(480)
    #expect(rig.core.meterWindow(1, input: input) != nil)
    #expect(rig.core.meterWindow(2, input: input) == nil)
  }

  @Test func windowsAreReadConsistentlyDuringWrites() throws {
    let rig = RenderRig()
    // Each window has a distinct level, whose square is its mean square.
    let windows = 400
    let samples = (0..<windows * 480).map { Float($0 / 480 % 64 + 1) / 64 }
    let input = try rig.play(RenderStream(samples))
    rig.post { $0.setMetering(true, input: input) }
    let core = rig.core
    let hasEnded = Flag()
    let writer = NamedThread(name: "writer") {
      var block = [Float](repeating: 0, count: 480)
      for round in 0..<windows {
        core.render(into: &block, frameCount: 480)
        // Half of it once more, as when a device's buffer is overwritten.
        if round > 0, core.rewind(toFrame: core.renderedFrame - 240) < core.renderedFrame + 240 {
          core.render(into: &block, frameCount: 240)
        }
      }
      hasEnded.set()
    }
    var checkedCount = 0
    repeat {
      for number in 0..<Int64(windows) {
        guard let window = core.meterWindow(number, input: input) else { continue }
        checkedCount += 1
        let level = Float(number % 64 + 1) / 64
        #expect(window.peaks == [level] && window.meanSquares == [level * level])
      }
    } while !hasEnded.isSet
    writer.join()
    #expect(checkedCount > 0)
  }
}
