import DaemonTesting
import Glibc
import RigSupport
import Testing

/// The whole way: a call on a real PulseAudio interrupts the daemon, and what comes of that.
@Suite(.serialized) struct SessionTests {
  /// A sound server with a role module, a daemon that plays on it, and two connections: one asks, the other watches.
  private struct Rig {
    let server: PulseServer
    let daemon: TestDaemon
    let client: WireClient
    let watcher: WireClient

    init(
      _ module: String = "module-role-cork", _ arguments: String..., folder: TemporaryDirectory? = nil
    ) throws {
      server = try PulseServer()
      try server.loadModule(module)
      let folder = try folder ?? TemporaryDirectory("daemon")
      daemon = try TestDaemon(
        ["--output", "pulse:\(server.sinkName)", "--pulse-server", server.address, "--write-root", folder.path]
          + arguments,
        folder: folder)
      client = try daemon.connect()
      watcher = try daemon.connect()
      try watcher.reply("observe output.state session.events session.isInterrupted player.reasonForWaitingToPlay")
      try wait { field("key", $0) == "output.state" && field("new", $0) == "ready" }
    }

    /// The next event that is wanted.
    @discardableResult
    func wait(_ isWanted: (String) -> Bool) throws -> String {
      while let line = try watcher.line() { if isWanted(line) { return line } }
      throw RigError.programFailed("the daemon closed the connection")
    }

    /// Waits for `* interruption phase=…`.
    @discardableResult
    func interruption(_ phase: String) throws -> String {
      try wait { $0.hasPrefix("* interruption ") && field("phase", $0) == phase }
    }

    /// Plays file 1, from its beginning, and answers where in the capture that is.
    func play(seconds: Int = 60) throws -> Int {
      let path = daemon.folder.file("1.wav")
      try TimeCode.writeWAV(path: path, file: 1, frameCount: 48_000 * seconds)
      try client.reply("load \(path) wait=ready")
      try client.reply("play")
      return try server.capture.waitForCode(file: 1, index: 12_000)
    }

    func stop() throws {
      try daemon.stop()
      server.stop()
    }
  }

  @Test func aCallInterruptsAndItsEndResumesWithoutALostSample() throws {
    let rig = try Rig()
    #expect(try rig.client.reply("session.policy fade=0").hasPrefix("ok at-end=resume timeout=none"))
    _ = try rig.play()
    let capture = rig.server.capture
    for number in 1...3 {
      let call = try rig.server.play(role: "phone")
      try rig.interruption("began")
      let status = try rig.client.reply("status")
      #expect(field("timeControlStatus", status) == "waitingToPlayAtSpecifiedRate")
      #expect(field("reasonForWaitingToPlay", status) == "interrupted")
      #expect(field("rate", status) == "1")
      #expect(field("interrupted", try rig.client.reply("session.status")) == "true")
      let silence = try capture.waitForSilence(9_600, from: capture.frameCount)
      call.kill()
      let end = try rig.interruption("ended")
      #expect(field("by", end) == "server" && field("shouldResume", end) == "true")
      let again = try capture.waitForCode(file: 1, from: silence)
      try capture.waitForFrames(again + 9_600 + 1_009 * number)
    }
    let runs = capture.runs()
    #expect(runs.first?.firstIndex == 0)
    for (run, next) in zip(runs, runs.dropFirst()) {
      #expect(next.firstIndex <= run.endIndex && run.endIndex - next.firstIndex <= 2_400, "\(runs)")
    }
    print("interruptions over the wire: repeated \(zip(runs, runs.dropFirst()).map { $0.endIndex - $1.firstIndex })")
    try rig.stop()
  }

