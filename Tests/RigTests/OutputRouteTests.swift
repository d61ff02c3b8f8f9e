import DaemonTesting
import Glibc
import RigSupport
import Testing

/// Output devices that appear and disappear, and servers that crash, hang and return, on PulseAudio and PipeWire: the
/// daemon's reports, and that no sample is lost.
///
/// In real time, because only the device's clock shows how much it played before it disappeared.
@Suite(.serialized) struct OutputRouteTests {
  typealias Kind = SoundServerKind

  /// The maximum number of samples that are heard twice: 75 ms, three blocks of PipeWire and a little more.
  static let maximumRepetition = 3_600

  /// A server, a daemon that plays to it, and a connection that observes the output.
  struct Rig {
    let server: any SoundServer
    let daemon: TestDaemon
    let client: WireClient
    let watcher: WireClient

    /// Starts a daemon on a server.
    init(_ server: any SoundServer, _ options: String...) throws {
      self.server = server
      daemon = try TestDaemon(["--pulse-server", server.address] + options)
      client = try daemon.connect()
      watcher = try daemon.connect()
      try watcher.reply("observe output.state")
      try wait("output.state", "ready")
      try watcher.reply("observe output.devices output.route output.events")
    }

    /// Waits until a key has a value with this prefix.
    @discardableResult
    func wait(_ key: String, _ value: String) throws -> String {
      while let line = try watcher.line() {
        if field("key", line) == key, field("new", line)?.hasPrefix(value) == true { return line }
      }
      throw Program.Failure(description: "the daemon ended")
    }

    /// Waits for the next change of the route.
    func route() throws -> String {
      while let line = try watcher.line() { if line.hasPrefix("* route-changed ") { return line } }
      throw Program.Failure(description: "the daemon ended")
    }

    /// Plays a minute of time code. Returns when `capture` has received it.
    func play(heardBy capture: Capture, for frameCount: Int = 24_000) throws {
      let path = daemon.folder.file("1.wav")
      try TimeCode.writeWAV(path: path, file: 1, frameCount: 48_000 * 60)
      try client.reply("load \(path) wait=ready")
      try client.reply("play")
      try capture.waitForCode(file: 1, index: frameCount)
    }
  }

