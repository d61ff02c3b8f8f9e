import DaemonTesting
import Glibc
import RigSupport
import Testing

/// `playhead load`, `append`, `insert` and `play FILE...`.
@Suite struct LoadTests {
  /// A server with a queue of one file, and a folder with media and other files.
  private func makeDaemon() throws -> TestServer {
    let daemon = try InProcessServer()
    let source = try Files.read(try daemon.wave(1, frameCount: 4_800))
    for name in ["10.wav", "2.wav", "noextension", "-dash.wav"] { try daemon.folder.write(name, source) }
    #expect(mkdir(daemon.folder.file("album"), 0o755) == 0)
    for name in ["album/b10.wav", "album/b9.wav"] { try daemon.folder.write(name, source) }
    try daemon.folder.write("album/notes.txt", Array("notes".utf8))
    let loaded = try daemon.playhead("load", "1.wav", folder: daemon.folder.path)
    #expect(loaded == .init(status: 0, output: "items=1 version=1\n", errors: ""))
    return daemon
  }

  /// The paths of the queue's files, relative to the folder.
  private func queue(_ daemon: TestServer, _ options: String...) throws -> [String] {
    let prefix = "path=\(daemon.folder.path)/"
    return try daemon.playhead(["list"] + options).output.split(separator: "\n").compactMap { line in
      line.split(separator: " ").first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }
  }

  @Test func filesThatCannotBeMediaLeaveTheQueueUnchanged() throws {
    let daemon = try makeDaemon()
    let folder = daemon.folder
    try folder.write("notes.txt", Array("Ein Häuschen\n".utf8))
    // A text of more than the inspected bytes, which end within a character.
    try folder.write("long", Array("a\(String(repeating: "é", count: 5_000))".utf8))
    try folder.write("notes.mp3", Array("notes\n".utf8))
    try folder.write("empty.wav", [])
    #expect(mkfifo(folder.file("pipe.wav"), 0o600) == 0 && mkdir(folder.file("none"), 0o755) == 0)
    let text = "a text file, not media (list=true reads a playlist)"
    for (words, message) in [
      (["missing.flac"], "missing.flac: No such file or directory"), (["notes.txt"], "notes.txt: \(text)"),
      (["long"], "long: \(text)"), (["notes.mp3"], "notes.mp3: \(text)"),
      (["empty.wav"], "empty.wav: the file is empty"),
      (["/dev/null"], "/dev/null: a device, not a file"),
      (["pipe.wav"], "pipe.wav: a pipe, not a file; use - for standard input"),
      (["file://\(folder.path)/n%6ftes.txt"], "file://\(folder.path)/n%6ftes.txt: \(text)"),
      (["none"], "no media files found"), (["album", "--list", "true"], "album: a folder, not a playlist"),
    ] as [([String], String)] {
      for (command, prefix) in [("load", "loaded"), ("append", "added"), ("insert", "added"), ("play", "loaded")] {
        let files = words == ["none"] ? words : ["2.wav"] + words
        let outcome = try daemon.playhead([command] + files, folder: folder.path)
        print("\(command) \(words): \(outcome.errors)")
        #expect(outcome == .init(status: 1, output: "", errors: "playhead: nothing \(prefix): \(message)\n"))
      }
    }
    #expect(try daemon.playhead("list").output.hasSuffix("count=1 version=1 next=none\n"))
    #expect(try daemon.playhead("get", "timeControlStatus").output == "paused\n")
  }

  @Test func messagesWithoutMediaNameTheFile() throws {
    let daemon = try makeDaemon()
    let folder = daemon.folder
    #expect(mkdir(folder.file("texts"), 0o755) == 0)
    try folder.write("texts/a.txt", Array("a".utf8))
    let path = folder.file("texts")
    for (command, words, status, message) in [
      ("load", ["texts"], 1, "nothing loaded: no media files found (omitted: \(path)/a.txt: not a media file)"),
      ("load", [], 2, "load needs a file, a folder, a playlist, an address, or -; see playhead load --help"),
      ("insert", ["wait=ready"], 2, "insert needs a file"),
      (
        "load", ["http://h/a b.flac"], 2,
        "paths: 'http://h/a b.flac': a URL must not contain spaces; write %20 instead"
      ),
    ] as [(String, [String], Int32, String)] {
      let outcome = try daemon.playhead([command] + words, folder: folder.path)
      print("\(command) \(words): \(outcome.errors)")
      #expect(outcome.status == status && outcome.errors.contains("playhead: \(message)"), "\(outcome)")
    }
  }