  @Test func whatGoesOnIsFadedInAndInItsPlace() throws {
    let rig = try Rig()
    try rig.client.reply("session.policy fade=0.2")
    _ = try rig.play()
    let capture = rig.server.capture
    let call = try rig.server.play(role: "phone")
    try rig.interruption("began")
    let silence = try capture.waitForSilence(9_600, from: capture.frameCount)
    let heard = try #require(capture.runs().last?.endIndex)
    call.kill()
    try rig.interruption("ended")
    // The first frame that is not silent is the first of the fade, but for those that are rounded to nothing.
    let first = try capture.waitForFrame(from: silence) { $0 != .silence }
    let whole = try capture.waitForCode(file: 1, index: heard + 14_400, from: first)
    #expect(whole - first <= 14_400 + 2_400 && whole - first >= 14_400 - 960, "\(whole - first)")
    let faded = capture.frames(from: first, count: 2_000).map { abs(Int($0.left)) }.max() ?? 0
    let loud = capture.frames(from: whole, count: 2_000).map { abs(Int($0.left)) }.max() ?? 0
    #expect(faded < loud / 2, "\(faded) of \(loud)")
    try rig.stop()
  }

  @Test func whatRecordsStandsWhileACallIsHeardAndTheCategoryHasToAllowIt() throws {
    let rig = try Rig()
    let file = rig.daemon.folder.file("memo.wav")
    try rig.client.reply("session.category playback")
    #expect(try rig.client.reply("record.prepare \(file)").contains("name=session-forbids-recording"))
    try rig.client.reply("session.category playAndRecord")
    #expect(try rig.client.reply("record.prepare \(file)").hasPrefix("ok recorder=1 "))
    try rig.client.reply("session.category playback")
    #expect(try rig.client.reply("record.start").contains("name=session-forbids-recording"))
    try rig.client.reply("session.category playAndRecord")
    _ = try rig.play()
    try rig.watcher.reply("record.watch")
    func state(_ wanted: String) throws {
      try rig.wait { $0.hasPrefix("* recording ") && field("state", $0) == wanted }
    }
    #expect(try rig.client.reply("record.start") == "ok")
    try state("recording")
    #expect(try rig.client.reply("session.active off").contains("name=session-busy"))
    #expect(try rig.client.reply("play") == "ok")
    let call = try rig.server.play(role: "phone")
    try state("paused")
    #expect(try rig.client.reply("record.start").contains("name=session-interrupted"))
    call.kill()
    try state("recording")
    // Whoever does not record any more has a whole file of what was recorded.
    try rig.client.reply("session.category playback")
    try state("stopped")
    let stopped = try rig.client.reply("record.stop")
    #expect(stopped.hasPrefix("ok recorder=1 ") && field("fault", stopped) == nil, "\(stopped)")
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-xerror", "-i", file, "-f", "null", "-"])
    try rig.stop()
  }

  @Test func whatWasPausedBeforeStaysPaused() throws {
    let rig = try Rig()
    _ = try rig.play()
    try rig.client.reply("pause")
    let call = try rig.server.play(role: "phone")
    try rig.interruption("began")
    #expect(field("timeControlStatus", try rig.client.reply("status")) == "paused")
    call.kill()
    try rig.interruption("ended")
    #expect(field("timeControlStatus", try rig.client.reply("status")) == "paused")
    try rig.stop()
  }

