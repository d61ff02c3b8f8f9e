import DaemonTesting
import Glibc
import RigSupport
import Testing

/// The daemon has a worker process before a client opens a file.
@Suite(.timeLimit(.minutes(2))) struct WorkerStartTests {
  /// Waits until the daemon has started its first worker, which it does after clients can connect. A daemon that starts
  /// none must not block the test.
  private func waitForWorker(_ client: WireClient) throws {
    for _ in 0..<50_000 { if field("workers", try client.reply("stats")) != "0" { return } }
  }

  @Test func workerStartsBeforeAFileIsOpenedAndIsReused() throws {
    let daemon = try TestDaemon("--clock", "virtual", "--output", "null")
    let client = try daemon.connect()
    try waitForWorker(client)
    let first = try daemon.process.childProcesses()
    #expect(first.count == 1)
    let name = String(decoding: try Files.read("/proc/\(first.first ?? 0)/comm"), as: UTF8.self)
    #expect(name == "playhead-worker\n")
    let path = try daemon.wave(1, frameCount: 48_000)
    #expect(try client.reply("asset.open \(path)") == "ok asset=1")
    for request in ["asset.load 1 duration", "asset.metadata 1", "asset.metadata 1 charset=latin-1"] {
      #expect(try client.reply(request).hasPrefix("ok"), "\(request)")
      let stats = try client.reply("stats")
      #expect(field("workers", stats) == "1" && field("workerCrashes", stats) == "0", "\(request): \(stats)")
      #expect(try daemon.process.childProcesses() == first, "\(request)")
    }
  }

  @Test func daemonWithoutIsolationStartsNoWorker() throws {
    let daemon = try TestDaemon("--clock", "virtual", "--output", "null", "--isolate", "none")
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 48_000)
    #expect(try client.reply("load \(path) wait=ready").hasPrefix("ok"))
    #expect(field("workers", try client.reply("stats")) == "0")
    #expect(try daemon.process.childProcesses().isEmpty)
  }
}
