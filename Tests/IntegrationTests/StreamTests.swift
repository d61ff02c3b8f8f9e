import RigSupport
import Testing

/// HLS streams over the wire, and on a real PulseAudio: time-coded sound in segments of FLAC, so that every sample tells its place.
@Suite(.timeLimit(.minutes(5))) struct StreamTests {
  private static let frameCount = 48_000 * 12
  private static let master =
    "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=2\nnone.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n"

  /// A server with `a.m3u8`, the first of two files in segments of about a second, and the second in one piece.
  private func serve() throws -> (server: HTTPServer, lines: [String]) {
    let server = try HTTPServer()
    let source = server.files.file("1.wav")
    try TimeCode.writeWAV(path: source, file: 1, frameCount: Self.frameCount)
    try TimeCode.writeWAV(path: server.files.file("2.wav"), file: 2, frameCount: 24_000)
    try ChildProcess.run([
      "ffmpeg", "-nostdin", "-loglevel", "error", "-i", source, "-c:a", "flac", "-strict", "-2", "-f", "hls",
      "-hls_time", "1",
      "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4", "-hls_segment_filename", server.files.file("s%d.m4s"),
      server.files.file("a.m3u8"),
    ])
    let text = String(decoding: try Files.read(server.files.file("a.m3u8")), as: UTF8.self)
    return (server, text.split(separator: "\n").map(String.init))
  }

  /// The playlist of some segments of it, to which others may come.
  private func write(_ lines: [String], _ segments: Range<Int>, to server: HTTPServer, isEnded: Bool = false) throws {
    let segmentLines = lines.filter { $0.hasPrefix("#EXTINF") || !$0.hasPrefix("#") }
    var live = [
      "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:1", "#EXT-X-MEDIA-SEQUENCE:\(segments.lowerBound)",
    ]
    live += lines.filter { $0.hasPrefix("#EXT-X-MAP") }
    for index in segments {
      if index == 2 { live.append("#EXT-X-PROGRAM-DATE-TIME:2026-11-22T09:00:02Z") }
      live += segmentLines[(2 * index)..<(2 * index + 2)]
    }
    if isEnded { live.append("#EXT-X-ENDLIST") }
    try server.write(Array(live.joined(separator: "\n").utf8), to: "live.m3u8")
  }

  @Test func aStreamIsSoughtToTheSampleAndFollowedWithoutAGap() throws {
    let (server, _) = try serve()
    let daemon = try TestDaemon.recording()
    let client = try daemon.connect()
    #expect(
      try client.reply("load \(server.address)/a.m3u8 \(server.address)/2.wav wait=ready") == "ok items=1,2 version=1")
    let status = try client.reply("item.status 1")
    #expect(field("seekableTimeRanges", status)?.hasPrefix("0-12") == true, "\(status)")
    try client.reply("play")
    try client.reply("clock.advance 2")
    let reply = try client.reply("seek 400001/48000")
    #expect(reply.contains(" pts=400001/48000 ") && reply.contains(" exact=true clamped=false "), "\(reply)")
    try client.reply("clock.advance 1")
    let log = try client.ask("item.log 1")
    try client.reply("clock.advance 20")
    #expect(log.contains { $0.hasPrefix("| kind=access") && $0.contains(" type=vod ") }, "\(log)")
    #expect(!log.contains { $0.hasPrefix("| kind=error") })
    #expect(
      try daemon.recorded(withSilences: false) == "1[0..<96000] 1[400001..<\(Self.frameCount)] 2[0..<24000]")
  }

  @Test func onARealDeviceEverySampleIsHeardOnce() throws {
    let (server, _) = try serve()
    let rig = try RigTests.Rig()
    try rig.client.reply("load \(server.address)/a.m3u8 wait=ready")
    try rig.client.reply("play")
    try rig.server.capture.waitForCode(file: 1, index: 60_000)
    #expect(try rig.client.reply("seek 500001/48000").contains(" pts=500001/48000 "))
    try rig.server.capture.waitForCode(file: 1, index: Self.frameCount - 1)
    let runs = rig.server.capture.runs()
    #expect(runs.map(\.firstIndex) == [0, 500_001] && runs.last?.endIndex == Self.frameCount, "\(runs)")
    #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.endPosition == $1.position }, "silence at the seek")
    try rig.stop()
  }

  @Test func aLiveStreamHasAWindowAndADate() throws {
    let (server, lines) = try serve()
    try write(lines, 0..<8, to: server)
    let daemon = try TestDaemon.recording()
    let client = try daemon.connect()
    #expect(try client.reply("load \(server.address)/live.m3u8 wait=ready").hasPrefix("ok items=1 "))
    let status = try client.reply("item.status 1")
    #expect(field("duration", status) == "indefinite" && field("seekableTimeRanges", status)?.hasPrefix("0-") == true)
    // Three segments in front of its end.
    let live = try #require(field("seekableTimeRanges", status)?.split(separator: "-").last.flatMap { Double($0) })
    #expect(live > 4 && live < 6)
    for (place, time, isClamped) in [("end", live, false), ("11", live, true), ("0.5", 0.5, false), ("-30", 0, true)] {
      let reply = try client.reply("seek \(place)")
      #expect(reply.contains(" clamped=\(isClamped) "), "\(place): \(reply)")
      #expect(abs((field("time", reply).flatMap(Double.init) ?? -1) - time) < 0.001, "\(place): \(reply)")
    }
    let segmentStart = try #require(Double(field("time", try client.reply("seek date=2026-11-22T09:00:02Z")) ?? ""))
    let later = try client.reply("seek date=2026-11-22T09:00:03.5Z")
    #expect(abs((Double(field("time", later) ?? "") ?? 0) - segmentStart - 1.5) < 0.001, "\(later)")
    #expect(try client.reply("seek date=2026-11-22T08:00:00Z").hasPrefix("error code=2070"))
    #expect(try client.reply("seek date=yesterday").hasPrefix("error code=6002"))
    // What comes is heard behind what there was; what leaves the window cannot be gone to any more.
    try client.reply("seek 0")
    try client.reply("play")
    _ = try server.drain()
    try write(lines, 3..<12, to: server, isEnded: true)
    try server.wait("request GET /live.m3u8")
    try client.reply("clock.advance 1")
    let log = try client.ask("item.log 1")
    #expect(log.contains { $0.hasPrefix("| kind=access") && $0.contains(" type=live ") }, "\(log)")
    try client.reply("clock.advance 30")
    let heard = try daemon.recorded(withSilences: false)
    #expect(heard.hasSuffix("..<\(Self.frameCount)]"), "\(heard)")
  }

  @Test func whatIsWrongWithStreamsHasANumber() throws {
    let (server, lines) = try serve()
    try server.write(Array(Self.master.utf8), to: "m.m3u8")
    try server.write(Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nm2.m3u8\n".utf8), to: "m2.m3u8")
    try server.write(Array("#EXTM3U\n#EXT-X-TARGETDURATION:soon\n".utf8), to: "bad.m3u8")
    let text = lines.joined(separator: "\n")
    try server.write(
      Array(text.replacing("#EXT-X-MAP", with: "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n#EXT-X-MAP").utf8),
      to: "drm.m3u8")
    try server.write(Array(text.replacing("s0.m4s", with: "file:///etc/passwd").utf8), to: "closed.m3u8")
    let daemon = try TestDaemon.recording()
    let client = try daemon.connect()
    for (name, code) in [("bad", 2060), ("m2", 2062), ("drm", 2065), ("closed", 2063), ("none", 2043)] {
      let reply = try client.reply("load \(server.address)/\(name).m3u8 wait=ready")
      print("\(name).m3u8: \(reply)")
      #expect(reply.hasPrefix("error code=\(code) "), "\(name): \(reply)")
    }
    // The better variant is not there: the other one is heard, and the log says so.
    let loaded = try client.reply("load \(server.address)/m.m3u8 wait=ready")
    let id = try #require(field("items", loaded), "\(loaded)")
    #expect(try client.ask("item.log \(id)").contains { $0.hasPrefix("| kind=error") && $0.contains("/none.m3u8") })
    try client.reply("play")
    try client.reply("clock.advance 20")
    #expect(try daemon.recorded(withSilences: false) == "1[0..<\(Self.frameCount)]")
  }
}