  @Test func playAndSessionResumeEndAnInterruptionThatTheServerDoesNot() throws {
    let rig = try Rig()
    try rig.client.reply("session.policy fade=0")
    _ = try rig.play()
    let capture = rig.server.capture
    for command in ["play", "session.resume"] {
      let call = try rig.server.play(role: "phone")
      try rig.interruption("began")
      let silence = try capture.waitForSilence(4_800, from: capture.frameCount)
      #expect(try rig.client.reply("session.active on").hasPrefix("error code=1032"))
      #expect(try rig.client.reply(command) == "ok")
      #expect(field("by", try rig.interruption("ended")) == "request")
      // The call goes on, and so does the sound.
      let again = try capture.waitForCode(file: 1, from: silence)
      try capture.waitForFrames(again + 9_600)
      call.kill()
      call.wait()
    }
    #expect(try rig.client.reply("session.resume").hasPrefix("error code=1003"))
    let runs = capture.runs()
    for (run, next) in zip(runs, runs.dropFirst()) { #expect(next.firstIndex <= run.endIndex, "\(runs)") }
    try rig.stop()
  }

  @Test func pausingInsteadOfResumingIsAPolicy() throws {
    let rig = try Rig()
    #expect(field("at-end", try rig.client.reply("session.policy at-end=pause")) == "pause")
    _ = try rig.play()
    let call = try rig.server.play(role: "phone")
    try rig.interruption("began")
    call.kill()
    #expect(field("shouldResume", try rig.interruption("ended")) == "false")
    let status = try rig.client.reply("status")
    #expect(field("timeControlStatus", status) == "paused" && field("rate", status) == "0")
    // It plays on when it is told to.
    let silence = try rig.server.capture.waitForSilence(4_800, from: rig.server.capture.frameCount)
    try rig.client.reply("play")
    try rig.server.capture.waitForCode(file: 1, from: silence)
    try rig.stop()
  }

  @Test func anEndThatNeverComesIsMadeUpForByTheTimeOut() throws {
    let rig = try Rig()
    try rig.client.reply("session.policy timeout=0.3 at-timeout=resume fade=0")
    _ = try rig.play()
    let call = try rig.server.play(role: "phone")
    try rig.interruption("began")
    let end = try rig.interruption("ended")
    #expect(field("by", end) == "timeOut" && field("shouldResume", end) == "true")
    let capture = rig.server.capture
    let again = try capture.waitForCode(file: 1, from: capture.frameCount)
    try capture.waitForFrames(again + 4_800)
    withExtendedLifetime(call) {}
    try rig.stop()
  }

  @Test func duckingIsToldAsAHintAndPlayingGoesOn() throws {
    let rig = try Rig("module-role-ducking")
    _ = try rig.play()
    let call = try rig.server.play(role: "phone")
    try rig.wait { $0.hasPrefix("* secondary-audio-hint ") && field("phase", $0) == "began" }
    #expect(field("hint", try rig.client.reply("session.status")) == "true")
    #expect(field("timeControlStatus", try rig.client.reply("status")) == "playing")
    call.kill()
    try rig.wait { $0.hasPrefix("* secondary-audio-hint ") && field("phase", $0) == "ended" }
    try rig.stop()
  }

  @Test func anotherCategoryIsAnotherRoleAtOnceEvenDuringACall() throws {
    let rig = try Rig()
    try rig.client.reply("session.policy fade=0")
    _ = try rig.play()
    let call = try rig.server.play(role: "phone")
    try rig.interruption("began")
    let silence = try rig.server.capture.waitForSilence(4_800, from: rig.server.capture.frameCount)
    // `game` is no role that a call has stand still: a new stream plays on.
    let reply = try rig.client.reply("session.category ambient")
    #expect(field("role", reply) == "game" && field("others", reply) == "mixed")
    #expect(field("by", try rig.interruption("ended")) == "outputLost")
    try rig.server.capture.waitForCode(file: 1, from: silence)
    let runs = rig.server.capture.runs()
    #expect(zip(runs, runs.dropFirst()).allSatisfy { $1.firstIndex <= $0.endIndex }, "\(runs)")
    withExtendedLifetime(call) {}
    try rig.stop()
  }

  @Test func aDaemonThatStartsDuringACallIsInterruptedFromTheBeginning() throws {
    let server = try PulseServer()
    try server.loadModule("module-role-cork")
    let call = try server.play(role: "phone")
    let daemon = try TestDaemon("--output", "pulse:\(server.sinkName)", "--pulse-server", server.address)
    let client = try daemon.connect()
    let watcher = try daemon.connect()
    try watcher.reply("observe session.isInterrupted")
    while field("new", try watcher.line() ?? "") != "true" {}
    let path = daemon.folder.file("1.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 48_000)
    try client.reply("load \(path) wait=ready")
    call.kill()
    while field("new", try watcher.line() ?? "") != "false" {}
    #expect(field("timeControlStatus", try client.reply("status")) == "paused")
    try client.reply("play")
    let start = try server.capture.waitForCode(file: 1)
    try server.capture.waitForCode(file: 1, index: 47_999, from: start)
    #expect(server.capture.runs().map(\.count) == [48_000])
    try daemon.stop()
  }
}
