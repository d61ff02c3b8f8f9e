import PlayheadMediaCore
import Testing

@testable import PlayheadRealtimeAudio

@Suite struct RenderCoreEventTests {
  @Test func commandsTakeEffectOncePosted() throws {
    let rig = RenderRig()
    let input = try #require(rig.core.attachInput())
    rig.core.setStream(rig.keep(RenderStream([1, 2, 3])), fromFrame: 1, input: input)
    rig.core.setRunning(true, input: input)
    #expect(rig.render(2) == [0, 0])
    rig.core.postCommands()
    #expect(!rig.core.isActive)
    rig.core.applyCommands()
    #expect(rig.core.isActive)
    #expect(rig.render(3) == [2, 3, 0])
    #expect(rig.events() == ["streamSet 2 1", "runBegan 2 1", "underrun 4 3"])
  }

  @Test func inputResumesAtTheFrameAtWhichItStopped() throws {
    let rig = RenderRig()
    let stream = rig.keep(RenderStream([1, 2, 3, 4, 5]))
    let input = try rig.play(stream)
    #expect(rig.render(2) == [1, 2])
    rig.post { $0.setRunning(false, input: input) }
    #expect(rig.render(3) == [0, 0, 0])
    #expect(!rig.core.isActive)
    #expect(rig.core.lastAudibleFrame == 2)
    rig.post { $0.setRunning(true, input: input) }
    #expect(rig.render(2) == [3, 4])
    #expect(rig.events() == ["streamSet 0 0", "runBegan 0 0", "stopped 2 2", "runBegan 5 2"])
  }

