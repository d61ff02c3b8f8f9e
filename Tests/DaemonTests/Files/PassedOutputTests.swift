import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Files that a client opens and the daemon writes (`file=fd:TOKEN`).
@Suite struct PassedOutputTests {
  private let folder: TemporaryDirectory
  /// An audio file with artwork, and a movie.
  private let (song, film): (String, String)

  init() throws {
    folder = try TemporaryDirectory("passed")
    (song, film) = (folder.file("song.mp3"), folder.file("film.mp4"))
    let cover = folder.file("cover.png")
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-f", "lavfi", "-i", "color=s=8x8", "-frames:v", "1", cover])
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=duration=0.5", "-i", cover, "-map", "0", "-map", "1",
      "-disposition:v", "attached_pic", song,
    ])
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=176x144:rate=25:duration=1", "-c:v", "libx264",
      "-pix_fmt", "yuv420p", film,
    ])
  }

  /// Opens a new file, and passes it to the daemon. Returns the token.
  private func pass(_ path: String, to daemon: some TestServer) throws -> String {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    return try daemon.passDescriptor(descriptor)
  }

  /// The requests that write a file, without `file`.
  private var requests: [(name: String, request: String)] {
    [
      ("export.flac", "export \(song) format=flac"), ("export.m4a", "export \(song) format=m4a"),
      ("waveform.json", "waveform \(song) format=json"), ("waveform.png", "waveform \(song) format=png width=64"),
      ("image.jpg", "image \(film) 0.2 format=jpeg"), ("sheet.png", "image \(film) format=png sheet=2x2"),
      ("artwork.png", "asset.artwork 1"),
    ]
  }

  /// The file has the same bytes as a file that the daemon opens below a writable folder.
  @Test func openedFilesAreWrittenWithoutRoots() throws {
    let strict = try TestDaemon(["--clock", "virtual"], folder: folder)
    let client = try strict.connect()
    let other = try TemporaryDirectory("roots")
    let free = try TestDaemon(["--clock", "virtual", "--write-root", other.path], folder: other)
    let freeClient = try free.connect()
    for client in [client, freeClient] { try client.reply("asset.open \(song)") }
    for (name, request) in requests {
      let token = try pass(folder.file(name), to: strict)
      let reply = try client.reply("\(request) file=\(token)")
      #expect(try freeClient.reply("\(request) file=\(other.file(name))").hasPrefix("ok"), "\(name)")
      let (written, expected) = (try Files.read(folder.file(name)), try Files.read(other.file(name)))
      print("passed output \(name): \(written.count) bytes")
      #expect(reply.hasPrefix("ok"), "\(name): \(reply)")
      let isEqual = written == expected
      #expect(isEqual && !written.isEmpty, "\(name): \(written.count) bytes, not \(expected.count)")
      #expect(try client.reply("\(request) file=\(token)").contains("name=no-such-descriptor"), "\(name)")
    }
    for daemon in [strict, free] { try daemon.finish() }
  }

  @Test func fileIsEmptyAfterAnError() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let broken = folder.file("broken.mp3")
    try Data(Files.read(song).prefix(100)).write(to: URL(fileURLWithPath: broken))
    for (name, request) in [
      ("a.flac", "export \(broken) format=flac"), ("b.flac", "export \(song) \(broken) format=flac"),
      ("c.png", "waveform \(broken) format=png"), ("d.png", "image \(song) 9 format=png"),
    ] {
      let reply = try client.reply("\(request) file=\(try pass(folder.file(name), to: daemon))")
      print("passed output \(name): \(reply)")
      #expect(reply.hasPrefix("error "), "\(name): \(reply)")
      #expect(try Files.read(folder.file(name)).isEmpty, "\(name)")
    }
  }

  /// The messages of the daemon have the path of the file, in each form.
  @Test func errorsNameTheFile() throws {
    let configuration = folder.file("full.toml")
    try Data("[roots]\nmin-free = 1_125_899_906_842_624\n".utf8).write(to: URL(fileURLWithPath: configuration))
    let daemon = try TestDaemon(["--clock", "virtual", "--config", configuration], folder: folder)
    for form in ["--raw", "--human", "--json"] {
      for words in [["export", "song.mp3"], ["waveform", "song.mp3"], ["image", "film.mp4", "0"]] {
        let name = words[0] == "image" ? "a b.png" : words[0] == "export" ? "a b.flac" : "a b.json"
        let subject = words[0] == "export" ? "the file" : folder.file(name)
        let result = try daemon.playhead(words + ["-o", name, form], folder: folder.path)
        #expect(
          result.status == 1 && result.output.isEmpty
            && result.errors.contains("\(subject) cannot be written"),
          "\(form) \(words): \(result)")
        #expect(!FileManager.default.fileExists(atPath: folder.file(name)), "\(form) \(words)")
      }
    }
    try daemon.finish()
  }

  @Test func unsuitableDescriptorsAreRejected() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let before = try Files.read(song)
    let rows: [(String, Int32, String)] = [
      ("a file with contents", open(song, O_RDWR | O_CLOEXEC), "write-failed"),
      ("only readable", open(folder.file("a"), O_RDONLY | O_CREAT | O_CLOEXEC, 0o600), "write-failed"),
      ("appending", open(folder.file("b"), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600), "write-failed"),
      ("a pipe", ends[0], "write-failed"),
    ]
    defer { for row in rows where row.1 != ends[0] { close(row.1) } }
    for (name, descriptor, error) in rows {
      let reply = try client.reply("waveform \(song) format=json file=\(try daemon.passDescriptor(descriptor))")
      print("passed output: \(name): \(reply)")
      #expect(reply.contains("name=\(error)"), "\(name): \(reply)")
    }
    #expect(try Files.read(song) == before)
    let token = try pass(folder.file("c"), to: daemon)
    for (request, error) in [
      ("waveform \(song) file=\(token)", "bad-arguments"), ("export \(song) file=\(token) replace", "bad-arguments"),
      ("image \(film) 0 0.2 format=png file=\(token)", "bad-arguments"),
      ("waveform \(song) format=json file=fd:3", "bad-arguments"),
      ("waveform \(song) format=json file=http://localhost/a", "bad-arguments"),
      ("record.prepare \(token)", "bad-arguments"),
      ("waveform \(song) format=json file=fd:00000000000000000000000000000000", "no-such-descriptor"),
    ] {
      let reply = try client.reply(request)
      #expect(reply.contains("name=\(error)"), "\(request): \(reply)")
    }
    // An invalid request does not use the descriptor.
    #expect(try client.reply("waveform \(song) format=json file=\(token)").hasPrefix("ok"))
  }

  /// A rejected output does not use the descriptor of the media.
  @Test func descriptorOfTheMediaStaysAfterARejectedOutput() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let descriptor = open(film, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let media = try daemon.passDescriptor(descriptor)
    let unknown = "fd:00000000000000000000000000000000"
    #expect(try client.reply("image \(media) 0 format=png file=\(unknown)").contains("name=no-such-descriptor"))
    let output = try pass(folder.file("kept.png"), to: daemon)
    let reply = try client.reply("image \(media) 0 format=png file=\(output)")
    #expect(reply.hasPrefix("ok scan=") && reply.contains(" count=1 "), "\(reply)")
    #expect(try client.reply("image \(media) 0 format=png file=\(output)").contains("name=no-such-descriptor"))
  }

  /// The files have the same bytes as those of single images, and each form has one reply.
  @Test func clientWritesSeveralImagesWithoutRoots() throws {
    let daemon = try TestDaemon(["--clock", "virtual"], folder: folder)
    for (number, time) in [(1, "0"), (2, "0.4"), (3, "0.8")] {
      let single = try daemon.playhead("image", "film.mp4", time, "-o", "single\(number).png", folder: folder.path)
      try #require(single.status == 0, "\(single)")
    }
    func path(_ form: String, _ number: Int) -> String { folder.file("\(form)-0\(number).png") }
    for form in ["raw", "human", "json"] {
      let words = ["image", "film.mp4", "0", "0.4", "0.8", "-o", "\(form)-%02d.png", "--\(form)"]
      let result = try daemon.playhead(words, folder: folder.path)
      print("images \(form): \(result.output)")
      #expect(result.status == 0 && result.errors == "", "\(result)")
      let lines = result.output.split(separator: "\n").map(String.init)
      switch form {
      case "raw":
        #expect(lines.count == 4 && lines.last?.contains(" count=3 width=176 height=144") == true, "\(lines)")
        #expect(lines.dropLast().compactMap { field("image", $0) } == ["1", "2", "3"], "\(lines)")
        #expect(lines.dropLast().compactMap { field("file", $0) } == (1...3).map { path(form, $0) }, "\(lines)")
      case "human":
        #expect(
          lines == [(1, "0:00.000"), (2, "0:00.400"), (3, "0:00.800")].map { "\(path(form, $0)): \($1), 176x144" })
      default:
        #expect(lines.count == 1 && result.output.contains(#""count":3,"#), "\(lines)")
        #expect(result.output.contains(#""image":3,"#) && result.output.contains("\"file\":\"\(path(form, 3))\""))
      }
      for number in 1...3 {
        let isEqual = try Files.read(path(form, number)) == Files.read(folder.file("single\(number).png"))
        #expect(isEqual, "\(form) \(number)")
      }
      // An existing file is replaced only with `replace`. Without, no file is written.
      try FileManager.default.removeItem(atPath: path(form, 1))
      let again = try daemon.playhead(words, folder: folder.path)
      #expect(again.status == 1 && again.errors.contains("already exists; --replace replaces it"), "\(again)")
      #expect(!FileManager.default.fileExists(atPath: path(form, 1)))
      #expect(try daemon.playhead(words + ["--replace"], folder: folder.path).status == 0)
      #expect(FileManager.default.fileExists(atPath: path(form, 1)))
    }
    try daemon.finish()
  }

  /// The daemon may write nowhere; the client may.
  @Test func clientWritesItsFilesWithoutRoots() throws {
    let daemon = try TestDaemon(["--clock", "virtual"], folder: folder)
    let rows: [(name: String, words: [String], output: String)] = [
      ("a b.flac", ["export", "song.mp3", "--human"], "\(folder.file("a b.flac")): 0:00.5"),
      ("raw out.m4a", ["export", "song.mp3", "--raw"], " file=\"\(folder.file("raw out.m4a"))\" format=m4a "),
      ("json.wav", ["export", "song.mp3", "--json"], "\"file\":\"\(folder.file("json.wav"))\""),
      ("wave.dat", ["waveform", "song.mp3", "--human"], "\(folder.file("wave.dat")): "),
      (
        "frame.jpg", ["image", "film.mp4", "0.2", "--quality", "50", "--human"],
        "\(folder.file("frame.jpg")): 0:00.200, 176x144\n"
      ),
      ("art.png", ["item.artwork"], "file=\(folder.file("art.png"))"),
      ("art2.png", ["item.artwork", "current", "--human"], folder.file("art2.png")),
      ("sheet.png", ["image", "film.mp4", "--sheet", "2x2"], "count=4"),
    ]
    #expect(try daemon.playhead("load", "song.mp3", "wait=ready", folder: folder.path).status == 0)
    for (name, words, output) in rows {
      let result = try daemon.playhead(words + ["-o", name], folder: folder.path)
      print("client output \(name): \(result.output.prefix(120))")
      #expect(result.status == 0 && result.output.contains(output), "\(name): \(result)")
      #expect(!result.output.contains("fd:"), "\(name): \(result)")
      if words.contains("--human") { #expect(!result.output.contains("scan"), "\(name): \(result)") }
      #expect(try !Files.read(folder.file(name)).isEmpty, "\(name)")
      // An existing file is replaced only with `replace`, and kept after an error.
      let before = try Files.read(folder.file(name))
      let again = try daemon.playhead(words + ["-o", name], folder: folder.path)
      #expect(again.status == 1 && again.errors.contains("already exists"), "\(name): \(again)")
      let replaced = try daemon.playhead(words + ["-o", name, "--replace"], folder: folder.path)
      #expect(replaced.status == 0, "\(name): \(replaced)")
      let isEqual = try Files.read(folder.file(name)) == before
      #expect(isEqual, "\(name)")
    }
    // Standard input, and a file name after `--`.
    try ChildProcess.run([
      "sh", "-c", "cd \"$0\" && \"$1\" --socket \"$2\" export - -o in.wav < song.mp3", folder.path,
      Executables.playhead, daemon.socket,
    ])
    #expect(try Files.read(folder.file("in.wav")) == Files.read(folder.file("json.wav")))
    #expect(try daemon.playhead(["export", "-o", "dash.flac", "--", "song.mp3"], folder: folder.path).status == 0)
    try Data([1]).write(to: URL(fileURLWithPath: folder.file("broken.mp3")))
    let failures: [(words: [String], status: Int32, error: String)] = [
      (["export", "broken.mp3", "-o", "a b.flac", "--replace"], 1, "damaged"),
      (["export", "song.mp3", "-o", "new.flac", "start=7"], 1, "invalid-time"),
      (["export", "song.mp3", "-o", "none/new.flac"], 1, "cannot be written"),
      (["export", "song.mp3", "-o", "new"], 2, "no extension"), (["export", "song.mp3", "-o"], 2, "-o needs a path"),
      (["export", "song.mp3", "-o", "-"], 2, "standard output"),
      (["export", "song.mp3", "-o", "fd:" + String(repeating: "0", count: 32), "format=wav"], 1, "no-such-descriptor"),
      (["export", "song.mp3", "-o", "x.wav", "-o", "y.wav"], 2, "only once"),
      (["image", "film.mp4", "0", "0.5", "-o", "f.png"], 2, "must contain one %d"),
      (["image", "film.mp4", "0", "9", "-o", "f-%d.png"], 1, "(invalid-time)"),
      (["image", "film.mp4", "0", "0.5", "-o", "none/f-%d.png"], 1, "cannot be written"),
      (["image", "film.mp4", "0", "0.5", "file=f-%d.png"], 1, "(--write-root, or roots.write in its configuration)"),
    ]
    for (words, status, error) in failures {
      let result = try daemon.playhead(words, folder: folder.path)
      print("client output \(words): \(result.errors)")
      #expect(result.status == status && result.errors.contains(error), "\(words): \(result)")
    }
    #expect(try !Files.read(folder.file("a b.flac")).isEmpty)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasPrefix(".") || $0.hasPrefix("new") || $0.hasPrefix("f-") }
    #expect(left.isEmpty, "\(left)")
    try daemon.finish()
  }
}
