import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Images over the wire, and with the client.
@Suite struct ImageTests {
  /// Fifty frames, one every 0.04 s, with a key frame every 12 frames.
  private func film(_ daemon: TestServer) throws -> String {
    let path = daemon.folder.file("film.mp4")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=176x144:rate=25:duration=2", "-c:v",
      "libx264",
      "-g", "12", "-sc_threshold", "0", "-pix_fmt", "yuv420p", path,
    ])
    return path
  }

  private func names(_ daemon: TestServer) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: daemon.folder.path).filter { !$0.hasSuffix(".sock") }.sorted()
  }

  /// Width and height, according to another program.
  private func size(_ path: String, _ folder: TemporaryDirectory) throws -> String {
    let text = folder.file("size.txt")
    try ChildProcess.run([
      "sh", "-c", "ffprobe -v error -show_entries stream=codec_name,width,height -of csv=p=0 \"$0\" > \"$1\"", path,
      text,
    ])
    return String(decoding: try Files.read(text), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test func imagesAreWrittenAndTheirTimesReported() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try film(daemon)
    let out = daemon.folder.file("one.png")
    let reply = try client.ask("image \(path) 0.51 file=\(out)")
    let event = "* scan-progress scan=1 file=1 count=1 path=\(path) done="
    #expect(reply.prefix(2) == [event + "0", event + "1"])
    let lines = reply.dropFirst(2)
    #expect(lines.first == "| image=1 requested=0.51 time=0.48 width=176 height=144 file=\(out)")
    #expect(lines.last == "ok scan=1 path=\(path) count=1 width=176 height=144")
    #expect(try size(out, daemon.folder) == "png,176,144")
    func rows(_ request: String) throws -> [String] { try client.ask(request).filter { !$0.hasPrefix("*") } }
    let many = try client.ask("image \(path) 1 0:01.3 0.1 file=\(daemon.folder.file("f-%02d.jpg")) width=88 quality=50")
    #expect(many.prefix(4).map { field("done", $0) } == ["0", "0.3333333333333333", "0.6666666666666666", "1"])
    #expect(many.dropFirst(4).dropLast().map { field("time", $0) } == ["1", "1.28", "0.08"])
    #expect(
      many.dropFirst(4).dropLast().map { field("file", $0) } == (1...3).map { daemon.folder.file("f-0\($0).jpg") })
    #expect(try size(daemon.folder.file("f-03.jpg"), daemon.folder) == "mjpeg,88,72")
    let fast = try rows("image \(path) 1.3 file=\(out) replace fast")
    #expect(field("time", fast.first ?? "") == "1.44")
    let near = try rows("image \(path) 1.3 file=\(out) replace before=1")
    #expect(field("time", near.first ?? "") == "0.96")
    let sheet = try rows("image \(path) file=\(daemon.folder.file("s.png")) sheet=3x2 width=44 gap=2")
    #expect(sheet.dropLast().map { field("requested", $0) }.count == 6 && field("file", sheet[0]) == nil)
    #expect(sheet.last == "ok scan=5 path=\(path) count=6 width=140 height=78 file=\(daemon.folder.file("s.png"))")
    #expect(try size(daemon.folder.file("s.png"), daemon.folder) == "png,140,78")
  }

  @Test func failedRequestsAreReportedAndLeaveNoFile() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try film(daemon)
    let out = daemon.folder.file("x.png")
    let audio = daemon.folder.file("audio.wav")
    try TimeCode.writeWAV(path: audio, file: 1, frameCount: 100)
    try Data().write(to: URL(fileURLWithPath: daemon.folder.file("taken.png")))
    let before = try names(daemon)
    for (request, expected) in [
      ("image \(path) 2.5 file=\(out)", "name=invalid-time"),
      ("image \(audio) 0 file=\(out)", "name=no-playable-tracks"),
      ("image \(path) 0 9 file=\(daemon.folder.file("n%d.png"))", "name=invalid-time"),
      ("image \(path) 0 file=\(daemon.folder.file("taken.png"))", "name=file-exists"),
      ("image \(path) 0 file=/tmp/none.png", "name=outside-roots"),
      ("image \(path) 0 file=\(daemon.folder.file("no/x.png"))", "name=write-failed"),
      ("image \(daemon.folder.file("no.mp4")) 0 file=\(out)", "name=file-not-found"),
      ("image \(path) 0", "file=PATH is missing"), ("image \(path) file=\(out)", "needs a time"),
      ("image \(path) 0 1 file=\(out)", "contain one %d"),
      ("image \(path) 0 1 file=\(daemon.folder.file("%d%d.png"))", "one %d"),
      ("image \(path) 0 file=\(daemon.folder.file("x.gif"))", "unknown file name extension 'gif'; specify format"),
      ("image \(path) 0 file=\(out) quality=5", "quality does not apply to png"),
      ("image \(path) 0 file=\(out) sheet=4", "COLUMNSxROWS"), ("image \(path) file=\(out) sheet=21x20", "400 images"),
      ("image \(path) 0 1 file=\(out) sheet=1x1", "a sheet of 1 images must have at most 1 times (got 2)"),
      ("image \(path) 0 file=\(out) gap=1", "gap needs sheet"),
      ("image \(path) -1 file=\(out)", "name=invalid-time"),
      ("image \(path) 0 file=\(out) fast before=1", "fast cannot be combined with before"),
      ("image \(path) 0 file=\(out) width=0", "error code=60"),
    ] {
      let reply = try client.reply(request)
      print("\(request): \(reply)")
      #expect(reply.hasPrefix("error ") && reply.contains(expected), "\(request): \(reply)")
    }
    #expect(try names(daemon) == before)
    // Without a write root, nothing is written.
    let other = try InProcessServer.recording()
    #expect(try other.connect().reply("image \(path) 0 file=\(out)").hasPrefix("error "))
  }

  @Test func queuedImageRequestCanBeCancelled() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try film(daemon)
    // The last of these has not started when it is cancelled.
    try client.send(
      ((0..<12).map { "@i\($0) image \(path) file=\(daemon.folder.file("s\($0).png")) sheet=10x10" } + [
        "@c cancel i11", "@p ping",
      ])
      .joined(separator: "\n"))
    // All lines of these three requests, up to the last reply.
    var lines: [String] = []
    while lines.last?.hasPrefix("@p ") != true, let line = try client.line() {
      if ["@i11 ", "@c ", "@p "].contains(where: { line.hasPrefix($0) }) { lines.append(line) }
    }
    try #require(lines.count == 3, "\(lines)")
    #expect(lines[0].hasPrefix("@i11 error code=6015 name=cancelled "), "\(lines)")
    #expect(lines[1] == "@c ok" && lines[2].hasPrefix("@p ok now="), "\(lines)")
    #expect(try !names(daemon).contains("s11.png"))
  }

  @Test func clientWritesImagesAndSheets() throws {
    let daemon = try InProcessServer.recording()
    _ = try film(daemon)
    let folder = daemon.folder.path
    let one = try daemon.playhead("image", "film.mp4", "0:01.0", "-o", "frame.png", "--width", "80", folder: folder)
    #expect(one.status == 0, "\(one)")
    #expect(try size(daemon.folder.file("frame.png"), daemon.folder) == "png,80,65")
    let several = try daemon.playhead("image", "film.mp4", "0", "1.5", "-o", "frame-%d.jpg", "--human", folder: folder)
    let lines = several.output.split(separator: "\n")
    #expect(several.status == 0 && lines.count == 2, "\(several)")
    #expect(lines.last?.hasPrefix("\(folder)/frame-2.jpg: 0:01.") == true, "\(several)")
    let sheet = try daemon.playhead(
      "image", "film.mp4", "-o", "sheet.jpg", "--sheet", "4x3", "--width=40", folder: folder)
    #expect(sheet.status == 0, "\(sheet)")
    #expect(try size(daemon.folder.file("sheet.jpg"), daemon.folder) == "mjpeg,180,\(3 * (33 + 4) + 4)")
    let missing = try daemon.playhead("image", "film.mp4", "1", folder: folder)
    #expect(missing.status != 0 && missing.errors.contains("file=PATH is missing"), "\(missing)")
    let help = try daemon.playhead("image", "--help", folder: folder)
    #expect(help.status == 0 && help.output.contains("sheet=COLUMNSxROWS"), "\(help)")
  }
}
