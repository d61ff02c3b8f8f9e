import PlayheadMediaCore
import Testing

@testable import PlayheadRealtimeAudio

@Suite struct RenderCoreStreamTests {
  @Test func replacedStreamRetiresOnceItWasHeard() throws {
    let rig = RenderRig()
    let first = RenderStream(ramp(50))
    let input = try rig.play(first)
    _ = rig.render(20)
    let second = rig.keep(RenderStream(ramp(50)))
    rig.post { $0.setStream(second, fromFrame: 0, input: input) }
    _ = rig.render(20)
    #expect(rig.retiredStreams() == [])
    rig.core.release(heardFrame: 19)
    #expect(rig.retiredStreams() == [])
    rig.core.release(heardFrame: 20)
    #expect(rig.retiredStreams() == [first.id])
    rig.core.release(heardFrame: 40)
    #expect(rig.retiredStreams() == [])
  }

  @Test func streamThatWasNeverHeardRetiresAtOnce() throws {
    let rig = RenderRig()
    let first = RenderStream(ramp(5))
    let input = try rig.play(first)
    rig.post { $0.setStream(nil, fromFrame: 0, input: input) }
    rig.core.applyCommands()
    #expect(rig.retiredStreams() == [first.id])
  }

  @Test func scheduledStreamThatIsSetAtOnceDoesNotRetire() throws {
    let rig = RenderRig()
    let first = RenderStream(ramp(50))
    let second = rig.keep(RenderStream(ramp(50, from: 1_001)))
    let input = try rig.play(first)
    rig.post { $0.scheduleStream(second, fromFrame: 0, atFrame: 40, input: input) }
    _ = rig.render(10)
    rig.post { $0.setStream(second, fromFrame: 0, input: input) }
    #expect(rig.render(10) == ramp(10, from: 1_001))
    rig.core.release(heardFrame: 20)
    #expect(rig.retiredStreams() == [first.id])
    rig.post { $0.detachInput(input) }
    rig.core.applyCommands()
    rig.core.release(heardFrame: 20)
    #expect(rig.retiredStreams() == [second.id])
  }

