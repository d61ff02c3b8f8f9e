import PlayheadMediaCore
import PlayheadPulseIO
import PlayheadRealtimeAudio
import RigSupport
import Testing

/// Samples that a PulseSink passes to a real PulseAudio, and its clock.
///
/// In real time, because the server rewinds rendered audio, and requests blocks when its device needs them.
@Suite("PulseSink on a private server", .serialized)
struct PulseSinkRigTests {
  @Test("ten seconds play bit-exact and without a gap")
  func playbackIsBitExact() throws {
    let rig = try OutputRig(server: PulseServer())
    let frameCount = 480_000
    _ = try rig.play(rig.makeCodedStream(file: 3, frameCount: frameCount))
    let start = try rig.server.capture.waitForCode(file: 3)
    try rig.server.capture.waitForCode(file: 3, index: frameCount - 1, from: start)
    let runs = rig.server.capture.runs()
    #expect(runs == [TimeCode.Run(file: 3, firstIndex: 0, count: frameCount, position: start)])
    #expect(rig.sink.statistics.underrunCount == 0)
  }

  @Test("the clock stops when all audio is heard, at the last audible frame or after it")
  func clockStopsAtTheEnd() throws {
    let rig = try OutputRig(server: PulseServer())
    _ = try rig.play(rig.makeCodedStream(file: 1, frameCount: 24_000))
    try rig.waitForClock { $0.isRunning }
    try rig.waitForClock { !$0.isRunning && $0.heardFrame >= 24_000 }
    #expect(rig.server.capture.runs().map(\.count) == [24_000])
  }

  @Test("twenty seeks land on the exact sample, and the other player loses and repeats none")
  func seeksSpliceAtTheExactSample() throws {
    let rig = try OutputRig(server: PulseServer())
    let capture = rig.server.capture
    let steady = rig.makeStream(frameCount: 1 << 20) {
      StereoFrame(left: Sawtooth.value($0), right: 0)
    }
    _ = try rig.play(steady)
    let seeker = try rig.play(
      rig.makeStream(frameCount: 1 << 17) { StereoFrame(left: 0, right: Sawtooth.value($0)) })
    var position = try capture.waitForFrame { $0.right != 0 }
    var landings: [Int16] = []
    for seek in 1...20 {
      // The distance varies, so that seeks occur in every phase of the device's blocks.
      try capture.waitForFrames(position + 4_801 + 997 * seek)
      let start = (seek * 7_919 + 501) % Sawtooth.period
      let stream = rig.makeStream(frameCount: 1 << 17) {
        StereoFrame(left: 0, right: Sawtooth.value($0, start: start))
      }
      let from = capture.frameCount
      rig.post { $0.setStream(stream, fromFrame: 0, input: seeker) }
      landings.append(Sawtooth.value(0, start: start))
      let landing = Sawtooth.value(2_000, start: start)
      position = try capture.waitForFrame(from: from) { $0.right == landing }
    }
    let frames = capture.frames()
    #expect(Sawtooth.breaks(in: frames.map(\.left)).isEmpty)
    #expect(Sawtooth.breaks(in: frames.map(\.right)) == landings)
    #expect(frames.first { $0 != .silence }?.left == Sawtooth.value(0))
    #expect(frames.first { $0.right != 0 }?.right == Sawtooth.value(0))
    #expect(rig.sink.statistics.spliceCount >= 20)
    #expect(rig.sink.statistics.lateSpliceCount == 0)
  }

