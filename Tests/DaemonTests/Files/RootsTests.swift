import DaemonTesting
import Foundation
import RigSupport
import Testing

/// The folders in which clients' requests may read and write, with no way around them.
@Suite(.timeLimit(.minutes(3))) struct RootsTests {
  /// A folder `music` that is a root, and `out` next to it that is not.
  private struct Folders {
    let folder: TemporaryDirectory
    var music: String { folder.file("music") }
    var out: String { folder.file("out") }

    init() throws {
      folder = try TemporaryDirectory("roots")
      for name in ["music", "music/sub", "out"] { try #require(mkdir(folder.file(name), 0o755) == 0) }
      for (number, name) in ["music/in.wav", "music/sub/in.wav", "out/secret.wav"].enumerated() {
        try TimeCode.writeWAV(path: folder.file(name), file: number + 1, frameCount: 4_800)
      }
      for (link, target) in [
        ("link.wav", "../out/secret.wav"), ("absolute.wav", folder.file("out/secret.wav")), ("way-out", "../out"),
        ("zero.wav", "/dev/zero"), ("inside.wav", "sub/in.wav"), ("fd.wav", "/proc/self/fd/0"),
      ] { try #require(symlink(target, folder.file("music/\(link)")) == 0) }
      try #require(mkfifo(folder.file("music/pipe.wav"), 0o644) == 0)
      let listed = "../out/secret.wav"
      let url = "file://\(folder.file("out/secret.wav"))"
      for (name, text) in [
        ("music/relative.m3u", listed), ("music/absolute.m3u", folder.file("out/secret.wav")), ("music/url.m3u", url),
        ("music/encoded.m3u", "file://\(folder.file("music"))/%2e%2e/out/secret.wav"),
        ("music/good.m3u", "in.wav"), ("out/list.m3u", folder.file("music/in.wav")),
        ("music/nested.m3u", "../out/list.m3u"),
        ("music/link.m3u", "way-out/secret.wav"),
        ("music/list.pls", "[playlist]\nFile1=\(listed)\nNumberOfEntries=1"),
        (
          "music/list.xspf",
          "<playlist version=\"1\" xmlns=\"http://xspf.org/ns/0/\"><trackList><track><location>\(url)</location></track>"
            + "</trackList></playlist>"
        ),
        ("music/sheet.cue", "FILE \"\(listed)\" WAVE\nTRACK 01 AUDIO\nINDEX 01 00:00:00"),
        ("music/stream.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n../out/a.aac\n#EXT-X-ENDLIST"),
        (
          "music/variants.m3u8",
          "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS=\"mp4a.40.2\"\n../out/stream.m3u8"
        ),
        (
          "out/stream.m3u8",
          "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n\(folder.file("music"))/a.aac\n#EXT-X-ENDLIST"
        ),
      ] { try folder.write(name, Array("\(text)\n".utf8)) }
      for name in ["music/a.aac", "out/a.aac"] {
        try Fixtures.ffmpeg([
          "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=duration=1", "-c:a", "aac", folder.file(name),
        ])
      }
    }
  }

  /// The result of each way to name a file. In another player (MPD, similar to CVE-2022-46449), `..` leads out of the
  /// library.
  @Test func noPathReachesAFileOutsideTheRoots() throws {
    let folders = try Folders()
    let daemon = try TestDaemon("--clock", "virtual", "--read-root", folders.music, folder: folders.folder)
    let client = try daemon.connect()
    let (music, out) = (folders.music, folders.out)
    let rows: [(path: String, expected: String)] = [
      ("\(music)/in.wav", "ok items="), ("\(music)//sub/./in.wav", "ok items="),
      ("\(music)/sub/../in.wav", "ok items="),
      ("file://\(music)/in%2Ewav", "ok items="), ("file://localhost\(music)/in.wav", "ok items="),
      ("\(music)/inside.wav", "ok items="), ("\(music)/good.m3u", "ok items="),
      ("\(out)/secret.wav", "error code=2008 name=outside-roots"),
      ("\(out)/missing.wav", "error code=2008"), ("\(music)-more/x.wav", "error code=2008"),
      ("\(music)/../out/secret.wav", "error code=2008"), ("\(music)/sub/../../out/secret.wav", "error code=2008"),
      ("\(music)/../../../../../../../../../../etc/passwd", "error code=2008"),
      ("\(music)/../music/in.wav", "error code=2008"),
      ("file://\(music)/%2e%2e/out/secret.wav", "error code=2008"),
      ("file://\(music)%2F..%2Fout%2Fsecret.wav", "error code=2008"),
      ("file://\(out)/secret.wav", "error code=2008"), ("\(music)/link.wav", "error code=2008"),
      ("\(music)/absolute.wav", "error code=2008"), ("\(music)/way-out/secret.wav", "error code=2008"),
      ("\(music)/zero.wav", "error code=2008"), ("/dev/zero", "error code=2008"),
      ("/proc/self/fd/0", "error code=2008"), ("/proc/self/root\(music)/in.wav", "error code=2008"),
      ("\(music)/fd.wav", "error code=2008"), ("\(music)/pipe.wav", "error code=2002"),
      ("\(music)/in.wav/", "error code=2001"), ("\(music)/missing.wav", "error code=2001"),
      ("\(music)", "error code=2002"), ("\(music)/", "error code=2002"), ("\(music)/..", "error code=2008"),
      ("\(music)/relative.m3u", "error code=2008"), ("\(music)/absolute.m3u", "error code=2008"),
      ("\(music)/url.m3u", "error code=2008"), ("\(music)/encoded.m3u", "error code=2008"),
      ("\(music)/link.m3u", "error code=2008"), ("\(music)/list.pls", "error code=2008"),
      ("\(music)/list.xspf", "error code=2008"), ("\(music)/sheet.cue", "error code=2008"),
      ("\(music)/nested.m3u", "error code=2008"), ("\(out)/list.m3u", "error code=2008"),
      ("\(music)/stream.m3u8", "error code=2008"), ("\(music)/variants.m3u8", "error code=2008"),
    ]
    for (path, expected) in rows {
      let reply = try client.reply("load \"\(path)\" wait=ready")
      let opened = try client.reply("asset.open \"\(path)\"")
      let id = field("asset", opened) ?? "?"
      let loaded = try client.ask("asset.load \(id) tracks duration").last ?? ""
      try client.reply("asset.close \(id)")
      print("roots: \(path.replacingOccurrences(of: folders.folder.path, with: "")): \(reply) / \(loaded)")
      #expect(reply.hasPrefix(expected), "\(path): \(reply)")
      // A playlist file is not a media file when it is opened itself.
      let isList = path.hasSuffix(".m3u") || [".pls", ".xspf", ".cue"].contains { path.hasSuffix($0) }
      if !isList { #expect(loaded.hasPrefix(expected == "ok items=" ? "ok" : expected), "\(path): \(loaded)") }
    }
    let scan = try client.ask("scan \(music)/in.wav \(music)/../out/secret.wav")
    #expect(scan.contains { $0.contains("file=2 ") && $0.contains("outside-roots") }, "\(scan)")
  }

  @Test func withoutRootsAllFilesButOpenDescriptorsAreReadable() throws {
    let folders = try Folders()
    let daemon = try TestDaemon("--clock", "virtual", folder: folders.folder)
    let client = try daemon.connect()
    for (path, expected) in [
      ("\(folders.out)/secret.wav", "ok items="), ("\(folders.music)/../out/secret.wav", "ok items="),
      ("\(folders.music)/link.wav", "ok items="), ("/proc/self/fd/0", "error code=2001"),
      ("\(folders.music)/fd.wav", "error code=2001"), ("/dev/stdin", "error code=2001"),
      ("/dev/zero", "error code=2002"),
    ] {
      let reply = try client.reply("load \(path) wait=ready")
      print("everywhere: \(path): \(reply)")
      #expect(reply.hasPrefix(expected), "\(path): \(reply)")
    }
  }

  /// The artwork of an asset, from a file that a client may have written.
  private func cover(_ folder: TemporaryDirectory) throws -> String {
    let (image, path) = (folder.file("cover.png"), folder.file("music/tagged.mp3"))
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "color=s=8x8", "-frames:v", "1", image,
    ])
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=duration=0.2", "-i", image, "-map", "0",
      "-map", "1", "-disposition:v", "attached_pic", path,
    ])
    return path
  }

  @Test func filesAreWrittenBelowWriteRootsOnly() throws {
    let folders = try Folders()
    let path = try cover(folders.folder)
    let before = try Files.read("\(folders.out)/secret.wav")
    for isAllowed in [true, false] {
      let daemon = try TestDaemon(
        ["--clock", "virtual"] + (isAllowed ? ["--write-root", folders.music] : []), folder: folders.folder)
      let client = try daemon.connect()
      try client.reply("asset.open \(path)")
      let rows: [(String, String)] = [
        ("\(folders.music)/a.png", "ok asset=1"), ("\(folders.music)/sub/../b.png", "ok asset=1"),
        ("\(folders.music)/a.png", "error code=2090"), ("\(folders.music)/no/a.png", "error code=2006"),
        ("\(folders.out)/a.png", "error code=2008"), ("\(folders.music)/../out/a.png", "error code=2008"),
        ("\(folders.music)/way-out/a.png", "error code=2008"),
        ("\(folders.music)/way-out/secret.wav", "error code=2008"),
        ("file://\(folders.music)/%2e%2e/out/a.png", "error code=2008"), ("/tmp/playhead-roots.png", "error code=2008"),
        ("/proc/self/cwd/a.png", "error code=2008"),
      ]
      for (file, expected) in rows {
        let reply = try client.reply("asset.artwork 1 file=\(file)")
        print("written: \(file.replacingOccurrences(of: folders.folder.path, with: "")): \(reply)")
        #expect(reply.hasPrefix(isAllowed ? expected : "error code=2008"), "\(file): \(reply)")
      }
      if isAllowed {
        // A link at the destination is replaced, never followed.
        #expect(try client.reply("asset.artwork 1 file=\(folders.music)/link.wav replace").hasPrefix("ok"))
        #expect(Files.mode("\(folders.music)/link.wav").map { $0 & S_IFMT } == S_IFREG)
      }
      try daemon.finish()
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folders.out).sorted() == [
        "a.aac", "list.m3u", "secret.wav", "stream.m3u8",
      ])
    #expect(try Files.read("\(folders.out)/secret.wav") == before)
  }

  @Test func invalidRootIsACommandLineError() throws {
    for option in ["--read-root", "--write-root"] {
      for root in ["music", "/a/../b"] {
        let outcome = try Program(Executables.playheadd, ["--output", "null", option, root]).waitForEnd()
        #expect(outcome.status == 2 && outcome.errors.contains("absolute path without '..'"), "\(outcome)")
      }
    }
    for (root, reason) in [("/nonexist", "No such file or directory"), ("/etc/hostname", "not a folder")] {
      let outcome = try Program(Executables.playheadd, ["--output", "null", "--write-root", root]).waitForEnd()
      let message = "--write-root needs an existing folder (got \(root): \(reason))"
      #expect(outcome.status == 2 && outcome.output == "" && outcome.errors.contains(message), "\(outcome)")
    }
  }
}
