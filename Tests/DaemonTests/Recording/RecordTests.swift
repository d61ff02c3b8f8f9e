import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Recordings over the wire and with the client, from a private PulseAudio: the monitor of its sink, which is silent in
/// real time.
@Suite(.serialized) struct RecordTests {
  private struct Rig {
    let server: PulseServer
    let daemon: TestDaemon
    let client: WireClient

    init(_ options: String..., folder: TemporaryDirectory? = nil, server: PulseServer? = nil) throws {
      let folder = try folder ?? TemporaryDirectory("daemon")
      let server = try server ?? PulseServer()
      self.server = server
      daemon = try TestDaemon(
        ["--output", "null", "--pulse-server", server.address, "--write-root", folder.path] + options, folder: folder)
      client = try daemon.connect()
    }

    func file(_ name: String) -> String { daemon.folder.file(name) }

    func frameCount(_ name: String) throws -> Int {
      try Fixtures.ffmpeg([
        "-nostdin", "-v", "error", "-xerror", "-y", "-i", file(name), "-f", "s16le", file(name) + ".pcm",
      ])
      return try Data(contentsOf: URL(fileURLWithPath: file(name) + ".pcm")).count / 4
    }

    /// Waits for the next event with a name. Returns the value of one of its fields.
    func event(_ name: String, _ fieldName: String, _ wanted: String? = nil) throws -> String {
      while let line = try client.line() {
        if line.hasPrefix("* \(name) "), wanted == nil || field(fieldName, line) == wanted { return line }
      }
      throw Program.Failure(description: "no event \(name)")
    }
  }