  @Test func unreadableFilesLeaveTheQueueUnchanged() throws {
    let daemon = try makeDaemon()
    #expect(chmod(daemon.folder.file("2.wav"), 0) == 0)
    // Without root's permission to read every file.
    let words = [Executables.playhead, "--socket", daemon.socket, "load", daemon.folder.file("2.wav")]
    let outcome =
      geteuid() == 0
      ? try Program("setpriv", ["--bounding-set=-dac_override,-dac_read_search"] + words).waitForEnd()
      : try Program(words[0], Array(words.dropFirst())).waitForEnd()
    #expect(outcome.status == 1 && outcome.errors.hasSuffix("/2.wav: Permission denied\n"), "\(outcome)")
    #expect(try queue(daemon) == ["1.wav"])
  }

  @Test func foldersAndPlaylistsAreExpanded() throws {
    let daemon = try makeDaemon()
    try daemon.folder.write("list.m3u8", Array("10.wav\n2.wav\n".utf8))
    try daemon.folder.write("songs", Array("2.wav\n".utf8))
    let folder = daemon.folder.path
    let appended = try daemon.playhead("append", "album", "--", "noextension", "-dash.wav", folder: folder)
    #expect(
      appended.status == 0 && appended.errors == "playhead: omitted \(folder)/album/notes.txt: not a media file\n",
      "\(appended)")
    #expect(appended.output == "items=2,3,4,5 version=2\n")
    #expect(try queue(daemon) == ["1.wav", "album/b9.wav", "album/b10.wav", "noextension", "-dash.wav"])
    #expect(try daemon.playhead("insert", "list.m3u8", "wait=ready", folder: folder).output == "items=6,7 version=3\n")
    #expect(try queue(daemon).prefix(3) == ["1.wav", "10.wav", "2.wav"])
    // A playlist without the extension of one, and a file:// URL.
    #expect(try daemon.playhead("load", "list=true", "songs", folder: folder).status == 0)
    #expect(try daemon.playhead("append", "file://\(folder)/album").status == 0)
    #expect(try queue(daemon) == ["2.wav", "album/b9.wav", "album/b10.wav"])
  }

  @Test func numberOfEntriesIsPrintedForPeople() throws {
    let daemon = try makeDaemon()
    let folder = daemon.folder.path
    #expect(try daemon.playhead("load", "--human", "2.wav", folder: folder).output == "Loaded 1 entry\n")
    #expect(try daemon.playhead("append", "--human", "album", folder: folder).output == "Added 2 entries\n")
    #expect(
      try daemon.playhead("insert", "--json", "2.wav", folder: folder).output
        == "{\"items\":[5],\"version\":4,\"rows\":[]}\n")
  }

  @Test func playLoadsFilesAndPlaysThem() throws {
    let daemon = try makeDaemon()
    #expect(try daemon.playhead("player.create", "b").status == 0)
    let outcome = try daemon.playhead(
      "play", "2.wav", "album", "--wait", "ready", "player=b", folder: daemon.folder.path)
    let notes = daemon.folder.file("album/notes.txt")
    #expect(
      outcome
        == .init(status: 0, output: "items=2,3,4 version=1\n", errors: "playhead: omitted \(notes): not a media file\n")
    )
    #expect(try queue(daemon, "player=b") == ["2.wav", "album/b9.wav", "album/b10.wav"])
    #expect(try daemon.playhead("wait", "status=playing", "player=b").status == 0)
    #expect(try daemon.playhead("get", "timeControlStatus").output == "paused\n")
    #expect(try daemon.playhead("play").output == "")
    #expect(try daemon.playhead("wait", "status=playing").status == 0)
    #expect(try queue(daemon) == ["1.wav"])
  }

  /// After `--`, words are files, also those with the form of a range.
  @Test(arguments: ["to=x.wav", "01..02"]) func playLoadsFilesNamedLikeARange(_ name: String) throws {
    let daemon = try makeDaemon()
    let (folder, file) = (daemon.folder, daemon.folder.file("1.wav"))
    if name.hasSuffix(".wav") {
      #expect(link(file, folder.file(name)) == 0)
    } else {
      #expect(mkdir(folder.file(name), 0o755) == 0 && link(file, folder.file("\(name)/3.wav")) == 0)
    }
    let outcome = try daemon.playhead("play", "--", name, folder: folder.path)
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    #expect(try queue(daemon) == [name.hasSuffix(".wav") ? name : "\(name)/3.wav"])
    let mixed = try daemon.playhead("play", "1..2", "--", name, folder: folder.path)
    #expect(mixed.status == 2 && mixed.errors.contains("either files or a range"), "\(mixed)")
  }

  /// More names than fit in a line, as one edit.
  @Test func tenThousandFilesAreAddedInOneEdit() throws {
    let daemon = try makeDaemon()
    let names = (1...10_000).map { "many/\($0).wav" }
    #expect(mkdir(daemon.folder.file("many"), 0o755) == 0)
    for name in names { #expect(link(daemon.folder.file("1.wav"), daemon.folder.file(name)) == 0) }
    func run(_ words: String...) throws -> Program.Outcome {
      try daemon.playhead(words + names, folder: daemon.folder.path)
    }
    #expect(try run("load", "--human") == .init(status: 0, output: "Loaded 10000 entries\n", errors: ""))
    func queued(_ offset: Int, _ count: Int) throws -> [String] {
      try queue(daemon, "offset=\(offset)", "limit=\(count)")
    }
    #expect(try queued(9_998, 2) == Array(names.suffix(2)))
    // `list` requests all parts, unless it has a limit.
    let raw = try daemon.playhead("list").output
    #expect(raw.count { $0 == "\n" } == 10_001 && raw.hasSuffix("count=10000 version=2 next=none\n"))
    #expect(try queue(daemon) == names)
    #expect(try queue(daemon, "offset=8500") == Array(names.suffix(1_500)))
    let human = try daemon.playhead("list", "--human").output
    #expect(human.count { $0 == "\n" } == 10_001 && human.hasSuffix("  10000.wav\n"), "\(human.suffix(100))")
    let json = try daemon.playhead("list", "--json").output
    #expect(json.ranges(of: "\"index\":").count == 10_000 && json.count { $0 == "\n" } == 1)
    #expect(json.hasPrefix("{\"count\":10000,\"version\":2,\"next\":null,\"rows\":[{"), "\(json.prefix(200))")
    #expect(try daemon.playhead("list", "limit=2000").status == 2)
    #expect(try daemon.playhead("list", "limit=1").output.hasSuffix("count=10000 version=2 next=1\n"))
    let first = try #require(field("item", try daemon.playhead("list", "limit=1").output))
    // After an entry, before an entry, and after the current entry: in the given order, with ids in this order.
    for (word, index) in [
      ("after=\(first)", 1), ("before=\(first)", 0), ("resume=false", 1), ("before=next", 1), ("after=current", 1),
    ] {
      let inserted = try run("insert", "--json", word)
      #expect(inserted.status == 0 && inserted.output.hasSuffix(",\"rows\":[]}\n"), "\(inserted.output.suffix(80))")
      #expect(
        try queued(index, 3) == Array(names.prefix(3)) && queued(index + 9_998, 2) == Array(names.suffix(2)), "\(word)")
      let ids = try daemon.playhead("list", "offset=\(index)", "limit=3").output.split(separator: "\n").compactMap {
        field("item", String($0))
      }
      #expect(inserted.output.hasPrefix("{\"items\":[\(ids.joined(separator: ",")),"), "\(inserted.output.prefix(60))")
    }
    for (words, message) in [
      (["load", "list=true"], "10000 playlists are too many"), (["append", "if-version=1"], "(version-mismatch)"),
    ] {
      let rejected = try daemon.playhead(words + names, folder: daemon.folder.path)
      #expect(rejected.status == 1 && rejected.errors.contains(message), "\(rejected)")
    }
    #expect(try daemon.playhead("get", "count").output == "60000\n")
    #expect(try run("play", "--human") == .init(status: 0, output: "Loaded 10000 entries\n", errors: ""))
    #expect(try daemon.playhead("wait", "status=playing").status == 0)
    #expect(try daemon.playhead("get", "count").output == "10000\n")
  }

  /// `play FILE` has one reply, that of `load`: scripts read one line, or one value in JSON.
  @Test func playOfFilesPrintsOneReply() throws {
    let daemon = try makeDaemon()
    for (form, output) in [
      ("--raw", "items=2 version=2\n"), ("--human", "Loaded 1 entry\n"),
      ("--json", "{\"items\":[4],\"version\":4,\"rows\":[]}\n"),
    ] {
      let outcome = try daemon.playhead(form, "play", "2.wav", folder: daemon.folder.path)
      #expect(outcome == .init(status: 0, output: output, errors: ""), "\(form)")
      #expect(try daemon.playhead("wait", "status=playing").status == 0)
    }
    let failed = try daemon.playhead("--json", "play", "2.wav", "--player", "absent", folder: daemon.folder.path)
    #expect(failed.status == 1 && failed.output == "" && failed.errors.contains("no-such-player"), "\(failed)")
  }

  @Test func playAcceptsStandardInputAndAddresses() throws {
    let daemon = try makeDaemon()
    let piped = try Program(
      "/bin/sh", ["-c", "cat 2.wav | \"$0\" --socket \"$1\" play -", Executables.playhead, daemon.socket],
      folder: daemon.folder.path
    ).waitForEnd()
    #expect(piped == .init(status: 0, output: "items=2 version=2\n", errors: ""))
    #expect(try daemon.playhead("wait", "status=playing").status == 0)
    #expect(try daemon.playhead("list").output.hasPrefix("item=2 index=0 path=fd:"))
    let server = try HTTPServer()
    try server.write(try Files.read(daemon.folder.file("2.wav")), to: "one.wav")
    let loaded = try daemon.playhead("play", "\(server.address)/one.wav")
    #expect(loaded == .init(status: 0, output: "items=3 version=3\n", errors: ""))
    #expect(try daemon.playhead("wait", "status=playing", "item=3").status == 0)
    #expect(try daemon.playhead("list").output.hasPrefix("item=3 index=0 path=\(server.address)/one.wav "))
  }

  @Test func foldersAndAddressesAreAppendedAndInserted() throws {
    let daemon = try makeDaemon()
    let server = try HTTPServer()
    try server.write(try Files.read(daemon.folder.file("2.wav")), to: "one.wav")
    #expect(mkdir(daemon.folder.file("songs"), 0o755) == 0)
    #expect(link(daemon.folder.file("2.wav"), daemon.folder.file("songs/a.wav")) == 0)
    for command in ["append", "insert"] {
      for source in ["songs", "\(server.address)/one.wav"] {
        let added = try daemon.playhead(command, source, "wait=ready", folder: daemon.folder.path)
        print("\(command) \(source): \(added.output)", terminator: "")
        #expect(added.status == 0 && added.errors.isEmpty, "\(command) \(source): \(added)")
      }
    }
    let paths = try daemon.playhead("list").output.split(separator: "\n").compactMap { field("path", String($0)) }
    let (file, address) = (daemon.folder.file("songs/a.wav"), "\(server.address)/one.wav")
    #expect(paths.dropFirst() == [address, file, file, address], "\(paths)")
  }

  /// More names than fit in a line, with `wait=ready`: one edit, and a reply when the entries are ready.
  @Test func manyFilesAreReadyAfterOneEdit() throws {
    let daemon = try makeDaemon()
    // Names of 250 bytes reach the length of a line with few files, because opening a file takes longer than naming it.
    let names = (0..<400).map { "many/\(String(repeating: "x", count: 243))\(1_000 + $0).wav" }
    #expect(mkdir(daemon.folder.file("many"), 0o755) == 0)
    for name in names { #expect(link(daemon.folder.file("1.wav"), daemon.folder.file(name)) == 0) }
    let loaded = try daemon.playhead(["load", "wait=ready"] + names, folder: daemon.folder.path)
    #expect(loaded.status == 0 && loaded.output.hasSuffix(",401 version=2\n"), "\(loaded)")
    let statuses = try daemon.playhead("list").output.split(separator: "\n").compactMap { field("status", String($0)) }
    #expect(statuses == Array(repeating: "readyToPlay", count: 400))
    // The error of the entry that fails. The edit stays, as with few files.
    try daemon.folder.write("damaged.wav", Array("RIFF\0\0\0\0".utf8))
    let failed = try daemon.playhead(
      ["append", "wait=ready"] + names + ["damaged.wav"], folder: daemon.folder.path)
    #expect(failed.status == 1 && failed.output == "" && failed.errors.contains("damaged.wav"), "\(failed)")
    #expect(try daemon.playhead("list", "limit=1").output.hasSuffix("count=801 version=3 next=1\n"))
  }
}
