import DaemonTesting
import RigSupport
import Testing

/// The fields of video tracks in `asset.tracks` and `item.tracks`.
@Suite struct TrackCommandTests {
  /// H.264 of 64 × 48 pixels, with a message of captions before each video frame (ATSC A/53 part 4, 6.2.3): CEA-608 in
  /// field 1, and CEA-708.
  private func captionedVideo(_ folder: TemporaryDirectory) throws -> String {
    let plain = folder.file("plain.h264")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1", "-vf", "setsar=1",
      "-c:v", "libx264", "-bsf:v", "h264_mp4toannexb", plain,
    ])
    let bytes = try Files.read(plain)
    let payload: [UInt8] =
      [0xB5, 0x00, 0x31] + Array("GA94".utf8) + [0x03, 0x42, 0xFF, 0xFC, 0x80, 0x80, 0xFE, 0x41, 0x42, 0xFF]
    let message: [UInt8] = [0, 0, 1, 0x06, 0x04, UInt8(payload.count)] + payload + [0x80]
    var result: [UInt8] = []
    for index in bytes.indices {
      let isStart = index + 3 < bytes.count && bytes[index..<(index + 3)].elementsEqual([0, 0, 1])
      if isStart, [1, 5].contains(bytes[index + 3] & 0x1F) { result += message }
      result.append(bytes[index])
    }
    return try folder.write("captioned.h264", result)
  }

  @Test func videoTrackHasSizesRotationAndCaptions() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let (movie, path) = (daemon.folder.file("movie.mp4"), daemon.folder.file("a.mp4"))
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-r", "25", "-i", try captionedVideo(daemon.folder), "-i",
      try daemon.wave(1, frameCount: 48_000), "-c:v", "copy", "-c:a", "aac", movie,
    ])
    // The container's pixel aspect ratio is 4:3. FFmpeg's `rotate` is counterclockwise.
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-i", movie, "-c", "copy", "-aspect", "16:9", "-metadata:s:v", "rotate=270", path,
    ])
    try client.reply("asset.open \(path)")
    try client.reply("asset.load 1 tracks")
    try client.reply("append \(path) wait=ready")
    for request in ["asset.tracks 1", "item.tracks 1"] {
      let rows = try client.ask(request)
      print(rows.joined(separator: "\n"))
      let video = try #require(rows.first { field("type", $0) == "video" })
      let found = ["width", "height", "codedWidth", "codedHeight", "rotation", "closedCaptions"].map {
        field($0, video)
      }
      #expect(found == ["85", "48", "64", "48", "90", "cea608,cea708"], "\(video)")
      let audio = try #require(rows.first { field("type", $0) == "audio" })
      for key in ["width", "codedWidth", "rotation", "closedCaptions"] {
        #expect(field(key, audio) == nil, "\(audio)")
      }
    }
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"asset.tracks","params":{"id":1}}"#)
    let json = try client.line() ?? ""
    for text in [
      #""width":85"#, #""height":48"#, #""codedWidth":64"#, #""codedHeight":48"#, #""rotation":90"#,
      #""closedCaptions":["cea608","cea708"]"#,
    ] { #expect(json.contains(text), "\(json)") }

    let outcome = try daemon.playhead("info", path)
    #expect(outcome.output.contains("closed captions cea608"), "\(outcome)")
  }
}
