import DaemonTesting
import Foundation
import RigSupport
import Testing

/// After a crash while opening an entry, the daemon does not open that entry again by itself.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OpeningCrashTests {
  /// A daemon on the virtual clock that saves its state and logs warnings.
  private static func start(_ directory: StateTests.StateDirectory) throws -> TestDaemon {
    try directory.start("--log-level", "warning")
  }

  /// Loads an entry from a server that does not reply yet, and two files after it, and kills the daemon while it waits.
  private static func crash(_ directory: StateTests.StateDirectory, _ server: HTTPServer, _ files: [String]) throws {
    let daemon = try start(directory)
    let client = try daemon.connect()
    let load = try client.reply("load \(server.address)/1.wav?hold=never \(files.joined(separator: " "))")
    #expect(load.hasPrefix("ok items=1,2,3"), "\(load)")
    // The entry is opened for its state and for decoding.
    for _ in 0..<2 { try server.wait("gate never") }
    #expect(try client.reply("state.save").hasPrefix("ok"))
    try StateTests.kill(daemon)
  }

  @Test func entryBeingOpenedAtACrashFailsAndOthersPlay() throws {
    let directory = try StateTests.StateDirectory()
    let server = try HTTPServer()
    let files = try (2...3).map { try directory.wave($0, frameCount: 48_000) }
    try Self.crash(directory, server, files)
    _ = try server.drain()

    let daemon = try Self.start(directory)
    let log = try daemon.process.waitForErrors(containing: "crashed while it opened entries")
    #expect(log.contains("warning") && log.contains("items=1"), "\(log)")
    let client = try daemon.connect()
    #expect(field("crashed", try client.reply("state")) == "1")
    let status = try client.reply("item.status 1")
    #expect(field("status", status) == "failed" && field("error", status) == "crashed-while-opening", "\(status)")
    #expect(field("timeControlStatus", try client.reply("status")) == "paused")
    let events = try client.ask("events since=0 item.status item.error")
    #expect(events.contains { $0.contains("item=1") && $0.contains("new=crashed-while-opening") }, "\(events)")
    // Nothing is opened ahead, including later entries, for any duration.
    #expect(try client.reply("clock.advance 60").hasPrefix("ok"))
    for item in 2...3 { #expect(field("status", try client.reply("item.status \(item)")) == "unknown") }
    #expect(try server.drain().isEmpty)

    // A request of the player ends that state: playback skips the failed entry.
    #expect(try client.reply("play").hasPrefix("ok"))
    #expect(try client.reply("clock.advance 0.5").hasPrefix("ok"))
    let playing = try client.reply("status")
    #expect(field("item", playing) == "2" && field("timeControlStatus", playing) == "playing", "\(playing)")
    #expect(field("status", try client.reply("item.status 3")) == "readyToPlay")
    #expect(try server.drain().isEmpty)
    #expect(field("crashed", try client.reply("state")) == nil)
  }

  @Test func failurePersistsUntilTheEntryIsAppendedAgain() throws {
    let directory = try StateTests.StateDirectory()
    let server = try HTTPServer()
    let files = try (2...3).map { try directory.wave($0, frameCount: 48_000) }
    try Self.crash(directory, server, files)
    _ = try server.drain()
    for signal in [SIGKILL, SIGTERM, SIGKILL] {
      let daemon = try Self.start(directory)
      let client = try daemon.connect()
      #expect(field("crashed", try client.reply("state")) == "1")
      #expect(field("error", try client.reply("item.status 1")) == "crashed-while-opening")
      #expect(try client.reply("state.save").hasPrefix("ok"))
      // Later daemons open the other entries ahead.
      try directory.waitUntilNothingIsOpened(by: daemon)
      daemon.process.signal(signal)
      _ = try daemon.process.waitForEnd()
    }
    #expect(try server.drain().isEmpty)

    // The daemon crashed without an open operation: the next entries are opened ahead as usual.
    let daemon = try Self.start(directory)
    let client = try daemon.connect()
    #expect(try client.reply("clock.advance 1").hasPrefix("ok"))
    #expect(field("status", try client.reply("item.status 2")) == "readyToPlay")
    try server.write([UInt8](Data(contentsOf: URL(fileURLWithPath: files[0]))), to: "1.wav")
    server.open(gate: "never")
    #expect(try client.reply("append \(server.address)/1.wav?hold=never wait=ready").hasPrefix("ok items=4"))
    #expect(field("status", try client.reply("item.status 4")) == "readyToPlay")
    #expect(field("error", try client.reply("item.status 1")) == "crashed-while-opening")
  }

  @Test func stoppedDaemonOpensAPendingEntryAgain() throws {
    let directory = try StateTests.StateDirectory()
    let server = try HTTPServer()
    let first = try Self.start(directory)
    #expect(try first.connect().reply("load \(server.address)/1.wav?hold=never").hasPrefix("ok"))
    try server.wait("gate never")
    try first.stop()
    let client = try Self.start(directory).connect()
    try server.wait("gate never")
    #expect(field("crashed", try client.reply("state")) == nil)
    #expect(field("status", try client.reply("item.status 1")) == "unknown")
  }

  /// Any program may have written to the marks file. The daemon starts and plays with any content.
  @Test(arguments: [(0x00, 0), (0xFF, 4_096), (0x41, 17)])
  func damagedMarksAreIgnoredAndLogged(_ byte: UInt8, count: Int) throws {
    let bytes = Array(repeating: byte, count: count)
    let directory = try StateTests.StateDirectory()
    let file = try directory.wave(1, frameCount: 48_000)
    let first = try Self.start(directory)
    #expect(try first.connect().reply("load \(file) wait=ready").hasPrefix("ok"))
    #expect(try first.connect().reply("state.save").hasPrefix("ok"))
    try first.stop()
    try Data(bytes).write(to: URL(fileURLWithPath: directory.path + "/state.lock"))
    let second = try Self.start(directory)
    if !bytes.isEmpty { _ = try second.process.waitForErrors(containing: "are damaged and ignored") }
    let client = try second.connect()
    #expect(field("crashed", try client.reply("state")) == nil)
    #expect(try client.reply("wait ready timeout=20").hasPrefix("ok"))
    #expect(field("status", try client.reply("item.status 1")) == "readyToPlay")
  }
}
