import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Truncated files, loaded with and without `precise`: all frames that exist are played, and the next entry follows.
@Suite struct TruncatedFileTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var options: [String]
    /// The largest number of frames in a packet. The last packet is incomplete.
    var packetFrameCount: Int
    /// The event at the end of the item. Only a file that states its length is known to be truncated.
    var end = "failed-to-play-to-end"
    var testDescription: String { name }
  }

  static let rows = [
    Row(name: "a.mp3", options: ["-c:a", "libmp3lame"], packetFrameCount: 1_152),
    Row(name: "a.flac", options: ["-c:a", "flac"], packetFrameCount: 4_608),
    Row(name: "a.wv", options: ["-c:a", "wavpack"], packetFrameCount: 48_000),
    Row(name: "a.ogg", options: ["-c:a", "libvorbis"], packetFrameCount: 2_048),
    Row(name: "a.opus", options: ["-c:a", "libopus"], packetFrameCount: 960),
    Row(name: "a.m4a", options: ["-c:a", "aac", "-movflags", "+faststart"], packetFrameCount: 1_024),
    Row(name: "a.wav", options: ["-c:a", "pcm_s16le"], packetFrameCount: 1),
  ]

  private static let frameCount = 144_000

  /// Plays a file and a time-coded file. Returns the frames of the first one, the events and the final status lines.
  private func play(_ bytes: [UInt8], _ name: String, isPrecise: Bool) throws -> (
    frames: [StereoFrame], events: [String], duration: String?
  ) {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try daemon.folder.write(name, bytes)
    let next = try daemon.wave(2, frameCount: 4_800)
    try client.reply("observe item.events")
    #expect(try client.reply("load \(path)\(isPrecise ? " precise" : "") wait=ready") == "ok items=1 version=1")
    #expect(try client.reply("append \(next) wait=ready").hasPrefix("ok items=2 "))
    let before = try client.reply("item.status 1")
    #expect(!isPrecise || field("providesPreciseDuration", before) == "true", "\(before)")
    let lines = try ["play", "clock.advance 5"].flatMap { try client.ask($0) }.filter { $0.hasPrefix("* ") }
    try daemon.finish()
    let frames = try Recording.frames(in: daemon.folder.file("out.wav"))
    let runs = TimeCode.runs(in: frames).filter { $0.file == 2 }
    // The next entry is complete, and without a gap after the truncated one.
    #expect(runs.count == 1 && runs.first?.count == 4_800, "\(runs)")
    return (Array(frames.prefix(runs.first?.position ?? 0)), lines, field("duration", before))
  }

  @Test(arguments: rows) func preciseDurationIsThatOfTheFramesThatArePlayed(_ row: Row) throws {
    let folder = try TemporaryDirectory("truncated")
    let path = folder.file(row.name)
    let audio = "aevalsrc=0.3*sin(2*PI*(200+90*t)*t)+0.1*random(0)|0.2*random(1):s=48000:d=3"
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-f", "lavfi", "-i", audio] + row.options + [path])
    let whole = try play(try Files.read(path), row.name, isPrecise: false).frames
    #expect(abs(whole.count - Self.frameCount) <= row.packetFrameCount)
    try MediaPatch.apply("truncate(data, 0.6)", to: path)
    let cut = try Files.read(path)
    // FFmpeg leaves out the last packet if it is incomplete. Playhead may play silence of its length.
    let raw = folder.file("raw.s16")
    try ChildProcess.run(["ffmpeg", "-nostdin", "-v", "quiet", "-i", path, "-f", "s16le", raw])
    let decodedCount = try Files.read(raw).count / 4
    for isPrecise in [true, false] {
      let (frames, events, duration) = try play(cut, row.name, isPrecise: isPrecise)
      let agreed = zip(frames, whole).prefix { $0 == $1 }.count
      print(
        "\(row.name) precise=\(isPrecise): \(frames.count) frames, \(decodedCount) decoded by ffmpeg, \(agreed) as before"
      )
      #expect((decodedCount...(decodedCount + row.packetFrameCount)).contains(frames.count))
      #expect(frames.count >= whole.count * 3 / 10 && agreed + row.packetFrameCount >= frames.count)
      let ends = events.filter { $0.contains("-to-end ") }
      #expect(ends.count == 2 && ends[0].hasPrefix("* \(row.end) ") && ends[1].hasPrefix("* played-to-end "), "\(ends)")
      #expect(field("code", ends[0]) == (row.end == "played-to-end" ? nil : "3004"), "\(ends)")
      let expected = Double(frames.count) / 48_000
      #expect(abs(try #require(field("time", ends[0]).flatMap(Double.init)) - expected) < 1e-8, "\(ends)")
      if isPrecise {
        #expect(abs(try #require(duration.flatMap(Double.init)) - expected) < 1e-8, "\(duration ?? "")")
      }
    }
  }
}
