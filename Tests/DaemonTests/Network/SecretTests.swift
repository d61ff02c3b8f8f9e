import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Header fields, cookies, user names and passwords of addresses occur in no reply, event, message or line of the log.
@Suite(.timeLimit(.minutes(3))) struct SecretTests {
  /// Part of every secret.
  private static let marker = "Geheimnis"
  private static let authority = "user\(marker):password\(marker)@"
  private static let header =
    #"header="X-Api-Key: key\#(marker)\nCookie: session=\#(marker)\nAuthorization: Bearer token\#(marker)""#

  /// The forms in which a secret could be reported.
  private static let forms: [String] = {
    let credentials = Data("user\(marker):password\(marker)".utf8).base64EncodedString()
    return [marker, marker.lowercased(), credentials, String(credentials.dropLast(4))]
  }()

  /// The lines of a text that contain a secret in one of its forms.
  private static func leaks(in text: String) -> [String] {
    text.split(separator: "\n").map(String.init).filter { line in forms.contains { line.contains($0) } }
  }

  /// A server with audio, artwork, an HLS stream and playlists.
  private static func serve() throws -> HTTPServer {
    let (server, _) = try TimeCodedStream.serve()
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=5:duration=1", "-f", "lavfi", "-i",
      "sine=duration=1:sample_rate=48000", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", "-metadata",
      "title=One", server.files.file("film.mp4"),
    ])
    let plain = "127.0.0.1:\(server.port)"
    let entries = [
      "http://\(authority)\(plain)/2.wav", "http://\(authority)\(plain)/none.wav", "smb://\(authority)server/1.wav",
      "http://\(authority)", "http://\(authority)127.0.0.1:99999/1.wav", "http://\(authority)127.0.0.1:1/1.wav",
    ]
    try server.write(Array(entries.joined(separator: "\n").utf8), to: "list.m3u")
    try server.write(Array("#EXTM3U\nhttp://\(authority)".utf8), to: "empty.m3u")
    return server
  }

  private static func start(_ arguments: String...) throws -> TestDaemon {
    let folder = try TemporaryDirectory("daemon")
    return try TestDaemon(
      [
        "--clock", "virtual", "--output", "null", "--log-level", "trace", "--state", folder.file("state"),
        "--write-root", folder.path,
      ] + arguments, folder: folder)
  }

  /// Sends requests and collects all lines that two connections receive. One of them observes everything.
  private final class Session {
    private let client: WireClient
    private let observer: WireClient
    private(set) var lines: [String] = []

    init(_ daemon: TestDaemon) throws {
      (client, observer) = (try daemon.connect(), try daemon.connect())
      for request in ["observe *", "observe item.events"] { lines += try observer.ask(request) }
    }

    /// Returns the final line of the reply.
    @discardableResult
    func ask(_ request: String) throws -> String {
      let reply = try client.ask(request)
      lines += reply
      return reply.last ?? ""
    }

    /// Sends a request in JSON and waits for its reply, which has one line.
    func askJSON(_ request: String) throws -> String {
      try client.send(request)
      while let line = try client.line() {
        lines.append(line)
        if line.contains(#""id":"#) { return line }
      }
      return ""
    }

    /// Collects the events of the observer until the reply to its own request.
    func finish() throws { lines += try observer.ask("ping") }
  }

  /// All output of the daemon until its end.
  private static func log(_ daemon: TestDaemon) throws -> String {
    let outcome = try daemon.stop()
    #expect(outcome.status == 0)
    return outcome.output + outcome.errors
  }

  @Test(arguments: ["opening", "playback"]) func secretsOfEntriesAreNotReported(isolation: String) throws {
    let server = try Self.serve()
    let daemon = try Self.start("--isolate", isolation)
    let session = try Session(daemon)
    let address = "http://\(Self.authority)127.0.0.1:\(server.port)"
    let other = try HTTPServer()
    func out(_ name: String) -> String { daemon.folder.file(name) }
    #expect(
      try session.ask(
        "load \(address)/2.wav \(address)/a.m3u8 \(address)/film.mp4 \(Self.header) wait=ready"
      ).hasPrefix("ok "))
    #expect(
      try session.ask(
        "append \(address)/a?redirect=1&to=\(other.address)/none.wav \(Self.header) header-for=any"
      ).hasPrefix("ok "))
    #expect(try session.ask("append \(address)/list.m3u \(Self.header) list=true").hasPrefix("ok "))
    #expect(try session.ask("insert \(address)/2.wav?cut=20000&times=1 \(Self.header)").hasPrefix("ok "))
    let requests = [
      "play", "clock.advance 0.25", "next", "clock.advance 1", "seek 8", "clock.advance 0.5", "next",
      "clock.advance 0.25", "bookmark.add 0.5 name=b", "bookmark.list", "pause", "next", "wait ready timeout=20",
      "play", "clock.advance 5", "pause", "previous", "list", "history", "status", "stats", "state", "state.save",
      "queue.save q", "queue.saved", "queue.load q", "queue.changes 0", "playlist.export",
      "playlist.export format=xspf",
      "events since=0", "player.list", "hello", "tick 1", "observe *", "observe item.events",
    ]
    for request in requests { try session.ask(request) }
    for item in 1...24 {
      for command in ["status", "log", "metadata", "artwork", "tracks", "selection", "chapters", "copy"] {
        try session.ask("item.\(command) \(item)")
      }
    }
    #expect(try session.ask("asset.open \(address)/film.mp4 \(Self.header)").hasPrefix("ok asset=1"))
    for request in [
      "asset.load 1 duration", "asset.metadata 1", "asset.artwork 1", "asset.tracks 1", "asset.status 1",
      "asset.close 1",
    ] { try session.ask(request) }
    for request in [
      "scan \(address)/2.wav", "waveform \(address)/2.wav", "waveform \(address)/2.wav file=\(out("w.png"))",
      "image \(address)/film.mp4 0 file=\(out("i.png"))", "export \(address)/2.wav file=\(out("e.flac"))",
      "export \(address)/a.m3u8 file=\(out("s.flac")) end=1",
    ] {
      let reply = try session.ask("\(request) \(Self.header)")
      #expect(reply.hasPrefix("ok "), "\(request): \(reply)")
    }
    try session.finish()
    let received = try server.drain()
    for value in ["key", "session=", "Bearer token"] {
      #expect(received.contains { $0.hasPrefix("header ") && $0.hasSuffix("\(value)\(Self.marker)") }, "\(value)")
    }
    #expect(received.contains { $0.hasPrefix("header Authorization: ") })
    let log = try Self.log(daemon)
    print("secrets | isolation \(isolation) | \(session.lines.count) lines, \(log.utf8.count) bytes of the log")
    #expect(session.lines.count > 300 && session.lines.contains { $0.contains("127.0.0.1:\(server.port)/2.wav") })
    #expect(log.contains(" trace ") || log.contains(" debug "))
    #expect(Self.leaks(in: session.lines.joined(separator: "\n")).isEmpty)
    #expect(Self.leaks(in: log).isEmpty)
  }

  /// Each error in the text form, and its number.
  private static func rejected(_ server: HTTPServer) -> [(request: String, code: Int)] {
    let plain = "127.0.0.1:\(server.port)"
    let address = "http://\(authority)\(plain)"
    // A query is no secret, so these redirects contain the secrets in another form, which the server decodes.
    func redirect(_ target: String) -> String {
      let encoded = target.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      return "load \(address)/2.wav?redirect=1&to=\(encoded) \(header) wait=ready"
    }
    return [
      ("load \(address)/none.wav \(header) wait=ready", 2043),
      ("load \(address)/2.wav?status=401 \(header) wait=ready", 2041),
      ("load \(address)/2.wav?status=403 \(header) wait=ready", 2042),
      ("load \(address)/2.wav?redirect=loop \(header) wait=ready", 2037),
      ("load \(address)/2.wav?shifted \(header) wait=ready", 2038),
      ("load \(address)/2.wav \(header) network=false wait=ready", 2030),
      ("load \(address)/2.wav \(header) interface=playhead-none0 wait=ready", 2031),
      ("load http://\(authority)127.0.0.1:1/1.wav \(header) wait=ready", 2033),
      ("load http://\(authority)169.254.169.254/1.wav \(header) wait=ready", 2055),
      ("load https://\(authority)\(plain)/2.wav \(header) timeout=5 wait=ready", 2036),
      (redirect("http://\(authority)127.0.0.1:1/1.wav"), 2033),
      (redirect("http://\(authority)127.0.0.1:99999/1.wav"), 2038),
      (redirect("ftp://\(authority)\(plain)/1.wav"), 2007),
      (redirect("http://\(authority)"), 2038),
      ("load \(address)/list.m3u \(header) list=true wait=ready", 2043),
      ("load \(address)/empty.m3u \(header)", 2007), ("load \(address)/none.m3u \(header) list=true", 2043),
      ("load \(address)/2.wav \(header) list=true", 3021), ("load \(address)/none.m3u8 \(header) wait=ready", 2043),
      ("load http://\(authority) wait=ready", 1001), ("load http://\(authority):99999/ wait=ready", 1001),
      ("load http://\(authority)127.0.0.1:99999/ wait=ready", 1001), ("load ftp://\(authority)\(plain)/a", 2007),
      ("load '\(address)/with a space' wait=ready", 6002), ("load \(address)/2.wav rate=1 nonsense=1", 6002),
      ("load \(address)/2.wav \(header) \(header)", 6002), ("load \(address)/2.wav \(header) header-for=all", 6002),
      ("load \(address)/2.wav \(header) timeout=-1", 1002), ("load \(address)/2.wav \(header) if-version=9999", 1011),
      ("load \(address)/2.wav \(header) player=none", 1006), ("laod \(address)/2.wav \(header)", 6001),
      ("load \(address)/2.wav \(header.dropLast())", 6005),
      // Header fields without a name, and with names and values that cannot be sent.
      ("load \(address)/2.wav header=\"Bearer \(marker)\" wait=ready", 6002),
      ("load \(address)/2.wav header=\"Bearer \(marker): x\" wait=ready", 1001),
      ("load \(address)/2.wav header=\"Cookie=\(marker):x\" wait=ready", 1001),
      ("load \(address)/2.wav header=\"Host: \(marker)\" wait=ready", 1001),
      ("load \(address)/2.wav header=\"X-Api-Key: \(marker)\\x01\" wait=ready", 1001),
      ("load \(address)/2.wav header=\"X: \(marker)\(String(repeating: "x", count: 16_400))\"", 6002),
      ("asset.open \(address)/2.wav header=\"Bearer \(marker)\"", 6002),
      ("scan \(address)/none.wav header=\"Bearer \(marker)\"", 6002),
      ("waveform \(address)/none.wav \(header)", 2043), ("image \(address)/none.wav 0 file=/x.png \(header)", 2008),
      ("export \(address)/none.wav file=/none/x.flac \(header)", 2008), ("bookmark.go name=\(address)", 2120),
      ("queue.edit append \(address)/list.m3u \(header)", 6002), ("seek \(address)", 1002), ("\(address)", 6001),
      ("volume \(address)", 6002), ("observe \(address)", 1009), ("output.set \(address)", 5003),
      ("record.prepare \(address)/a.wav", 6002),
    ]
  }

  @Test func errorsDoNotContainSecrets() throws {
    let server = try Self.serve()
    let daemon = try Self.start()
    let session = try Session(daemon)
    for (request, code) in Self.rejected(server) {
      let reply = try session.ask(request)
      print("secrets | \(request.prefix(110)) | \(reply)")
      #expect(reply.hasPrefix("error code=\(code) "), "\(request): \(reply)")
      #expect(Self.leaks(in: reply).isEmpty, "\(request): \(reply)")
      for later in ["list", "status", "item.log \(field("item", reply) ?? "1")"] { try session.ask(later) }
    }
    func load(_ parameters: String) -> String { #"{"jsonrpc":"2.0","id":1,"method":"load","params":{\#(parameters)}}"# }
    let path = #""path":"http://\#(Self.authority)127.0.0.1:\#(server.port)/2.wav""#
    for request in [
      load(#"\#(path),"header":"Bearer \#(Self.marker)""#), load(#"\#(path),"header":["Bearer \#(Self.marker)"]"#),
      load(#"\#(path),"header":{"Cookie":"\#(Self.marker)"}"#), load(#"\#(path),"header":["X: \#(Self.marker)",5]"#),
      load(#"\#(path),"header":["X: \#(Self.marker)\nY"]"#),
      load(#"\#(path),"header":["X: \#(Self.marker)"],"wait":5"#),
      load(#""path":["http://\#(Self.authority)127.0.0.1:99999/"],"header":["X: \#(Self.marker)"],"wait":"ready""#),
      load(#"\#(path),"nonsense":"\#(Self.marker)""#),
      #"{"jsonrpc":"2.0","id":1,"method":"load","params":["http://\#(Self.authority)h/"]}"#,
    ] {
      let reply = try session.askJSON(request)
      print("secrets | \(request.prefix(160)) | \(reply)")
      #expect(reply.contains(#""error":"#), "\(request): \(reply)")
      #expect(Self.leaks(in: reply).isEmpty, "\(request): \(reply)")
    }
    try session.finish()
    #expect(Self.leaks(in: session.lines.joined(separator: "\n")).isEmpty)
    #expect(Self.leaks(in: try Self.log(daemon)).isEmpty)
  }
}
