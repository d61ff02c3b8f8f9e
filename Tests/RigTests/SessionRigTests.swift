import DaemonTesting
import RigSupport
import Testing

/// Calls that interrupt playback on a real PulseAudio: the samples that its device plays before and after them.
///
/// In real time, because the server corks the stream between two blocks of its device.
@Suite(.serialized) struct SessionRigTests {
  @Test func callInterruptsAndItsEndResumesWithoutALostSample() throws {
    let rig = try SessionRig()
    #expect(try rig.client.reply("session.policy fade=0").hasPrefix("ok atEnd=resume timeout=none"))
    _ = try rig.play()
    let capture = rig.server.capture
    for number in 1...3 {
      let call = try rig.server.play(role: "phone")
      try rig.interruption("began")
      let status = try rig.client.reply("status")
      #expect(field("timeControlStatus", status) == "waitingToPlayAtSpecifiedRate")
      #expect(field("reasonForWaitingToPlay", status) == "interrupted")
      #expect(field("rate", status) == "1")
      #expect(field("isInterrupted", try rig.client.reply("session.status")) == "true")
      let silence = try capture.waitForSilence(9_600, from: capture.frameCount)
      call.kill()
      let end = try rig.interruption("ended")
      #expect(field("by", end) == "server" && field("shouldResume", end) == "true")
      let resumed = try capture.waitForCode(file: 1, from: silence)
      try capture.waitForFrames(resumed + 9_600 + 1_009 * number)
    }
    let runs = capture.runs()
    #expect(runs.first?.firstIndex == 0)
    for (run, next) in zip(runs, runs.dropFirst()) {
      #expect(next.firstIndex <= run.endIndex && run.endIndex - next.firstIndex <= 2_400, "\(runs)")
    }
    print("interruptions over the wire: repeated \(zip(runs, runs.dropFirst()).map { $0.endIndex - $1.firstIndex })")
  }

  @Test func resumedAudioFadesInAtItsPosition() throws {
    let rig = try SessionRig()
    try rig.client.reply("session.policy fade=0.2")
    _ = try rig.play()
    let capture = rig.server.capture
    let call = try rig.server.play(role: "phone")
    try rig.interruption("began")
    let silence = try capture.waitForSilence(9_600, from: capture.frameCount)
    let heard = try #require(capture.runs().last?.endIndex)
    call.kill()
    try rig.interruption("ended")
    // The first frame that is not silent is the start of the fade, apart from frames that round to zero.
    let first = try capture.waitForFrame(from: silence) { $0 != .silence }
    let whole = try capture.waitForCode(file: 1, index: heard + 14_400, from: first)
    #expect(whole - first <= 14_400 + 2_400 && whole - first >= 14_400 - 960, "\(whole - first)")
    let faded = capture.frames(from: first, count: 2_000).map { abs(Int($0.left)) }.max() ?? 0
    let loud = capture.frames(from: whole, count: 2_000).map { abs(Int($0.left)) }.max() ?? 0
    #expect(faded < loud / 2, "\(faded) of \(loud)")
  }

  @Test func playAndSessionResumeEndAnInterruptionDuringTheCall() throws {
    let rig = try SessionRig()
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
      // The call continues, and so does the audio.
      let resumed = try capture.waitForCode(file: 1, from: silence)
      try capture.waitForFrames(resumed + 9_600)
      call.kill()
      call.wait()
    }
    #expect(try rig.client.reply("session.resume").hasPrefix("error code=1003"))
    let runs = capture.runs()
    for (run, next) in zip(runs, runs.dropFirst()) { #expect(next.firstIndex <= run.endIndex, "\(runs)") }
  }

  @Test func categoryChangeChangesTheRoleDuringACall() throws {
    let rig = try SessionRig()
    try rig.client.reply("session.policy fade=0")
    _ = try rig.play()
    let call = try rig.server.play(role: "phone")
    try rig.interruption("began")
    let silence = try rig.server.capture.waitForSilence(4_800, from: rig.server.capture.frameCount)
    // A call does not cork streams with the role `game`: the new stream continues.
    let reply = try rig.client.reply("session.category ambient")
    #expect(field("role", reply) == "game" && field("otherAudio", reply) == "mixed")
    #expect(field("by", try rig.interruption("ended")) == "outputLost")
    try rig.server.capture.waitForCode(file: 1, from: silence)
    let runs = rig.server.capture.runs()
    #expect(zip(runs, runs.dropFirst()).allSatisfy { $1.firstIndex <= $0.endIndex }, "\(runs)")
    withExtendedLifetime(call) {}
  }

  @Test func daemonStartedDuringACallIsInterrupted() throws {
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
  }
}
