import Glibc
import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadRealtimeAudio

/// The sinks that run in real time, for a few blocks of 20 ms each. Every wait ends with the expected event, never with
/// a timeout.
@Suite struct TimedSinkTests {
  static let format = AudioFormat(sampleRateHz: 48_000, channelCount: 1)
  static let blockFrames = 960

  private typealias Rig = SinkRig<TimedSink>

  @Test func nullSinkPlaysInRealTimeAndStops() throws {
    let rig = try Rig(.null(format: Self.format))
    #expect(rig.sink.label == "null" && rig.core.format == Self.format)
    _ = try rig.play(RenderStream(ramp(2_000), isEnded: true))
    let events = rig.events { $0.contains { $0.hasPrefix("ended") } }
    #expect(events == ["streamSet 0 0", "runBegan 0 0", "ended 2000 2000"])
    // Whole blocks: the third one contains the end.
    let clock = rig.waitUntilStopped()
    #expect(clock.heardFrame == Int64(3 * Self.blockFrames))
    #expect(clock.renderedFrame == clock.heardFrame)
  }

  @Test func noFrameIsRenderedWhileNoInputPlays() throws {
    let rig = try Rig(.null(format: Self.format))
    let input = try #require(rig.core.attachInput())
    rig.post { $0.setStream(nil, fromFrame: 0, input: input) }
    #expect(rig.events { !$0.isEmpty } == ["streamSet 0 0"])
    #expect(rig.core.clock.snapshot().renderedFrame == 0)
    #expect(!rig.core.clock.snapshot().isRunning)
  }

