import DaemonTesting
import RigSupport
import Testing

/// Replay gain over the wire, on the virtual clock.
@Suite struct ReplayGainTests {
  /// A FLAC file with a constant level, and tags.
  private func tagged(_ daemon: TestServer, _ name: String, frames: Int, _ tags: [String]) throws -> String {
    let path = daemon.folder.file(name)
    try TimeCode.writeWAV(path: path + ".wav", frameCount: frames) { _ in StereoFrame(left: 8_192, right: -8_192) }
    try Fixtures.ffmpeg(
      ["-nostdin", "-v", "error", "-y", "-i", path + ".wav"] + tags.flatMap { ["-metadata", $0] }
        + ["-c:a", "flac", path])
    return path
  }

  @Test func replayGainIsSetReportedObservedAndAppliedFromTheFirstSample() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let one = try tagged(
      daemon, "one.flac", frames: 24_000,
      ["REPLAYGAIN_TRACK_GAIN=-6.02 dB", "REPLAYGAIN_ALBUM_GAIN=-3.01 dB", "ALBUM=A", "TRACKNUMBER=1"])
    let two = try tagged(
      daemon, "two.flac", frames: 24_000, ["REPLAYGAIN_TRACK_GAIN=6.02 dB", "REPLAYGAIN_TRACK_PEAK=0.75"])
    #expect(
      try client.reply("replay-gain")
        == "ok mode=off preAmp=0 fallback=0 protect=true item=none gain=none source=none limited=none")
    try client.reply("observe player.replayGain")
    _ = try client.line()
    #expect(
      try client.ask("replay-gain track fallback=-3.5 pre-amp=0").unnumbered == [
        "* changed id=1 player=main key=player.replayGain old=off new=track cause=request",
        "ok mode=track preAmp=0 fallback=-3.5 protect=true item=none gain=none source=none limited=none",
      ])
    try client.reply("append \(one) \(two) wait=ready")
    #expect(
      try client.reply("replay-gain")
        == "ok mode=track preAmp=0 fallback=-3.5 protect=true item=1 gain=-6.02 source=track limited=false")
    let shown = try daemon.playhead("replay-gain", "--human").output
    #expect(shown == "Replay gain: track; entry 1: -6.02 dB (track)\n")
    #expect(field("replayGain", try client.reply("status")) == "track")
    let second = try client.reply("item.status 2")
    #expect(field("gain", second) == "2.5" && field("gainSource", second) == "track")
    #expect(field("gainLimited", second) == "true")
    try client.reply("play")
    try client.reply("clock.advance 1.2")
    try daemon.finish()
    let frames = try Recording.frames(in: daemon.folder.file("out.wav"))
    let first = frames.prefix(24_000)
    #expect(first.allSatisfy { $0.left == 4_096 && $0.right == -4_096 }, "\(String(describing: first.first))")
    let loud = frames.dropFirst(24_000).prefix(24_000)
    #expect(loud.allSatisfy { $0.left == 10_923 && $0.right == -10_923 }, "\(String(describing: loud.first))")
  }

  @Test func valuesOutOfRangeAreRejectedAndChangeNothing() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    for request in [
      "replay-gain loud", "replay-gain pre-amp=15.1", "replay-gain pre-amp=-15.1", "replay-gain pre-amp=nan",
      "replay-gain fallback=16", "replay-gain fallback=-61", "replay-gain protect=toggle", "replay-gain protect=1",
    ] {
      #expect(try client.reply(request).hasPrefix("error code=6002 name=bad-arguments"), "\(request)")
    }
    #expect(try client.reply("replay-gain player=nobody").hasPrefix("error code=1006 name=no-such-player"))
    #expect(
      try client.reply("replay-gain auto pre-amp=-15 fallback=15 protect=off").hasPrefix(
        "ok mode=auto preAmp=-15 fallback=15 protect=false"))
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"replay-gain","params":{"mode":"off","protect":true}}"#)
    #expect(
      try client.line()
        == #"{"jsonrpc":"2.0","id":1,"result":{"mode":"off","preAmp":-15,"fallback":15,"protect":true,"item":null,"gain":null,"source":null,"limited":null}}"#
    )
  }
}