  @Test func stopOfASilentInputIsNotReported() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream([1]))
    #expect(rig.render(3) == [1, 0, 0])
    rig.post { $0.setRunning(false, input: input) }
    rig.post { $0.setRunning(false, input: input) }
    #expect(rig.render(1) == [0])
    #expect(rig.events() == ["streamSet 0 0", "runBegan 0 0", "underrun 1 1"])
  }

  @Test func underrunIsReportedOnceAndPlaybackContinuesWithoutLoss() throws {
    let rig = RenderRig()
    let stream = rig.keep(RenderStream([1, 2], capacityFrames: 8))
    _ = try rig.play(stream)
    #expect(rig.render(4) == [1, 2, 0, 0])
    #expect(rig.render(2) == [0, 0])
    #expect(rig.core.isActive)
    #expect(stream.append([3]) == 1)
    #expect(rig.render(3) == [3, 0, 0])
    #expect(
      rig.events() == ["streamSet 0 0", "runBegan 0 0", "underrun 2 2", "runBegan 6 2", "underrun 7 3"])
  }

  @Test func startWithoutSamplesIsAnUnderrun() throws {
    let rig = RenderRig()
    let stream = rig.keep(RenderStream([], capacityFrames: 8))
    _ = try rig.play(stream)
    #expect(rig.render(4) == silence(4))
    #expect(stream.append([1]) == 1)
    #expect(rig.render(1) == [1])
    #expect(rig.events() == ["streamSet 0 0", "underrun 0 0", "runBegan 4 0"])
  }

  @Test func endedInputMakesTheMixerInactive() throws {
    let rig = RenderRig()
    let stream = rig.keep(RenderStream([1, 2], capacityFrames: 8, isEnded: true))
    let input = try rig.play(stream)
    #expect(rig.render(2) == [1, 2])
    // The next frame detects the end.
    #expect(rig.core.isActive)
    #expect(rig.render(2) == [0, 0])
    #expect(!rig.core.isActive)
    #expect(rig.events() == ["streamSet 0 0", "runBegan 0 0", "ended 2 2"])
    stream.reopen(endingAt: 1)
    #expect(stream.endFrame == 2)
    stream.reopen(endingAt: 2)
    #expect(stream.append([3]) == 1)
    rig.post { $0.setRunning(true, input: input) }
    #expect(rig.render(2) == [3, 0])
    #expect(rig.events() == ["runBegan 4 2", "underrun 5 3"])
  }

  @Test func truncatedStreamEndsAtTheTruncation() throws {
    let rig = RenderRig()
    let stream = rig.keep(RenderStream([1, 2, 3, 4]))
    _ = try rig.play(stream)
    stream.truncate(at: 3)
    #expect(rig.render(5) == [1, 2, 3, 0, 0])
    #expect(stream.endFrame == 3)
    #expect(rig.events() == ["streamSet 0 0", "runBegan 0 0", "ended 3 3"])
  }

  @Test func setStreamReplacesTheStreamAtOnce() throws {
    let rig = RenderRig()
    let first = rig.keep(RenderStream([1, 2, 3, 4]))
    let second = rig.keep(RenderStream([10, 20, 30]))
    let input = try rig.play(first)
    #expect(rig.render(2) == [1, 2])
    rig.post { $0.setStream(second, fromFrame: 1, input: input) }
    #expect(rig.render(2) == [20, 30])
    #expect(
      rig.events() == ["streamSet 0 0", "runBegan 0 0", "stopped 2 2", "streamSet 2 1", "runBegan 2 1"])
    rig.post { $0.setStream(nil, fromFrame: 0, input: input) }
    #expect(rig.render(1) == [0])
    #expect(!rig.core.isActive)
  }

  @Test(arguments: 1...9)
  func scheduledStreamBeginsWithoutAGap(blockFrames: Int) throws {
    let rig = RenderRig()
    let first = rig.keep(RenderStream(ramp(20)))
    let second = rig.keep(RenderStream(ramp(20, from: 101)))
    let third = rig.keep(RenderStream(ramp(20, from: 201)))
    let input = try rig.play(first)
    rig.post { $0.scheduleStream(second, fromFrame: 2, atFrame: 7, input: input) }
    var output: [Float] = []
    while output.count < 10 { output += rig.render(blockFrames) }
    // The second stream has begun by now; the third follows at its frame 18.
    rig.post { $0.scheduleStream(third, fromFrame: 0, atFrame: 18, input: input) }
    while output.count < 30 { output += rig.render(blockFrames) }
    let expected = ramp(7) + ramp(16, from: 103) + ramp(20, from: 201)
    #expect(output == Array(expected.prefix(output.count)))
    #expect(rig.events().filter { $0.hasPrefix("runBegan") } == ["runBegan 0 0", "runBegan 7 2", "runBegan 23 0"])
  }

  @Test func lateScheduleIsMissed() throws {
    let rig = RenderRig()
    let first = rig.keep(RenderStream(ramp(10)))
    let second = rig.keep(RenderStream([100, 200]))
    let input = try rig.play(first)
    #expect(rig.render(4) == ramp(4))
    rig.post { $0.scheduleStream(second, fromFrame: 0, atFrame: 3, input: input) }
    #expect(rig.render(3) == ramp(3, from: 5))
    #expect(rig.events().last == "scheduleMissed")
    // A switch at exactly the current frame is in time.
    rig.post { $0.scheduleStream(second, fromFrame: 0, atFrame: 7, input: input) }
    #expect(rig.render(3) == [100, 200, 0])
    rig.post {
      $0.setStream(nil, fromFrame: 0, input: input)
      $0.scheduleStream(first, fromFrame: 0, atFrame: 0, input: input)
    }
    #expect(rig.render(1) == [0])
    #expect(rig.events().contains("scheduleMissed"))
  }

  @Test func anchoredStreamContinuesInStepWhereverItsCommandIsApplied() throws {
    let rig = RenderRig()
    let first = rig.keep(RenderStream(ramp(10)))
    let second = rig.keep(RenderStream(ramp(10, from: 101)))
    let third = rig.keep(RenderStream(ramp(10, from: 201)))
    let input = try rig.play(first)
    #expect(rig.render(4) == ramp(4))
    rig.post { $0.setStream(second, fromFrame: 0, anchorFrame: 2, input: input) }
    #expect(rig.render(3) == ramp(3, from: 103))
    // An anchor in the future: the stream begins with its first frame.
    rig.post { $0.setStream(third, fromFrame: 0, anchorFrame: 20, input: input) }
    #expect(rig.render(3) == ramp(3, from: 201))
  }

  @Test func scheduleCanBeCancelled() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream(ramp(10)))
    rig.post { $0.scheduleStream(rig.keep(RenderStream([100])), fromFrame: 0, atFrame: 5, input: input) }
    #expect(rig.render(2) == ramp(2))
    rig.post { $0.scheduleStream(nil, fromFrame: 0, atFrame: 0, input: input) }
    #expect(rig.render(8) == ramp(8, from: 3))
  }

  @Test func scheduleAfterTheEndRestartsTheInput() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream([1, 2], isEnded: true))
    #expect(rig.render(4) == [1, 2, 0, 0])
    #expect(!rig.core.isActive)
    rig.post { $0.scheduleStream(rig.keep(RenderStream([7, 8])), fromFrame: 0, atFrame: 2, input: input) }
    #expect(rig.render(2) == [7, 8])
  }

  @Test func detachedInputIsReusedWithDefaultGain() throws {
    let rig = RenderRig()
    let first = rig.keep(RenderStream([1, 2, 3]))
    let input = try rig.play(first)
    rig.post { $0.setGain(0.5, rampFrameCount: 0, input: input) }
    #expect(rig.render(1) == [0.5])
    rig.post { $0.detachInput(input) }
    let second = rig.keep(RenderStream([10, 20]))
    #expect(try rig.play(second) == input)
    #expect(rig.render(2) == [10, 20])
    #expect(rig.events().suffix(3) == ["stopped 1 1", "streamSet 1 0", "runBegan 1 0"])
    rig.core.release(heardFrame: 3)
    #expect(rig.retiredStreams() == [first.id])
  }

  // MARK: - Notifying the engine

  @Test func wakeupIsRequestedOnceUntilEventsAreRead() throws {
    let rig = RenderRig()
    #expect(!rig.core.consumeWakeRequest())
    let input = try rig.play(RenderStream([1, 2, 3], capacityFrames: 16))
    #expect(!rig.core.consumeWakeRequest())
    #expect(rig.render(1) == [1])
    #expect(rig.core.consumeWakeRequest())
    #expect(!rig.core.consumeWakeRequest())
    rig.post { $0.setRunning(false, input: input) }
    #expect(rig.render(1) == [0])
    #expect(!rig.core.consumeWakeRequest())
    // An event was read, and another is pending: a wakeup is requested again.
    #expect(rig.core.nextEvent() != nil)
    #expect(rig.core.consumeWakeRequest())
    #expect(!rig.events().isEmpty)
    #expect(!rig.core.consumeWakeRequest())
  }

  @Test func lostEventsAreCounted() throws {
    let rig = RenderRig()
    let stream = rig.keep(RenderStream([], capacityFrames: 1_024))
    let input = try rig.play(stream)
    #expect(rig.render(1) == [0])
    for _ in 0..<3_000 {
      rig.post { $0.setStream(stream, fromFrame: 0, input: input) }
      #expect(rig.render(1) == [0])
    }
    // 6,002 events were posted: each `streamSet` and each underrun. 4,096 fitted.
    #expect(rig.core.lostEventCount == 1_906)
    #expect(rig.events().count == 4_096)
  }

  @Test func lostRetirementEventsAreCounted() throws {
    let rig = RenderRig()
    let input = try #require(rig.core.attachInput())
    for _ in 0..<4_096 {
      rig.post { $0.setStream(nil, fromFrame: 0, input: input) }
      rig.core.applyCommands()
    }
    let stream = rig.keep(RenderStream([1]))
    rig.post { $0.setStream(stream, fromFrame: 0, input: input) }
    rig.core.applyCommands()
    #expect(rig.core.lostEventCount == 1)
    rig.post { $0.detachInput(input) }
    rig.core.applyCommands()
    #expect(rig.core.lostEventCount == 2)
  }

  @Test func commandsThatDoNotFitInTheQueueAreCounted() throws {
    let rig = RenderRig()
    let input = try #require(rig.core.attachInput())
    for _ in 0..<2_000 { rig.post { $0.setGain(0.5, rampFrameCount: 0, input: input) } }
    #expect(rig.core.lostCommandCount == 2_000 - 1_023)
    #expect(rig.core.attachInput() == nil)
    rig.core.applyCommands()
    #expect(rig.core.attachInput() == 1)
  }
}
