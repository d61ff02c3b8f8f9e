import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Saving of changes that are easy to miss, and restoring in a daemon with other options.
@Suite(.timeLimit(.minutes(5))) struct StateChangeTests {
  @Test func ratesForTheNextPlayAndMeasuredGainsAreSaved() throws {
    let directory = try StateTests.StateDirectory()
    let file = try directory.wave(1, frameCount: 48_000)
    let first = try directory.start()
    let client = try first.connect()
    for request in [
      "load \(file) wait=ready", "replay-gain track", "player.create b", "append \(file) player=b wait=ready",
      "state.save",
      // Only the rate and the gain change the saved state.
      "rate 1.5", "state.save", "rate-together 0.75 b", "state.save", "scan \(file) apply", "state.save",
    ] { #expect(try client.ask(request).last?.hasPrefix("ok") == true, "\(request)") }
    try directory.waitUntilNothingIsOpened(by: first)
    try StateTests.kill(first)
    let again = try directory.start().connect()
    #expect(try again.reply("wait ready timeout=20").hasPrefix("ok"))
    #expect(try again.reply("rate") == "ok rate=1.5")
    #expect(try again.reply("rate player=b") == "ok rate=0.75")
    #expect(field("gainSource", try again.reply("item.status 1")) == "scan")
  }

  @Test func playersBeyondALoweredLimitAreRestored() throws {
    let directory = try StateTests.StateDirectory()
    let first = try directory.start()
    let client = try first.connect()
    for name in ["b", "c", "d"] { #expect(try client.reply("player.create \(name)").hasPrefix("ok")) }
    try first.stop()
    let path = try directory.folder.write("low.toml", Array("[limits]\nplayers = 2\n".utf8))
    let low = try directory.start("--config", path)
    let other = try low.connect()
    #expect(field("error", try other.reply("state")) == nil)
    for name in ["main", "b", "c", "d"] { #expect(try other.reply("status player=\(name)").hasPrefix("ok")) }
    let refused = try other.reply("player.create e")
    #expect(refused.contains("name=too-many-players"), "\(refused)")
    try low.stop()
    let again = try directory.start().connect()
    for name in ["main", "b", "c", "d"] { #expect(try again.reply("status player=\(name)").hasPrefix("ok")) }
  }

  @Test func networkPolicyOfTheDaemonIsNotSavedWithEntries() throws {
    let directory = try StateTests.StateDirectory()
    let path = try directory.folder.write("none.toml", Array("[network]\nallowed = false\n".utf8))
    let first = try directory.start("--config", path)
    let client = try first.connect()
    #expect(
      try client.reply("append http://127.0.0.1:1/x wait=ready").contains("name=network-not-allowed"))
    try client.reply("player.create b")
    #expect(
      try client.reply("append http://127.0.0.1:1/x network=false player=b wait=ready").contains(
        "name=network-not-allowed"))
    try first.stop()
    let again = try directory.start().connect()
    let allowed = try again.reply("wait ready timeout=60")
    #expect(allowed.hasPrefix("error") && !allowed.contains("network-not-allowed"), "\(allowed)")
    // The requested item is unchanged.
    let forbidden = try again.reply("wait ready player=b timeout=60")
    #expect(forbidden.contains("name=network-not-allowed"), "\(forbidden)")
  }

  @Test func lateDamageLosesNothingEvenIfTheDaemonEndsAtOnce() throws {
    let directory = try StateTests.StateDirectory()
    let file = try directory.wave(1, frameCount: 48_000)
    let first = try directory.start()
    let client = try first.connect()
    let marked = directory.folder.file("only-in-the-queue-with-a-name")
    try client.reply("load \(marked)")
    #expect(try client.reply("queue.save a").hasPrefix("ok"))
    try client.reply("load \(file) \(file) \(file) wait=ready")
    try first.stop()
    var bytes = [UInt8](try Files.read(directory.database))
    let name = Array("only-in-the-queue-with-a-name".utf8)
    var count = 0
    for page in stride(from: 0, to: bytes.count, by: 1_024) {
      let content = bytes[page..<min(page + 1_024, bytes.count)]
      guard content.firstRange(of: name) != nil else { continue }
      // Settings that are read first stay intact.
      guard content.firstRange(of: Array("1.wav".utf8)) == nil else { continue }
      for index in content.indices { bytes[index] = 0xA5 }
      count += 1
    }
    try #require(count > 0)
    try Data(bytes).write(to: URL(fileURLWithPath: directory.database))
    let second = try directory.start()
    try second.stop()
    #expect(FileManager.default.fileExists(atPath: directory.database + ".damaged-1"))
    let again = try directory.start().connect()
    #expect(field("error", try again.reply("state")) == nil)
    let rows = try again.ask("list")
    #expect(rows.filter { $0.contains(file) }.count == 3, "\(rows)")
  }

  @Test func savingUsesOneThreadAndNoneOfLibdispatch() throws {
    let directory = try StateTests.StateDirectory()
    /// The threads after the daemon has loaded, checked and written its state. No media is opened, because that would
    /// create temporary threads. `open-output` and `playhead-recover` are temporary, too: they may still be ending when
    /// the daemon replies.
    func threads(_ daemon: TestDaemon, savesState: Bool) throws -> [String] {
      let client = try daemon.connect()
      #expect(try client.reply("volume 0.5").hasPrefix("ok"))
      if savesState { #expect(try client.reply("state.save").hasPrefix("ok")) }
      let names = try daemon.threadNames().filter { !["open-output", "playhead-recove"].contains($0) }
      try daemon.finish()
      return names
    }
    let without = try threads(
      try TestDaemon(["--clock", "virtual", "--output", "null"]), savesState: false)
    for round in 1...2 {
      let with = try threads(try directory.start(), savesState: true)
      print("saved state | threads, start \(round) | \(with)")
      #expect(with == (without + ["saved-state"]).sorted(), "start \(round): without: \(without)")
    }
  }
}
