import PlayheadMediaCore
import PlayheadPulseIO
import PlayheadRealtimeAudio
import RigSupport
import Testing

/// A real PulseAudio with its role modules, and another program's stream whose role triggers them.
///
/// In real time, because the server corks a stream between two blocks of its device, and the clock estimates where.
@Suite("Roles on a private server", .serialized)
struct RoleRigTests {
  /// All notices from the server about the stream, in order.
  private final class Notices: Sendable {
    let all = ConditionMutex<[SharingNotice]>([])

    /// Waits until there are `count` notices, and returns them.
    func wait(for count: Int) throws -> [SharingNotice] {
      let deadline = HostTime.now.advanced(byNanoseconds: 30_000_000_000)
      guard let notices = all.wait(until: deadline, { $0.count >= count ? $0 : nil }) else {
        throw RigError.timedOut("\(count) notices; there are \(all.withState { $0 })")
      }
      return notices
    }
  }

  private func rig(
    _ notices: Notices, role: StreamRole = .music, latencyMilliseconds: Int = 100, server: PulseServer? = nil,
    modules: String...
  ) throws -> OutputRig {
    let server = try server ?? PulseServer()
    for module in modules { try server.loadModule(module) }
    return try OutputRig(
      server: server, configuration: { $0.latencyMilliseconds = latencyMilliseconds },
      prepare: { sink in
        sink.prepare(role: role) { notice in notices.all.update { $0.append(notice) } }
      })
  }

  @Test("five calls cork the stream: no sample is lost, and at most a block is repeated")
  func interruptionsLoseNoSample() throws {
    let notices = Notices()
    let rig = try rig(notices, modules: "module-role-cork")
    let capture = rig.server.capture
    _ = try rig.play(rig.makeCodedStream(file: 1, frameCount: 1 << 19))
    var position = try capture.waitForCode(file: 1)
    var repeated: [Int] = []
    for number in 1...5 {
      try capture.waitForFrames(position + 12_000 + 1_501 * number)
      let call = try rig.server.play(role: "phone")
      #expect(try notices.wait(for: 2 * number - 1).last == .interruptionBegan)
      try rig.waitForClock { !$0.isRunning }
      let pausedFrame = rig.core.clock.snapshot().heardFrame(at: .now)
      let silence = try capture.waitForSilence(9_600, from: capture.frameCount)
      call.kill()
      #expect(try notices.wait(for: 2 * number).last == .interruptionEnded)
      // The server uncorks the stream, but it stays paused until it is resumed.
      try capture.waitForSilence(4_800, from: capture.frameCount)
      #expect(rig.core.clock.snapshot().heardFrame(at: .now) == pausedFrame)
      rig.drainEvents()
      rig.sink.endInterruption(overrulesServer: false)
      position = try capture.waitForCode(file: 1, from: silence)
      try rig.waitForClock { $0.isRunning }
    }
    try capture.waitForFrames(position + 4_800)
    let runs = capture.runs()
    #expect(runs.first?.firstIndex == 0)
    for (run, next) in zip(runs, runs.dropFirst()) {
      repeated.append(run.endIndex - next.firstIndex)
      #expect(next.firstIndex <= run.endIndex, "lost: \(runs)")
      #expect(run.endIndex - next.firstIndex <= 2_400, "repeated: \(runs)")
    }
    print("interruptions: frames repeated \(repeated)")
    #expect(rig.signals.withState { $0.failures } == [])
  }