  /// Checks that playback continues on another device without a skipped sample and with at most 50 ms of repetition.
  private func expectContinuation(
    _ what: String, _ kind: Kind, from heard: Int, at first: Int, _ location: SourceLocation = #_sourceLocation
  ) {
    print("\(what), \(kind): heard up to \(heard), resumes at \(first): \((heard - first) * 1_000 / 48_000) ms twice")
    #expect(
      first <= heard && first >= heard - Self.maximumRepetition, "\(what): \(heard) then \(first)",
      sourceLocation: location)
  }

  /// The index after the last played sample.
  private func lastHeard(_ capture: Capture) -> Int { capture.runs().last?.endIndex ?? 0 }

  // MARK: - Devices

  @Test(arguments: Kind.allCases) func devicesAreListedAndObserved(kind: Kind) throws {
    let rig = try Rig(try kind.start(), "--output", "pulse")
    try rig.wait("output.route", "rig")
    try rig.wait("output.devices", "rig")
    let list = try rig.client.ask("output.list")
    #expect(
      list.contains { $0.hasPrefix("| kind=output device=rig ") && $0.contains(" default=true current=true ") },
      "\(list)")
    #expect(
      list.contains { $0.hasPrefix("| kind=input device=rig.monitor ") && $0.contains(" monitorOf=rig") }, "\(list)")
    #expect(list.last?.lowercased().contains(kind.rawValue.lowercased()) == true, "\(list)")
    _ = try rig.server.addSink("second")
    #expect(field("new", try rig.wait("output.devices", "rig,second")) == "rig,second")
    try rig.server.removeSink("second")
    while field("new", try rig.wait("output.devices", "rig")) != "rig" {}
    #expect(field("route", try rig.client.reply("output.status")) == "rig")
  }

  // MARK: - Disappearing devices

  @Test(arguments: Kind.allCases) func removalOfTheDevicePausesWithoutSwitchingToAnother(kind: Kind) throws {
    let server = try kind.start()
    let headset = try server.addSink("headset")
    let rig = try Rig(server, "--output", "pulse:headset")
    try rig.play(heardBy: headset)
    try server.removeSink("headset")
    let change = try rig.route()
    #expect(field("reason", change) == "oldDeviceUnavailable" && field("previous", change) == "headset", "\(change)")
    #expect(field("current", change) == "rig", "\(change)")
    let status = try rig.client.reply("status")
    #expect(field("timeControlStatus", status) == "paused", "\(status)")
    #expect(server.capture.runs() == [])
    try rig.client.reply("play")
    try server.capture.waitForCode(file: 1, index: lastHeard(headset) + 4_800)
    expectContinuation("pause", kind, from: lastHeard(headset), at: server.capture.runs().first?.firstIndex ?? -1)
  }

  @Test(arguments: Kind.allCases) func lostDeviceMoveContinuesOnTheNextDevice(kind: Kind) throws {
    let server = try kind.start()
    let headset = try server.addSink("headset")
    let rig = try Rig(server, "--output", "pulse:headset", "--lost-device", "move")
    try rig.play(heardBy: headset)
    try server.removeSink("headset")
    #expect(field("reason", try rig.route()) == "oldDeviceUnavailable")
    try server.capture.waitForCode(file: 1, index: lastHeard(headset) + 24_000)
    expectContinuation("move", kind, from: lastHeard(headset), at: server.capture.runs().first?.firstIndex ?? -1)
    #expect(server.capture.runs().count == 1)
  }

  @Test(arguments: Kind.allCases) func lostDeviceHoldWaitsForTheSameDevice(kind: Kind) throws {
    let server = try kind.start()
    let headset = try server.addSink("headset")
    let rig = try Rig(server, "--output", "pulse:headset", "--lost-device", "hold")
    try rig.play(heardBy: headset)
    try server.removeSink("headset")
    let change = try rig.route()
    #expect(field("reason", change) == "oldDeviceUnavailable" && field("current", change) == "none", "\(change)")
    let status = try rig.client.reply("status")
    #expect(field("reasonForWaitingToPlay", status) == "outputUnavailable", "\(status)")
    let restored = try server.addSink("headset")
    try restored.waitForCode(file: 1, index: lastHeard(headset) + 4_800)
    expectContinuation("hold", kind, from: lastHeard(headset), at: restored.runs().first?.firstIndex ?? -1)
    #expect(server.capture.runs() == [])
  }

  @Test(arguments: Kind.allCases) func lostDeviceNullContinuesInSilenceUntilTheDeviceReturns(kind: Kind) throws {
    let server = try kind.start()
    let headset = try server.addSink("headset")
    let rig = try Rig(server, "--output", "pulse:headset", "--lost-device", "null")
    try rig.play(heardBy: headset)
    try server.removeSink("headset")
    #expect(field("current", try rig.route()) == "none")
    let heard = lastHeard(headset)
    #expect(field("state", try rig.client.reply("output.status")) == "fallback")
    #expect(try rig.client.reply("wait time>=\(heard + 24_000)/48000 timeout=20").hasPrefix("ok"))
    let restored = try server.addSink("headset")
    try restored.waitForCode(file: 1)
    #expect(restored.runs().first?.firstIndex ?? 0 >= heard + 24_000 - Self.maximumRepetition)
    #expect(server.capture.runs() == [])
  }

  @Test(arguments: Kind.allCases) func preferredDeviceIsUsedWhenItAppears(kind: Kind) throws {
    let server = try kind.start()
    let rig = try Rig(server, "--output", "pulse", "--preferred-output", "headset", "--lost-device", "move")
    try rig.play(heardBy: server.capture)
    let headset = try server.addSink("headset")
    let change = try rig.route()
    #expect(field("reason", change) == "newDeviceAvailable" && field("current", change) == "headset", "\(change)")
    try headset.waitForCode(file: 1, index: lastHeard(server.capture) + 4_800)
    expectContinuation("preferred", kind, from: lastHeard(server.capture), at: headset.runs().first?.firstIndex ?? -1)
    #expect(field("timeControlStatus", try rig.client.reply("status")) == "playing")
  }

  // MARK: - Choosing and moving

  @Test(arguments: Kind.allCases) func selectionOfAnotherDeviceLosesNoSample(kind: Kind) throws {
    let server = try kind.start()
    let second = try server.addSink("second")
    let rig = try Rig(server, "--output", "pulse:rig")
    try rig.wait("output.devices", "rig,second")
    try rig.play(heardBy: server.capture)
    #expect(try rig.client.reply("output.set nowhere").hasPrefix("error code=5012 name=no-such-device"))
    let reply = try rig.client.reply("output.set second")
    #expect(field("selected", reply) == "second" && field("output", reply) == "pulse:rig", "\(reply)")
    let change = try rig.route()
    #expect(field("reason", change) == "override" && field("current", change) == "second", "\(change)")
    try second.waitForCode(file: 1, index: lastHeard(server.capture) + 4_800)
    expectContinuation("chosen", kind, from: lastHeard(server.capture), at: second.runs().first?.firstIndex ?? -1)
  }

  @Test(arguments: Kind.allCases) func streamMovedByTheServerIsReportedAndContinues(kind: Kind) throws {
    let server = try kind.start()
    let second = try server.addSink("second")
    let rig = try Rig(server, "--output", "pulse")
    try rig.play(heardBy: server.capture)
    try server.moveStreams(to: "second")
    let change = try rig.route()
    #expect(field("previous", change) == "rig" && field("current", change) == "second", "\(change)")
    try second.waitForCode(file: 1)
    try second.waitForCode(file: 1, index: lastHeard(server.capture) + 48_000)
    print("moved, \(kind): \(server.capture.runs()) then \(second.runs())")
    #expect(field("timeControlStatus", try rig.client.reply("status")) == "playing")
    #expect(field("output", try rig.client.reply("output.status")) == "pulse:second")
  }

  // MARK: - Servers that crash and hang

  @Test(arguments: Kind.allCases) func playbackResumesWithoutLossAfterTheServerIsKilled(kind: Kind) throws {
    let server = try kind.start()
    let rig = try Rig(server, "--output", "auto")
    try rig.play(heardBy: server.capture)
    server.kill()
    let change = try rig.route()
    #expect(field("reason", change) == "noSuitableRoute" && field("current", change) == "none", "\(change)")
    let status = try rig.client.reply("status")
    #expect(field("reasonForWaitingToPlay", status) == "outputUnavailable", "\(status)")
    #expect(field("state", try rig.client.reply("output.status")) == "lost")
    let next = try kind.start(in: server.directory)
    try next.capture.waitForCode(file: 1, index: lastHeard(server.capture) + 4_800)
    expectContinuation("killed", kind, from: lastHeard(server.capture), at: next.capture.runs().first?.firstIndex ?? -1)
  }

  @Test(arguments: Kind.allCases) func playbackResumesWithoutLossAfterTheServerHangs(kind: Kind) throws {
    let server = try kind.start()
    let rig = try Rig(server, "--output", "pulse")
    try rig.play(heardBy: server.capture)
    try rig.watcher.reply("observe output.state")
    server.suspend()
    try rig.wait("output.state", "unresponsive")
    let status = try rig.client.reply("status")
    #expect(field("reasonForWaitingToPlay", status) == "outputUnavailable", "\(status)")
    let heard = lastHeard(server.capture)
    server.resume()
    try rig.wait("output.state", "ready")
    try server.capture.waitForCode(file: 1, index: heard + 48_000)
    #expect(field("timeControlStatus", try rig.client.reply("status")) == "playing")
    let runs = server.capture.runs()
    let coverage = TimeCode.coverage(of: runs)
    print("hangs, \(kind): heard up to \(heard), then \(runs): \(coverage.repeated * 1_000 / 48_000) ms twice")
    #expect(coverage.missing == 0 && coverage.repeated <= Self.maximumRepetition, "\(runs)")
  }

  /// The daemon is suspended for 60 ms, which the server's buffer covers, or longer. No sample is skipped, and no
  /// sample that the server consumed is treated as lost and repeated.
  @Test(arguments: Kind.allCases, [2_880, 7_200, 19_200])
  func suspendedDaemonNeitherLosesNorRepeatsSamples(kind: Kind, frameCount: Int) throws {
    let server = try kind.start()
    let rig = try Rig(server, "--output", "pulse")
    try rig.play(heardBy: server.capture)
    for _ in 1...4 {
      rig.daemon.process.signal(SIGSTOP)
      try server.capture.waitForMoreFrames(frameCount)
      rig.daemon.process.signal(SIGCONT)
      let heard = lastHeard(server.capture)
      try server.capture.waitForCode(file: 1, index: heard + 14_400)
    }
    let runs = server.capture.runs()
    let coverage = TimeCode.coverage(of: runs)
    print("daemon suspended for \(frameCount) frames, \(kind): \(runs.count) runs, \(coverage)")
    #expect(coverage == (0, 0), "\(runs)")
  }

  @Test(arguments: Kind.allCases) func playbackResumesWithoutLossAfterAHangingServerIsKilled(kind: Kind) throws {
    let server = try kind.start()
    let rig = try Rig(server, "--output", "pulse")
    try rig.play(heardBy: server.capture)
    try rig.watcher.reply("observe output.state")
    server.suspend()
    try rig.wait("output.state", "unresponsive")
    server.kill()
    try rig.wait("output.state", "lost")
    let next = try kind.start(in: server.directory)
    try next.capture.waitForCode(file: 1, index: lastHeard(server.capture) + 4_800)
    expectContinuation(
      "hangs and is killed", kind, from: lastHeard(server.capture), at: next.capture.runs().first?.firstIndex ?? -1)
  }
}
