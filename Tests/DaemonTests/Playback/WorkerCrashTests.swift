import DaemonTesting
import Foundation
import Glibc
import RigSupport
import Testing

/// Files that crash the worker process of a daemon: an error of the file, and nothing else.
///
/// The worker of these daemons is `crashing-worker`, which the name of a file crashes in a step.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WorkerCrashTests {
  /// A folder with links to a daemon and to the worker that crashes. Links need the file system of the programs.
  private final class Programs {
    private let folder: TemporaryDirectory
    var daemon: String { folder.file("playheadd") }

    init() throws {
      folder = try TemporaryDirectory("programs", in: Executables.folder)
      for (name, source) in [("playheadd", "playheadd"), ("playhead-worker", "crashing-worker")] {
        try #require(link("\(Executables.folder)/\(source)", folder.file(name)) == 0, "\(name)")
      }
    }
  }

  private let programs: Programs

  init() throws { programs = try Programs() }

  private func start() throws -> TestDaemon {
    let folder = try TemporaryDirectory("daemon")
    return try TestDaemon(
      [
        "--clock", "virtual", "--output", "wav:\(folder.file("out.wav"))", "--write-root", folder.path, "--log-level",
        "warning",
      ], folder: folder, program: programs.daemon)
  }

  /// A time-coded file whose name crashes the worker in a step.
  private func crashing(_ daemon: TestDaemon, _ step: String, _ signal: String = "SIGSEGV") throws -> String {
    let path = daemon.folder.file("crash-\(step)-\(signal).flac")
    try TimeCode.writeFLAC(path: path, file: 1, frameCount: 48_000)
    return path
  }

  private func crashCount(_ client: WireClient) throws -> Int {
    try #require(field("workerCrashes", try client.reply("stats")).flatMap { Int($0) })
  }

  /// Waits until the log has the crash of a worker by a file.
  private func waitForCrash(_ daemon: TestDaemon, _ path: String, _ signal: String) throws {
    let message = "\(path) [PlayheadIsolation] a worker process crashed"
    let log = try daemon.process.waitForErrors(containing: message)
    let line = log.split(separator: "\n").last { $0.contains(message) } ?? ""
    print("worker crash | \(line)")
    #expect(line.contains(" warning ") && field("end", String(line)) == signal, "\(log)")
  }

  /// Waits for the event with which playback of an item fails. `watcher` observes `item.events`.
  private func waitForFailure(_ watcher: WireClient, item: Substring, _ signal: String) throws {
    while let line = try watcher.line() {
      guard line.hasPrefix("* item-skipped") || line.hasPrefix("* failed-to-play-to-end") else { continue }
      #expect(field("item", line) == "\(item)" && field("name", line) == "damaged-file", "\(line)")
      #expect(field("underlying", line) == signal, "\(line)")
      return
    }
    Issue.record("the connection has ended")
  }

  @Test(
    "a file that crashes the worker fails, the queue continues, and another player loses no sample",
    arguments: [
      ("opening", "SIGSEGV"), ("opening", "SIGABRT"), ("opening", "SIGSYS"), ("opening", "SIGKILL"),
      ("decoding", "SIGSEGV"), ("decoding", "SIGFPE"),
    ])
  func fileThatCrashesTheWorkerFails(_ step: String, _ signal: String) throws {
    let daemon = try start()
    let client = try daemon.connect()
    let (damaged, next, other) = (
      try crashing(daemon, step, signal), try daemon.wave(2, frameCount: 48_000),
      try daemon.wave(3, frameCount: 240_000)
    )
    try client.reply("player.create other")
    #expect(try client.reply("load \(other) player=other wait=ready").hasPrefix("ok"))
    #expect(try client.reply("play player=other").hasPrefix("ok"))
    #expect(try client.reply("clock.advance 1").hasPrefix("ok"))
    #expect(try client.reply("mute on").hasPrefix("ok"))

    let watcher = try daemon.connect()
    #expect(try watcher.reply("observe item.events").hasPrefix("ok"))
    let load = try client.reply("load \(damaged) \(next)")
    let items = try #require(field("items", load)).split(separator: ",")
    #expect(try client.reply("play").hasPrefix("ok"))
    try waitForCrash(daemon, damaged, signal)
    try waitForFailure(watcher, item: items[0], signal)
    #expect(try client.reply("clock.advance 0.5").hasPrefix("ok"))
    let status = try client.reply("status")
    #expect(
      field("item", status) == "\(items[1])" && field("timeControlStatus", status) == "playing", "\(status)")
    #expect(try client.reply("clock.advance 6").hasPrefix("ok"))
    #expect(field("count", try client.reply("status")) == "0")
    #expect(try crashCount(client) >= 1)
    #expect(try daemon.recorded() == "3[0..<240000]")
  }

  /// The worker decodes the beginning of a file before the daemon does.
  @Test(arguments: [false, true]) func daemonDoesNotDecodeAFileThatCrashesTheWorker(isRemote: Bool) throws {
    let daemon = try start()
    let client = try daemon.connect()
    let server = try HTTPServer()
    let damaged = try crashing(daemon, "decoding")
    let whole = daemon.folder.file("whole.flac")
    try Files.write(Array(whole.utf8), try Files.read(damaged))
    for path in [damaged, whole] {
      try server.write(try Files.read(path), to: path.split(separator: "/").last.map(String.init) ?? "")
    }
    let next = try daemon.wave(2, frameCount: 48_000)
    func address(_ path: String) -> String {
      isRemote ? "\(server.address)/\(path.split(separator: "/").last ?? "")" : path
    }
    // The daemon decodes the same bytes with another name.
    #expect(try client.reply("load \(address(whole)) wait=ready").hasPrefix("ok"))
    #expect(try client.reply("play").hasPrefix("ok"))
    #expect(try client.reply("clock.advance 2").hasPrefix("ok"))
    let watcher = try daemon.connect()
    #expect(try watcher.reply("observe item.events").hasPrefix("ok"))
    let load = try client.reply("load \(address(damaged)) \(next)")
    let items = try #require(field("items", load)).split(separator: ",")
    try waitForFailure(watcher, item: items[0], "SIGSEGV")
    try waitForCrash(daemon, String(damaged.split(separator: "/").last ?? ""), "SIGSEGV")
    #expect(try client.reply("clock.advance 3").hasPrefix("ok"))
    #expect(field("count", try client.reply("status")) == "0")
    let heard = try daemon.recorded(withSilences: false)
    print("worker crash | decoding, remote: \(isRemote) | \(heard)")
    #expect(heard == "1[0..<48000] 2[0..<48000]")
  }

  /// Tags are not needed for playback: the requests for tags fail, and the entry plays.
  @Test func tagsThatCrashTheWorkerFailAndTheEntryPlays() throws {
    let daemon = try start()
    let client = try daemon.connect()
    let path = try crashing(daemon, "tags")
    let next = try daemon.wave(2, frameCount: 48_000)
    #expect(try client.reply("load \(path) \(next) wait=ready").hasPrefix("ok items=1,2"))
    #expect(try client.reply("play").hasPrefix("ok"))
    #expect(try client.reply("clock.advance 0.5").hasPrefix("ok"))
    #expect(try client.reply("asset.open \(path)") == "ok asset=1")
    for request in ["item.metadata 1", "asset.metadata 1", "item.artwork 1"] {
      let reply = try client.reply(request)
      print("worker crash | \(request) | \(reply)")
      #expect(
        reply.hasPrefix("error ") && reply.contains("name=damaged-file") && reply.contains("SIGSEGV"), "\(reply)")
    }
    try waitForCrash(daemon, path, "SIGSEGV")
    #expect(try client.reply("clock.advance 3").hasPrefix("ok"))
    #expect(field("count", try client.reply("status")) == "0")
    #expect(try crashCount(client) >= 2)
    #expect(try daemon.recorded() == "1[0..<48000] 2[0..<48000]")
  }

  @Test func everyCommandOnAFileReportsADamagedFile() throws {
    let daemon = try start()
    let client = try daemon.connect()
    let video = daemon.folder.file("crash-image-SIGSEGV.mkv")
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=d=1", "-c:v", "ffv1", video])
    let (opening, tags, reading, export) = (
      try crashing(daemon, "opening"), try crashing(daemon, "tags"), try crashing(daemon, "reading"),
      try crashing(daemon, "export")
    )
    let good = try daemon.wave(2, frameCount: 48_000)
    let rows: [(request: String, path: String, error: String)] = [
      ("asset.load 1 duration", opening, "name=damaged-file"), ("asset.metadata 2", tags, "name=damaged-file"),
      ("waveform \(opening)", opening, "name=damaged-file"), ("waveform \(reading)", reading, "name=damaged-file"),
      ("scan \(opening) \(good)", opening, "error=damaged-file"),
      ("scan \(reading) \(good)", reading, "error=damaged-file"),
      ("export \(export) file=\(daemon.folder.file("new.flac"))", export, "name=damaged-file"),
      ("image \(video) 0 file=\(daemon.folder.file("new.png"))", video, "name=damaged-file"),
    ]
    for path in [opening, tags] { #expect(try client.reply("asset.open \(path)").hasPrefix("ok asset=")) }
    var count = 0
    for row in rows {
      let lines = try client.ask(row.request).filter { !$0.hasPrefix("* ") }
      print("worker crash | \(row.request.split(separator: " ")[0]) | \(lines)")
      #expect(lines.count { $0.contains(row.error) } == 1, "\(row.request): \(lines)")
      if row.request.hasPrefix("scan") {
        #expect(lines.contains { field("status", $0) == "measured" && $0.contains(good) }, "\(lines)")
      }
      try waitForCrash(daemon, row.path, "SIGSEGV")
      let newCount = try crashCount(client)
      #expect(newCount > count, "\(row.request)")
      count = newCount
    }
    for name in ["new.flac", "new.png"] { #expect(Files.mode(daemon.folder.file(name)) == nil) }
    // The daemon still opens and plays files.
    #expect(try client.reply("load \(good) wait=ready").hasPrefix("ok"))
    #expect(try client.reply("play").hasPrefix("ok"))
    #expect(try client.reply("clock.advance 2").hasPrefix("ok"))
    #expect(try daemon.recorded(withSilences: false) == "2[0..<48000]")
  }
}
