import MediaTesting
import PlayheadMediaCore
import Testing

@testable import PlayheadRealtimeAudio

@Suite struct VirtualSinkTests {
  /// A sink with a writer that stores the audio, and a clock that the test sets.
  private final class Rig: SinkRig<VirtualSink> {
    let writer: MemoryWriter
    let now: ConditionMutex<HostTime>

    init(lookAheadFrames: Int, sampleRateHz: Int = 48_000, sampleLimit: Int? = nil) throws {
      let writer = MemoryWriter(sampleLimit: sampleLimit)
      let now = ConditionMutex(HostTime(nanoseconds: 1_000_000_000))
      (self.writer, self.now) = (writer, now)
      try super.init(
        VirtualSink(
          format: AudioFormat(sampleRateHz: sampleRateHz, channelCount: 1), lookAheadFrames: lookAheadFrames,
          writer: writer
        ) { now.withState { $0 } })
    }

    /// Advances by `count` frames, in chunks; returns the audio.
    func hear(_ count: Int, chunkSizes: [Int] = [1, 7, 100]) -> [Float] {
      let first = writer.content.samples.count
      var done = 0
      var index = 0
      while done < count {
        let heard = sink.advance(frameCount: min(chunkSizes[index % chunkSizes.count], count - done))
        if heard == 0 { break }
        done += heard
        index += 1
      }
      return Array(writer.content.samples[first...])
    }
  }

  static let lookAheads = [0, 1, 50, 480]

  @Test(arguments: lookAheads)
  func heardAudioIsTheStreamFrameByFrame(lookAheadFrames: Int) throws {
    let rig = try Rig(lookAheadFrames: lookAheadFrames)
    #expect(!rig.sink.isAudible)
    #expect(rig.sink.advance(frameCount: 10) == 0)
    _ = try rig.play(RenderStream(ramp(1_000), isEnded: true))
    #expect(rig.sink.isAudible)
    #expect(rig.hear(1_000) == ramp(1_000))
    #expect(rig.core.clock.snapshot().heardFrame(at: rig.sink.hostTimeOfHeardFrame) == 1_000)
  }

  @Test(arguments: lookAheads)
  func commandsApplyAtTheNextHeardFrame(lookAheadFrames: Int) throws {
    let rig = try Rig(lookAheadFrames: lookAheadFrames)
    let input = try rig.play(RenderStream(ramp(1_000)))
    #expect(rig.hear(100) == ramp(100))
    rig.post { $0.setGain(0.5, rampFrameCount: 0, input: input) }
    #expect(rig.hear(50) == ramp(50, from: 101).map { $0 * 0.5 })
    rig.post { $0.setGain(1, rampFrameCount: 0, input: input) }
    rig.post { $0.setRunning(false, input: input) }
    rig.post { $0.setRunning(true, input: input) }
    #expect(rig.hear(100) == ramp(100, from: 151))
    let second = try rig.play(RenderStream(ramp(20, from: 5_001)))
    #expect(rig.hear(10) == (0..<10).map { ramp(1, from: 251 + $0)[0] + ramp(1, from: 5_001 + $0)[0] })
    rig.post { $0.detachInput(second) }
    #expect(rig.hear(10) == ramp(10, from: 261))
  }

  @Test(arguments: lookAheads)
  func stoppedSinkResumesAtItsPosition(lookAheadFrames: Int) throws {
    let rig = try Rig(lookAheadFrames: lookAheadFrames)
    let input = try rig.play(RenderStream(ramp(1_000)))
    #expect(rig.hear(100) == ramp(100))
    rig.post { $0.setRunning(false, input: input) }
    #expect(rig.hear(1) == [0])
    #expect(!rig.sink.isAudible)
    #expect(rig.sink.advance(frameCount: 10) == 0)
    #expect(!rig.core.clock.snapshot().isRunning)
    #expect(rig.core.clock.snapshot().heardFrame == 101)
    rig.post { $0.setRunning(true, input: input) }
    #expect(rig.hear(100) == ramp(100, from: 101))
  }

  @Test(arguments: lookAheads)
  func timeWaitsForTheDecoder(lookAheadFrames: Int) throws {
    let rig = try Rig(lookAheadFrames: lookAheadFrames)
    let stream = RenderStream(ramp(30), capacityFrames: 4_096)
    _ = try rig.play(stream)
    #expect(rig.hear(100) == ramp(30))
    #expect(rig.sink.isAudible)
    #expect(rig.sink.advance(frameCount: 10) == 0)
    #expect(stream.append(ramp(30, from: 31)) == 30)
    #expect(rig.hear(100) == ramp(30, from: 31))
    stream.end()
    #expect(rig.hear(5, chunkSizes: [5]) == silence(5))
    #expect(!rig.sink.isAudible)
  }

  @Test func virtualTimeAndFramesStayInStep() throws {
    let rig = try Rig(lookAheadFrames: 0, sampleRateHz: 44_100)
    _ = try rig.play(RenderStream(silence(50_000), capacityFrames: 65_536))
    var heard = 0
    // One second in steps of slightly more than a thousandth: rounding errors do not add up.
    for step in 1...999 {
      let deadline = HostTime(nanoseconds: 1_000_000_000 + Int64(step) * 1_001_001)
      heard += rig.sink.advance(frameCount: rig.sink.frameCount(until: deadline))
      rig.now.update { $0 = deadline }
      #expect(rig.sink.frameCount(until: deadline) == 0)
      #expect(rig.core.clock.snapshot().heardFrame(at: deadline) == Int64(heard))
    }
    let end = HostTime(nanoseconds: 2_000_000_000)
    heard += rig.sink.advance(frameCount: rig.sink.frameCount(until: end))
    #expect(heard == 44_100)
    #expect(rig.sink.hostTimeOfHeardFrame == end)
  }

  @Test func engineIsWokenForEventsAndAtTheStop() throws {
    let rig = try Rig(lookAheadFrames: 0)
    _ = try rig.play(RenderStream(ramp(10), isEnded: true))
    let woken = rig.wakeCount.withState { $0 }
    #expect(woken >= 1)
    while rig.core.nextEvent() != nil {}
    #expect(rig.hear(10, chunkSizes: [10]) == ramp(10))
    #expect(rig.hear(1) == [0])
    #expect(rig.wakeCount.withState { $0 } > woken)
  }

  @Test func writeFailureIsReportedOnceAndTimeContinues() throws {
    let rig = try Rig(lookAheadFrames: 0, sampleLimit: 20)
    _ = try rig.play(RenderStream(ramp(1_000)))
    for _ in 0..<10 { #expect(rig.sink.advance(frameCount: 10) == 10) }
    #expect(rig.failures.withState { $0 } == [MemoryWriter.failure])
    #expect(rig.writer.content.samples == ramp(20))
  }

  @Test func closeFinishesTheWriterOnce() throws {
    let rig = try Rig(lookAheadFrames: 0)
    rig.sink.close()
    rig.sink.close()
    #expect(rig.writer.content.finishCount == 1)
    rig.post { _ in }
    #expect(rig.sink.advance(frameCount: 5) == 0)
    // A sink that was opened and never started also has a writer to finish.
    let writer = MemoryWriter()
    let unused = VirtualSink(format: rig.core.format, writer: writer) { HostTime(nanoseconds: 0) }
    unused.close()
    #expect(writer.content.finishCount == 0)
    _ = try unused.open()
    unused.close()
    #expect(writer.content.finishCount == 1)
  }
}
