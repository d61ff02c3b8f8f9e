import DaemonTesting
import Foundation
import Glibc
import RigSupport
import Testing

/// The scripts in `clients/sh/examples` that use the `playhead` program. All run on the virtual clock.
@Suite(.serialized) struct ExampleScriptTests {
  /// A script in `clients/sh/examples` that runs.
  private final class Script {
    private let program: Program
    private let keys: Int32

    /// Starts a script for a daemon.
    init(
      _ name: String, _ arguments: String..., on daemon: TestServer, environment: [String: String] = [:]
    ) throws {
      var variables: [String: String?] = ["PLAYHEAD_SOCKET": daemon.socket]
      let folder = URL(fileURLWithPath: Executables.playhead).deletingLastPathComponent().path
      variables["PATH"] = "\(folder):/usr/bin:/bin"
      variables.merge(environment) { $1 }
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      defer { close(ends[0]) }
      keys = ends[1]
      program = try Program(
        "/bin/sh", [Self.path(name)] + arguments, environment: variables, input: ends[0], folder: daemon.folder.path)
    }

    deinit { close(keys) }

    static func path(_ name: String) -> String {
      var root = URL(fileURLWithPath: #filePath)
      for _ in 0..<4 { root.deleteLastPathComponent() }
      return root.appendingPathComponent("clients/sh/examples/\(name)").path
    }

    func type(_ line: String) { #expect(write(keys, "\(line)\n", line.utf8.count + 1) == line.utf8.count + 1) }
    func line() throws -> String? { try program.waitForLine() }
    func waitForText(_ text: String) throws { try program.waitForText(text) }

    /// Waits for the end of the script.
    func end() throws -> Program.Outcome { try program.waitForEnd() }
  }

  /// The scripts wait for events: none of them sleeps.
  @Test(arguments: ["kiosk", "theatre", "drill", "radio", "scribe", "loops"])
  func scriptDoesNotSleep(_ name: String) throws {
    let text = String(decoding: try Files.read(Script.path(name)), as: UTF8.self)
    let commands = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(commands.count > 3)
    let words = commands.flatMap { $0.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" }) }
    #expect(!words.contains("sleep") && !words.contains("usleep"), "\(name)")
  }

  /// Reads events until a key has a value.
  private func wait(_ client: WireClient, _ key: String, _ value: String) throws {
    while true {
      let line = try #require(try client.line())
      if line.contains("key=\(key) "), field("new", line) == value { return }
    }
  }

  /// A file whose samples all have one value, so that each sum identifies the audible files.
  private func level(_ value: Int16, frameCount: Int, in daemon: TestServer) throws {
    try TimeCode.writeWAV(path: daemon.folder.file("\(value).wav"), frameCount: frameCount) { _ in
      StereoFrame(left: value, right: value)
    }
  }

  @Test func kioskPlaysAFolderAgainAndAgain() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try mkdirs(daemon.folder.file("media"))
    for number in 1...2 {
      try daemon.folder.write("media/\(number).wav", try Files.read(try daemon.wave(number, frameCount: 24_000)))
    }
    let outcome = try Script("kiosk", "media", on: daemon).end()
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
    #expect(try client.reply("on-failure") == "ok onFailure=retry")
    try client.reply("clock.advance 2")
    try client.reply("pause")
    #expect(
      try daemon.recorded(withSilences: false).hasPrefix("1[0..<24000] 2[0..<24000] 1[0..<24000] 2[0..<24000]"))
  }

  private func mkdirs(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  @Test func drillPlaysEachSentenceExactly() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    _ = try daemon.wave(1, frameCount: 192_000)
    try daemon.folder.write("list", Array("0:00.5 0:01 One two\n1 1.25 Three\n".utf8))
    try client.reply("observe player.timeControlStatus")
    let script = try Script("drill", "1.wav", "list", on: daemon)
    for answer in ["r", "", ""] {
      try wait(client, "player.timeControlStatus", "playing")
      try client.send("clock.advance 1")
      try wait(client, "player.timeControlStatus", "paused")
      script.type(answer)
    }
    let outcome = try script.end()
    #expect(outcome.status == 0 && outcome.output == "One two Three " && outcome.errors.isEmpty, "\(outcome)")
    let heard = try daemon.recorded(withSilences: false)
    #expect(heard == "1[24000..<48000] 1[24000..<60000]", "\(heard)")
  }

