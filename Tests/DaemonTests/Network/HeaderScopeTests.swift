import DaemonTesting
import Glibc
import RigSupport
import Testing

/// The servers that receive the header fields and the credentials of an entry, over the wire.
@Suite(.timeLimit(.minutes(3))) struct HeaderScopeTests {
  /// Two servers of different origins. The second one has the media.
  private struct Servers {
    let first: HTTPServer
    let second: HTTPServer

    init() throws {
      first = try HTTPServer()
      (second, _) = try TimeCodedStream.serve()
    }

    /// Writes playlists that lead to the second server: into the first one, and into a folder.
    func writePlaylists(in folder: TemporaryDirectory) throws {
      let list = Array("#EXTM3U\n\(second.address)/2.wav\n".utf8)
      try first.write(list, to: "list.m3u")
      try folder.write("list.m3u", list)
      let stream = String(decoding: try Files.read(second.files.file("a.m3u8")), as: UTF8.self)
        .replacing("URI=\"", with: "URI=\"\(second.address)/")
        .split(separator: "\n").map { $0.hasPrefix("#") ? String($0) : "\(second.address)/\($0)" }
      try first.write(Array(stream.joined(separator: "\n").utf8), to: "stream.m3u8")
    }

    /// A redirect from the first server to the second one.
    var redirect: String { "\(first.address)/a?redirect=1&to=\(second.address)/2.wav" }
  }

  /// All three fields of a secret, as an option.
  private static func header(_ secret: String) -> String {
    #"header="X-Api-Key: \#(secret)\nCookie: \#(secret)\nAuthorization: Bearer \#(secret)""#
  }

  /// The names of the header fields that contain a text.
  private static func fields(_ text: String, in lines: [String]) -> Set<String> {
    Set(
      lines.filter { $0.hasPrefix("header ") && $0.contains(text) }.map { line in
        String(line.dropFirst("header ".count).prefix { $0 != ":" })
      })
  }

  private static let allFields: Set = ["X-Api-Key", "Cookie", "Authorization"]

  @Test func headerFieldsGoToOtherOriginsOnlyWithHeaderForAny() throws {
    let servers = try Servers()
    let daemon = try InProcessServer.recording()
    try servers.writePlaylists(in: daemon.folder)
    let client = try daemon.connect()
    let sources: [(name: String, path: String)] = [
      ("redirect", servers.redirect), ("M3U playlist", "\(servers.first.address)/list.m3u"),
      ("HLS playlist", "\(servers.first.address)/stream.m3u8"), ("local playlist", daemon.folder.file("list.m3u")),
    ]
    let scopes: [(option: String, isAny: Bool)] = [("", false), ("header-for=origin", false), ("header-for=any", true)]
    var (secrets, seen): ([String: Bool], [String]) = ([:], [])
    for source in sources {
      for scope in scopes {
        let secret = "secret-\(secrets.count)-"
        secrets[secret] = scope.isAny
        let reply = try client.reply("load \(source.path) \(Self.header(secret)) \(scope.option) wait=ready")
        #expect(reply.hasPrefix("ok items="), "\(source.name): \(reply)")
        let firstFields = Self.fields(secret, in: try servers.first.drain())
        #expect(firstFields == (source.name.hasPrefix("local") ? [] : Self.allFields), "\(source.name)")
        let lines = try servers.second.drain()
        #expect(lines.contains { $0.hasPrefix("request ") }, "\(source.name)")
        seen += lines
        print(
          "header scope | \(source.name) | \(scope.option.isEmpty ? "default" : scope.option) | other origin:",
          Self.fields(secret, in: lines).sorted())
      }
    }
    // Once more, because readers of earlier rows may have sent later requests.
    try client.reply("clear")
    seen += try servers.second.drain()
    for (secret, isAny) in secrets {
      #expect(Self.fields(secret, in: seen) == (isAny ? Self.allFields : []), "\(secret)")
    }
  }

  /// A user name and password belong to their address, whatever the scope of the header fields.
  @Test(arguments: ["header-for=origin", "header-for=any"])
  func credentialsAreSentToTheirOriginOnly(_ scope: String) throws {
    let servers = try Servers()
    let client = try InProcessServer.recording().connect()
    let path = servers.redirect.replacing(
      "http://127.0.0.1:\(servers.first.port)/", with: "http://me:secret@127.0.0.1:\(servers.first.port)/")
    let reply = try client.reply("load \(path) header=\"X-Api-Key: k\" \(scope) wait=ready")
    #expect(reply.hasPrefix("ok items="), "\(reply)")
    #expect(try servers.first.drain().contains("header Authorization: Basic bWU6c2VjcmV0"))
    let lines = try servers.second.drain()
    #expect(lines.contains { $0.hasPrefix("request ") })
    #expect(!lines.contains { $0.hasPrefix("header Authorization") }, "\(lines)")
    #expect(lines.contains("header X-Api-Key: k") == (scope == "header-for=any"))
  }

  @Test func restoredEntriesKeepTheScopeOfTheirHeaderFields() throws {
    let servers = try Servers()
    let folder = try TemporaryDirectory("state")
    func start() throws -> TestDaemon {
      try TestDaemon("--clock", "virtual", "--output", "null", "--state", folder.file("state"), folder: folder)
    }
    let first = try start()
    let client = try first.connect()
    let entries = [("any-secret", "header-for=any"), ("origin-secret", "header-for=origin"), ("default-secret", "")]
    for (secret, scope) in entries {
      let reply = try client.reply("append \(servers.redirect) \(Self.header(secret)) \(scope)")
      #expect(reply.hasPrefix("ok items="), "\(reply)")
    }
    #expect(try client.reply("state.save").hasPrefix("ok "))
    #expect(try first.stop().status == 0)
    _ = (try servers.first.drain(), try servers.second.drain())

    let second = try start()
    let again = try second.connect()
    // The daemon opens the entries at the head of the queue in any order.
    for (number, (secret, _)) in entries.enumerated() {
      if number > 0 { #expect(try again.reply("next").hasPrefix("ok item=\(number + 1)")) }
      #expect(try again.reply("wait ready timeout=20").hasPrefix("ok"), "\(secret)")
    }
    #expect(try second.stop().status == 0)
    let (sent, forwarded) = (try servers.first.drain(), try servers.second.drain())
    for (secret, scope) in entries {
      let fields = Self.fields(secret, in: forwarded)
      print("header scope | after a restart | \(scope.isEmpty ? "default" : scope) | other origin:", fields.sorted())
      #expect(Self.fields(secret, in: sent) == Self.allFields, "\(secret)")
      #expect(fields == (scope == "header-for=any" ? Self.allFields : []), "\(secret)")
    }
  }

  /// From `https`, header fields reach only `https` servers, also with `header-for=any`.
  @Test func headerFieldsAreNeverSentFromHTTPSToHTTP() throws {
    let folder = try TemporaryDirectory("tls")
    let (certificate, key) = try HTTPServer.makeCertificate(in: folder)
    let secure = try HTTPServer(certificate: certificate, key: key)
    let otherSecure = try HTTPServer(certificate: certificate, key: key)
    let plain = try HTTPServer()
    for server in [secure, otherSecure, plain] {
      try TimeCode.writeWAV(path: server.files.file("1.wav"), file: 1, frameCount: 4_800)
    }
    try secure.write(Array("#EXTM3U\n\(plain.address)/1.wav\n".utf8), to: "plain.m3u")
    let daemon = try TestDaemon("--clock", "virtual", "--output", "null", "--ca-file", certificate)
    let client = try daemon.connect()
    let rows: [(name: String, path: String, server: HTTPServer, error: String?, receives: [String])] = [
      (
        "redirect to http", "/1.wav?redirect=1&to=\(plain.address)/1.wav", plain, "code=2054 name=insecure-redirect", []
      ),
      ("playlist with an http address", "/plain.m3u", plain, nil, []),
      (
        "redirect to another https server", "/1.wav?redirect=1&to=\(otherSecure.address)/1.wav", otherSecure, nil,
        ["header-for=any"]
      ),
    ]
    for row in rows {
      for scope in ["header-for=origin", "header-for=any"] {
        let secret = "secret-\(scope)"
        let path = secure.address.replacing("https://", with: "https://me:secret@") + row.path
        let reply = try client.reply("load \(path) \(Self.header(secret)) \(scope) wait=ready")
        let lines = try row.server.drain()
        let fields = Self.fields("secret", in: lines)
        print("header scope | from https: \(row.name) | \(scope) | \(row.error ?? "ok") | received:", fields.sorted())
        #expect(row.error.map(reply.contains) ?? reply.hasPrefix("ok "), "\(row.name), \(scope): \(reply)")
        #expect(lines.contains { $0.hasPrefix("request ") } == (row.error == nil), "\(row.name), \(scope)")
        #expect(fields == (row.receives.contains(scope) ? Self.allFields : []), "\(row.name), \(scope)")
        #expect(!lines.contains { $0.hasPrefix("header Authorization: Basic") }, "\(row.name), \(scope)")
      }
    }
  }
}
