import Glibc
import MediaCore
import MediaTesting
import RigSupport
import Testing

@testable import NetworkIO

/// Behavior of servers and the results: bytes, error codes, requests, delays, memory.
@Suite(.timeLimit(.minutes(2))) struct HTTPTableTests {
  private struct Row {
    var name: String
    var place: String
    var code: MediaError.Code?
    /// The number of bytes delivered despite the error; nil for all.
    var byteCount: Int?
    var requests: Int
    var pauses: [Int64] = []
    var options = HTTPOptions()
    var logged: [MediaError.Code] = []
  }

  private static let byteCount = 300_000
  private static let five: [Int64] = [500, 1_000, 2_000, 4_000, 8_000]

  private static var rows: [Row] {
    var refusing = HTTPOptions()
    refusing.isNetworkAllowed = false
    var wrongInterface = HTTPOptions()
    wrongInterface.interfaces = ["playhead-none0"]
    var loopback = HTTPOptions()
    loopback.interfaces = ["lo"]
    return [
      Row(name: "gives it", place: "/a", requests: 1),
      Row(name: "gives it over the interface that is allowed", place: "/a", requests: 1, options: loopback),
      Row(name: "knows no ranges", place: "/a?plain", requests: 1),
      Row(name: "says no length", place: "/a?silent", requests: 1),
      Row(name: "sends chunks", place: "/a?chunked", requests: 1),
      Row(name: "sends on 9 times", place: "/a?redirect=9", requests: 10),
      Row(name: "sends on for ever", place: "/a?redirect=loop", code: .tooManyRedirects, byteCount: 0, requests: 11),
      Row(
        name: "sends on to a file", place: "/a?redirect=1&to=file:///etc/passwd", code: .unsupportedLocation,
        byteCount: 0,
        requests: 1),
      Row(
        name: "sends on to nowhere", place: "/a?redirect=1&to=", code: .badHTTPResponse, byteCount: 0, requests: 1),
      Row(
        name: "sends on to gopher", place: "/a?redirect=1&to=gopher://127.0.0.1/", code: .unsupportedLocation,
        byteCount: 0, requests: 1),
      Row(name: "401", place: "/a?status=401", code: .httpUnauthorized, byteCount: 0, requests: 1),
      Row(name: "403", place: "/a?status=403", code: .httpForbidden, byteCount: 0, requests: 1),
      Row(name: "404", place: "/none", code: .httpNotFound, byteCount: 0, requests: 1),
      Row(name: "410", place: "/a?status=410", code: .httpGone, byteCount: 0, requests: 1),
      Row(name: "416", place: "/a?status=416", code: .httpRangeNotSatisfiable, byteCount: 0, requests: 1),
      Row(name: "418", place: "/a?status=418", code: .httpRefused, byteCount: 0, requests: 1),
      Row(name: "304", place: "/a?status=304", code: .badHTTPResponse, byteCount: 0, requests: 1),
      Row(name: "500 always", place: "/a?status=500", code: .httpServerError, byteCount: 0, requests: 6, pauses: five),
      Row(
        name: "503 twice, and says wait 7 s", place: "/a?status=503&times=2&retry=7", requests: 3,
        pauses: [7_000, 7_000]),
      Row(
        name: "429 once, and says wait a day", place: "/a?status=429&times=1&retry=86400", requests: 2, pauses: [30_000]
      ),
      Row(name: "408 once", place: "/a?status=408&times=1", requests: 2, pauses: [500]),
      Row(
        name: "cuts in the middle, once", place: "/a?cut=100000&times=1", requests: 2, pauses: [500],
        logged: [.connectionLost]),
      Row(name: "cuts each 50,000 bytes", place: "/a?cut=50000", requests: 6, pauses: [500, 500, 500, 500, 500]),
      Row(
        name: "has fewer bytes than it says", place: "/a?say=400000", requests: 2, pauses: [500],
        logged: [.connectionLost, .wrongLength]),
      Row(
        name: "knows no ranges and cuts, once", place: "/a?plain&cut=50000&times=1", requests: 2, pauses: [500],
        logged: [.connectionLost]),
      Row(
        name: "knows no ranges and cuts always", place: "/a?plain&cut=50000", code: .connectionLost, byteCount: 50_000,
        requests: 6, pauses: five),
      Row(
        name: "knows no ranges and has fewer bytes than it says", place: "/a?plain&say=400000", code: .connectionLost,
        requests: 6, pauses: five),
      Row(
        name: "gives less again, of what has a length", place: "/a?plain&cut=50000&again=chunked%26send=400",
        code: .connectionLost, byteCount: 50_000, requests: 6, pauses: five),
      Row(
        name: "gives less again, of what has none", place: "/a?chunked&cut=50000&again=chunked%26send=400",
        code: .connectionLost, byteCount: 50_000, requests: 6, pauses: five),
      Row(name: "has more bytes than it says", place: "/a?say=200000", byteCount: 200_000, requests: 1),
      Row(name: "gives another range", place: "/a?shifted", code: .badHTTPResponse, byteCount: 0, requests: 1),
      Row(
        name: "changes it while it is read", place: "/a?changing&cut=100000", code: .resourceChanged,
        byteCount: 100_000, requests: 2, pauses: [500]),
      Row(
        name: "sends a header of a megabyte", place: "/a?headers=1000000", code: .badHTTPResponse, byteCount: 0,
        requests: 1),
      Row(name: "has nothing in it", place: "/empty", byteCount: 0, requests: 1),
      Row(
        name: "is not to be asked", place: "/a", code: .networkNotAllowed, byteCount: 0, requests: 0, options: refusing),
      Row(
        name: "is behind an interface that is not there", place: "/a", code: .networkUnavailable, byteCount: 0,
        requests: 0, options: wrongInterface),
    ]
  }

  @Test func whatAServerDoesIsAnErrorWithANumberOrTheBytes() throws {
    let bytes = HTTPRig.pattern(Self.byteCount)
    print("server | error | bytes | requests | pauses ms | memory")
    let rig = try HTTPRig()
    try rig.server.write(bytes, to: "a")
    try rig.server.write([], to: "empty")
    for row in Self.rows {
      rig.clock = ManualTime()
      let outcome = try rig.read(row.place, options: row.options)
      let requests = try rig.server.drain().filter { $0.hasPrefix("request ") }.count
      print(
        "\(row.name) | \(outcome.error.map { "\($0.code)" } ?? "-") | \(outcome.bytes.count) | \(requests) | "
          + "\(rig.clock.pauseMilliseconds) | \(outcome.maximumHeld)")
      #expect(outcome.error?.code == row.code, "\(row.name): \(outcome.error.map { "\($0)" } ?? "no error")")
      #expect(outcome.bytes == Array(bytes.prefix(row.byteCount ?? bytes.count)), "\(row.name)")
      #expect(requests == row.requests, "\(row.name)")
      #expect(rig.clock.pauseMilliseconds == row.pauses, "\(row.name)")
      let logged = outcome.log.errorEvents.map(\.error.code)
      for code in row.logged { #expect(logged.contains(code), "\(row.name): \(logged)") }
      if let code = row.code, code != .networkNotAllowed { #expect(logged.last == code, "\(row.name)") }
      if let error = outcome.error { #expect(error.message.contains(rig.server.address), "\(error)") }
    }
  }

  @Test func aServerThatIsNotThere() throws {
    let rig = try HTTPRig()
    rig.server.stop()
    let outcome = try rig.read("/a")
    print("nobody listens: \(outcome.error.map { "\($0)" } ?? "no error")")
    #expect(outcome.error?.code == .connectionRefused)
    let resource = HTTPResource(
      url: try HTTPURL("http://playhead.invalid/a"), log: NetworkLog(), clock: rig.clock)
    let error = #expect(throws: MediaError.self) { try resource.open() }
    print("no such host: \(error.map { "\($0)" } ?? "no error")")
    #expect(error?.code == .hostNotFound)
  }

  @Test func aServerThatGoesAwayIsTriedAgainAndGivenUp() throws {
    let rig = try HTTPRig()
    try rig.server.write(HTTPRig.pattern(200_000), to: "a")
    var outcome = HTTPRig.Outcome()
    let resource = try rig.resource("/a?gate=end&at=70000", log: outcome.log)
    try resource.open()
    try rig.server.wait("gate end")
    try HTTPRig.read(resource, from: 0, limit: 70_000, into: &outcome)
    rig.server.stop()
    let error = #expect(throws: MediaError.self) { try HTTPRig.read(resource, from: 70_000, into: &outcome) }
    print("went away: \(error.map { "\($0)" } ?? "no error"), pauses \(rig.clock.pauseMilliseconds)")
    #expect(error?.code == .connectionRefused)
    #expect(rig.clock.pauseMilliseconds == Self.five)
    #expect(outcome.bytes == Array(HTTPRig.pattern(200_000).prefix(70_000)))
  }

  @Test func aServerBehindAProxyIsReadAsOneThatIsNot() throws {
    let folder = try TemporaryDirectory("tls")
    let (certificate, key) = try HTTPServer.certificate(in: folder)
    let (server, proxy) = (try HTTPServer(certificate: certificate, key: key), try HTTPServer())
    let bytes = HTTPRig.pattern(100_000)
    try server.write(bytes, to: "a")
    var options = HTTPOptions()
    options.certificateAuthorityFile = certificate
    options.proxy = proxy.address
    let resource = HTTPResource(url: try HTTPURL(server.address + "/a"), options: options)
    try resource.open()
    #expect(resource.byteCount == 100_000)
    #expect(resource.isSeekable)
    #expect(resource.mediaType == "audio/flac")
    var outcome = HTTPRig.Outcome()
    try HTTPRig.read(resource, from: 50_000, into: &outcome)
    #expect(outcome.bytes == Array(bytes[50_000...]))
    #expect(try proxy.drain().first == "request CONNECT 127.0.0.1:\(server.port) -")
    // The response of a rejecting proxy is not treated as a response of the server.
    let missing = HTTPResource(url: try HTTPURL("https://127.0.0.1:1/404"), options: options)
    let error = #expect(throws: MediaError.self) { try missing.open() }
    print("a proxy refuses: \(error.map { "\($0)" } ?? "no error")")
    #expect(error?.code == .connectionLost || error?.code == .connectionRefused)
  }

  @Test func aServerWithoutATrustedCertificateIsRefusedAndOneWithIsNot() throws {
    let folder = try TemporaryDirectory("tls")
    let (certificate, key) = try HTTPServer.certificate(in: folder)
    let server = try HTTPServer(certificate: certificate, key: key)
    let bytes = HTTPRig.pattern(100_000)
    try server.write(bytes, to: "a")
    let url = try HTTPURL(server.address + "/a")
    let stranger = HTTPResource(url: url)
    let error = #expect(throws: MediaError.self) { try stranger.open() }
    print("a stranger: \(error.map { "\($0)" } ?? "no error")")
    #expect(error?.code == .tlsFailed)
    var options = HTTPOptions()
    options.certificateAuthorityFile = certificate
    let known = HTTPResource(url: url, options: options)
    try known.open()
    var outcome = HTTPRig.Outcome()
    try HTTPRig.read(known, from: 0, into: &outcome)
    #expect(outcome.bytes == bytes)
  }
}