  @Test func scribePrintsTheTimeOfEachLine() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    _ = try daemon.wave(1, frameCount: 480_000)
    try client.reply("observe player.timeControlStatus")
    let script = try Script("scribe", "1.wav", on: daemon)
    try wait(client, "player.timeControlStatus", "playing")
    try client.reply("clock.advance 3.5")
    script.type("Good morning.")
    var line = try script.line()
    #expect(line == "[0:03] Good morning.", "\(line ?? "none")")
    let observer = try daemon.connect()
    try observer.reply("observe item.events")
    script.type("")
    while try #require(try observer.line()).contains("time-jumped") == false {}
    script.type("That was before.")
    line = try script.line()
    #expect(line == "[0:01] That was before.", "\(line ?? "none")")
    script.type(".")
    try wait(client, "player.timeControlStatus", "paused")
    #expect(try client.reply("status").contains(" time=1.5 "))
  }

  @Test func theatreStartsCuesToTheSample() throws {
    let daemon = try InProcessServer.recording()
    for (value, count) in [(Int16(1_000), 96_000), (2_000, 96_000), (4_000, 480_000)] {
      try level(value, frameCount: count, in: daemon)
    }
    try daemon.folder.write("cues", Array("1000.wav\n2000.wav after 250\n4000.wav fade 1\n".utf8))
    let client = try daemon.connect()
    let script = try Script("theatre", "cues", on: daemon)
    try script.waitForText("1: 1000.wav? ")
    try client.reply("observe player.reasonForWaitingToPlay player=cue2")
    script.type("")
    try wait(client, "player.reasonForWaitingToPlay", "startTimeNotReached")
    try client.reply("clock.advance 1")
    try script.waitForText("3: 4000.wav fade 1? ")
    try client.reply("observe player.timeControlStatus player=cue3")
    script.type("")
    try wait(client, "player.timeControlStatus", "playing")
    try client.reply("clock.advance 2")
    #expect(try script.end().status == 0)
    // The faded cues are paused, and the volume of the new one has its final value.
    for cue in 1...2 {
      #expect(field("timeControlStatus", try client.reply("status player=cue\(cue)")) == "paused")
    }
    #expect(try client.reply("volume player=cue3") == "ok volume=1")
    try daemon.finish()
    var runs: [(value: Int16, count: Int)] = []
    for frame in try Recording.frames(in: daemon.folder.file("out.wav")) {
      if runs.last?.value == frame.left { runs[runs.count - 1].count += 1 } else { runs.append((frame.left, 1)) }
    }
    let steady = runs.filter { $0.count > 10_000 }
    #expect(steady.map(\.value) == [1_000, 3_000, 4_000] && steady.first?.count == 12_000, "\(steady)")
  }

  @Test func theatreStopsEverythingAtOnce() throws {
    let daemon = try InProcessServer()
    try level(1_000, frameCount: 480_000, in: daemon)
    try daemon.folder.write("cues", Array("1000.wav\n1000.wav after 100\n1000.wav\n".utf8))
    let client = try daemon.connect()
    let script = try Script("theatre", "cues", on: daemon)
    try script.waitForText("1: 1000.wav? ")
    try client.reply("observe player.reasonForWaitingToPlay player=cue2")
    script.type("")
    try wait(client, "player.reasonForWaitingToPlay", "startTimeNotReached")
    try client.reply("clock.advance 1")
    script.type("p")
    try script.waitForText("3: 1000.wav? 3: 1000.wav? ")
    for cue in 1...2 {
      #expect(field("timeControlStatus", try client.reply("status player=cue\(cue)")) == "paused")
    }
    script.type("q")
    #expect(try script.end().status == 0)
  }

  @Test func radioFadesTheMusicForTheNews() throws {
    let daemon = try InProcessServer()
    try mkdirs(daemon.folder.file("music"))
    for number in 1...3 {
      try Fixtures.ffmpeg([
        "-nostdin", "-v", "error", "-i", try daemon.wave(number, frameCount: 960_000), "-metadata",
        "title=Song \(number)", "-metadata", "artist=A", daemon.folder.file("music/\(number).flac"),
      ])
    }
    _ = try daemon.wave(8, frameCount: 4_800)
    _ = try daemon.wave(9, frameCount: 480_000)
    let client = try daemon.connect()
    try client.reply("player.create news")
    let news = try daemon.connect()
    try news.reply("observe player=news player.reasonForWaitingToPlay player.timeControlStatus")
    try client.reply("observe player.volume")
    let script = try Script("radio", "music", "8.wav", "9.wav", on: daemon, environment: ["RADIO_PERIOD": "8"])
    // A line for each change: the tags are known when the file is open.
    while try #require(try script.line()).hasPrefix("A - Song ") == false {}
    try wait(news, "player.reasonForWaitingToPlay", "startTimeNotReached")
    // At the full period the news plays, and the music is faded.
    try client.send("clock.advance 9")
    try wait(news, "player.timeControlStatus", "playing")
    try wait(client, "player.volume", "0.2")
    try client.send("clock.advance 12")
    try wait(client, "player.volume", "1")
    // The script ends with the daemon.
    try daemon.finish()
    #expect(try script.end().status != 0)
  }
}
