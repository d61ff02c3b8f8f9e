import DaemonTesting
import RigSupport
import Testing

/// Tags and other bytes after the last frame of a file are not audio: the next entry follows without a gap.
@Suite struct TrailingBytesTests {
  private static let kinds: [(name: String, bytes: [UInt8])] = [
    ("text", Array("LYRICS and other tags ".utf8)), ("zeros", [UInt8](repeating: 0, count: 700)), ("a byte", [0]),
    ("ID3v1", TagBytes.id3v1(title: Array("a title".utf8))),
    ("APEv2", TagBytes.ape([("Title", 0, Array("hello".utf8))])),
    (
      "APEv2 and ID3v1",
      TagBytes.ape([("Title", 0, Array("hello".utf8))]) + TagBytes.id3v1(title: Array("a title".utf8))
    ),
  ]

  private static let frameCount = 48_000

  /// Plays a file twice, and then a time-coded file. Returns the frames before the latter.
  private func playTwice(_ bytes: [UInt8], _ name: String) throws -> [StereoFrame] {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = try (1...2).map { try daemon.folder.write("\($0)-\(name)", bytes) }
    let next = try daemon.wave(2, frameCount: 4_800)
    #expect(try client.reply("load \(paths[0]) \(paths[1]) \(next) wait=ready").hasPrefix("ok items=1,2,3 "))
    try client.reply("play")
    try client.reply("clock.advance 4")
    try daemon.finish()
    let frames = try Recording.frames(in: daemon.folder.file("out.wav"))
    let runs = TimeCode.runs(in: frames).filter { $0.file == 2 }
    #expect(runs.count == 1 && runs.first?.count == 4_800, "\(runs)")
    return Array(frames.prefix(runs.first?.position ?? 0))
  }

  /// The encoder's delay and padding are removed from MP3, whose header states them, but not from ADTS.
  @Test(arguments: [("a.mp3", ["-c:a", "libmp3lame"], 48_000), ("a.aac", ["-c:a", "aac"], 48 * 1_024)])
  func transitionsOfFilesWithTrailingBytesAreExact(_ name: String, _ options: [String], _ count: Int) throws {
    let folder = try TemporaryDirectory("trailing")
    let path = folder.file(name)
    let audio = "aevalsrc=0.3*sin(2*PI*(200+90*t)*t)+0.1*random(0)|0.2*random(1):s=48000:d=1"
    try Fixtures.ffmpeg(
      ["-nostdin", "-v", "error", "-f", "lavfi", "-i", audio] + options + ["-id3v2_version", "0", path])
    let plain = try Files.read(path)
    let expected = try playTwice(plain, name)
    #expect(expected.count == 2 * count)
    #expect(expected.prefix(count).elementsEqual(expected.suffix(count)))
    for kind in Self.kinds {
      let found = try playTwice(plain + kind.bytes, name)
      print("\(name) with \(kind.name): \(found.count) frames")
      #expect(found == expected, "\(kind.name): \(found.count) frames, expected \(expected.count)")
    }
  }
}
