import DaemonTesting
import Glibc
import RigSupport
import Testing

/// Effects of servers on a queue: an entry from a server, followed by a playable one. Over the wire, on the virtual
/// clock. Each row prints the reason for waiting, the errors of the entry, and the played audio.
@Suite(.timeLimit(.minutes(4))) struct ServerTableTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    /// The path after the server's address.
    var path: String
    /// Options of `load`.
    var options = ""
    /// The gate at which the server waits until the player waits.
    var gate: String?
    /// The error code if the entry is skipped; otherwise nil.
    var skipped: Int?
    /// Whether the server sent data before the entry was skipped.
    var hasSentData = false
    /// The error code if the entry ends early; otherwise nil.
    var broken: Int?
    /// The error codes in the log, once each.
    var logged: Set<Int> = []
    /// The number of its played frames.
    var frames = ServerTableTests.frameCount
    var testDescription: String { name }
  }

  static let frameCount = 48_000
  /// Of a stereo WAV file with 16 bits.
  private static let byteCount = 44 + 4 * frameCount

  static let quick: [Row] = [
    Row(name: "sends the file", path: "/1.wav"),
    Row(name: "sends 200,000 bytes a second", path: "/1.wav?pace=200000"),
    Row(name: "starts late", path: "/1.wav?hold=G", gate: "evaluatingBufferingRate"),
    Row(name: "pauses in the header of the file", path: "/1.wav?gate=G&at=20", gate: "evaluatingBufferingRate"),
    Row(name: "cuts in the middle, once", path: "/1.wav?cut=100000&times=1", logged: [2034]),
    Row(name: "supports no ranges", path: "/1.wav?plain"),
    Row(name: "supports no ranges and cuts, once", path: "/1.wav?plain&cut=100000&times=1", logged: [2034]),
    Row(name: "sends chunks", path: "/1.wav?chunked"),
    Row(name: "sends no length", path: "/1.wav?silent"),
    Row(
      name: "sends fewer bytes than announced", path: "/1.wav?say=\(byteCount + 9_000)", logged: [2034, 3006]),
    Row(
      name: "announces the whole length and sends half", path: "/1.wav?say=\(byteCount)&send=96044",
      broken: 3004, logged: [2034, 3006], frames: 24_000),
    Row(name: "announces half of the length", path: "/1.wav?say=96044", broken: 3004, frames: 24_000),
    Row(name: "redirects 9 times", path: "/1.wav?redirect=9"),
    Row(name: "redirects endlessly", path: "/1.wav?redirect=loop", skipped: 2037, logged: [2037]),
    Row(name: "redirects to a file", path: "/1.wav?redirect=1&to=file:///etc/passwd", skipped: 2007, logged: [2007]),
    Row(name: "401", path: "/1.wav?status=401", skipped: 2041, logged: [2041]),
    Row(name: "403", path: "/1.wav?status=403", skipped: 2042, logged: [2042]),
    Row(name: "404", path: "/none.wav", skipped: 2043, logged: [2043]),
    Row(name: "410", path: "/1.wav?status=410", skipped: 2044, logged: [2044]),
    Row(name: "416", path: "/1.wav?status=416", skipped: 2045, logged: [2045]),
    Row(name: "418", path: "/1.wav?status=418", skipped: 2046, logged: [2046]),
    Row(name: "503 once", path: "/1.wav?status=503&times=1", logged: [2047]),
    Row(name: "sends another range than requested", path: "/1.wav?shifted", skipped: 2038, logged: [2038]),
    Row(
      name: "changes the file during reading", path: "/1.wav?changing&cut=100000", skipped: 2040, hasSentData: true,
      logged: [2034, 2040]),
    Row(name: "sends a header of a megabyte", path: "/1.wav?headers=1000000", skipped: 2038, logged: [2038]),
    Row(name: "sends an empty file", path: "/empty.wav", skipped: 3001),
    Row(name: "network access is disabled", path: "/1.wav", options: "network=false", skipped: 2030),
  ]

  @Test func serverBehaviorIsReportedAndTheQueueContinues() throws {
    let (server, daemon, client) = try start()
    for row in Self.quick { try check(row, server, client) }
    let expected = Self.quick.filter { $0.skipped == nil }
      .map { "1[0..<\($0.frames)]" }
    let recorded = try daemon.recorded(withSilences: false).split(separator: " ").map(String.init)
    #expect(recorded.filter { $0.hasPrefix("1[") }.prefix(expected.count).elementsEqual(expected), "\(recorded)")
  }

  /// The attempts have pauses on the system's clock: 15.5 s in total.
  static let slow: [Row] = [
    Row(name: "never replies", path: "/1.wav?hold=never", options: "timeout=0.2", skipped: 2035, logged: [2035]),
    Row(name: "500 always", path: "/1.wav?status=500", skipped: 2047, logged: [2047]),
    Row(
      name: "supports no ranges and cuts always", path: "/1.wav?plain&cut=100000", skipped: 2034, hasSentData: true,
      logged: [2034]),
    Row(
      name: "stops in the middle and stays silent", path: "/1.wav?send=96044", options: "timeout=0.5",
      broken: 3004, logged: [2035, 3006], frames: 24_000),
  ]

  @Test(arguments: slow)
  func exhaustedAttemptsAreReported(_ row: Row) throws {
    let (server, _, client) = try start()
    try check(row, server, client)
  }

  private func start() throws -> (HTTPServer, TestDaemon, WireClient) {
    let server = try HTTPServer()
    try TimeCode.writeWAV(path: server.files.file("1.wav"), file: 1, frameCount: Self.frameCount)
    try server.write([], to: "empty.wav")
    let daemon = try TestDaemon.recording()
    let client = try daemon.connect()
    try client.reply("observe item.events")
    return (server, daemon, client)
  }

  private func check(_ row: Row, _ server: HTTPServer, _ client: WireClient) throws {
    let good = server.files.file("good.wav")
    if access(good, F_OK) != 0 { try TimeCode.writeWAV(path: good, file: 2, frameCount: 4_800) }
    // A separate gate for each row.
    let name = row.name.filter(\.isLetter)
    let path = row.path.replacing("=G", with: "=\(name)")
    var lines = try client.ask("load \(server.address)\(path) \(good) \(row.options)")
    let loaded = try #require(lines.last)
    let items = try #require(field("items", loaded), "\(row.name): \(loaded)").split(separator: ",")
    let (item, next) = (try #require(items.first), try #require(items.last))
    lines += try client.ask("play")
    var waited = "-"
    if let reason = row.gate {
      try server.wait("gate \(name)")
      // Events before the reply count, too.
      let statusLines = try client.ask("status")
      waited = field("reasonForWaitingToPlay", statusLines.last ?? "") ?? "none"
      lines += statusLines.dropLast()
      #expect(waited == reason, "\(row.name)")
      server.open(gate: name)
    }
    lines += try client.ask("wait status=playing timeout=60")
    #expect(lines.last?.hasPrefix("ok") == true, "\(row.name): \(lines)")
    lines += try client.ask("clock.advance 3")
    // Where the server pauses in the middle, time advances without it.
    func isOver() -> Bool { lines.contains { $0.hasPrefix("* played-to-end ") && field("item", $0) == String(next) } }
    for _ in 0..<20 where !isOver() {
      lines += try client.ask("wait status=playing timeout=60") + client.ask("clock.advance 1")
    }
    #expect(isOver(), "\(row.name): \(lines)")
    let itemEvents = lines.filter { $0.hasPrefix("* ") && field("item", $0) == String(item) }
    func codes(_ event: String) -> [Int] {
      itemEvents.filter { $0.hasPrefix("* \(event) ") }.compactMap { field("code", $0).flatMap { Int($0) } }
    }
    let skipped = codes("item-skipped")
    let broken = codes("failed-to-play-to-end")
    let logged = Set(codes("new-error-log-entry"))
    let ended = itemEvents.contains { $0.hasPrefix("* played-to-end ") }
    let accesses = itemEvents.count { $0.hasPrefix("* new-access-log-entry ") }
    print(
      "server over the wire | \(row.name) | waited: \(waited) | skipped: \(skipped) | ended early: \(broken) |",
      "error log: \(logged.sorted()) | access log: \(accesses) | to its end: \(ended)")
    #expect(skipped == (row.skipped.map { [$0] } ?? []), "\(row.name): \(itemEvents)")
    #expect(broken == (row.broken.map { [$0] } ?? []), "\(row.name): \(itemEvents)")
    #expect(logged == row.logged, "\(row.name): \(itemEvents)")
    #expect(ended == (row.skipped == nil && row.broken == nil), "\(row.name): \(itemEvents)")
    #expect((accesses > 0) == (row.skipped == nil || row.hasSentData), "\(row.name): \(itemEvents)")
    try client.reply("clear")
  }

  // MARK: - Endless servers

  /// The resident memory of a process, in kB.
  private func residentKilobytes(_ daemon: TestDaemon) throws -> Int {
    let status = String(decoding: try Files.read("/proc/\(daemon.process.id)/status"), as: UTF8.self)
    return try #require(
      status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }.flatMap { Int($0.filter(\.isNumber)) })
  }

  @Test func endlessServerUsesOnlyTheMemoryForReadingAhead() throws {
    let (server, daemon, client) = try start()
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=d=5", "-b:a", "320k", "-write_xing",
      "0", "-id3v2_version", "0", server.files.file("a.mp3"),
    ])
    let before = try residentKilobytes(daemon)
    #expect(try client.ask("load \(server.address)/a.mp3?endless wait=ready").last?.hasPrefix("ok") == true)
    try client.reply("play")
    for _ in 0..<12 { try client.reply("clock.advance 10") }
    let grown = try residentKilobytes(daemon) - before
    print("server over the wire | never ends | 120 s heard | memory +\(grown) kB")
    #expect(grown < 48 << 10)
    let status = try client.reply("status")
    #expect(status.contains(" timeControlStatus=playing ") && status.contains(" time=120 "), "\(status)")
    try client.reply("clear")
  }

  /// Like in a file, chunks after the audio are searched, until opening has read the maximum of 64 MiB. On the system's
  /// clock. Opening may take four times the timeout.
  @Test func endlesslyRepeatedFileIsRejected() throws {
    let (server, _, _) = try start()
    let daemon = try TestDaemon("--output", "null")
    let client = try daemon.connect()
    let good = try daemon.wave(2, frameCount: 4_800)
    try client.reply("observe item.events")
    let reply = try client.ask("load \(server.address)/1.wav?endless \(good) timeout=5 wait=ready").last ?? ""
    print("server over the wire | repeats a file endlessly | \(reply)")
    #expect(reply.hasPrefix("error code=3005 name=media-limit-exceeded"), "\(reply)")
    var lines = try client.ask("play")
    while lines.last?.hasPrefix("* played-to-end ") != true { lines.append(try #require(try client.line())) }
    #expect(field("item", lines.last ?? "") == "2", "\(lines)")
  }

  // MARK: - Trust

  @Test func onlyTheConfiguredCertificateAuthorityIsTrusted() throws {
    let folder = try TemporaryDirectory("tls")
    let (certificate, key) = (folder.file("certificate.pem"), folder.file("key.pem"))
    try ChildProcess.run([
      "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
      "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
    ])
    let server = try HTTPServer(certificate: certificate, key: key)
    try TimeCode.writeWAV(path: server.files.file("1.wav"), file: 1, frameCount: Self.frameCount)
    try server.write(Array("#EXTM3U\n1.wav\n".utf8), to: "a.m3u")
    let clientWithoutAuthority = try InProcessServer.recording().connect()
    for request in ["load \(server.address)/1.wav wait=ready", "load \(server.address)/a.m3u list=true"] {
      let rejected = try clientWithoutAuthority.reply(request)
      print("server over the wire | https, unknown authority | \(rejected)")
      #expect(rejected.hasPrefix("error code=2036 name=tls-failed"), "\(rejected)")
    }
    let daemon = try TestDaemon("--clock", "virtual", "--output", "null", "--ca-file", certificate)
    let client = try daemon.connect()
    for request in ["load \(server.address)/1.wav wait=ready", "load \(server.address)/a.m3u list=true wait=ready"] {
      let accepted = try client.reply(request)
      print("server over the wire | https, configured authority | \(accepted)")
      #expect(accepted.hasPrefix("ok items="), "\(accepted)")
    }
    let none = try Program(
      Executables.playheadd, ["--socket", folder.file("s"), "--ca-file", folder.file("none.pem")]
    ).waitForEnd()
    #expect(none.status == 2 && none.errors.contains("--ca-file needs a readable file"), "\(none)")
  }
}
