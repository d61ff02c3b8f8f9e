import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadNetworkIO

/// Secrets stay at the origin that they were specified for, across redirects and from https to http.
@Suite(.timeLimit(.minutes(2))) struct HTTPOriginTests {
  private static let secrets = ["X-Api-Key: k", "Authorization: Bearer t", "Cookie: c=1"]

  private static var options: HTTPOptions {
    var options = HTTPOptions()
    options.headers = secrets.map { line in
      HTTPOptions.Header(name: String(line.prefix { $0 != ":" }), value: String(line.drop { $0 != ":" }.dropFirst(2)))
    }
    return options
  }

  private static func secrets(seenBy server: HTTPServer) throws -> Set<String> {
    Set(try server.drain().filter { $0.hasPrefix("header ") }.map { String($0.dropFirst("header ".count)) })
      .intersection(secrets)
  }

  @Test func originConsistsOfSchemeHostAndPort() throws {
    let origin = try HTTPURL("http://Radio.example/a").origin
    #expect(origin == HTTPOrigin(isSecure: false, host: "radio.example", port: 80))
    #expect(try HTTPURL("HTTP://u:p@radio.EXAMPLE:80/b?x@y").origin == origin)
    for other in [
      "https://radio.example/a", "http://radio.example:8080/a", "http://example/a", "http://radio.example.evil/a",
      "http://radio.example@evil/", "https://radio.example:80/",
    ] {
      #expect(try HTTPURL(other).origin != origin, "\(other)")
    }
    #expect(try HTTPURL("https://[::1]/a").origin == HTTPOrigin(isSecure: true, host: "[::1]", port: 443))
    #expect(try HTTPURL("https://[::1]:99/a").origin.port == 99)
    for bad in ["http://h:99999/", "http://h:1x/", "http://h:1:2/"] {
      expectError(.invalidArgument, "\(bad)") { try HTTPURL(bad) }
    }
  }

  @Test func redirectToAnotherServerDropsCustomHeaders() throws {
    let (first, second) = (try HTTPRig(), try HTTPServer())
    try second.write([1, 2, 3], to: "a")
    let outcome = try first.read("/a?redirect=1&to=\(second.address)/a", options: Self.options)
    #expect(outcome.bytes == [1, 2, 3])
    #expect(try Self.secrets(seenBy: first.server) == Set(Self.secrets))
    #expect(try Self.secrets(seenBy: second).isEmpty)
    // A redirect on the same server preserves them.
    try first.server.write([4], to: "a")
    #expect(try first.read("/a?redirect=1", options: Self.options).bytes == [4])
    let receivedSecrets = try first.server.drain().filter { line in Self.secrets.contains { line == "header \($0)" } }
    #expect(receivedSecrets.count == 2 * Self.secrets.count)
  }

  @Test func customHeadersGoToEveryServerWithScopeAny() throws {
    let (first, second) = (try HTTPRig(), try HTTPServer())
    try second.write([1, 2, 3], to: "a")
    var options = Self.options
    options.headerScope = .any
    #expect(try first.read("/a?redirect=1&to=\(second.address)/a", options: options).bytes == [1, 2, 3])
    #expect(try Self.secrets(seenBy: second) == Set(Self.secrets))
  }

  @Test func credentialsOfALocationAreSentOnlyToItsOrigin() throws {
    let (first, second) = (try HTTPRig(), try HTTPServer())
    try first.server.write([4], to: "a")
    try second.write([1], to: "a")
    func read(_ pathAndQuery: String) throws -> [UInt8] {
      let url = try HTTPURL("http://user:secret@127.0.0.1:\(first.server.port)\(pathAndQuery)")
      let resource = HTTPResource(url: url, clock: first.clock)
      var outcome = HTTPRig.Outcome()
      try resource.open()
      try HTTPRig.read(resource, from: 0, into: &outcome)
      return outcome.bytes
    }
    let authorization = "header Authorization: Basic dXNlcjpzZWNyZXQ="
    // A relative redirect, and an absolute one to the same server.
    #expect(try read("/a?redirect=1") == [4])
    #expect(try first.server.drain().filter { $0 == authorization }.count == 2)
    #expect(try read("/a?redirect=1&to=\(first.server.address)/a") == [4])
    #expect(try first.server.drain().filter { $0 == authorization }.count == 2)
    #expect(try read("/a?redirect=1&to=\(second.address)/a") == [1])
    #expect(try second.drain().allSatisfy { !$0.hasPrefix("header Authorization") })
  }

  @Test func redirectFromHTTPSToHTTPIsRejected() throws {
    let folder = try TemporaryDirectory("tls")
    let (certificate, key) = try HTTPServer.makeCertificate(in: folder)
    let (secure, plain) = (try HTTPServer(certificate: certificate, key: key), try HTTPServer())
    try plain.write([1], to: "a")
    try secure.write([2], to: "a")
    var options = Self.options
    options.certificateAuthorityFile = certificate
    for scope in [HTTPOptions.HeaderScope.origin, .any] {
      options.headerScope = scope
      let resource = HTTPResource(
        url: try HTTPURL("\(secure.address)/a?redirect=1&to=\(plain.address)/a"), options: options)
      expectError(.insecureRedirect) { try resource.open() }
    }
    #expect(try plain.drain().isEmpty)
    let sameOrigin = HTTPResource(url: try HTTPURL("\(secure.address)/a?redirect=1"), options: options)
    try sameOrigin.open()
    #expect(try plain.drain().isEmpty)
    // References other than redirects do not inherit the secrets either.
    let (from, to) = (try HTTPURL(secure.address).origin, try HTTPURL(plain.address + "/a"))
    #expect(options.inherited(from: from, by: to).headers.isEmpty)
    #expect(options.inherited(from: to.origin, by: to).headers == options.headers)
  }

  @Test(arguments: ["TLSv1", "TLSv1_1"]) func tlsVersionsBefore12AreRejected(version: String) throws {
    let folder = try TemporaryDirectory("tls")
    let (certificate, key) = try HTTPServer.makeCertificate(in: folder)
    let server = try HTTPServer(certificate: certificate, key: key, newestTLS: version)
    try server.write([1], to: "a")
    var options = HTTPOptions()
    options.certificateAuthorityFile = certificate
    let old = HTTPResource(url: try HTTPURL(server.address + "/a"), options: options)
    expectError(.tlsFailed) { try old.open() }
    let newer = try HTTPServer(certificate: certificate, key: key, newestTLS: "TLSv1_2")
    try newer.write([1], to: "a")
    try HTTPResource(url: try HTTPURL(newer.address + "/a"), options: options).open()
  }

  @Test func endlessRedirectBodyIsNotReadToItsEnd() throws {
    let (first, second) = (try HTTPRig(), try HTTPServer())
    try second.write([1, 2, 3], to: "a")
    let outcome = try first.read("/a?redirect=1&endless&to=\(second.address)/a")
    #expect(outcome.bytes == [1, 2, 3])
  }
}
