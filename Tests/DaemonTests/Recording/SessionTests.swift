import DaemonTesting
import RigSupport
import Testing

/// Calls on a real PulseAudio, and the daemon's reports of them.
@Suite(.serialized) struct SessionTests {
  @Test func recorderPausesDuringCallsAndNeedsARecordingCategory() throws {
    let rig = try SessionRig()
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
    // The recording ends, and its file is complete.
    try rig.client.reply("session.category playback")
    try state("stopped")
    let stopped = try rig.client.reply("record.stop")
    #expect(stopped.hasPrefix("ok recorder=1 ") && field("fault", stopped) == nil, "\(stopped)")
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-xerror", "-i", file, "-f", "null", "-"])
  }

  @Test func pausedPlayerStaysPausedAfterAnInterruption() throws {
    let rig = try SessionRig()
    _ = try rig.play()
    try rig.client.reply("pause")
    let call = try rig.server.play(role: "phone")
    try rig.interruption("began")
    #expect(field("timeControlStatus", try rig.client.reply("status")) == "paused")
    call.kill()
    try rig.interruption("ended")
    #expect(field("timeControlStatus", try rig.client.reply("status")) == "paused")
  }

  @Test func policyKeepsThePlayerPausedAfterAnInterruption() throws {
    let rig = try SessionRig()
    #expect(field("atEnd", try rig.client.reply("session.policy at-end=pause")) == "pause")
    _ = try rig.play()
    let call = try rig.server.play(role: "phone")
    try rig.interruption("began")
    call.kill()
    #expect(field("shouldResume", try rig.interruption("ended")) == "false")
    let status = try rig.client.reply("status")
    #expect(field("timeControlStatus", status) == "paused" && field("rate", status) == "0")
    // It resumes when a client requests it.
    let silence = try rig.server.capture.waitForSilence(4_800, from: rig.server.capture.frameCount)
    try rig.client.reply("play")
    try rig.server.capture.waitForCode(file: 1, from: silence)
  }

  @Test func timeoutEndsAnEndlessInterruption() throws {
    let rig = try SessionRig()
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
  }

  @Test func duckingIsReportedAsAHintAndPlaybackContinues() throws {
    let rig = try SessionRig("module-role-ducking")
    _ = try rig.play()
    let call = try rig.server.play(role: "phone")
    try rig.wait { $0.hasPrefix("* secondary-audio-hint ") && field("phase", $0) == "began" }
    #expect(field("secondaryAudioShouldBeSilencedHint", try rig.client.reply("session.status")) == "true")
    #expect(field("timeControlStatus", try rig.client.reply("status")) == "playing")
    call.kill()
    try rig.wait { $0.hasPrefix("* secondary-audio-hint ") && field("phase", $0) == "ended" }
  }
}