  @Test("a sink that is blocked when a call begins rewinds to the audio that was read muted, and loses nothing")
  func interruptionOfABlockedSinkLosesNothing() throws {
    let notices = Notices()
    // Enough audio is queued for the whole time.
    let rig = try rig(notices, latencyMilliseconds: 2_000, modules: "module-role-cork")
    let capture = rig.server.capture
    _ = try rig.play(rig.makeCodedStream(file: 8, frameCount: 1 << 18))
    // Its end is reported when it is rendered, which is two seconds ahead.
    _ = try rig.play(rig.makeStream(frameCount: 144_000) { _ in .silence })
    let position = try capture.waitForCode(file: 8)
    try capture.waitForFrames(position + 24_000)
    // The sink's thread is blocked and the server's request waits, while the device continues to read a muted stream.
    rig.drainEvents()
    rig.signals.update { $0.blocksSink = true }
    let deadline = HostTime.now.advanced(byNanoseconds: 30_000_000_000)
    #expect(rig.signals.wait(until: deadline) { $0.isSinkBlocked ? true : nil } == true)
    let call = try rig.server.play(role: "phone")
    _ = try capture.waitForSilence(4_800, from: position)
    rig.signals.update { $0.blocksSink = false }
    #expect(try notices.wait(for: 1) == [.interruptionBegan])
    let silence = try capture.waitForSilence(9_600, from: capture.frameCount)
    call.kill()
    #expect(try notices.wait(for: 2).last == .interruptionEnded)
    rig.sink.endInterruption(overrulesServer: false)
    let resumed = try capture.waitForCode(file: 8, from: silence)
    try capture.waitForFrames(resumed + 24_000)
    let runs = capture.runs()
    let repeatedCount = (runs.dropLast().last?.endIndex ?? 0) - (runs.last?.firstIndex ?? .max)
    print("blocked during an interruption: frames repeated \(repeatedCount)")
    #expect(runs.count == 2 && repeatedCount >= 0 && repeatedCount <= 4_800, "\(runs)")
  }

  @Test("an overruled interruption lets the stream play during the call, whose end sends no notice")
  func overruledInterruptionContinuesDuringTheCall() throws {
    let notices = Notices()
    let rig = try rig(notices, modules: "module-role-cork")
    let capture = rig.server.capture
    _ = try rig.play(rig.makeCodedStream(file: 2, frameCount: 1 << 18))
    let position = try capture.waitForCode(file: 2)
    try capture.waitForFrames(position + 12_000)
    let call = try rig.server.play(role: "phone")
    _ = try notices.wait(for: 1)
    let silence = try capture.waitForSilence(4_800, from: capture.frameCount)
    rig.sink.endInterruption(overrulesServer: true)
    let resumed = try capture.waitForCode(file: 2, from: silence)
    try capture.waitForFrames(resumed + 9_600)
    let during = capture.runs().last?.count ?? 0
    #expect(during > 4_800)
    call.kill()
    try capture.waitForFrames(capture.frameCount + 24_000)
    let runs = capture.runs()
    #expect(runs.count == 2, "\(runs)")
    #expect(notices.all.withState { $0 } == [.interruptionBegan])
  }

  @Test("a stream that is created during a call is interrupted, and loses nothing")
  func streamCreatedDuringACallLosesNothing() throws {
    let notices = Notices()
    let server = try PulseServer()
    try server.loadModule("module-role-cork")
    let call = try server.play(role: "phone")
    let rig = try rig(notices, server: server)
    _ = try rig.play(rig.makeCodedStream(file: 3, frameCount: 48_000))
    #expect(try notices.wait(for: 1) == [.interruptionBegan])
    call.kill()
    #expect(try notices.wait(for: 2).last == .interruptionEnded)
    rig.sink.endInterruption(overrulesServer: false)
    let start = try server.capture.waitForCode(file: 3)
    try server.capture.waitForCode(file: 3, index: 47_999, from: start)
    // The last run is the whole file. Before it there may be its start, if the call's stream was created after this
    // one.
    let runs = server.capture.runs()
    #expect(runs.last?.count == 48_000 && runs.dropLast().allSatisfy { $0.count <= 4_800 }, "\(runs)")
  }

  @Test("a sink without an observer of notices pauses and resumes with the server")
  func sinkWithoutAnObserverFollowsTheServer() throws {
    let server = try PulseServer()
    try server.loadModule("module-role-cork")
    let rig = try OutputRig(server: server)
    _ = try rig.play(rig.makeCodedStream(file: 4, frameCount: 1 << 18))
    let position = try server.capture.waitForCode(file: 4)
    try server.capture.waitForFrames(position + 12_000)
    let call = try server.play(role: "phone")
    let silence = try server.capture.waitForSilence(9_600, from: position + 12_000)
    call.kill()
    let resumed = try server.capture.waitForCode(file: 4, from: silence)
    try server.capture.waitForFrames(resumed + 4_800)
    let runs = server.capture.runs()
    #expect(runs.count == 2 && runs[1].firstIndex <= runs[0].endIndex, "\(runs)")
  }