  @Test("twenty seeks of the only player land on the exact sample at the next block, even when the sink is blocked")
  func seeksOfTheOnlyPlayerLandOnTheExactSample() throws {
    let rig = try OutputRig(server: PulseServer())
    let capture = rig.server.capture
    let seeker = try rig.play(rig.makeCodedStream(file: 1, frameCount: 1 << 17))
    var position = try capture.waitForCode(file: 1)
    for seek in 1...20 {
      try capture.waitForFrames(position + 6_001 + 997 * seek)
      let isBlocked = seek % 4 == 0
      let file = seek % 15 + 1
      let stream = rig.makeCodedStream(file: file, frameCount: 1 << 17, firstIndex: seek * 7_919)
      if isBlocked {
        // The device reads two blocks without the sink's knowledge before the sink processes the seek.
        rig.drainEvents()
        rig.signals.update { $0.blocksSink = true }
        rig.post { $0.setGain(1, rampFrameCount: 0, input: seeker) }
        #expect(
          rig.signals.wait(until: HostTime.now.advanced(byNanoseconds: 30_000_000_000)) {
            $0.isSinkBlocked ? true : nil
          } == true)
        try capture.waitForMoreFrames(2_048)
      }
      let from = capture.frameCount
      rig.post { $0.setStream(stream, fromFrame: 0, input: seeker) }
      if isBlocked { rig.signals.update { $0.blocksSink = false } }
      position = try capture.waitForCode(file: file, from: from)
    }
    try capture.waitForFrames(position + 24_000)
    let runs = capture.runs()
    // A run that continues after an underrun is not a new position.
    let jumps = runs.indices.filter { $0 == 0 || runs[$0].firstIndex != runs[$0 - 1].endIndex }
    #expect(jumps.map { runs[$0].firstIndex } == [0] + (1...20).map { $0 * 7_919 })
    if rig.sink.statistics.underrunCount == 0 {
      for (run, next) in zip(runs, runs.dropFirst()) {
        #expect(run.endPosition == next.position, "silence at a seek")
      }
    }
  }

  @Test("ten pauses lose and repeat no sample")
  func pauseAndResumeLoseNoSample() throws {
    let rig = try OutputRig(server: PulseServer())
    let capture = rig.server.capture
    let input = try rig.play(rig.makeCodedStream(file: 2, frameCount: 1 << 18))
    var position = try capture.waitForCode(file: 2)
    for pause in 1...10 {
      try capture.waitForFrames(position + 6_000 + 701 * pause)
      rig.post { $0.setRunning(false, input: input) }
      try rig.waitForClock { !$0.isRunning }
      let silence = try capture.waitForSilence(2_000, from: capture.frameCount)
      rig.post { $0.setRunning(true, input: input) }
      position = try capture.waitForCode(file: 2, from: silence)
      try rig.waitForClock { $0.isRunning }
    }
    try capture.waitForFrames(position + 4_800)
    let runs = capture.runs()
    #expect(runs.count >= 11)
    #expect(runs.first?.firstIndex == 0)
    for (run, next) in zip(runs, runs.dropFirst()) { #expect(next.firstIndex == run.endIndex) }
  }

  @Test("an underrun of 400 ms loses and repeats no sample")
  func underrunLosesNoSample() throws {
    let rig = try OutputRig(server: PulseServer())
    let capture = rig.server.capture
    _ = try rig.play(rig.makeCodedStream(file: 5, frameCount: 1 << 19))
    let other = rig.makeStream(frameCount: 10) { _ in .silence }
    try capture.waitForFrames(capture.waitForCode(file: 5) + 24_000)
    rig.drainEvents()
    // The sink's thread is blocked, as if the process were suspended, until 400 ms of silence were played.
    rig.signals.update { $0.blocksSink = true }
    _ = try rig.play(other)
    #expect(
      rig.signals.wait(until: HostTime.now.advanced(byNanoseconds: 30_000_000_000)) {
        $0.isSinkBlocked ? true : nil
      } == true)
    let silence = try capture.waitForSilence(19_200, from: capture.frameCount)
    rig.signals.update { $0.blocksSink = false }
    let resumed = try capture.waitForCode(file: 5, from: silence)
    try capture.waitForFrames(resumed + 24_000)
    let runs = capture.runs()
    #expect(runs.count >= 2)
    #expect(runs.first?.firstIndex == 0)
    for (run, next) in zip(runs, runs.dropFirst()) { #expect(next.firstIndex == run.endIndex) }
    #expect(rig.sink.statistics.underrunCount >= 1)
  }

  @Test("the loss of the server is reported once")
  func lostServerIsReportedOnce() throws {
    let rig = try OutputRig(server: PulseServer())
    _ = try rig.play(rig.makeCodedStream(file: 1, frameCount: 1 << 18))
    try rig.server.capture.waitForCode(file: 1)
    rig.server.kill()
    let deadline = HostTime.now.advanced(byNanoseconds: 30_000_000_000)
    let failure = rig.signals.wait(until: deadline) { $0.failures.first }
    #expect(failure?.code == .outputLost)
    #expect(!rig.core.clock.snapshot().isRunning)
    rig.post { $0.setGain(0.5, rampFrameCount: 0, input: 0) }
    rig.sink.close()
    #expect(rig.signals.withState { $0.failures.count } == 1)
  }
}
