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
    var place: String
    /// Options of `load`.
    var options = ""
    /// The gate at which the server waits until the player waits.
    var gate: String?
    /// The error code if the entry is skipped; otherwise nil.
    var skipped: Int?
    /// Whether the server sent data before the entry was skipped.
    var isAnswered = false
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
    Row(name: "gives it", place: "/1.wav"),
    Row(name: "sends 200,000 bytes a second", place: "/1.wav?pace=200000"),
    Row(name: "starts late", place: "/1.wav?hold=G", gate: "evaluatingBufferingRate"),
    Row(name: "pauses in the header of the file", place: "/1.wav?gate=G&at=20", gate: "evaluatingBufferingRate"),
    Row(name: "cuts in the middle, once", place: "/1.wav?cut=100000&times=1", logged: [2034]),
    Row(name: "knows no ranges", place: "/1.wav?plain"),
    Row(name: "knows no ranges and cuts, once", place: "/1.wav?plain&cut=100000&times=1", logged: [2034]),
    Row(name: "sends chunks", place: "/1.wav?chunked"),
    Row(name: "says no length", place: "/1.wav?silent"),
    Row(
      name: "has fewer bytes than it says", place: "/1.wav?say=\(byteCount + 9_000)", logged: [2034, 3006]),
    Row(
      name: "says the length of the file, and has half of it", place: "/1.wav?say=\(byteCount)&send=96044",
      broken: 3004, logged: [2034, 3006], frames: 24_000),
    Row(name: "says half of the length", place: "/1.wav?say=96044", broken: 3004, frames: 24_000),
    Row(name: "sends on 9 times", place: "/1.wav?redirect=9"),
    Row(name: "sends on for ever", place: "/1.wav?redirect=loop", skipped: 2037, logged: [2037]),
    Row(name: "sends on to a file", place: "/1.wav?redirect=1&to=file:///etc/passwd", skipped: 2007, logged: [2007]),
    Row(name: "401", place: "/1.wav?status=401", skipped: 2041, logged: [2041]),
    Row(name: "403", place: "/1.wav?status=403", skipped: 2042, logged: [2042]),
    Row(name: "404", place: "/none.wav", skipped: 2043, logged: [2043]),
    Row(name: "410", place: "/1.wav?status=410", skipped: 2044, logged: [2044]),
    Row(name: "416", place: "/1.wav?status=416", skipped: 2045, logged: [2045]),
    Row(name: "418", place: "/1.wav?status=418", skipped: 2046, logged: [2046]),
    Row(name: "503 once", place: "/1.wav?status=503&times=1", logged: [2047]),
    Row(name: "gives another range than was asked for", place: "/1.wav?shifted", skipped: 2038, logged: [2038]),
    Row(
      name: "changes it while it is read", place: "/1.wav?changing&cut=100000", skipped: 2040, isAnswered: true,
      logged: [2034, 2040]),
    Row(name: "sends a header of a megabyte", place: "/1.wav?headers=1000000", skipped: 2038, logged: [2038]),
    Row(name: "has nothing in it", place: "/empty.wav", skipped: 3001),
    Row(name: "may not be asked", place: "/1.wav", options: "network=false", skipped: 2030),
  ]

  @Test func whatAServerDoesIsSaidAndTheQueueGoesOn() throws {
    let (server, daemon, client) = try start()
    for row in Self.quick { try check(row, server, client) }
    let heard = Self.quick.filter { $0.skipped == nil }
      .map { "1[0..<\($0.frames)]" }
    let said = try daemon.recorded(withSilences: false).split(separator: " ").map(String.init)
    #expect(said.filter { $0.hasPrefix("1[") }.prefix(heard.count).elementsEqual(heard), "\(said)")
  }

  /// The attempts have pauses on the system's clock: 15.5 s in total.
  static let slow: [Row] = [
    Row(name: "never answers", place: "/1.wav?hold=never", options: "timeout=0.2", skipped: 2035, logged: [2035]),
    Row(name: "500 always", place: "/1.wav?status=500", skipped: 2047, logged: [2047]),
    Row(
      name: "knows no ranges and cuts always", place: "/1.wav?plain&cut=100000", skipped: 2034, isAnswered: true,
      logged: [2034]),
    Row(
      name: "stops in the middle, and says nothing more", place: "/1.wav?send=96044", options: "timeout=0.5",
      broken: 3004, logged: [2035, 3006], frames: 24_000),
  ]

  @Test(arguments: slow)
  func whoGivesUpInTheEndIsSaidToo(_ row: Row) throws {
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
    let place = row.place.replacing("=G", with: "=\(name)")
    var lines = try client.ask("load \(server.address)\(place) \(good) \(row.options)")
    let loaded = try #require(lines.last)
    let items = try #require(field("items", loaded), "\(row.name): \(loaded)").split(separator: ",")
    let (item, next) = (try #require(items.first), try #require(items.last))
    lines += try client.ask("play")
    var waited = "-"
    if let reason = row.gate {
      try server.wait("gate \(name)")
      // Events before the reply count, too.
      let told = try client.ask("status")
      waited = field("reasonForWaitingToPlay", told.last ?? "") ?? "none"
      lines += told.dropLast()
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
    let own = lines.filter { $0.hasPrefix("* ") && field("item", $0) == String(item) }
    func codes(_ event: String) -> [Int] {
      own.filter { $0.hasPrefix("* \(event) ") }.compactMap { field("code", $0).flatMap { Int($0) } }
    }
    let skipped = codes("item-skipped")
    let broken = codes("failed-to-play-to-end")
    let logged = Set(codes("new-error-log-entry"))
    let ended = own.contains { $0.hasPrefix("* played-to-end ") }
    let accesses = own.count { $0.hasPrefix("* new-access-log-entry ") }
    print(
      "server over the wire | \(row.name) | waited: \(waited) | passed over: \(skipped) | ended early: \(broken) |",
      "error log: \(logged.sorted()) | access log: \(accesses) | to its end: \(ended)")
    #expect(skipped == (row.skipped.map { [$0] } ?? []), "\(row.name): \(own)")
    #expect(broken == (row.broken.map { [$0] } ?? []), "\(row.name): \(own)")
    #expect(logged == row.logged, "\(row.name): \(own)")
    #expect(ended == (row.skipped == nil && row.broken == nil), "\(row.name): \(own)")
    #expect((accesses > 0) == (row.skipped == nil || row.isAnswered), "\(row.name): \(own)")
    try client.reply("clear")
  }

  // MARK: - Endless servers

  /// The resident memory of a process, in kB.
  private func residentKilobytes(_ daemon: TestDaemon) throws -> Int {
    let status = String(decoding: try Files.read("/proc/\(daemon.process.id)/status"), as: UTF8.self)
    return try #require(
      status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }.flatMap { Int($0.filter(\.isNumber)) })
  }

  @Test func aServerThatNeverEndsCostsNoMoreThanWhatIsReadAhead() throws {
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

  /// Like in a file, chunks after the audio are searched, until opening has read the maximum. On the system's clock.
  @Test func aFileThatIsSentAgainAndAgainIsGivenUp() throws {
    let (server, _, _) = try start()
    let daemon = try TestDaemon("--output", "null")
    let client = try daemon.connect()
    let good = try daemon.wave(2, frameCount: 4_800)
    try client.reply("observe item.events")
    let reply = try client.ask("load \(server.address)/1.wav?endless \(good) timeout=0.2 wait=ready").last ?? ""
    print("server over the wire | sends a file again and again, for ever | \(reply)")
    #expect(reply.hasPrefix("error code=3005 name=media-limit-exceeded"), "\(reply)")
    var lines = try client.ask("play")
    while lines.last?.hasPrefix("* played-to-end ") != true { lines.append(try #require(try client.line())) }
    #expect(field("item", lines.last ?? "") == "2", "\(lines)")
  }

  // MARK: - Trust

  @Test func anAuthorityThatIsNamedIsBelievedAndNoOther() throws {
    let folder = try TemporaryDirectory("tls")
    let (certificate, key) = (folder.file("certificate.pem"), folder.file("key.pem"))
    try ChildProcess.run([
      "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
      "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
    ])
    let server = try HTTPServer(certificate: certificate, key: key)
    try TimeCode.writeWAV(path: server.files.file("1.wav"), file: 1, frameCount: Self.frameCount)
    try server.write(Array("#EXTM3U\n1.wav\n".utf8), to: "a.m3u")
    let stranger = try InProcessServer.recording().connect()
    for request in ["load \(server.address)/1.wav wait=ready", "load \(server.address)/a.m3u list=true"] {
      let refused = try stranger.reply(request)
      print("server over the wire | https, of no known authority | \(refused)")
      #expect(refused.hasPrefix("error code=2036 name=tls-failed"), "\(refused)")
    }
    let daemon = try TestDaemon("--clock", "virtual", "--output", "null", "--ca-file", certificate)
    let client = try daemon.connect()
    for request in ["load \(server.address)/1.wav wait=ready", "load \(server.address)/a.m3u list=true wait=ready"] {
      let believed = try client.reply(request)
      print("server over the wire | https, of the authority that was named | \(believed)")
      #expect(believed.hasPrefix("ok items="), "\(believed)")
    }
    let none = try Program(
      Executables.playheadd, ["--socket", folder.file("s"), "--ca-file", folder.file("none.pem")]
    ).waitForEnd()
    #expect(none.status == 2 && none.errors.contains("--ca-file needs a readable file"), "\(none)")
  }
}