  @Test func recordingIsStartedPausedObservedStoppedAndDeleted() throws {
    let rig = try Rig()
    let (client, file) = (rig.client, rig.file("memo.flac"))
    #expect(
      try client.reply("record.prepare \(file)")
        == "ok recorder=1 file=\(file) source=pulse:rig.monitor format=flac sampleRate=48000 channels=2")
    #expect(
      try client.reply("record.status")
        == "ok recorder=1 state=prepared file=\(file) time=0 pts=0/1 source=pulse:rig.monitor format=flac sampleRate=48000"
        + " channels=2 lost=0 skipped=0 waitingForLevel=false")
    #expect(FileManager.default.fileExists(atPath: file + ".recording"))
    try client.send("record.watch rate=20", "record.start")
    #expect(try client.line() == "ok id=1")
    #expect(try client.line() == "* recording id=1 recorder=1 state=prepared time=0 pts=0/1 lost=0")
    _ = try rig.event("recording", "state", "recording")
    let meter = try rig.event("record-meter", "recorder", "1")
    #expect(field("average", meter) == "-160,-160" && field("peakScale", meter) == "0,0", "\(meter)")
    try client.send("record.pause")
    let paused = try rig.event("recording", "state", "paused")
    #expect(field("lost", paused) == "0", "\(paused)")
    try client.send("record.start")
    _ = try rig.event("recording", "state", "recording")
    _ = try rig.event("record-meter", "recorder", "1")
    try client.send("@stop record.stop 1")
    var reply = ""
    while !reply.hasPrefix("@stop ") { reply = try #require(try client.line()) }
    #expect(reply.hasPrefix("@stop ok recorder=1 file=\(file) duration="), "\(reply)")
    #expect(field("lost", reply) == "0" && field("fault", reply) == nil)
    let duration = try #require(field("duration", reply).flatMap { Double($0) })
    #expect(try abs(Double(rig.frameCount("memo.flac")) / 48_000 - duration) < 0.000_1)
    // Another connection sees the same recorder. A stopped recorder does not start again, and its recording stays.
    let other = try rig.daemon.connect()
    let again = try other.reply("record.start 1")
    #expect(again.contains("name=invalid-state"), "\(again)")
    let listed = try other.ask("record.list")
    #expect(field("source", listed[0]) == "pulse:rig.monitor" && field("fault", listed[0]) == nil, "\(listed)")
    #expect(listed.count == 2 && listed[0].hasPrefix("| recorder=1 state=stopped file=\(file) time=0"), "\(listed)")
    #expect(try other.reply("record.delete 1") == "ok recorder=1 file=\(file)")
    #expect(!FileManager.default.fileExists(atPath: file))
    #expect(try other.reply("record.status 1").contains("code=1021 name=no-such-recorder"))
  }

  /// The file cannot be kept any more when the request is cancelled.
  @Test func cancelledDeletionRemovesTheRecorderOfTheDeletedFile() throws {
    let rig = try Rig()
    let (client, file) = (rig.client, rig.file("memo.wav"))
    for request in ["record.prepare \(file)", "record.start duration=0.1", "record.stop"] {
      #expect(try client.reply(request).hasPrefix("ok"), "\(request)")
    }
    // Both requests are handled before the file is deleted in the background.
    try client.send("@delete record.delete 1", "cancel delete")
    var replies: [String] = []
    while replies.count < 2 { replies.append(try #require(try client.line())) }
    #expect(replies.contains { $0.hasPrefix("@delete error ") && $0.contains("name=cancelled") }, "\(replies)")
    #expect(replies.contains { $0.hasPrefix("ok") }, "\(replies)")
    while try !client.reply("record.status 1").contains("code=1021 name=no-such-recorder") {}
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func invalidRecordingsAreRejectedWithTheirCodes() throws {
    let rig = try Rig()
    try Data("mine".utf8).write(to: URL(fileURLWithPath: rig.file("taken.wav")))
    let before = try FileManager.default.contentsOfDirectory(atPath: rig.daemon.folder.path).sorted()
    let rows = [
      ("no source", "record.prepare \(rig.file("a.wav")) source=nowhere", "code=5021 name=source-unavailable"),
      ("out of the roots", "record.prepare /tmp/playhead-never.wav", "code=2008 name=outside-roots"),
      ("no folder", "record.prepare \(rig.file("none/a.wav"))", "code=2006 name=write-failed"),
      ("name exists", "record.prepare \(rig.file("taken.wav"))", "code=2090 name=file-exists"),
      ("ending", "record.prepare \(rig.file("a.txt"))", "code=1001 name=invalid-argument"),
      ("no encoder", "record.prepare \(rig.file("a.caf")) format=ilbc", "code=4003 name=unsupported-audio-format"),
      ("no writer", "record.prepare \(rig.file("a.aac")) format=aac", "code=1001 name=invalid-argument"),
      ("aac in wav", "record.prepare \(rig.file("a.wav")) format=aac", "code=1001 name=invalid-argument"),
      ("too many channels", "record.prepare \(rig.file("a.flac")) channels=9", "code=1001 name=invalid-argument"),
      ("relative path", "record.prepare a.wav", "code=6002 name=bad-arguments"),
      ("nothing begun", "record.start", "code=1021 name=no-such-recorder"),
      ("no such recorder", "record.stop 7", "code=1021 name=no-such-recorder"),
      ("no such watch", "record.unwatch 3", "code=1008 name=no-such-observer"),
    ]
    for (name, request, error) in rows {
      let reply = try rig.client.reply(request)
      print("record: \(name): \(reply)")
      #expect(reply.contains(error), "\(name): \(reply)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: rig.daemon.folder.path).sorted() == before)
    #expect(try Data(contentsOf: URL(fileURLWithPath: rig.file("taken.wav"))) == Data("mine".utf8))
    // Commands in the wrong state.
    #expect(try rig.client.reply("record.prepare \(rig.file("b.wav"))").hasPrefix("ok recorder="))
    #expect(try rig.client.reply("record.pause").contains("code=1003 name=invalid-state"))
    #expect(try rig.client.reply("record.delete").contains("code=1003 name=invalid-state"))
    #expect(try rig.client.reply("record.start at=0.001").contains("code=1002 name=invalid-time"))
  }

  @Test func stoppedDaemonLeavesACompleteFile() throws {
    let rig = try Rig()
    #expect(try rig.client.reply("record.prepare \(rig.file("memo.m4a"))").hasPrefix("ok"))
    try rig.client.send("record.watch rate=10", "record.start")
    _ = try rig.event("record-meter", "recorder", "1")
    try rig.daemon.stop()
    #expect(try rig.frameCount("memo.m4a") > 0)
    #expect(!FileManager.default.fileExists(atPath: rig.file("memo.m4a.recording")))
  }

  @Test func recordingOfAKilledDaemonIsRepairedAtTheNextStart() throws {
    let folder = try TemporaryDirectory("daemon")
    var seconds = 0.0
    let server = try PulseServer()
    do {
      let rig = try Rig("--state", folder.file("state"), folder: folder, server: server)
      #expect(try rig.client.reply("state.save").hasPrefix("ok"))
      #expect(try rig.client.reply("record.prepare \(rig.file("memo.wav"))").hasPrefix("ok"))
      try rig.client.send("record.watch rate=10", "record.start")
      while seconds < 4 { seconds = Double(field("time", try rig.event("record-meter", "recorder")) ?? "0") ?? 0 }
      rig.daemon.process.signal(SIGKILL)
      _ = try rig.daemon.process.waitForEnd()
      #expect(!FileManager.default.fileExists(atPath: rig.file("memo.wav")))
    }
    // As seen by a program that watches the folder: the name appears when the file is complete.
    let watch = inotify_init1(Int32(IN_CLOEXEC))
    defer { close(watch) }
    inotify_add_watch(watch, folder.path, UInt32(IN_CREATE | IN_MOVED_TO))
    let rig = try Rig("--state", folder.file("state"), folder: folder, server: server)
    while !FileManager.default.fileExists(atPath: rig.file("memo.wav")) {
      var buffer = [UInt8](repeating: 0, count: 4_096)
      _ = read(watch, &buffer, buffer.count)
    }
    let kept = try Double(rig.frameCount("memo.wav")) / 48_000
    print("record: killed after \(seconds) s: \(kept) s are there")
    #expect(kept > seconds - 2)
  }

  /// A server buffers 4 MB for a suspended daemon: seconds of an ordinary source, and less than one second of a wide
  /// one.
  @Test(arguments: SoundServerKind.allCases, ["wide", "ordinary"])
  func framesDroppedDuringSuspensionAreCountedAndReplacedBySilence(kind: SoundServerKind, source: String)
    throws
  {
    let (server, folder) = (try kind.start(), try TemporaryDirectory("daemon"))
    let isWide = source == "wide"
    let options = isWide ? ["rate=192000", "channels=8"] : ["rate=48000", "channels=2"]
    try server.control("load-module", "module-null-sink", "sink_name=\(source)", options[0], options[1])
    let daemon = try TestDaemon(
      ["--output", "null", "--pulse-server", server.address, "--write-root", folder.path], folder: folder)
    let client = try daemon.connect()
    let file = folder.file("a.wav")
    try #require(try client.reply("record.prepare \(file) source=\(source).monitor").hasPrefix("ok "))
    try #require(try client.reply("record.start").hasPrefix("ok"))
    func status(_ name: String) throws -> Double {
      try #require(Double(field(name, try client.reply("record.status")) ?? ""))
    }
    while try status("time") < 0.3 {}
    daemon.process.signal(SIGSTOP)
    // Another program has received three seconds of the source in the meantime.
    try ChildProcess.run([
      "sh", "-c",
      "parec --server '\(server.address)' --device \(source).monitor --latency-msec 20 --rate 8000 --channels 1 --format s16le --raw"
        + " | head -c 48000 > /dev/null",
    ])
    daemon.process.signal(SIGCONT)
    if isWide {
      while try status("lost") == 0, try status("time") < 20 {}
    } else {
      while try status("time") < 3 {}
    }
    let reply = try client.reply("record.stop")
    let lost = try #require(Double(field("lost", reply) ?? "")) / (isWide ? 192_000 : 48_000)
    let seconds = try #require(Double(field("duration", reply) ?? ""))
    print("record, \(kind), \(source): \(lost) s of \(seconds) s were dropped by the server")
    #expect(isWide ? lost > 0.5 && lost < seconds && seconds > 2 : lost == 0)
    // The duration matches the number of 16-bit samples, with silence for lost frames.
    let size = try Data(contentsOf: URL(fileURLWithPath: file)).count
    let audioSize = Int((seconds * (isWide ? 192_000 * 16 : 48_000 * 4)).rounded())
    #expect((audioSize..<audioSize + 4_096).contains(size))
  }

  @Test func clientRecordsUntilTheEndOfInputOrForADuration() throws {
    let rig = try Rig()
    let timed = try rig.daemon.playhead("record", rig.file("one.wav"), "--duration", "0.5")
    #expect(timed.status == 0 && timed.errors == "", "\(timed)")
    #expect(timed.output.hasPrefix("\(rig.file("one.wav")): 0:00.500, 96"), "\(timed.output)")
    #expect(try rig.frameCount("one.wav") == 24_000)
    let untimed = try rig.daemon.playhead("record", rig.file("two.flac"))
    #expect(untimed.status == 0 && untimed.output.hasPrefix("\(rig.file("two.flac")): 0:0"), "\(untimed)")
    let rejected = try rig.daemon.playhead("record", rig.file("one.wav"))
    #expect(rejected.status == 1 && rejected.errors.contains("already exists"), "\(rejected)")
    #expect(try rig.daemon.playhead("record").status == 2)
    #expect(try rig.daemon.playhead("record", "x.wav", "--nonsense").status == 2)
  }

  @Test func terminalShowsAMeterAndKeysPauseAndStop() throws {
    let rig = try Rig()
    func recording(_ arguments: String..., term: String = "xterm") throws -> TerminalProgram {
      try TerminalProgram(
        Executables.playhead, ["--socket", rig.daemon.socket, "record"] + arguments,
        environment: ["TERM": term, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"], columnCount: 60)
    }
    // Louder for a while: a tone at 6 dB below full scale (sine's 1/8, four times as loud).
    let tone = rig.file("tone.wav")
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=d=60,volume=4", tone])
    let player = try ChildProcess(["paplay", "--server", rig.server.address, tone])
    let typed = try recording(rig.file("one.flac"))
    try typed.wait(for: "Space: pause. Enter: stop.")
    try typed.wait(for: "-6 dB")
    let drawn = try typed.wait(for: "-6 dB").split(separator: "\u{1B}[K").last.map(String.init) ?? ""
    // 20 columns: 60, less 40 for the other text.
    let bar = drawn.split(separator: "[").last?.prefix(20) ?? ""
    #expect(drawn.hasPrefix("REC  0:0") && bar.count == 20, "\(drawn)")
    #expect(bar.hasPrefix("==========") && bar.count { $0 == "=" } < 20, "\(drawn)")
    try typed.type(" ")
    try typed.wait(for: "paused  0:0")
    try typed.type("p")
    try typed.wait(for: "REC  0:0")
    // Other keys have no effect.
    try typed.type("x\r")
    try typed.wait(for: "one.flac: 0:0")
    #expect(try typed.waitForEnd() == 0)
    #expect(try rig.frameCount("one.flac") > 0)

    // Ctrl-C ends it like Enter, and so does the end of input.
    for (name, end) in [("two.wav", "\u{03}"), ("three.wav", "\u{04}"), ("four.wav", "q")] {
      let ended = try recording(rig.file(name))
      try ended.wait(for: "REC  0:0")
      try ended.type(end)
      try ended.wait(for: "\(name): 0:0")
      #expect(try ended.waitForEnd() == 0)
    }
    player.kill()
  }
}