  @Test func fileContainsTheHeardFrames() throws {
    let file = try TemporaryDirectory()
    let path = file.path("heard.wav")
    let rig = try Rig(.file(path: path, container: .wav, encoding: .s24, format: Self.format))
    #expect(rig.sink.label == "wav:\(path)" && rig.core.format == Self.format)
    let stream = RenderStream(ramp(2_500), capacityFrames: 8_192, isEnded: true)
    _ = try rig.play(stream)
    let frameCount = Int(rig.waitUntilStopped().heardFrame)
    #expect(frameCount == 3 * Self.blockFrames)
    rig.sink.close()
    let bytes = try file.read("heard.wav")
    #expect(bytes.count == 44 + frameCount * 3)
    let values = stride(from: 44, to: bytes.count, by: 3).map { offset -> Int in
      let sample = bytes[offset...].prefix(3)
      return sample.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    #expect(values == Array(1...2_500) + Array(repeating: 0, count: frameCount - 2_500))
  }

  @Test func commandsApplyInTheMiddleOfABlock() throws {
    let writer = MemoryWriter()
    let rig = try Rig(writer)
    let input = try rig.play(RenderStream(ramp(240_000)))
    // The gains identify the change before which a sample was rendered.
    let gains: [Float] = [0.5, 0.25, 0.125]
    var heardBefore: [Int] = []
    for gain in gains {
      // The change comes while the next block is being heard.
      let count = writer.content.samples.count
      heardBefore.append(try #require(writer.sharedContent.wait { $0.samples.count > count ? $0.samples.count : nil }))
      rig.post { $0.setGain(gain, rampFrameCount: 0, input: input) }
      _ = writer.sharedContent.wait { $0.samples.last == Float($0.samples.count) / 8_388_608 * gain ? true : nil }
    }
    rig.sink.close()
    let heard = writer.content.samples
    let factors = zip(heard, ramp(heard.count)).map { $0 / $1 }
    #expect(Set(factors) == [1, 0.5, 0.25, 0.125])
    #expect(factors == factors.sorted(by: >))
    // Not before the request.
    for (gain, count) in zip(gains, heardBefore) { #expect((factors.firstIndex(of: gain) ?? 0) >= count) }
  }

  @Test func pauseAndResumeLoseNoFrames() throws {
    let writer = MemoryWriter()
    let rig = try Rig(writer)
    let input = try rig.play(RenderStream(ramp(240_000)))
    for _ in 1...3 {
      let count = writer.content.samples.count
      _ = writer.sharedContent.wait { $0.samples.count > count ? true : nil }
      rig.post { $0.setRunning(false, input: input) }
      _ = rig.events { $0.contains { $0.hasPrefix("stopped") } }
      _ = rig.waitUntilStopped()
      rig.post { $0.setRunning(true, input: input) }
      _ = rig.events { $0.contains { $0.hasPrefix("runBegan") } }
    }
    rig.sink.close()
    let heard = writer.content.samples.filter { $0 != 0 }
    #expect(heard == ramp(heard.count))
    #expect(heard.count > 3)
  }

  @Test func playbackContinuesWithoutLossAfterAnUnderrun() throws {
    let writer = MemoryWriter()
    let rig = try Rig(writer)
    let stream = RenderStream(ramp(100), capacityFrames: 4_096)
    _ = try rig.play(stream)
    _ = rig.events { $0.contains { $0.hasPrefix("underrun") } }
    #expect(stream.append(ramp(100, from: 101)) == 100)
    stream.end()
    _ = rig.events { $0.contains { $0.hasPrefix("ended") } }
    _ = rig.waitUntilStopped()
    rig.sink.close()
    #expect(writer.content.samples.filter { $0 != 0 } == ramp(200))
  }

  @Test func freeSpaceIsReportedToTheDecoder() throws {
    let rig = try Rig(.null(format: Self.format))
    let stream = RenderStream(ramp(2_048), capacityFrames: 2_048)
    stream.requestSpaceWakeup()
    _ = try rig.play(stream)
    _ = rig.events { $0.contains("spaceAvailable") }
    #expect(stream.writableFrameCount >= 1_024)
  }

  @Test func closeDuringPlaybackFinishesTheFile() throws {
    let writer = MemoryWriter()
    let rig = try Rig(writer)
    _ = try rig.play(RenderStream(ramp(48_000)))
    _ = writer.sharedContent.wait { $0.samples.isEmpty ? nil : true }
    rig.sink.close()
    rig.sink.close()
    #expect(writer.content.finishCount == 1)
    #expect(writer.content.samples == ramp(writer.content.samples.count))
    #expect(rig.failures.withState { $0 } == [])
  }

  @Test func unstartedSinkFinishesItsFileOnClose() throws {
    let writer = MemoryWriter()
    let sink = TimedSink(label: "test", format: Self.format) { _ in writer }
    _ = try sink.open()
    sink.close()
    sink.close()
    #expect(writer.content.finishCount == 1)
  }

  @Test func closeDoesNotWaitForAReaderOfThePipe() throws {
    let file = try TemporaryDirectory()
    let path = file.path("fifo")
    // One block is several times the capacity of a pipe.
    let format = AudioFormat(sampleRateHz: 768_000, channelCount: 8)
    let sink = TimedSink.file(path: path, container: .pipe, encoding: .f32, format: format)
    let core = RenderCore(format: try sink.open())
    sink.start(core: core, wakeControl: {}, onFailure: { _ in })
    let stream = RenderStream(silence(8 * 40_000), channelCount: 8)
    let input = try #require(core.attachInput())
    core.setStream(stream, fromFrame: 0, input: input)
    core.setRunning(true, input: input)
    core.postCommands()
    sink.commandsPosted()
    // The first bytes have arrived; the rest of the block does not fit.
    var request = pollfd(fd: open(path, O_RDONLY | O_NONBLOCK), events: Int16(POLLIN), revents: 0)
    #expect(poll(&request, 1, -1) == 1)
    sink.commandsPosted()
    sink.close()
    close(request.fd)
  }

  @Test func writeFailureIsReportedOnceAndCloseStillWorks() throws {
    let writer = MemoryWriter(sampleLimit: 2 * Self.blockFrames)
    let rig = try Rig(writer)
    let input = try rig.play(RenderStream(ramp(48_000)))
    _ = rig.failures.wait { $0.isEmpty ? nil : true }
    rig.post { $0.setGain(0.5, rampFrameCount: 0, input: input) }
    rig.sink.close()
    #expect(rig.failures.withState { $0 } == [MemoryWriter.failure])
    #expect(writer.content.finishCount == 1)
    #expect(writer.content.samples == ramp(2 * Self.blockFrames))
  }

  @Test func openFailsForAnUnwritablePath() throws {
    let file = try TemporaryDirectory()
    for path in [file.path("missing/a.wav"), "/dev/full"] {
      let sink = TimedSink.file(path: path, container: .wav, encoding: .s16, format: Self.format)
      expectError(.writeFailed) { try sink.open() }
      sink.close()
    }
  }
}

extension SinkRig where Sink == TimedSink {
  fileprivate convenience init(_ writer: MemoryWriter) throws {
    try self.init(TimedSink(label: "test", format: TimedSinkTests.format) { _ in writer })
  }

  /// Reads events as an engine would, until `isDone` returns true.
  fileprivate func events(until isDone: ([String]) -> Bool) -> [String] {
    var texts: [String] = []
    var handledWakeCount = 0
    while true {
      while let event = core.nextEvent() { texts.append(event.text) }
      if isDone(texts) { return texts }
      handledWakeCount = wakeCount.wait { $0 > handledWakeCount ? $0 : nil } ?? 0
    }
  }

  /// Waits until the clock is paused at the end of the rendered audio.
  fileprivate func waitUntilStopped() -> OutputClock.Snapshot {
    var handledWakeCount = 0
    while true {
      let count = wakeCount.withState { $0 }
      let snapshot = core.clock.snapshot()
      if snapshot.heardFrame > 0, !snapshot.isRunning { return snapshot }
      handledWakeCount = max(handledWakeCount, count)
      _ = wakeCount.wait { $0 > handledWakeCount ? true : nil }
    }
  }
}
