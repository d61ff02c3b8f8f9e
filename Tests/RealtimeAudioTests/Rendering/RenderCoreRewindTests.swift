import PlayheadMediaCore
import Testing

@testable import PlayheadRealtimeAudio

@Suite struct RenderCoreRewindTests {
  @Test func repeatedRenderingIsIdentical() throws {
    let rig = RenderRig(channelCount: 2)
    let input = try rig.play(RenderStream(ramp(200), channelCount: 2))
    _ = try rig.play(RenderStream(ramp(60, from: 7_000), channelCount: 2))
    rig.post { $0.setGain(0.1, rampFrameCount: 37, input: input) }
    let output = rig.render(80)
    for frame in [79, 41, 40, 36, 1, 0] {
      #expect(rig.core.rewind(toFrame: Int64(frame)) == Int64(frame))
      #expect(rig.core.renderedFrame == Int64(frame))
      #expect(rig.render(80 - frame) == Array(output[(frame * 2)...]))
    }
    #expect(rig.core.rewind(toFrame: 80) == 80)
    #expect(rig.core.rewind(toFrame: 1_000) == 80)
  }

  @Test func changeAppliesFromTheRewoundFrameOn() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream(ramp(100)))
    #expect(rig.render(50) == ramp(50))
    #expect(rig.core.rewind(toFrame: 20) == 20)
    rig.post { $0.setGain(0.5, rampFrameCount: 0, input: input) }
    #expect(rig.render(30) == ramp(30, from: 21).map { $0 * 0.5 })
    #expect(rig.events() == ["streamSet 0 0", "runBegan 0 0", "rewound 20"])
  }

  @Test func appliedChangeIsNeverUndone() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream(ramp(100)))
    #expect(rig.render(30) == ramp(30))
    rig.post { $0.setGain(0.5, rampFrameCount: 0, input: input) }
    #expect(rig.render(30) == ramp(30, from: 31).map { $0 * 0.5 })
    #expect(rig.core.rewind(toFrame: 10) == 30)
    #expect(rig.render(10) == ramp(10, from: 31).map { $0 * 0.5 })
  }

  @Test func heardFramesAreNotRenderedAgain() throws {
    let rig = RenderRig()
    _ = try rig.play(RenderStream(ramp(100)))
    #expect(rig.render(50) == ramp(50))
    rig.core.release(heardFrame: 30)
    #expect(rig.core.rewind(toFrame: 10) == 30)
    #expect(rig.render(5) == ramp(5, from: 31))
    // Frames that were not rendered cannot have been heard.
    rig.core.release(heardFrame: 1_000)
    #expect(rig.core.rewind(toFrame: 0) == 35)
    #expect(rig.render(1) == ramp(1, from: 36))
  }

  @Test func rewindToAReplacementStartsTheNewStreamAgain() throws {
    let rig = RenderRig()
    let second = rig.keep(RenderStream(ramp(50, from: 1_001)))
    let input = try rig.play(RenderStream(ramp(100)))
    #expect(rig.render(20) == ramp(20))
    rig.post { $0.setStream(second, fromFrame: 5, input: input) }
    #expect(rig.render(20) == ramp(20, from: 1_006))
    // To exactly the frame of the replacement: the new stream begins at its start, not at the old stream's position.
    #expect(rig.core.rewind(toFrame: 20) == 20)
    #expect(rig.render(3) == ramp(3, from: 1_006))
    #expect(
      rig.events() == [
        "streamSet 0 0", "runBegan 0 0", "stopped 20 20", "streamSet 20 5", "runBegan 20 5", "rewound 20",
        "runBegan 20 5",
      ])
  }

  @Test func rewindBeforeAScheduledSwitchRepeatsIt() throws {
    let rig = RenderRig()
    let second = rig.keep(RenderStream(ramp(50, from: 1_001)))
    let input = try rig.play(RenderStream(ramp(20)))
    rig.post { $0.scheduleStream(second, fromFrame: 3, atFrame: 12, input: input) }
    let expected = ramp(12) + ramp(18, from: 1_004)
    #expect(rig.render(30) == expected)
    for frame in [25, 12, 11, 3, 12, 0] {
      #expect(rig.core.rewind(toFrame: Int64(frame)) == Int64(frame))
      #expect(rig.render(30 - frame) == Array(expected[frame...]))
    }
    // After it is undone, the switch can be cancelled.
    #expect(rig.core.rewind(toFrame: 5) == 5)
    rig.post { $0.scheduleStream(nil, fromFrame: 0, atFrame: 0, input: input) }
    #expect(rig.render(15) == ramp(15, from: 6))
  }

  @Test func rewindUndoesASwitchThatUnderran() throws {
    let rig = RenderRig()
    let second = rig.keep(RenderStream([], capacityFrames: 32))
    let input = try rig.play(RenderStream(ramp(10)))
    rig.post { $0.scheduleStream(second, fromFrame: 0, atFrame: 10, input: input) }
    #expect(rig.render(20) == ramp(10) + silence(10))
    #expect(second.append(ramp(20, from: 1_001)) == 20)
    // To the switch itself, and from there further back.
    #expect(rig.core.rewind(toFrame: 10) == 10)
    #expect(rig.core.rewind(toFrame: 8) == 8)
    #expect(rig.render(12) == ramp(2, from: 9) + ramp(10, from: 1_001))
  }

  @Test func switchToAStreamStaysOnceItWasHeard() throws {
    let rig = RenderRig()
    let second = rig.keep(RenderStream(ramp(20, from: 1_001)))
    let input = try rig.play(RenderStream(ramp(20)))
    rig.post { $0.scheduleStream(second, fromFrame: 0, atFrame: 10, input: input) }
    #expect(rig.render(20) == ramp(10) + ramp(10, from: 1_001))
    rig.core.release(heardFrame: 10)
    #expect(rig.core.rewind(toFrame: 0) == 10)
    #expect(rig.render(10) == ramp(10, from: 1_001))
  }

  @Test func underrunIsDetectedAgainAfterARewind() throws {
    let rig = RenderRig()
    let stream = RenderStream(ramp(10), capacityFrames: 64)
    _ = try rig.play(stream)
    #expect(rig.render(20) == ramp(10) + silence(10))
    #expect(stream.append(ramp(10, from: 11)) == 10)
    #expect(rig.core.rewind(toFrame: 10) == 10)
    #expect(rig.render(12) == ramp(10, from: 11) + [0, 0])
    #expect(
      rig.events() == [
        "streamSet 0 0", "runBegan 0 0", "underrun 10 10", "rewound 10", "runBegan 10 10", "underrun 20 20",
      ])
    // Silence before the frame is not reported again.
    #expect(rig.core.rewind(toFrame: 21) == 21)
    #expect(rig.render(5) == silence(5))
    #expect(rig.events() == ["rewound 21"])
  }

  @Test func heardUnderrunIsNotReportedAgain() throws {
    let rig = RenderRig()
    _ = try rig.play(RenderStream(ramp(4)))
    #expect(rig.render(10) == ramp(4) + silence(6))
    rig.core.release(heardFrame: 8)
    #expect(rig.core.rewind(toFrame: 0) == 8)
    #expect(rig.render(2) == [0, 0])
    #expect(rig.events() == ["streamSet 0 0", "runBegan 0 0", "underrun 4 4", "rewound 8"])
  }

  @Test func rewindAcrossTheEndMakesTheInputActiveAgain() throws {
    let rig = RenderRig()
    _ = try rig.play(RenderStream(ramp(10), isEnded: true))
    #expect(rig.render(15) == ramp(10) + silence(5))
    #expect(!rig.core.isActive)
    #expect(rig.core.rewind(toFrame: 12) == 12)
    #expect(!rig.core.isActive)
    #expect(rig.core.rewind(toFrame: 7) == 7)
    #expect(rig.core.isActive)
    #expect(rig.core.lastAudibleFrame == 7)
    #expect(rig.render(5) == ramp(3, from: 8) + silence(2))
    #expect(!rig.core.isActive)
    #expect(
      rig.events() == ["streamSet 0 0", "runBegan 0 0", "ended 10 10", "rewound 12", "rewound 7", "ended 10 10"])
  }

  @Test func pauseAtAnEarlierFrameKeepsTheLaterFramesForResume() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream(ramp(100)))
    #expect(rig.render(50) == ramp(50))
    #expect(rig.core.rewind(toFrame: 17) == 17)
    rig.post { $0.setRunning(false, input: input) }
    #expect(rig.render(10) == silence(10))
    rig.post { $0.setRunning(true, input: input) }
    #expect(rig.render(10) == ramp(10, from: 18))
    #expect(
      rig.events() == ["streamSet 0 0", "runBegan 0 0", "rewound 17", "stopped 17 17", "runBegan 27 17"])
  }

  @Test func historyOverflowLimitsTheRewind() throws {
    let rig = RenderRig()
    let stream = RenderStream([], capacityFrames: 1_024)
    _ = try rig.play(stream)
    // Each round plays one frame and underruns for one, so each is a separate run.
    for round in 0..<RenderInput.runCapacity + 10 {
      #expect(stream.append(ramp(1, from: round + 1)) == 1)
      #expect(rig.render(2) == ramp(1, from: round + 1) + [0])
    }
    // The ten oldest runs were dropped; the last of them ended after output frame 18.
    #expect(rig.core.rewind(toFrame: 0) == 19)
    // The samples that were late the first time are available now.
    #expect(rig.render(3) == ramp(3, from: 11))
  }

  @Test func pendingCommandsApplyAfterTheRewind() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream(ramp(50)))
    #expect(rig.render(20) == ramp(20))
    rig.post { $0.setRunning(false, input: input) }
    #expect(rig.core.rewind(toFrame: 5) == 5)
    rig.core.applyCommands()
    #expect(!rig.core.isActive)
    #expect(rig.core.lastAudibleFrame == 5)
    #expect(rig.render(5) == silence(5))
  }
}
