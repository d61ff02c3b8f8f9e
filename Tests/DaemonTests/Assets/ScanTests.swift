import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Scans over the wire, and with the client.
@Suite struct ScanTests {
  /// A sine in both channels, whose loudness is its level in dBFS.
  private func tone(_ daemon: TestServer, _ name: String, decibels: Double, frames: Int) throws -> String {
    let path = daemon.folder.file(name)
    let level = pow(10, decibels / 20)
    try TimeCode.writeWAV(path: path, frameCount: frames) { index in
      let value = Int16((level * sin(2 * .pi * 997 * Double(index) / 48_000) * 32_767).rounded())
      return StereoFrame(left: value, right: value)
    }
    return path
  }

  @Test func everyFileHasARowAndProgressPrecedesTheReply() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let loud = try tone(daemon, "loud.wav", decibels: -12, frames: 96_000)
    let silence = try tone(daemon, "silence.wav", decibels: -200, frames: 48_000)
    let missing = daemon.folder.file("missing.wav")
    let lines = try client.ask("scan \(loud) \(silence) \(missing) album")
    let progress = lines.filter { $0.hasPrefix("* scan-progress") }
    #expect(progress.first == "* scan-progress scan=1 file=1 count=3 path=\(loud) done=0")
    #expect(progress.count == 32)
    #expect(lines.firstIndex { $0.hasPrefix("| ") } == 32)
    let rows = lines.filter { $0.hasPrefix("| ") }
    #expect(rows.map { field("status", $0) } == ["measured", "silence", "failed"])
    let loudness = try #require(field("loudness", rows[0]).flatMap { Double($0) })
    #expect(abs(loudness + 12) < 0.05)
    #expect(abs(try #require(field("gain", rows[0]).flatMap { Double($0) }) - (-18 - loudness)) < 0.011)
    #expect(field("duration", rows[0]) == "2")
    #expect(["loudness", "range", "truePeak", "samplePeak", "gain"].allSatisfy { field($0, rows[1]) == "none" })
    #expect(field("peak", rows[1]) == "0")
    #expect(field("error", rows[2]) == "file-not-found")
    let last = try #require(lines.last)
    #expect(last.hasPrefix("ok scan=1 count=3 failed=1 albumLoudness="))
    #expect(field("albumLoudness", last) == field("loudness", rows[0]))
    // In JSON, missing values are null.
    try client.send(#"{"jsonrpc":"2.0","id":2,"method":"scan","params":{"paths":["\#(silence)"]}}"#)
    var json = ""
    while !json.contains(#""id":2"#), let line = try client.line() { json = line }
    #expect(json.contains(#""status":"silence","loudness":null,"range":null,"truePeak":null"#), "\(json)")
    #expect(json.contains(#""scan":2,"count":1,"failed":0"#), "\(json)")
  }

  @Test(.timeLimit(.minutes(1))) func measuredFilesAreClosed() throws {
    let daemon = try TestDaemon.recording()
    let client = try daemon.connect()
    let path = try tone(daemon, "loud.wav", decibels: -12, frames: 4_800)
    func openCount() throws -> Int {
      let folder = "/proc/\(daemon.process.id)/fd"
      // A descriptor that is closed meanwhile has no destination.
      return try FileManager.default.contentsOfDirectory(atPath: folder).count {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
      }
    }
    for request in ["scan \(path) \(path) \(path)", "waveform \(path)"] {
      #expect(try client.ask(request).last?.hasPrefix("ok ") == true)
      // The reply may arrive before the last descriptor is closed.
      while try openCount() > 0 {}
    }
  }

  @Test(.timeLimit(.minutes(1))) func scanBlocksNoOtherRequestAndCanBeCancelled() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    // A FIFO without a writer is rejected, and delays nothing.
    let fifo = daemon.folder.file("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    #expect(
      try client.ask("scan \(fifo) \(daemon.folder.path)").filter { $0.hasPrefix("|") }.map { field("error", $0) }
        == ["not-a-file", "not-a-file"])
    let long = try tone(daemon, "long.wav", decibels: -12, frames: 48_000 * 240)
    // The second scan waits for the first. Both are cancelled before either ends, however slow the machine is.
    let many = Array(repeating: long, count: 50).joined(separator: " ")
    try client.send("@a scan \(many)", "@b scan \(long)", "ping", "scan.cancel 7", "scan.cancel")
    var replies: [String] = []
    while replies.count < 5, let line = try client.line() {
      if !line.hasPrefix("* scan-progress") { replies.append(line) }
    }
    #expect(replies.prefix(3) == ["ok now=0", "ok cancelled=0", "ok cancelled=2"], "\(replies)")
    #expect(
      Set(replies.suffix(2).map { String($0.prefix(36)) }) == [
        "@a error code=6015 name=cancelled me", "@b error code=6015 name=cancelled me",
      ], "\(replies)")
    // A scan ends with its connection, and does not delay another connection's scan.
    do {
      let leaving = try daemon.connect()
      try leaving.send("@c scan \(many)")
    }
    #expect(field("failed", try client.reply("scan \(fifo)")) == "1")
  }

  @Test func measuredGainIsAppliedToPlayback() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let quiet = try tone(daemon, "quiet.wav", decibels: -24, frames: 96_000)
    let other = try tone(daemon, "other.wav", decibels: -24, frames: 48_000)
    try client.reply("load \(quiet) \(other) wait=ready")
    try client.reply("replay-gain track fallback=-3")
    let reply = try client.reply("scan \(quiet) apply")
    #expect(field("applied", reply) == "1", "\(reply)")
    let status = try client.reply("item.status 1")
    #expect(field("gainSource", status) == "scan", "\(status)")
    #expect(abs(try #require(field("gain", status).flatMap { Double($0) }) - 6) < 0.05)
    #expect(try client.reply("scan \(quiet) player=main").hasPrefix("error code=6002"))
    #expect(try client.reply("scan \(quiet) apply player=nobody").hasPrefix("error code=1006"))
    try client.reply("play")
    try client.reply("clock.advance 1")
    #expect(field("gainSource", try client.reply("item.status 2")) == "fallback")
    try daemon.finish()
    let peak = try Recording.frames(in: daemon.folder.file("out.wav")).map { Int($0.left) }.max()
    #expect(abs(Double(try #require(peak)) / 32_768 - pow(10, -18.0 / 20)) < 0.002)
  }

  @Test func clientPrintsATableOfResults() throws {
    let daemon = try InProcessServer.recording()
    let one = try tone(daemon, "one.wav", decibels: -20, frames: 96_000)
    _ = try tone(daemon, "short.wav", decibels: -20, frames: 4_800)
    let outcome = try daemon.playhead("scan", "one.wav", "short.wav", "--album", folder: daemon.folder.path)
    #expect(outcome.status == 0)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "    LUFS      LU    dBTP    dBFS    gain  file")
    #expect(lines.count == 4)
    #expect(
      lines[1].hasSuffix("  \(one)") && lines[1].hasPrefix("  -20.0") || lines[1].hasPrefix("  -19.9"), "\(lines)")
    #expect(
      lines[2].hasPrefix("       -       -") && lines[2].hasSuffix("short.wav  (shorter than 400 ms)"), "\(lines)")
    #expect(lines[3].hasSuffix("  album"), "\(lines)")
    let failed = try daemon.playhead("scan", "none.wav", folder: daemon.folder.path)
    #expect(failed.status == 1)
    #expect(failed.output.contains("none.wav  (there is no file"))
  }
}
