import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Waveforms over the wire, and with the client.
@Suite struct WaveformTests {
  /// Left from -1000 to 999, right half of it.
  private func ramp(_ daemon: TestServer, _ name: String) throws -> String {
    let path = daemon.folder.file(name)
    try TimeCode.writeWAV(path: path, frameCount: 2_000) { index in
      StereoFrame(left: Int16(index - 1_000), right: Int16((index - 1_000) / 2))
    }
    return path
  }

  @Test func binsAreReturnedAfterProgressEvents() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try ramp(daemon, "ramp.wav")
    let lines = try client.ask("waveform \(path) bins=2 start=0.0125 end=1/40")
    #expect(lines.first == "* scan-progress scan=1 file=1 count=1 path=\(path) done=0")
    let rows = lines.filter { $0.hasPrefix("| ") }
    // Frames 600 to 1,200.
    #expect(rows.map { field("start", $0) } == ["0.0125", "0.01875"])
    #expect(field("min", rows[0]) == "-0.012207,-0.006104" && field("max", rows[0]) == "-0.003082,-0.001526")
    #expect(
      lines.last
        == "ok scan=1 path=\(path) sampleRate=48000 channels=2 bins=2 start=0.0125 duration=0.0125 cached=false")
    let mono = try client.ask("waveform \(path) bins=1 mono")
    #expect(field("channels", mono.last ?? "") == "1" && field("scan", mono.last ?? "") == "2")
    #expect(try client.ask("waveform \(path)").count { $0.hasPrefix("| ") } == 100)
    #expect(try client.reply("waveform \(path) start=1").contains("name=invalid-time"))
    for words in [
      "bins=1001", "samples-per-bin=9", "bins=0", "width=100", "format=json", "replace", "start=2 end=1",
      "bins=2 mono=1",
    ] {
      #expect(try client.reply("waveform \(path) \(words)").hasPrefix("error code=60"), "\(words)")
    }
  }

  @Test func filesAreWrittenCompletelyBelowTheRootsOnly() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try ramp(daemon, "ramp.wav")
    let out = daemon.folder.file("out.dat")
    #expect(try client.reply("waveform \(path) file=\(out) samples-per-bin=1000").hasSuffix("file=\(out)"))
    let data = try Data(contentsOf: URL(fileURLWithPath: out))
    #expect(data.count == 24 + 2 * 2 * 2 * 2)
    #expect(try client.reply("waveform \(path) file=\(out)").contains("name=file-exists"))
    #expect(try client.reply("waveform \(path) file=\(out) replace").hasPrefix("ok "))
    #expect(try client.reply("waveform \(path) file=/tmp/none.json").contains("name=outside-roots"))
    #expect(try client.reply("waveform \(daemon.folder.file("no.wav")) file=\(out).json").contains("file-not-found"))
    for words in [
      "bins=2", "format=png bits=8", "width=20", "format=svg color=red", "format=svg width=15", "bits=9",
      "samples-per-bin=1 bins=1",
    ] {
      #expect(try client.reply("waveform \(path) file=\(out)2.dat \(words)").hasPrefix("error code=60"), "\(words)")
    }
    #expect(try client.reply("waveform \(path) file=\(daemon.folder.file("name"))").hasPrefix("error code=60"))
    let names = try FileManager.default.contentsOfDirectory(atPath: daemon.folder.path)
    #expect(!names.contains { $0.contains("playhead-") || $0.hasSuffix("2.dat") })
    let image = try daemon.playhead(
      "waveform", "ramp.wav", "-o", "out.png", "--width", "64", "--human", folder: daemon.folder.path)
    #expect(image.status == 0 && image.output == "\(daemon.folder.file("out.png")): 64 bins\n", "\(image)")
  }

  @Test func sizeOfAReplyIsLimitedForManyChannels() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = daemon.folder.file("six.wav")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "anoisesrc=d=1:r=48000", "-ac", "6", path,
    ])
    #expect(try client.reply("waveform \(path) bins=1000").contains("name=media-limit-exceeded"))
    #expect(try client.ask("waveform \(path) bins=1000 mono").count { $0.hasPrefix("| ") } == 1_000)
    #expect(try client.ask("waveform \(path) bins=300").count { $0.hasPrefix("| ") } == 300)
  }

  /// Like in a unit with LimitFSIZE: an error, and not the end of the process. Memory that is shared with a worker
  /// counts as a file of 1 MiB.
  @Test func fileSizeLimitIsAnErrorAndNotFatal() throws {
    let folder = try TemporaryDirectory("limited")
    let (path, out, socket) = (folder.file("a.wav"), folder.file("a.json"), folder.file("control.sock"))
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 96_000)
    let script =
      "ulimit -f 16; exec \"$0\" --socket \"$1\" --output null --no-state --write-root \"$2\" --isolate none"
    let daemon = try Program("/bin/sh", ["-c", script, Executables.playheadd, socket, folder.path])
    #expect(try daemon.waitForLine()?.hasPrefix("playheadd ready") == true)
    let client = try WireClient(socket)
    _ = try client.line()
    #expect(try client.reply("waveform \(path) bins=4000 file=\(out) format=json").contains("name=write-failed"))
    #expect(try client.reply("ping").hasPrefix("ok now="))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!names.contains { $0.contains("json") || $0.contains("playhead-") }, "\(names)")
    daemon.signal(SIGTERM)
    #expect(try daemon.waitForEnd().status == 0)
  }

  @Test func clientDrawsTheWaveform() throws {
    let daemon = try InProcessServer.recording()
    let path = daemon.folder.file("loud.wav")
    // Silence, then full-scale samples of alternating sign.
    try TimeCode.writeWAV(path: path, frameCount: 4_800) { index in
      let value: Int16 = index < 2_400 ? 0 : index % 2 == 0 ? 32_767 : -32_768
      return StereoFrame(left: value, right: 0)
    }
    let words = ["--socket", daemon.socket, "waveform", path, "bins=4", "--human"]
    let drawn = try Program(
      Executables.playhead, words.map { Array($0.utf8) }, environment: ["LC_ALL": "C"]
    ).waitForEnd()
    #expect(drawn.status == 0)
    let lines = drawn.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.prefix(8) == ["  ##", "  ##", "  ##", "  ##", "''##", "  ##", "  ##", "  ##"], "\(drawn.output)")
    #expect(lines.dropFirst(8).first == "0:00.000 0:00.100")
    #expect(try daemon.playhead("waveform", "none.wav", folder: daemon.folder.path).status == 1)
  }

  @Test func queuedWaveformCanBeCancelled() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = daemon.folder.file("long.wav")
    try TimeCode.writeWAV(path: path, frameCount: 48_000 * 20) { _ in StereoFrame(left: 1, right: 1) }
    // The last of these has not started when they are cancelled.
    try client.send(((0..<20).map { "@a\($0) waveform \(path)" } + ["scan.cancel"]).joined(separator: "\n"))
    var last = ""
    while !last.hasPrefix("@a19 "), let line = try client.line() { last = line }
    #expect(last.contains("name=cancelled"))
  }
}
