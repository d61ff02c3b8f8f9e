import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Exports over the wire and with the client.
@Suite struct ExportTests {
  private static func frames(_ path: String) throws -> [UInt8] {
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-y", "-i", path, "-f", "s16le", path + ".pcm"])
    return try [UInt8](Data(contentsOf: URL(fileURLWithPath: path + ".pcm")))
  }

  @Test func exportedRangeIsExactAndProgressPrecedesTheReply() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let (path, out) = (daemon.folder.file("one.wav"), daemon.folder.file("part.flac"))
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 48_000)
    let lines = try client.ask("export \(path) file=\(out) start=1001/48000 end=21001/48000")
    #expect(lines.first == "* scan-progress scan=1 file=1 count=1 path=\(out) done=0")
    #expect(lines.dropLast().last == "* scan-progress scan=1 file=1 count=1 path=\(out) done=1")
    let last = try #require(lines.last)
    let byteCount = try Data(contentsOf: URL(fileURLWithPath: out)).count
    #expect(last == "ok scan=1 file=\(out) format=flac duration=0.416666667 size=\(byteCount)")
    let (whole, part) = (try Self.frames(path), try Self.frames(out))
    let isExact = part == Array(whole[4 * 1_001..<4 * 21_001])
    #expect(isExact)
    #expect(try client.reply("export \(path) file=\(out)").contains("name=file-exists"))
    #expect(try client.reply("export \(path) file=\(out) replace").hasPrefix("ok "))
  }

  @Test func severalFilesAreConcatenatedOrMixed() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = try (1...3).map { number in
      let path = daemon.folder.file("\(number).wav")
      try TimeCode.writeWAV(path: path, file: number, frameCount: 10_000 + number)
      return path
    }
    let out = daemon.folder.file("all.wav")
    let reply = try client.reply("export \(paths.joined(separator: " ")) file=\(out)")
    #expect(field("duration", reply) == "0.625125", "\(reply)")
    let isWhole = try Self.frames(out) == paths.flatMap { try Self.frames($0) }
    #expect(isWhole)
    let mixed = try client.reply("export \(paths.joined(separator: " ")) mix file=\(out) replace")
    #expect(field("duration", mixed) == "0.208395833", "\(mixed)")
  }

  @Test func invalidExportsAreRejectedAndLeaveNoFile() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let (path, out) = (daemon.folder.file("one.wav"), daemon.folder.file("x"))
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 4_800)
    for (words, error) in [
      ("file=\(out)", "bad-arguments"), ("", "bad-arguments"), ("file=\(out).flac start=2 end=1", "bad-arguments"),
      ("file=\(out).flac codec=copy bits=16", "bad-arguments"),
      ("file=\(out).mp4 video=copy height=100", "bad-arguments"),
      ("file=\(out).flac codec=none sample-rate=8000", "bad-arguments"), ("file=\(out).flac bits=8", "bad-arguments"),
      ("file=\(out).flac format=aiff", "bad-arguments"), ("file=\(out).flac codec=aac", "invalid-argument"),
      ("file=\(out).caf codec=aac", "invalid-argument"), ("file=\(out).mp3 sample-rate=96000", "invalid-argument"),
      ("file=\(out).flac start=1", "invalid-time"), ("file=\(out).flac track=3", "no-such-track"),
      ("file=\(out).flac codec=none", "no-playable-tracks"), ("file=/tmp/none.flac", "outside-roots"),
      ("file=\(daemon.folder.file("none"))/x.flac", "write-failed"),
    ] {
      let reply = try client.reply("export \(path) \(words)")
      print("export \(words): \(reply)")
      #expect(reply.contains("name=\(error) "), "\(words): \(reply)")
    }
    #expect(try client.reply("export \(daemon.folder.file("no.wav")) file=\(out).flac").contains("file-not-found"))
    let names = try FileManager.default.contentsOfDirectory(atPath: daemon.folder.path)
    #expect(!names.contains { $0.contains("playhead-") || $0.hasPrefix("x") }, "\(names)")
  }

  /// The disk is a small tmpfs, which needs root.
  @Test(.enabled(if: geteuid() == 0)) func exportLeavesTheReservedDiskSpaceFree() throws {
    let folder = try TemporaryDirectory("reserve")
    let disk = folder.file("disk")
    try #require(mkdir(disk, 0o700) == 0 && mount("none", disk, "tmpfs", 0, "size=1m") == 0, "a tmpfs needs root")
    defer { umount2(disk, Int32(MNT_DETACH)) }
    let configuration = try folder.write("a.toml", Array("[roots]\nwrite = [\"\(disk)\"]\nmin-free = 524288\n".utf8))
    let daemon = try TestDaemon("--clock", "virtual", "--config", configuration)
    let (small, large) = (folder.file("small.wav"), folder.file("large.wav"))
    try TimeCode.writeWAV(path: small, file: 1, frameCount: 48_000)
    try TimeCode.writeWAV(path: large, file: 2, frameCount: 200_000)
    let client = try daemon.connect()
    #expect(try client.reply("export \(small) file=\(disk)/a.wav").hasPrefix("ok "))
    let rejected = try client.reply("export \(large) file=\(disk)/b.wav")
    #expect(rejected.contains("code=2006 name=write-failed") && rejected.contains("reserved"), "\(rejected)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == ["a.wav"])
    // Different code writes images of waveforms.
    try folder.write("a.toml", Array("[roots]\nwrite = [\"\(disk)\"]\nmin-free = 1048576\n".utf8))
    #expect(try client.reply("config.reload").hasPrefix("ok changed=roots.min-free"))
    let image = try client.reply("waveform \(small) file=\(disk)/c.png")
    #expect(image.contains("code=2006 name=write-failed") && image.contains("reserved"), "\(image)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == ["a.wav"])
  }

  /// Audio and images into a folder of mode 500, by a daemon without root's permission to write everywhere.
  @Test func unwritableFolderIsReportedAndUnchanged() throws {
    let folder = try TemporaryDirectory("daemon")
    let socket = folder.file("control.sock")
    let words = [
      Executables.playheadd, "--no-state", "--socket", socket, "--output", "null", "--write-root", folder.path,
    ]
    let program = geteuid() == 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] + words : words
    let daemon = try Program(program[0], Array(program.dropFirst()))
    #expect(try daemon.waitForLine() != nil)
    let source = folder.file("film.mp4")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:d=1", "-f", "lavfi", "-i",
      "sine=r=48000:d=1", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", source,
    ])
    let closed = folder.file("closed")
    try FileManager.default.createDirectory(atPath: closed, withIntermediateDirectories: false)
    try Data([1]).write(to: URL(fileURLWithPath: closed + "/taken.mp4"))
    try #require(chmod(closed, 0o500) == 0)
    defer { chmod(closed, 0o700) }
    let client = try WireClient(socket)
    #expect(try client.line()?.hasPrefix("* hello") == true)
    for words in ["closed/new.mp4", "closed/taken.mp4 replace", "closed/audio.flac"] {
      let reply = try client.reply("export \(source) file=\(folder.file(words))")
      #expect(reply.contains("name=write-failed ") && reply.contains("Permission denied"), "\(words): \(reply)")
    }
    let open = try client.reply("export \(source) file=\(folder.file("copy.flac"))")
    #expect(open.hasPrefix("ok "), "\(open)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: closed) == ["taken.mp4"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: closed + "/taken.mp4")) == Data([1]))
    daemon.signal(SIGTERM)
    #expect(try daemon.waitForEnd().status == 0)
  }

  @Test func exportNeedsAWriteRootAndIsCancelledByItsID() throws {
    let reading = try TestDaemon("--clock", "virtual")
    let path = reading.folder.file("one.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 4_800)
    let out = reading.folder.file("x.flac")
    #expect(try reading.connect().reply("export \(path) file=\(out)").hasPrefix("error "))
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let long = daemon.folder.file("long.wav")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "anullsrc=d=3000:r=48000", "-ac", "2", long,
    ])
    let target = daemon.folder.file("long.flac")
    try client.send("@1 export \(long) file=\(target)")
    #expect(try client.line() == "* scan-progress scan=1 file=1 count=1 path=\(target) done=0")
    try client.send("@2 scan.cancel 1")
    var lines: [String] = []
    while lines.count < 2 {
      let line = try #require(try client.line())
      if !line.hasPrefix("* ") { lines.append(line) }
    }
    #expect(
      lines.contains("@2 ok cancelled=1")
        && lines.contains { $0.hasPrefix("@1 error code=2004 ") || $0.contains("name=cancelled") })
    #expect(try client.reply("export \(long) file=\(target) end=1").hasPrefix("ok "))
  }

  @Test func clientPrintsTheExportedFile() throws {
    let daemon = try InProcessServer.recording()
    try TimeCode.writeWAV(path: daemon.folder.file("one.wav"), file: 1, frameCount: 96_000)
    let exported = try daemon.playhead(
      "export", "one.wav", "-o", "one.m4a", "--end", "1:00", "--human", folder: daemon.folder.path)
    #expect(exported.status == 0 && exported.output.hasPrefix("\(daemon.folder.file("one.m4a")): 0:02"), "\(exported)")
    #expect(exported.output.hasSuffix(" bytes\n"))
    let again = try daemon.playhead("export", "one.wav", "-o", "one.m4a", "--human", folder: daemon.folder.path)
    #expect(again.status == 1 && again.output.isEmpty, "\(again)")
  }
}