  @Test func replacedScheduledStreamRetiresUnheard() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream(ramp(50)))
    let streams = (0..<3).map { _ in rig.keep(RenderStream(ramp(5))) }
    for stream in streams {
      rig.post { $0.scheduleStream(stream, fromFrame: 0, atFrame: 40, input: input) }
      rig.core.applyCommands()
    }
    #expect(rig.retiredStreams() == [streams[0].id, streams[1].id])
    rig.post { $0.scheduleStream(streams[2], fromFrame: 0, atFrame: 45, input: input) }
    rig.core.applyCommands()
    #expect(rig.retiredStreams() == [])
  }

  @Test func missedStreamDoesNotRetireAndCanBeSet() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream(ramp(50)))
    let late = rig.keep(RenderStream(ramp(5)))
    _ = rig.render(10)
    rig.post { $0.scheduleStream(late, fromFrame: 0, atFrame: 3, input: input) }
    rig.core.applyCommands()
    #expect(rig.retiredStreams() == [])
    rig.post { $0.setStream(late, fromFrame: 0, input: input) }
    #expect(rig.render(5) == ramp(5))
    rig.post { $0.setStream(nil, fromFrame: 0, input: input) }
    _ = rig.render(1)
    rig.core.release(heardFrame: 16)
    #expect(rig.retiredStreams().contains(late.id))
  }

  @Test func outgoingStreamRetiresAfterItsLastFrameWasHeard() throws {
    let rig = RenderRig()
    let first = RenderStream(ramp(10))
    let second = rig.keep(RenderStream(ramp(30)))
    let input = try rig.play(first)
    rig.post { $0.scheduleStream(second, fromFrame: 0, atFrame: 10, input: input) }
    _ = rig.render(20)
    #expect(rig.core.rewind(toFrame: 5) == 5)
    _ = rig.render(20)
    rig.core.release(heardFrame: 9)
    #expect(rig.retiredStreams() == [])
    rig.core.release(heardFrame: 10)
    #expect(rig.retiredStreams() == [first.id])
  }

  // MARK: - Space

  @Test func heardFramesFreeSpaceInTheRing() throws {
    let rig = RenderRig()
    let stream = RenderStream(ramp(16), capacityFrames: 16)
    _ = try rig.play(stream)
    _ = rig.render(10)
    #expect(stream.append(ramp(1, from: 17)) == 0)
    rig.core.release(heardFrame: 6)
    #expect(stream.releasedFrame == 6)
    #expect(stream.append(ramp(10, from: 17)) == 6)
    #expect(rig.core.rewind(toFrame: 0) == 6)
    #expect(rig.render(16) == ramp(16, from: 7))
  }

  @Test func freeSpaceIsReportedOnceHalfOfTheRingIsFree() throws {
    let rig = RenderRig()
    let stream = RenderStream(ramp(16), capacityFrames: 16)
    _ = try rig.play(stream)
    _ = rig.render(16)
    rig.core.release(heardFrame: 9)
    #expect(!rig.events().contains("spaceAvailable"))
    stream.requestSpaceWakeup()
    rig.core.release(heardFrame: 9)
    #expect(rig.events() == ["spaceAvailable"])
    // Once for each request.
    rig.core.release(heardFrame: 12)
    #expect(rig.events() == [])
    #expect(stream.append(ramp(12, from: 17)) == 12)
    stream.requestSpaceWakeup()
    _ = rig.render(7)
    rig.core.release(heardFrame: 19)
    #expect(rig.events() == [])
    rig.core.release(heardFrame: 20)
    #expect(rig.events() == ["spaceAvailable"])
    #expect(!rig.core.consumeWakeRequest())
  }

  @Test func freeSpaceOfAnIncomingStreamIsReported() throws {
    let rig = RenderRig()
    let first = RenderStream(ramp(4))
    let second = rig.keep(RenderStream(ramp(16), capacityFrames: 16))
    let input = try rig.play(first)
    rig.post { $0.scheduleStream(second, fromFrame: 0, atFrame: 4, input: input) }
    second.requestSpaceWakeup()
    _ = rig.render(16)
    rig.core.release(heardFrame: 11)
    #expect(!rig.events().contains("spaceAvailable"))
    rig.core.release(heardFrame: 12)
    #expect(rig.events() == ["spaceAvailable"])
  }

  // MARK: - Frames that can be rendered without an underrun

  @Test func readyFramesAreThoseThatAllInputsHave() throws {
    let rig = RenderRig()
    #expect(rig.core.readyFrameCount(atMost: 100) == 100)
    let long = RenderStream(ramp(50), capacityFrames: 64)
    let short = RenderStream(ramp(20), capacityFrames: 64)
    let first = try rig.play(long)
    let second = try rig.play(short)
    #expect(rig.core.readyFrameCount(atMost: 100) == 20)
    _ = rig.render(5)
    #expect(rig.core.readyFrameCount(atMost: 100) == 15)
    #expect(rig.core.readyFrameCount(atMost: 7) == 7)
    // An ended or stopped input does not limit the count.
    short.end()
    #expect(rig.core.readyFrameCount(atMost: 100) == 45)
    rig.post { $0.setRunning(false, input: first) }
    #expect(rig.core.readyFrameCount(atMost: 100) == 100)
    rig.post { $0.detachInput(second) }
    #expect(rig.core.readyFrameCount(atMost: 100) == 100)
  }

  @Test func readyFramesEndAtAScheduledSwitch() throws {
    let rig = RenderRig()
    let first = RenderStream(ramp(20))
    let second = rig.keep(RenderStream(ramp(5), capacityFrames: 64))
    let input = try rig.play(first)
    rig.post { $0.scheduleStream(second, fromFrame: 0, atFrame: 12, input: input) }
    #expect(rig.core.readyFrameCount(atMost: 100) == 12)
    _ = rig.render(12)
    #expect(rig.core.readyFrameCount(atMost: 100) == 5)
    second.end()
    #expect(rig.core.readyFrameCount(atMost: 100) == 100)
  }

  @Test func streamThatEndsBeforeItsScheduledSwitchLimitsNoFrames() throws {
    let rig = RenderRig()
    let first = RenderStream(ramp(10), isEnded: true)
    let second = rig.keep(RenderStream(ramp(5)))
    let input = try rig.play(first)
    rig.post { $0.scheduleStream(second, fromFrame: 0, atFrame: 12, input: input) }
    #expect(rig.core.readyFrameCount(atMost: 100) == 100)
    #expect(rig.render(20) == ramp(10) + silence(10))
    #expect(!rig.core.isActive)
  }

  @Test func segmentsAreReadInOrderAndRejectedWhenTheQueueIsFull() {
    let stream = RenderStream(capacityFrames: 16, channelCount: 1, segmentCapacity: 2)
    #expect(stream.describe(StreamSegment(streamFrame: 0, itemID: 7, timeValue: 1, timeScale: 2)))
    #expect(stream.describe(StreamSegment(streamFrame: 5, itemID: 8, timeValue: 3, timeScale: 4)))
    #expect(!stream.describe(StreamSegment(streamFrame: 6, itemID: 9, timeValue: 5, timeScale: 6)))
    let first = stream.nextSegment()
    #expect(first?.itemID == 7)
    #expect(first?.timeScale == 2)
    #expect(stream.nextSegment()?.streamFrame == 5)
    #expect(stream.nextSegment() == nil)
  }
}
