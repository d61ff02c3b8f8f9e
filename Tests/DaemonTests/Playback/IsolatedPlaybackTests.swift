import DaemonTesting
import Foundation
import Glibc
import RigSupport
import Testing

/// Playback is identical with every isolation, and a crash of a worker affects only its entry.
@Suite(.serialized, .timeLimit(.minutes(5))) struct IsolatedPlaybackTests {
  private static func start(_ level: String) throws -> TestDaemon {
    let folder = try TemporaryDirectory("daemon")
    return try TestDaemon(
      "--clock", "virtual", "--output", "wav:\(folder.file("out.wav"))", "--isolate", level, folder: folder)
  }

  /// Two FLAC files, and an MP3 file of 44.1 kHz after them.
  private static func files(_ daemon: TestDaemon) throws -> [String] {
    let paths = (1...2).map { daemon.folder.file("\($0).flac") }
    for (index, path) in paths.enumerated() {
      try TimeCode.writeFLAC(path: path, file: index + 1, frameCount: 96_000)
    }
    let lossy = daemon.folder.file("3.mp3")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=duration=1:sample_rate=44100", lossy,
    ])
    return paths + [lossy]
  }

  @Test func outputIsIdenticalWithEveryIsolationLevel() throws {
    var recordings: [Data] = []
    for level in ["none", "opening", "playback"] {
      let daemon = try Self.start(level)
      let client = try daemon.connect()
      let files = try Self.files(daemon)
      #expect(field("isolation", try client.reply("stats")) == level)
      #expect(try client.reply("load \(files.joined(separator: " ")) wait=ready").hasPrefix("ok"))
      #expect(try client.reply("play").hasPrefix("ok"))
      #expect(try client.reply("clock.advance 0.5").hasPrefix("ok"))
      for request in ["seek 1.25", "clock.advance 0.25", "loop 0.1 0.35 count=2", "seek 0.05", "clock.advance 6"] {
        #expect(try client.reply(request).hasPrefix("ok"), "\(level): \(request)")
      }
      let status = try client.reply("status")
      #expect(field("count", status) == "0", "\(level): \(status)")
      #expect(field("workerCrashes", try client.reply("stats")) == "0")
      let heard = try daemon.recorded()
      let expected =
        "1[0..<24000] 1[60000..<72000] 1[2400..<16800] 1[4800..<16800] 1[4800..<96000] 2[0..<96000] ?[0..<600]"
      print("isolated playback | \(level) | \(heard.prefix(expected.count))")
      #expect(heard.hasPrefix(expected), "\(level)")
      recordings.append(try Data(contentsOf: URL(fileURLWithPath: daemon.folder.file("out.wav"))))
    }
    #expect(recordings[0] == recordings[1] && recordings[0] == recordings[2])
  }

  /// While the first item is heard, the second one is already decoded, so the seek needs another reader of the first.
  @Test(arguments: ["none", "opening", "playback"]) func seekAfterRemovalOfTheFileIsExact(_ level: String) throws {
    let daemon = try Self.start(level)
    let client = try daemon.connect()
    let files = try Self.files(daemon)
    #expect(try client.reply("load \(files[0]) \(files[1]) wait=ready").hasPrefix("ok"))
    for request in ["play", "clock.advance 1.5"] { #expect(try client.reply(request).hasPrefix("ok"), "\(request)") }
    for file in files { try #require(unlink(file) == 0) }
    for (request, time) in [("seek 20001/48000", "20001/48000"), ("seek 1.25", "60000/48000")] {
      let reply = try client.reply(request)
      #expect(reply.contains("ok finished=true item=1 ") && reply.contains(" pts=\(time) "), "\(level): \(reply)")
      #expect(reply.contains(" exact=true "), "\(level): \(reply)")
      #expect(try client.reply("clock.advance 0.25").hasPrefix("ok"), "\(level): \(request)")
    }
    #expect(try client.reply("clock.advance 3").hasPrefix("ok"))
    let events = try client.ask("events since=0")
    #expect(!events.contains { $0.contains("event=failed-to-play-to-end") || $0.contains("event=item-skipped") })
    #expect(field("workerCrashes", try client.reply("stats")) == "0")
    let heard = try daemon.recorded()
    print("isolated playback | removed files | \(level) | \(heard)")
    #expect(heard == "1[0..<72000] 1[20001..<32001] 1[60000..<96000] 2[0..<96000]", "\(level)")
  }

  /// The workers of a daemon that have a file open. Any thread of the daemon may have started them.
  private static func workers(of daemon: TestDaemon, with path: String) throws -> [pid_t] {
    try daemon.process.childProcesses().filter { worker in
      let folder = "/proc/\(worker)/fd"
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return files.contains { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path }
    }
  }

  @Test func crashOfAWorkerFailsItsEntryAndTheNextPlays() throws {
    let daemon = try Self.start("playback")
    let client = try daemon.connect()
    // More than is decoded ahead.
    let (first, second) = (daemon.folder.file("1.flac"), daemon.folder.file("2.flac"))
    try TimeCode.writeFLAC(path: first, file: 1, frameCount: 48_000 * 120)
    try TimeCode.writeFLAC(path: second, file: 2, frameCount: 48_000)
    #expect(try client.reply("load \(first) wait=ready").hasPrefix("ok"))
    #expect(try client.reply("play").hasPrefix("ok"))
    #expect(try client.reply("clock.advance 1").hasPrefix("ok"))
    let workers = try Self.workers(of: daemon, with: first)
    #expect(!workers.isEmpty)
    for worker in workers { kill(worker, SIGSEGV) }
    #expect(try client.reply("append \(second) wait=ready").hasPrefix("ok"))
    #expect(try client.reply("clock.advance 130").hasPrefix("ok"))
    let failures = try client.ask("events since=0").filter { $0.contains("event=failed-to-play-to-end") }
    #expect(failures.count == 1 && failures[0].contains("item=1 "), "\(failures)")
    #expect(failures[0].contains("name=damaged-file") && failures[0].contains("underlying=SIGSEGV"), "\(failures)")
    #expect(field("count", try client.reply("status")) == "0")
    #expect(try #require(field("workerCrashes", try client.reply("stats")).flatMap { Int($0) }) >= 1)
    let heard = try daemon.recorded(withSilences: false)
    print("isolated playback | crash | \(heard)")
    #expect(heard.hasPrefix("1[0..<") && heard.hasSuffix("2[0..<48000]"), "\(heard)")
  }
}
