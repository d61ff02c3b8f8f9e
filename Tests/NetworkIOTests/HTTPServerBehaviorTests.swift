import Glibc
import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadNetworkIO

/// Behavior of servers and the results: bytes, error codes, requests, delays, memory.
@Suite(.timeLimit(.minutes(2))) struct HTTPServerBehaviorTests {
  private struct Row {
    var name: String
    var path: String
    var code: MediaError.Code?
    /// The number of bytes delivered despite the error; nil for all.
    var byteCount: Int?
    var requests: Int
    var pauses: [Int64] = []
    var options = HTTPOptions()
    var logged: [MediaError.Code] = []
  }

  private static let byteCount = 300_000
  private static let retries: [Int64] = [500, 1_000, 2_000, 4_000, 8_000]

  private static var rows: [Row] {
    var refusing = HTTPOptions()
    refusing.isNetworkAllowed = false
    var wrongInterface = HTTPOptions()
    wrongInterface.interfaces = ["playhead-none0"]
    var loopback = HTTPOptions()
    loopback.interfaces = ["lo"]
    return [
      Row(name: "sends the resource", path: "/a", requests: 1),
      Row(name: "sends the resource over the allowed interface", path: "/a", requests: 1, options: loopback),
      Row(name: "does not support ranges", path: "/a?plain", requests: 1),
      Row(name: "sends no length", path: "/a?silent", requests: 1),
      Row(name: "sends chunks", path: "/a?chunked", requests: 1),
      Row(name: "redirects 9 times", path: "/a?redirect=9", requests: 10),
      Row(name: "redirects in a loop", path: "/a?redirect=loop", code: .tooManyRedirects, byteCount: 0, requests: 11),
      Row(
        name: "redirects to a file", path: "/a?redirect=1&to=file:///etc/passwd", code: .unsupportedLocation,
        byteCount: 0,
        requests: 1),
      Row(
        name: "redirects to nothing", path: "/a?redirect=1&to=", code: .badHTTPResponse, byteCount: 0, requests: 1),
      Row(
        name: "redirects to gopher", path: "/a?redirect=1&to=gopher://127.0.0.1/", code: .unsupportedLocation,
        byteCount: 0, requests: 1),
      Row(name: "401", path: "/a?status=401", code: .httpUnauthorized, byteCount: 0, requests: 1),
      Row(name: "403", path: "/a?status=403", code: .httpForbidden, byteCount: 0, requests: 1),
      Row(name: "404", path: "/none", code: .httpNotFound, byteCount: 0, requests: 1),
      Row(name: "410", path: "/a?status=410", code: .httpGone, byteCount: 0, requests: 1),
      Row(name: "416", path: "/a?status=416", code: .httpRangeNotSatisfiable, byteCount: 0, requests: 1),
      Row(name: "418", path: "/a?status=418", code: .httpRefused, byteCount: 0, requests: 1),
      Row(name: "304", path: "/a?status=304", code: .badHTTPResponse, byteCount: 0, requests: 1),
      Row(
        name: "500 always", path: "/a?status=500", code: .httpServerError, byteCount: 0, requests: 6, pauses: retries),
      Row(
        name: "503 twice, retry-after 7 s", path: "/a?status=503&times=2&retry=7", requests: 3,
        pauses: [7_000, 7_000]),
      Row(
        name: "429 once, retry-after a day", path: "/a?status=429&times=1&retry=86400", requests: 2, pauses: [30_000]
      ),
      Row(name: "408 once", path: "/a?status=408&times=1", requests: 2, pauses: [500]),
      Row(
        name: "disconnects in the middle, once", path: "/a?cut=100000&times=1", requests: 2, pauses: [500],
        logged: [.connectionLost]),
      Row(name: "disconnects each 50,000 bytes", path: "/a?cut=50000", requests: 6, pauses: [500, 500, 500, 500, 500]),
      Row(
        name: "sends fewer bytes than announced", path: "/a?say=400000", requests: 2, pauses: [500],
        logged: [.connectionLost, .wrongLength]),
      Row(
        name: "no ranges, disconnects once", path: "/a?plain&cut=50000&times=1", requests: 2, pauses: [500],
        logged: [.connectionLost]),
      Row(
        name: "no ranges, disconnects always", path: "/a?plain&cut=50000", code: .connectionLost, byteCount: 50_000,
        requests: 6, pauses: retries),
      Row(
        name: "no ranges, sends fewer bytes than announced", path: "/a?plain&say=400000", code: .connectionLost,
        requests: 6, pauses: retries),
      Row(
        name: "sends less at each retry, with a length", path: "/a?plain&cut=50000&again=chunked%26send=400",
        code: .connectionLost, byteCount: 50_000, requests: 6, pauses: retries),
      Row(
        name: "sends less at each retry, without a length", path: "/a?chunked&cut=50000&again=chunked%26send=400",
        code: .connectionLost, byteCount: 50_000, requests: 6, pauses: retries),
      Row(name: "sends more bytes than announced", path: "/a?say=200000", byteCount: 200_000, requests: 1),
      Row(name: "sends another range", path: "/a?shifted", code: .badHTTPResponse, byteCount: 0, requests: 1),
      Row(
        name: "changes the resource during reading", path: "/a?changing&cut=100000", code: .resourceChanged,
        byteCount: 100_000, requests: 2, pauses: [500]),
      Row(
        name: "sends a header of a megabyte", path: "/a?headers=1000000", code: .badHTTPResponse, byteCount: 0,
        requests: 1),
      Row(name: "sends an empty resource", path: "/empty", byteCount: 0, requests: 1),
      Row(
        name: "network access is not allowed", path: "/a", code: .networkNotAllowed, byteCount: 0, requests: 0,
        options: refusing),
      Row(
        name: "the interface does not exist", path: "/a", code: .networkUnavailable, byteCount: 0,
        requests: 0, options: wrongInterface),
    ]
  }

  @Test func eachServerBehaviorGivesTheExpectedBytesOrErrorCode() throws {
    let bytes = HTTPRig.pattern(Self.byteCount)
    print("server | error | bytes | requests | pauses ms | memory")
    let rig = try HTTPRig()
    try rig.server.write(bytes, to: "a")
    try rig.server.write([], to: "empty")
    for row in Self.rows {
      rig.clock = ManualTime()
      let outcome = try rig.read(row.path, options: row.options)
      let requests = try rig.server.drain().filter { $0.hasPrefix("request ") }.count
      print(
        "\(row.name) | \(outcome.error.map { "\($0.code)" } ?? "-") | \(outcome.bytes.count) | \(requests) | "
          + "\(rig.clock.retryDelayMilliseconds) | \(outcome.maximumBufferedCount)")
      #expect(outcome.error?.code == row.code, "\(row.name): \(outcome.error.map { "\($0)" } ?? "no error")")
      #expect(outcome.bytes == Array(bytes.prefix(row.byteCount ?? bytes.count)), "\(row.name)")
      #expect(requests == row.requests, "\(row.name)")
      #expect(rig.clock.retryDelayMilliseconds == row.pauses, "\(row.name)")
      let logged = outcome.log.errorEvents.map(\.error.code)
      for code in row.logged { #expect(logged.contains(code), "\(row.name): \(logged)") }
      if let code = row.code, code != .networkNotAllowed { #expect(logged.last == code, "\(row.name)") }
      if let error = outcome.error { #expect(error.message.contains(rig.server.address), "\(error)") }
    }
  }

  @Test func missingServersAreReportedAsRefusedOrNotFound() throws {
    let rig = try HTTPRig()
    rig.server.stop()
    let outcome = try rig.read("/a")
    print("server stopped: \(outcome.error.map { "\($0)" } ?? "no error")")
    #expect(outcome.error?.code == .connectionRefused)
    let resource = HTTPResource(
      url: try HTTPURL("http://playhead.invalid/a"), log: NetworkLog(), clock: rig.clock)
    let error = #expect(throws: MediaError.self) { try resource.open() }
    print("no such host: \(error.map { "\($0)" } ?? "no error")")
    #expect(error?.code == .hostNotFound)
  }

  @Test func stoppedServerIsRetriedFiveTimesThenReported() throws {
    let rig = try HTTPRig()
    try rig.server.write(HTTPRig.pattern(200_000), to: "a")
    var outcome = HTTPRig.Outcome()
    let resource = try rig.resource("/a?gate=end&at=70000", log: outcome.log)
    try resource.open()
    try rig.server.wait("gate end")
    try HTTPRig.read(resource, from: 0, limit: 70_000, into: &outcome)
    rig.server.stop()
    let error = #expect(throws: MediaError.self) { try HTTPRig.read(resource, from: 70_000, into: &outcome) }
    print("stopped: \(error.map { "\($0)" } ?? "no error"), pauses \(rig.clock.retryDelayMilliseconds)")
    #expect(error?.code == .connectionRefused)
    #expect(rig.clock.retryDelayMilliseconds == Self.retries)
    #expect(outcome.bytes == Array(HTTPRig.pattern(200_000).prefix(70_000)))
  }

  @Test func serverIsReadThroughAProxy() throws {
    let folder = try TemporaryDirectory("tls")
    let (certificate, key) = try HTTPServer.makeCertificate(in: folder)
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
    print("proxy refuses: \(error.map { "\($0)" } ?? "no error")")
    #expect(error?.code == .connectionLost || error?.code == .connectionRefused)
  }

  @Test func serverIsReadOnlyWithATrustedCertificate() throws {
    let folder = try TemporaryDirectory("tls")
    let (certificate, key) = try HTTPServer.makeCertificate(in: folder)
    let server = try HTTPServer(certificate: certificate, key: key)
    let bytes = HTTPRig.pattern(100_000)
    try server.write(bytes, to: "a")
    let url = try HTTPURL(server.address + "/a")
    let untrusted = HTTPResource(url: url)
    let error = #expect(throws: MediaError.self) { try untrusted.open() }
    print("untrusted: \(error.map { "\($0)" } ?? "no error")")
    #expect(error?.code == .tlsFailed)
    var options = HTTPOptions()
    options.certificateAuthorityFile = certificate
    let trusted = HTTPResource(url: url, options: options)
    try trusted.open()
    var outcome = HTTPRig.Outcome()
    try HTTPRig.read(trusted, from: 0, into: &outcome)
    #expect(outcome.bytes == bytes)
  }
}