  @Test("the start and the end of ducking are detected from the rules of the module")
  func duckingIsDetectedFromTheRulesOfTheModule() throws {
    let notices = Notices()
    let rig = try rig(notices, modules: "module-role-ducking")
    let capture = rig.server.capture
    _ = try rig.play(rig.makeCodedStream(file: 5, frameCount: 1 << 18))
    try capture.waitForCode(file: 5)
    let call = try rig.server.play(role: "phone")
    #expect(try notices.wait(for: 1) == [.duckingBegan])
    // Audio with reduced volume is not a time code.
    let lowered = try capture.waitForFrame { $0 != .silence && TimeCode.decode($0) == nil }
    try capture.waitForFrames(lowered + 4_800)
    call.kill()
    #expect(try notices.wait(for: 2) == [.duckingBegan, .duckingEnded])
    // At the original volume again, at the position without ducking.
    let resumed = try capture.waitForCode(file: 5, from: capture.frameCount)
    try capture.waitForFrames(resumed + 4_800)
    let runs = capture.runs()
    let (first, last) = (try #require(runs.first), try #require(runs.last))
    #expect(last.firstIndex - first.firstIndex == last.position - first.position, "\(runs)")
  }

  @Test("a module that is loaded or unloaded while the stream exists takes effect")
  func modulesLoadedWhilePlayingTakeEffect() throws {
    let notices = Notices()
    let rig = try rig(notices)
    _ = try rig.play(rig.makeCodedStream(file: 6, frameCount: 1 << 19))
    try rig.server.capture.waitForCode(file: 6)
    let event = try rig.server.play(role: "event")
    // Ducking applies from the next new stream on.
    try rig.server.loadModule("module-role-ducking trigger_roles=event")
    #expect(try notices.wait(for: 1) == [.duckingBegan])
    try rig.server.control("unload-module", "module-role-ducking")
    #expect(try notices.wait(for: 2) == [.duckingBegan, .duckingEnded])
    withExtendedLifetime(event) {}
  }

  @Test("the role of a playing stream can change: as a call it corks another program")
  func roleChangeCorksAnotherProgram() throws {
    let notices = Notices()
    let rig = try rig(notices, role: .music, modules: "module-role-cork")
    let capture = rig.server.capture
    let other = PulseSink(.init(server: rig.server.address))
    let others = Notices()
    other.prepare(role: .music) { notice in others.all.update { $0.append(notice) } }
    let core = RenderCore(format: try other.open())
    let wakes = ConditionMutex(0)
    other.start(core: core, wakeControl: { wakes.update { $0 += 1 } }, onFailure: { _ in })
    defer { other.close() }
    _ = try rig.play(rig.makeCodedStream(file: 7, frameCount: 1 << 18))
    try capture.waitForCode(file: 7)
    let input = try #require(core.attachInput())
    let sawtooth = RenderStream(capacityFrames: 1 << 18, channelCount: 2)
    _ = sawtooth.write([Float](repeating: 0, count: 1 << 19), frameCount: 1 << 18)
    core.setStream(sawtooth, fromFrame: 0, input: input)
    core.setRunning(true, input: input)
    core.postCommands()
    other.commandsPosted()
    // A paused stream gets no requests.
    let deadline = HostTime.now.advanced(byNanoseconds: 30_000_000_000)
    #expect(wakes.wait(until: deadline) { _ in core.clock.snapshot().isRunning ? true : nil } == true)
    rig.sink.setRole(.phone)
    #expect(try others.wait(for: 1) == [.interruptionBegan])
    rig.sink.setRole(.game)
    #expect(try others.wait(for: 2) == [.interruptionBegan, .interruptionEnded])
    #expect(notices.all.withState { $0 } == [])
    let count = capture.frameCount
    try capture.waitForFrames(count + 4_800)
    #expect(capture.runs().count == 1, "\(capture.runs())")
  }
}
