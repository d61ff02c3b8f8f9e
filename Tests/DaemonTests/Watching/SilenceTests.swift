import DaemonTesting
import RigSupport
import Testing

/// `silence`, its event, and `wait silence>=TIME`.
@Suite struct SilenceCommandTests {
  @Test func silenceIsSetShownAndReported() throws {
    let client = try InProcessServer.recording().connect()
    #expect(try client.reply("silence") == "ok duration=none threshold=-60")
    #expect(try client.reply("observe player.events").hasPrefix("ok id=1"))
    #expect(try client.reply("silence 2.5 threshold=-50") == "ok duration=2.5 threshold=-50")
    try client.send("clock.advance 3")
    let event = try client.line() ?? ""
    #expect(
      event.hasPrefix("* silence id=1 player=main phase=began frame=none hostTime=0 duration=2.5"), "\(event)")
    #expect(try client.line() == "ok now=3")
    #expect(try client.reply("silence none") == "ok duration=none threshold=-50")
    #expect(try client.reply("clock.advance 10") == "ok now=13")
    for request in ["silence 0.01", "silence 86401", "silence -1", "silence soon"] {
      #expect(try client.reply(request).hasPrefix("error code=1002 name=invalid-time"), "\(request)")
    }
    #expect(try client.reply("silence 5 threshold=1").hasPrefix("error code=6002 name=bad-arguments"))
    #expect(try client.reply("silence") == "ok duration=none threshold=-50")
  }

  @Test func waitEndsAfterSilence() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 96_000)
    try client.reply("load \(path) wait=ready")
    try client.reply("play")
    try client.send("@1 wait silence>=1.5", "@2 wait silence>=1 timeout=2", "clock.advance 5")
    // The item ends at 2 s.
    let replies = try (0..<3).map { _ in try client.line() ?? "" }
    #expect(replies[0].hasPrefix("@2 error code=6011 name=timed-out"), "\(replies)")
    #expect(replies[1].hasPrefix("@1 ok item=none"), "\(replies)")
    #expect(replies[2] == "ok now=5")
  }
}
