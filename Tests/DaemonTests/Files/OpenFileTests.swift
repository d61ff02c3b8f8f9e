import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Open files and pipes that clients pass over a socket next to the daemon's socket.
@Suite(.timeLimit(.minutes(3))) struct OpenFileTests {
  private func opened(_ path: String, _ flags: Int32 = O_RDONLY) throws -> Int32 {
    let descriptor = open(path, flags | O_CLOEXEC)
    try #require(descriptor >= 0)
    return descriptor
  }

  @Test func handedOverFileIsUsedOnceAndPlaysLikeAnyFile() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 48_000)
    let file = try opened(path)
    defer { close(file) }
    let token = try daemon.passDescriptor(file)
    unlink(path)
    #expect(try client.reply("load \(token) wait=ready") == "ok items=1 version=1")
    let status = try client.reply("item.status 1")
    #expect(field("path", status) == token && field("duration", status) == "1")
    #expect(try client.reply("append \(token) wait=ready").hasPrefix("error code=2051 name=no-such-descriptor"))
    #expect(try client.reply("seek 0.5").contains("time=0.5 "))
    try client.reply("play")
    try client.reply("clock.advance 1")
    #expect(try daemon.recorded(withSilences: false) == "1[24000..<48000]")
  }

  @Test func pipePlaysAsDataArrivesAndItsEndEndsTheItem() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let bytes = try Files.read(try daemon.wave(1, frameCount: 9_600))
    let after = try daemon.wave(2, frameCount: 4_800)
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let token = try daemon.passDescriptor(ends[0])
    close(ends[0])
    // Nothing has been written yet, and no other request is delayed.
    #expect(try client.reply("load \(token) \(after)") == "ok items=1,2 version=1")
    #expect(try client.reply("status").contains("item=1"))
    try #require(bytes.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) } == bytes.count)
    close(ends[1])
    #expect(try client.reply("wait ready").hasPrefix("ok"))
    let rejection = try client.reply("seek 0")
    #expect(rejection.hasPrefix("error code=2049 name=only-in-order"), "\(rejection)")
    // Reverse playback is not possible.
    for request in ["rate -1", "play-immediately -1", "preroll -1"] {
      #expect(try client.reply(request).hasPrefix("error code=2049 name=only-in-order"), "\(request)")
    }
    // The duration is known as soon as the end has been decoded.
    let duration = field("duration", try client.reply("item.status 1"))
    #expect(duration == "indefinite" || duration == "0.2", "\(duration ?? "nothing")")
    try client.reply("play")
    try client.reply("clock.advance 1")
    #expect(try daemon.recorded(withSilences: false) == "1[0..<9600] 2[0..<4800]")
  }

  @Test(.timeLimit(.minutes(2))) func scanOfASilentPipeDoesNotBlockOtherScans() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 48_000)
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let token = try daemon.passDescriptor(ends[0])
    close(ends[0])
    try client.send("@a scan \(token)", "@b scan \(path)")
    func replies() throws -> [String] {
      var lines: [String] = []
      while let line = try client.line() {
        if !line.hasPrefix("* ") { lines.append(line) }
        if line.hasPrefix("@a ok") || line.hasPrefix("@b ok") { break }
      }
      return lines
    }
    let second = try replies()
    #expect(
      second.count == 2 && second.allSatisfy { $0.hasPrefix("@b ") } && field("failed", second[1]) == "0", "\(second)")
    close(ends[1])
    let first = try replies()
    #expect(
      first.count == 2 && first.allSatisfy { $0.hasPrefix("@a ") } && field("failed", first[1]) == "1", "\(first)")
  }

  @Test func invalidDescriptorsAreRejectedWithTheirCodes() throws {
    let daemon = try InProcessServer()
    let path = try daemon.wave(1, frameCount: 480)
    let (file, folder, writeOnly) = (try opened(path), try opened(daemon.folder.path), try opened(path, O_WRONLY))
    defer { for descriptor in [file, folder, writeOnly] { close(descriptor) } }
    #expect(try daemon.passDescriptors([folder]).hasPrefix("error code=2050 name=not-readable"))
    #expect(try daemon.passDescriptors([writeOnly]).hasPrefix("error code=2050 name=not-readable"))
    let countError = #"error code=2050 name=not-readable message="the packet must contain exactly one descriptor""#
    #expect(try daemon.passDescriptors([file, file]).hasPrefix(countError))
    #expect(try daemon.passDescriptors([]).hasPrefix(countError))
    let tokens = try (0..<16).map { _ in try daemon.passDescriptor(file) }
    #expect(Set(tokens).count == 16)
    #expect(try daemon.passDescriptors([file]).hasPrefix("error code=2052 name=too-many-descriptors"))
    // A failed edit does not use the descriptor.
    let client = try daemon.connect()
    #expect(try client.reply("load \(tokens[0]) if-version=7").hasPrefix("error code=1011"))
    #expect(try client.reply("load \(tokens[0]) wait=ready") == "ok items=1 version=1")
    #expect(try client.reply("asset.open \(tokens[1])") == "ok asset=1")
    #expect(try client.ask("asset.load 1 duration").first == "| key=duration status=loaded value=0.01")
    // An unused descriptor is closed.
    try client.reply("clock.advance 31")
    #expect(try client.reply("append \(tokens[2]) wait=ready").hasPrefix("error code=2051"))
    #expect(try client.reply("append fd:3").hasPrefix("error code=6002"))
    #expect(try !tokens.contains(daemon.passDescriptor(file)))
    try daemon.finish()
    #expect(Files.mode(daemon.handoffSocket) == nil)
  }

  @Test func clientHandsOverItsStandardInput() throws {
    let daemon = try InProcessServer.recording()
    let path = try daemon.wave(1, frameCount: 9_600)
    let file = try opened(path)
    defer { close(file) }
    let client = try Program(
      Executables.playhead, ["--socket", daemon.socket, "load", "-", "wait=ready"], input: file)
    #expect(try client.waitForEnd() == .init(status: 0, output: "items=1 version=1\n", errors: ""))
    let shell = try Program(
      "/bin/sh", ["-c", #"cat "$1" | "$2" --socket "$3" append -"#, "sh", path, Executables.playhead, daemon.socket])
    #expect(try shell.waitForEnd() == .init(status: 0, output: "items=2 version=2\n", errors: ""))
    // There is only one standard input. A folder cannot be played.
    let folder = try opened("/")
    defer { close(folder) }
    #expect(try daemon.playhead("append", "-", "-").status == 2)
    #expect(
      try Program(Executables.playhead, ["--socket", daemon.socket, "append", "-"], input: folder).waitForEnd().status
        == 1)
    #expect(try daemon.playhead("play").status == 0)
    #expect(try daemon.playhead("clock.advance", "1").status == 0)
    #expect(try daemon.recorded(withSilences: false) == "1[0..<9600] 1[0..<9600]")
  }

  @Test func exportOmitsEntriesWithoutAPathAndReportsTheirNumber() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let (one, two) = (try daemon.wave(1, frameCount: 48_000), try daemon.wave(2, frameCount: 48_000))
    let file = try opened(one)
    defer { close(file) }
    let token = try daemon.passDescriptor(file)
    #expect(try client.reply("load \(one) \(token) \(two) wait=ready") == "ok items=1,2,3 version=1")
    let base = daemon.folder.path
    #expect(
      try client.ask("playlist.export base=\(base)") == [
        "| text=#EXTM3U", "| text=#EXTINF:1,", "| text=1.wav", "| text=#EXTINF:1,", "| text=2.wav",
        "ok count=3 version=1 next=none skipped=1",
      ])
    // Also in parts, and for a connection that begins in the middle.
    let tail = ["| text=File2=2.wav", "| text=Length2=1", "| text=NumberOfEntries=2", "| text=Version=2"]
    let parts = try (0..<3).map { try client.ask("playlist.export format=pls base=\(base) limit=1 offset=\($0)") }
    #expect(parts[0].last == "ok count=3 version=1 next=1" && parts[0].contains("| text=File1=1.wav"))
    #expect(parts[1] == ["ok count=3 version=1 next=2 skipped=1"])
    #expect(parts[2] == tail + ["ok count=3 version=1 next=none"])
    #expect(try daemon.connect().ask("playlist.export format=pls base=\(base) offset=2") == parts[2])
    #expect(
      try client.ask("playlist.export format=cue").filter { $0.contains("TRACK") }.last?.contains("TRACK 02") == true)
    for form in ["m3u8", "pls", "xspf", "cue"] {
      let saved = try daemon.playhead("save", "saved.\(form)", folder: base)
      #expect(saved.status == 0 && saved.errors.contains("omitted 1 of 3 entries"), "\(saved)")
    }
    for form in ["m3u8", "pls", "xspf", "cue"] {
      #expect(try client.reply("load \(base)/saved.\(form)").hasPrefix("ok items="))
      #expect(try client.ask("list").dropLast().compactMap { field("path", $0) } == [one, two])
    }
  }

  @Test(arguments: ["m3u8", "pls", "cue"])
  func lastPartOfAnExportReportsAQueueWithoutPaths(form: String) throws {
    let daemon = try InProcessServer()
    let (client, other) = (try daemon.connect(), try daemon.connect())
    let path = try daemon.wave(1, frameCount: 480)
    let file = try opened(path)
    defer { close(file) }
    let tokens = try (0..<3).map { _ in try daemon.passDescriptor(file) }
    #expect(try client.reply("load \(tokens[0]) \(tokens[1])") == "ok items=1,2 version=1")
    let export = "playlist.export format=\(form) limit=1"
    #expect(try client.ask(export).last == "ok count=2 version=1 next=1 skipped=1")
    for connection in [client, other] {
      #expect(try connection.reply("\(export) offset=1").hasPrefix("error code=3025 name=empty-playlist"))
      // There is nothing after the end, either.
      #expect(try connection.reply("\(export) offset=7").hasPrefix("error code=3025 name=empty-playlist"))
    }
    // One entry with a name, before or after, is enough.
    #expect(try client.reply("append \(path)") == "ok items=3 version=2")
    #expect(try other.ask("\(export) offset=1").last == "ok count=3 version=2 next=2 skipped=1")
    #expect(try other.ask("\(export) offset=2").last == "ok count=3 version=2 next=none")
    #expect(try client.reply("load \(path) \(tokens[2])") == "ok items=4,5 version=3")
    #expect(try other.ask("\(export) offset=1").last == "ok count=2 version=3 next=none skipped=1")
    #expect(try other.ask("\(export) offset=7").last == "ok count=2 version=3 next=none")
  }

  /// A long queue, in which the entries before the part are counted in several turns of the loop.
  @Test func exportedPartHasTheSameNumbersForEveryConnection() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let base = daemon.folder.path
    let file = try opened(try daemon.wave(1, frameCount: 480))
    defer { close(file) }
    let names = (0..<3_000).map { "sub/\($0).wav\n" }.joined()
    let list = try daemon.folder.write("a.m3u", Array("#EXTM3U\n\(names)".utf8))
    #expect(try client.reply("load \(list)").hasSuffix(" version=1"))
    let token = try daemon.passDescriptor(file)
    // After 1499.wav.
    #expect(try client.reply("insert \(token) before=1501") == "ok items=3001 version=2")
    func part(_ number: Int, _ name: Int, _ end: String) -> [String] {
      ["| text=File\(number)=sub/\(name).wav", "| text=Length\(number)=-1", end]
    }
    let export = "playlist.export format=pls base=\(base) limit=1"
    let other = try daemon.connect()
    #expect(try other.ask("\(export) offset=2990") == part(2_990, 2_989, "ok count=3001 version=2 next=2991"))
    // The count is shared by all requests, in any order.
    #expect(try client.ask("\(export) offset=1500") == ["ok count=3001 version=2 next=1501 skipped=1"])
    #expect(try client.ask("\(export) offset=1501") == part(1_501, 1_500, "ok count=3001 version=2 next=1502"))
    #expect(try client.ask("\(export) offset=3") == part(4, 3, "ok count=3001 version=2 next=4"))
    // Another queue is counted again. A later request gets its reply later, though both have IDs.
    #expect(try client.reply("remove 1") == "ok version=3")
    try other.send("@a \(export) offset=2990", "@b ping")
    let lines = try (0..<4).map { _ in try #require(try other.line()) }
    #expect(lines.dropLast() == ArraySlice(part(2_990, 2_990, "ok count=3000 version=3 next=2991").map { "@a \($0)" }))
    #expect(lines.last?.hasPrefix("@b ok") == true)
    #expect(try client.ask("\(export) offset=1500") == part(1_500, 1_500, "ok count=3000 version=3 next=1501"))
  }

  @Test func exportedTrackContinuesTheFileOfADistantEntry() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let file = try opened(try daemon.wave(1, frameCount: 48_000))
    defer { close(file) }
    let sheet = try daemon.folder.write(
      "a.cue",
      Array(
        "FILE \"1.wav\" WAVE\nTRACK 01 AUDIO\nINDEX 01 00:00:00\nTRACK 02 AUDIO\nINDEX 01 00:00:20\n".utf8))
    #expect(try client.reply("load \(sheet)") == "ok items=1,2 version=1")
    let token = try daemon.passDescriptor(file)
    #expect(try client.reply("insert \(token) after=1") == "ok items=3 version=2")
    let count = 300
    for _ in 0..<count { #expect(try client.reply("item.copy 3").hasPrefix("ok items=")) }
    let lines = try daemon.connect().ask("playlist.export format=cue offset=\(count + 2)")
    #expect(lines.last?.hasPrefix("ok count=\(count + 3) ") == true && lines.last?.contains(" next=none") == true)
    #expect(lines.contains { $0.contains("TRACK 02") } && !lines.contains { $0.contains("FILE") }, "\(lines)")
  }

  /// More of them than one part of a list contains.
  @Test func queueWithoutPathsIsNotSavedAsAPlaylist() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 480)
    let file = try opened(path)
    defer { close(file) }
    let list = daemon.folder.file("a.pls")
    func isRejected() throws -> Bool {
      let saved = try daemon.playhead("save", list)
      return saved.status == 1 && saved.errors.contains("path or URL that a playlist can contain")
        && Files.mode(list) == nil
    }
    let token = try daemon.passDescriptor(file)
    #expect(try client.reply("load \(token) wait=ready") == "ok items=1 version=1")
    for form in ["m3u8", "pls", "xspf", "cue"] {
      #expect(try client.reply("playlist.export format=\(form)").hasPrefix("error code=3025 name=empty-playlist"))
    }
    #expect(try isRejected())
    let count = 1_100
    for _ in 1..<count { #expect(try client.reply("item.copy 1").hasPrefix("ok items=")) }
    #expect(try client.ask("playlist.export format=pls").last?.hasSuffix(" next=1000 skipped=1000") == true)
    #expect(try isRejected())
    #expect(try client.reply("append \(path)").hasPrefix("ok items="))
    let saved = try daemon.playhead("save", list)
    #expect(saved.status == 0 && saved.errors.contains("omitted \(count) of \(count + 1) entries"), "\(saved)")
    #expect(
      String(decoding: try Files.read(list), as: UTF8.self)
        == "[playlist]\nFile1=1.wav\nLength1=-1\nNumberOfEntries=1\nVersion=2\n")
  }

  /// Not on the virtual clock, whose time waits for the writer.
  @Test func pausedPipeStallsThePlayerOnceAndPlaybackResumes() throws {
    let daemon = try TestDaemon("--output", "null")
    let client = try daemon.connect()
    // At most as long as the audio that is decoded before playback resumes: after a pause of the pipe, playback resumes
    // when all data is available. Large compared with the data that FFmpeg probes.
    let path = daemon.folder.file("large.wav")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=duration=0.5:sample_rate=192000", "-ac", "2",
      "-c:a", "pcm_s32le", path,
    ])
    let bytes = try Files.read(path)
    let firstCount = bytes.count * 3 / 5
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    func write(_ range: Range<Int>) throws {
      try #require(bytes[range].withUnsafeBytes { Glibc.write(ends[1], $0.baseAddress, $0.count) } == range.count)
    }
    let token = try daemon.passDescriptor(ends[0])
    close(ends[0])
    // F_SETPIPE_SZ: writes do not wait for the reader.
    try #require(fcntl(ends[1], 1_031, 1 << 20) >= bytes.count)
    try write(0..<firstCount)
    #expect(try client.reply("observe item.events").unnumbered == "ok id=1")
    #expect(try client.reply("load \(token) wait=ready") == "ok items=1 version=1")
    var lines = try client.ask("play")
    while lines.last?.hasPrefix("* stalled ") != true { lines.append(try #require(try client.line())) }
    let stalled = try #require(lines.last)
    #expect(stalled.hasPrefix("* stalled id=1 player=main item=1 time="))
    let time = try #require(field("time", stalled).flatMap { Double($0) })
    #expect(time > 0 && time < 0.31, "\(stalled)")
    let status = try client.reply("status")
    #expect(field("timeControlStatus", status) == "waitingToPlayAtSpecifiedRate")
    #expect(field("reasonForWaitingToPlay", status) == "toMinimizeStalls")
    #expect(field("isPlaybackBufferEmpty", try client.reply("item.status 1")) == "true")
    try write(firstCount..<bytes.count)
    close(ends[1])
    while lines.last?.hasPrefix("* played-to-end ") != true { lines.append(try #require(try client.line())) }
    #expect(field("time", lines.last ?? "") == "0.5", "\(lines)")
    #expect(lines.filter { $0.hasPrefix("* stalled ") } == [stalled], "\(lines)")
    #expect(try client.reply("wait ended").hasPrefix("ok item=none"))
  }

  /// Not only for commands that pass the file on.
  @Test(arguments: ["info", "tags", "scan"])
  func fileOnStandardInputIsReadLikeANamedFile(command: String) throws {
    let daemon = try InProcessServer()
    let path = try daemon.wave(1, frameCount: 48_000)
    func run(_ words: [String]) throws -> Program.Outcome {
      let file = try opened(path)
      defer { close(file) }
      return try Program(
        Executables.playhead, ["--socket", daemon.socket] + words, input: file, folder: daemon.folder.path
      ).waitForEnd()
    }
    let outcome = try run([command, "-"])
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    // Equal to the output for the file by its name, except for the name; also after `--`.
    func rest(_ output: String) -> String {
      output.replacingOccurrences(of: "standard input", with: path)
        .replacingOccurrences(of: "fd:[0-9a-f]{32}", with: path, options: .regularExpression)
    }
    #expect(try rest(outcome.output) == run([command, path]).output)
    #expect(try rest(run([command, "--", "-"]).output) == run([command, path]).output)
    // A file with the name `-` is specified with a path.
    try daemon.folder.write("-", Files.read(path))
    #expect(try run([command, "./-"]).output.contains("\(command == "scan" ? daemon.folder.path : ".")/-\n"))
    // There is only one standard input, so no daemon is needed for the error.
    let twice = try Program(Executables.playhead, ["--socket", "/nowhere", command, "-", "-"]).waitForEnd()
    #expect(twice.status == 2 && twice.errors.contains("can be used only once"), "\(twice)")
    let terminal = try Terminal()
    let typed = try Program(
      Executables.playhead, ["--socket", "/nowhere", command, "-"], input: terminal.keyboard
    ).waitForEnd()
    #expect(typed.status == 2 && typed.errors.contains("terminal"), "\(typed)")
  }

  @Test func pipeOnStandardInputIsInspectedButNotMeasured() throws {
    let daemon = try InProcessServer()
    let path = try daemon.wave(1, frameCount: 48_000)
    func piped(_ command: String) throws -> Program.Outcome {
      let script = #"cat "$1" | "$2" --socket "$3" "$4" -"#
      return try Program(
        "/bin/sh", ["-c", script, "sh", path, Executables.playhead, daemon.socket, command]
      ).waitForEnd()
    }
    let info = try piped("info")
    #expect(info.status == 0 && info.output.hasPrefix("standard input\n  Duration        unknown\n"), "\(info)")
    #expect(info.output.contains("  Track 0         audio pcm_s16le, 48000 Hz"), "\(info)")
    let scan = try piped("scan")
    #expect(scan.status == 1 && scan.output.contains("a stream has no end"), "\(scan)")
  }
}
