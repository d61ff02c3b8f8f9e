import DaemonTesting
import RigSupport
import Testing

/// The encoder padding that the event of a transition reports on the socket.
@Suite struct TransitionEventTests {
  /// For 12,960 frames each. The start has the delay of encoder and decoder. The end has the padding of the last of 13
  /// packets of 1,152, or of 14 packets of 1,024 or 960. `PlaybackTests.TransitionTests` shows that FFmpeg reports the
  /// same for these packets.
  @Test(arguments: [
    ("mp3", "libmp3lame", 13 * 1_152 - 12_960 - (576 + 529), "lame-tag", 576 + 529, "lame-tag"),
    ("m4a", "aac", 14 * 1_024 - 12_960 - 1_024, "edit-list", 1_024, "edit-list"),
    ("opus", "libopus", 14 * 960 - 12_960 - 312, "granule-position", 312, "opus-pre-skip"),
  ])
  func transitionReportsTrimmedFramesAndTheirSource(
    _ suffix: String, _ codec: String, _ end: Int, _ endSource: String, _ start: Int, _ startSource: String
  ) throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let wave = try daemon.wave(1, frameCount: 12_960)
    let paths = ["1.\(suffix)", "2.\(suffix)"].map { daemon.folder.file($0) }
    for path in paths { try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-i", wave, "-c:a", codec, path]) }
    try client.reply("observe item.events")
    let lines = try ["load \(paths[0]) \(paths[1]) wait=ready", "play", "clock.advance 1"].flatMap {
      try client.ask($0)
    }
    #expect(
      lines.filter { $0.hasPrefix("* ") }.unnumbered == [
        "* played-to-end id=1 player=main item=1 time=0.27 pts=12960/48000",
        "* transition id=1 player=main from=1 to=2 time=0 pts=0/1 trimmedEnd=\(end) trimmedEndBy=\(endSource)"
          + " trimmedStart=\(start) trimmedStartBy=\(startSource) inserted=0 hostTime=0.27",
        "* played-to-end id=1 player=main item=2 time=0.27 pts=12960/48000",
      ])
    #expect(try Recording.frames(in: finished(daemon)).lastIndex { $0 != .silence }.map { $0 < 25_920 } == true)
  }

  /// The recorded file, after the server has ended.
  private func finished(_ daemon: TestServer) throws -> String {
    try daemon.finish()
    return daemon.folder.file("out.wav")
  }
}
